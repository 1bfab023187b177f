//! Pages written for WebMCP in a browser without it.

use super::harness::PageToolsHarness;
use serde_json::json;
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn pages_register_tools_with_the_polyfill_as_with_native_web_mcp() {
    let Some(harness) = PageToolsHarness::without_web_mcp().await else {
        return;
    };
    let script = r#"
        window.log = [];
        window.gone = new AbortController();
        document.modelContext.ontoolchange = () => log.push("change");
        add({name: "sum", annotations: {readOnlyHint: true}, execute: ({a, b}) => a + b});
        add({name: "text", execute: () => "words"});
        add({name: "object", execute: () => ({a: [1, null]})});
        add({name: "nothing", execute: () => {}});
        add({name: "throws", execute: () => { throw new TypeError("boom"); }});
        add({name: "large", execute: () => "x".repeat(5_000_000)});
        add({name: "echo", annotations: {consequentialHint: true}, execute: (input) => input}, {signal: gone.signal});
        add({name: "slow", execute: (_, {signal}) => new Promise(() => {
          log.length = 0;
          log.push("began");
          signal.addEventListener("abort", () => log.push("aborted"));
        })});"#;
    let tab = harness.page("", "", script).await;
    let all = [
        "echo", "large", "nothing", "object", "slow", "sum", "text", "throws",
    ];
    assert_eq!(harness.names(&tab), all, "known when the page is open");
    assert!(harness.tool(&tab, "sum").read_only);
    assert!(harness.tool(&tab, "echo").consequential);
    assert_eq!(&*harness.tool(&tab, "sum").origin, harness.origin());

    let sum = harness.value(&tab, "sum", json!({"a": 2, "b": 40})).await;
    assert_eq!(sum, json!(42));
    assert_eq!(harness.value(&tab, "text", json!({})).await, "words");
    let object = harness.value(&tab, "object", json!({})).await;
    assert_eq!(object, json!({"a": [1, null]}));
    let input = json!({"ü": {"ö": "\u{1F600}"}, "list": [1.5]});
    assert_eq!(harness.value(&tab, "echo", input.clone()).await, input);
    let large = harness.value(&tab, "large", json!({})).await;
    assert_eq!(large.as_str().unwrap().len(), 5_000_000);
    let nothing = harness.words(&tab, "nothing", json!({})).await;
    assert_eq!(nothing, "The tool ran and returned nothing.");
    let thrown = harness.failure(&tab, "throws", json!({})).await;
    assert_eq!(thrown, "The page's tool failed: TypeError: boom.");

    let cancel = CancellationToken::new();
    let slow = harness.tool(&tab, "slow");
    let call = harness.call_page_tool(&tab, &slow, json!({}), cancel.clone());
    let stop = async {
        while harness.page_value(&tab, "log").await != json!(["began"]) {}
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(call, stop);
    answer.unwrap_err();
    while harness.page_value(&tab, "log").await != json!(["began", "aborted"]) {}

    harness
        .page_value(&tab, "log.length = 0, gone.abort()")
        .await;
    harness.until_names(&tab, &all[1..]).await;
    assert_eq!(harness.page_value(&tab, "log").await, json!(["change"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_polyfill_refuses_what_native_web_mcp_refuses() {
    let Some(harness) = PageToolsHarness::without_web_mcp().await else {
        return;
    };
    let tab = harness.page("", "", "").await;
    let outcome = async |script: &str| {
        let script = format!("({script}).then(() => 'fine', (error) => error.name)");
        harness.page_value(&tab, &script).await
    };
    for (tool, expected) in [
        ("{name: 'a', execute: () => 1}", "fine"),
        ("{name: 'a', execute: () => 1}", "InvalidStateError"),
        (
            "{name: 'with space', execute: () => 1}",
            "InvalidStateError",
        ),
        ("{name: '', execute: () => 1}", "InvalidStateError"),
        (
            "{name: 'b', description: '', execute: () => 1}",
            "InvalidStateError",
        ),
        ("{name: 'c'}", "TypeError"),
        (
            "{name: 'd', inputSchema: (() => { const a = {}; a.a = a; return a; })(), execute: () => 1}",
            "TypeError",
        ),
    ] {
        assert_eq!(outcome(&format!("add({tool})")).await, expected, "{tool}");
    }
    let execute = "document.modelContext.getTools().then(([tool]) => document.modelContext.executeTool(tool, ";
    assert_eq!(outcome(&format!("{execute}{{}}))")).await, "fine");
    assert_eq!(outcome(&format!("{execute}'{{}}'))")).await, "TypeError");
    assert_eq!(outcome(&format!("{execute}null))")).await, "TypeError");
    harness.until_names(&tab, &["a"]).await;
    // No globals of ours are visible.
    let names =
        "Object.getOwnPropertyNames(window).filter((name) => /^_[0-9a-f]{32}$|tabmux/.test(name))";
    assert_eq!(harness.page_value(&tab, names).await, json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_whose_error_reads_like_a_refusal_of_its_input_is_called_once() {
    let Some(harness) = PageToolsHarness::without_web_mcp().await else {
        return;
    };
    let script = r#"
        window.calls = 0;
        add({name: "due", execute: () => { calls += 1; throw new Error("Failed to parse input date"); }});"#;
    let tab = harness.page("", "", script).await;
    let failure = harness.failure(&tab, "due", json!({})).await;
    assert!(failure.contains("Failed to parse input date"), "{failure}");
    assert_eq!(harness.page_value(&tab, "calls").await, json!(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn forms_are_tools_with_the_polyfill_too() {
    let Some(harness) = PageToolsHarness::without_web_mcp().await else {
        return;
    };
    let body = r#"
        <form id="mine" toolname="by_hand" tooldescription="Left to the user">
          <label>Query <input name="q" required></label>
          <select name="c"><option value="r">Red<option value="g">Green</select>
          <input type="checkbox" name="used" value="yes">
          <input type="checkbox" name="x" value="1"><input type="checkbox" name="x" value="2">
          <input type="radio" name="size" value="s"><input type="radio" name="size" value="l">
          <input type="date" name="when"><input type="hidden" name="secret" value="1">
          <button>Send</button></form>
        <form id="auto" toolname="by_itself" tooldescription="Sends itself" toolautosubmit>
          <input name="n" type="number" min="5" toolparamdescription="How many"><button>Send</button></form>
        <form id="silent" toolname="says_nothing" tooldescription="No answer" toolautosubmit><button>S</button></form>
        <form toolname="Not a name" tooldescription="x"><button>S</button></form>"#;
    let script = r#"
        window.sent = [];
        mine.addEventListener("submit", (event) => {
          event.preventDefault();
          sent.push([event.target.q.value, event.agentInvoked]);
        });
        auto.addEventListener("submit", (event) => {
          event.preventDefault();
          event.respondWith(later(10).then(() => "got " + event.target.n.value));
        });
        silent.addEventListener("submit", (event) => event.preventDefault());"#;
    let tab = harness.page("", body, script).await;
    harness
        .until_names(&tab, &["by_hand", "by_itself", "says_nothing"])
        .await;
    assert_eq!(
        harness.tool(&tab, "by_hand").read_schema(),
        json!({"type": "object", "required": ["q"], "properties": {
            "q": {"type": "string", "description": "Query"},
            "c": {"type": "string", "enum": ["r", "g"]},
            "used": {"type": "boolean"},
            "x": {"type": "array", "items": {"type": "string", "enum": ["1", "2"]}, "uniqueItems": true},
            "size": {"type": "string", "enum": ["s", "l"]},
            "when": {"type": "string", "format": "date"},
        }})
    );
    let input =
        json!({"q": "one", "c": "g", "used": true, "x": ["2"], "size": "l", "when": "2026-01-02"});
    let filled = harness.words(&tab, "by_hand", input).await;
    assert!(
        filled.contains("waits for the user to submit it"),
        "{filled}"
    );
    let form = "[...new FormData(mine)].map(String)";
    let data = json!([
        "q,one",
        "c,g",
        "used,yes",
        "x,2",
        "size,l",
        "when,2026-01-02",
        "secret,1"
    ]);
    assert_eq!(harness.page_value(&tab, form).await, data);
    assert_eq!(harness.page_value(&tab, "sent").await, json!([]));
    let refused = harness
        .failure(&tab, "by_hand", json!({"c": "purple"}))
        .await;
    assert!(
        refused.contains("Invalid value \"purple\" for parameter c"),
        "{refused}"
    );

    let (five, six) = tokio::join!(
        harness.value(&tab, "by_itself", json!({"n": 5})),
        harness.value(&tab, "by_itself", json!({"n": 6})),
    );
    assert_eq!([five, six], ["got 5", "got 6"]);
    let invalid = harness.failure(&tab, "by_itself", json!({"n": 1})).await;
    assert!(invalid.contains("Form validation failed: n: "), "{invalid}");
    let silent = harness.failure(&tab, "says_nothing", json!({})).await;
    assert!(silent.contains("preventDefault()"), "{silent}");

    harness
        .page_value(
            &tab,
            "auto.setAttribute('toolname', 'renamed'), silent.remove()",
        )
        .await;
    harness.until_names(&tab, &["by_hand", "renamed"]).await;
    assert_eq!(
        harness.value(&tab, "renamed", json!({"n": 7})).await,
        "got 7"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn with_the_polyfill_too_tools_end_with_their_documents() {
    let Some(harness) = PageToolsHarness::without_web_mcp().await else {
        return;
    };
    let tool = |name: &str| format!(r#"add({{name: "{name}", execute: () => "{name}"}});"#);
    harness.serve("/near", "", &tool("near"));
    harness.serve("/b", "", &tool("of_b"));
    let far = harness.server.cross_site_url("/near");
    let never = r#"add({name: "never", execute: () => { window.busy = 1; return new Promise(() => {}); }});"#;
    let body =
        format!(r#"<iframe id="a" src="/near"></iframe><iframe id="b" src="{far}"></iframe>"#);
    let strangers =
        "document.modelContext?.registerTool({name: 'far', description: 'd', execute: () => 1});";
    harness.serve("/far", "", strangers);
    let tab = harness.page("", &body, &(tool("top") + never)).await;
    // Frames of other origins get no polyfill.
    harness.until_names(&tab, &["never", "top", "near"]).await;
    assert_eq!(harness.value(&tab, "near", json!({})).await, "near");
    let seen = "document.modelContext.getTools().then((tools) => tools.map((tool) => tool.name))";
    assert_eq!(
        harness.page_value(&tab, seen).await,
        json!(["near", "never", "top"])
    );
    harness.page_value(&tab, "a.remove()").await;
    harness.until_names(&tab, &["never", "top"]).await;

    let top = harness.tool(&tab, "top");
    harness
        .left_during(&tab, "never", "location.href = '/b'")
        .await;
    harness.until_names(&tab, &["of_b"]).await;
    harness.is_gone(&tab, &top).await;
    harness
        .text(&tab, "navigate_page", json!({"type": "back"}))
        .await;
    harness.until_names(&tab, &["never", "top", "near"]).await;
    assert_eq!(harness.value(&tab, "top", json!({})).await, "top");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_polyfill_of_the_page_is_not_replaced_and_its_tools_are_listed() {
    let Some(harness) = PageToolsHarness::without_web_mcp().await else {
        return;
    };
    // A polyfill that accepts only text, as older ones do, and replaces an existing one.
    let script = r#"
        const tools = [];
        class Own extends EventTarget {
          async registerTool(tool) { tools.push(tool); this.dispatchEvent(new Event("toolchange")); }
          async getTools() { return tools.map(({name, description}) => ({name, description, inputSchema: '{"type":"object"}'})); }
          async executeTool({name}, input) {
            if (typeof input !== "string") throw new Error("Failed to parse input arguments");
            return JSON.stringify(await tools.find((tool) => tool.name === name).execute(JSON.parse(input)));
          }
        }
        const own = new Own();
        Object.defineProperty(document, "modelContext", {value: own, configurable: true});
        add({name: "mine", execute: ({n}) => ({n: n + 1})});"#;
    let tab = harness.page("", "", script).await;
    harness.until_names(&tab, &["mine"]).await;
    assert_eq!(
        harness
            .page_value(&tab, "document.modelContext === own")
            .await,
        json!(true)
    );
    let answer = harness.value(&tab, "mine", json!({"n": 1})).await;
    assert_eq!(answer, json!({"n": 2}));
    harness
        .page_value(&tab, "add({name: 'more', execute: () => 1})")
        .await;
    harness.until_names(&tab, &["mine", "more"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_tools_cannot_be_read_is_asked_again() {
    let Some(harness) = PageToolsHarness::without_web_mcp().await else {
        return;
    };
    // A schema that can be read once, but not a second time.
    let script = r#"
        window.isBad = true;
        let reads = 0;
        const inputSchema = {toJSON() {
          if (isBad && reads++ % 2) throw new Error("no");
          return {type: "object"};
        }};
        const tools = [{name: "odd", description: "", inputSchema}];
        class Own extends EventTarget {
          async registerTool(tool) { tools.push(tool); this.dispatchEvent(new Event("toolchange")); }
          async getTools() { return tools; }
          async executeTool() {}
        }
        Object.defineProperty(document, "modelContext", {value: new Own(), configurable: true});"#;
    let tab = harness.page("", "", script).await;
    for (script, names) in [
        ("() => { add({name: 'one', execute: () => 1}); }", &[][..]),
        (
            "() => { isBad = false; add({name: 'two', execute: () => 2}); }",
            &["odd", "one", "two"],
        ),
    ] {
        let script = json!({"function": script});
        harness.text(&tab, "evaluate_script", script).await;
        harness.browser.report_tools(tab.target()).await.unwrap();
        assert_eq!(harness.names(&tab), names);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_a_call_changed_are_known_with_its_answer() {
    let Some(harness) = PageToolsHarness::without_web_mcp().await else {
        return;
    };
    let own = r#"
        const gone = [];
        add({name: "more", execute: ({n}) => {
          gone[n] = new AbortController();
          add({name: "made_" + n, execute: () => n}, {signal: gone[n].signal});
        }});
        add({name: "less", execute: ({n}) => gone[n].abort()});"#;
    harness.serve("/near", "", "");
    let tab = harness
        .page("", r#"<iframe src="/near"></iframe><main></main>"#, own)
        .await;
    let names_after = async || {
        harness.browser.report_tools(tab.target()).await.unwrap();
        let mut names = harness.names(&tab);
        names.sort_unstable();
        names
    };
    // One change directly after another, so that the page has just reported the previous one.
    for n in 0..5 {
        let made = format!("made_{n}");
        harness.words(&tab, "more", json!({"n": n})).await;
        assert_eq!(names_after().await, ["less", &made, "more"]);
        harness.words(&tab, "less", json!({"n": n})).await;
        assert_eq!(names_after().await, ["less", "more"]);
    }
    // The same for our own tools: in the page, in a frame of its origin, and with forms.
    for (script, names) in [
        (
            "() => { add({name: 'here', execute: () => 1}); }",
            &["here", "less", "more"][..],
        ),
        (
            "() => { frames[0].eval(\"add({name: 'near', execute: () => 1})\"); }",
            &["here", "less", "more", "near"],
        ),
        (
            "() => { document.querySelector('main').innerHTML = \
             '<form toolname=form tooldescription=F><input name=a><button>B</button></form>'; }",
            &["form", "here", "less", "more", "near"],
        ),
        (
            "() => document.forms[0].remove()",
            &["here", "less", "more", "near"],
        ),
    ] {
        let script = json!({"function": script});
        harness.text(&tab, "evaluate_script", script).await;
        assert_eq!(names_after().await, names);
    }
}
