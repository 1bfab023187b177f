//! Pages with an MCP server inside that uses `postMessage`, as with MCP-B's tab transport. The published package is
//! tested in `packages/page`.

use super::harness::PageToolsHarness;
use serde_json::{Value, json};
use tabmux_testkit::OverExtension;
use tokio_util::sync::CancellationToken;

/// A minimal server: `serve(tools)` starts it, and `said` records what it received.
const SERVER: &str = r#"
    window.said = [];
    const speak = (payload, channel = "mcp-default") =>
      window.postMessage({channel, type: "mcp", direction: "server-to-client", payload}, "*");
    const serve = (tools, {channel = "mcp-default", pages = 1, extra = {}} = {}) => {
      window.tools = tools;
      const answers = {
        initialize: () => ({protocolVersion: "2025-06-18", capabilities: {tools: {listChanged: true}}, serverInfo: {name: "s", version: "1"}}),
        "tools/list": ({cursor = "0"} = {}) => {
          const size = Math.ceil(window.tools.length / pages), at = Number(cursor);
          const next = at + 1 < pages ? {nextCursor: String(at + 1)} : {};
          return {tools: window.tools.slice(at * size, at * size + size).map(({run, ...tool}) => ({inputSchema: {type: "object"}, ...tool})), ...next};
        },
        "tools/call": ({name, arguments: input}) => window.tools.find((tool) => tool.name === name).run(input),
        ...extra,
      };
      addEventListener("message", async ({source, data}) => {
        if (source !== window || data?.channel !== channel || data.direction !== "client-to-server") return;
        const {id, method, params} = data.payload;
        said.push(data.payload === "mcp-check-ready" ? "check" : method);
        if (data.payload === "mcp-check-ready") return speak("mcp-server-ready", channel);
        if (id === undefined) return;
        try {
          speak({jsonrpc: "2.0", id, result: await answers[method](params)}, channel);
        } catch (error) {
          speak({jsonrpc: "2.0", id, error: {code: -32603, message: error.message}}, channel);
        }
      });
      speak("mcp-server-ready", channel);
    };
    const text = (text) => ({content: [{type: "text", text: String(text)}]});
    const changed = (channel) => speak({jsonrpc: "2.0", method: "notifications/tools/list_changed"}, channel);
"#;

pub(super) fn with_server(script: &str) -> String {
    format!("{SERVER}{script}")
}

fn answer(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// With and without WebMCP; through the extension there is one browser, which has it.
async fn both() -> Option<Vec<PageToolsHarness>> {
    let mut harnesses = vec![PageToolsHarness::start().await?];
    if OverExtension::here().is_none() {
        harnesses.push(PageToolsHarness::without_web_mcp().await?);
    }
    Some(harnesses)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_of_a_server_inside_the_page_are_tools_of_the_page() {
    let Some(harnesses) = both().await else {
        return;
    };
    for harness in harnesses {
        let script = with_server(
            r#"serve([
                 {name: "sum", title: "Adds", annotations: {readOnlyHint: true}, run: ({a, b}) => text(a + b),
                  inputSchema: {type: "object", properties: {a: {type: "number"}}, required: ["a"]}},
                 {name: "wipe", description: "Wipes", annotations: {destructiveHint: true}, run: () => text("wiped")},
                 {name: "fails", run: () => { throw new Error("boom"); }},
                 {name: "refuses", run: () => ({...text("no"), isError: true})},
                 {name: "large", run: () => text("x".repeat(5_000_000))},
               ], {pages: 2});"#,
        );
        let tab = harness.page("", "", &script).await;
        // No waiting here: the tools are known when the page counts as open.
        assert_eq!(
            harness.names(&tab),
            ["sum", "wipe", "fails", "refuses", "large"]
        );
        let sum = harness.tool(&tab, "sum");
        assert!(sum.read_only && !sum.consequential);
        assert_eq!(&*sum.description, "Adds");
        assert_eq!(sum.read_schema()["required"], json!(["a"]));
        assert_eq!(&*sum.origin, harness.origin());
        assert!(harness.tool(&tab, "wipe").consequential);

        let sum = harness.value(&tab, "sum", json!({"a": 2, "b": 40})).await;
        assert_eq!(sum, answer("42"));
        let failure = harness.failure(&tab, "fails", json!({})).await;
        assert_eq!(failure, "The page's tool failed: boom.");
        let refused = harness.value(&tab, "refuses", json!({})).await;
        assert_eq!(refused["isError"], json!(true));
        let large = harness.value(&tab, "large", json!({})).await;
        let large = large["content"][0]["text"].as_str().unwrap();
        assert_eq!(large.len(), 5_000_000);
        let said = harness.page_value(&tab, "said.slice(0, 4)").await;
        assert_eq!(
            said,
            json!([
                "initialize",
                "notifications/initialized",
                "tools/list",
                "tools/list"
            ])
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_that_changes_is_read_again_and_a_server_that_stops_has_no_tools() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let script = with_server(
        r#"serve([{name: "one", run: () => text(1)}], {channel: "shop"});
           serve.again = (tools) => { window.tools = tools; changed("shop"); };"#,
    );
    let tab = harness.page("", "", &script).await;
    harness.until_names(&tab, &["one"]).await;
    let one = harness.tool(&tab, "one").number;
    let more = r#"serve.again([...tools, {name: "two", run: () => new Promise((done) => window.finish = done)}])"#;
    harness.page_value(&tab, more).await;
    harness.until_names(&tab, &["one", "two"]).await;
    assert_eq!(harness.tool(&tab, "one").number, one, "it is the same tool");

    // However often it reports changes, it is asked at most every 50 ms, and the last state wins.
    let flood = r#"said.length = 0; for (let i = 0; i < 5000; i++) changed("shop"); serve.again(tools.slice(1)); 0"#;
    harness.page_value(&tab, flood).await;
    harness.until_names(&tab, &["two"]).await;
    let asked = harness.page_value(&tab, "said.length").await;
    assert!(asked.as_u64().unwrap() < 100, "{asked}");

    let stop = async {
        while harness.page_value(&tab, "typeof finish").await != json!("function") {}
        harness
            .page_value(&tab, r#"speak("mcp-server-stopped", "shop"), 0"#)
            .await;
    };
    let (failure, ()) = tokio::join!(harness.failure(&tab, "two", json!({})), stop);
    assert!(
        failure.contains("server stopped before it answered"),
        "{failure}"
    );
    harness.until_names(&tab, &[]).await;
    harness
        .page_value(&tab, r#"speak("mcp-server-ready", "shop"), 0"#)
        .await;
    harness.until_names(&tab, &["two"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_offers_in_two_ways_is_one_tool_and_runs_once() {
    let Some(harnesses) = both().await else {
        return;
    };
    for harness in harnesses {
        let script = with_server(
            r#"window.runs = [];
               window.gone = new AbortController();
               serve([{name: "both", run: () => { runs.push("server"); return text("server"); }},
                      {name: "mine", run: () => text("server")}]);
               add({name: "both", execute: () => { runs.push("context"); return "context"; }}, {signal: gone.signal});"#,
        );
        let tab = harness.page("", "", &script).await;
        let mut found = tab.findings();
        let wait = found.wait_for(|found| found.web_mcp.len() == 2);
        tabmux_testkit::patiently(wait, || "not two tools".into())
            .await
            .unwrap();
        let both = harness.value(&tab, "both", json!({})).await;
        assert_eq!(both, "context", "what the browser knows of goes first");
        assert_eq!(harness.page_value(&tab, "runs").await, json!(["context"]));
        assert_eq!(
            harness.value(&tab, "mine", json!({})).await,
            answer("server")
        );
        harness.page_value(&tab, "gone.abort(), changed()").await;
        let through_server = async {
            while harness.call(&tab, "both", json!({})).await.ok()
                != Some(tabmux_browser::page_tools::PageAnswer::Value(answer(
                    "server",
                )))
            {}
        };
        tabmux_testkit::patiently(through_server, || "not through the server".into()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_of_a_server_end_with_their_documents() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let offer = |name: &str| {
        with_server(&format!(
            r#"serve([{{name: "{name}", run: () => text("{name}")}},
        {{name: "never", run: () => {{ window.busy = 1; return new Promise(() => {{}}); }}}}]);"#
        ))
    };
    harness.serve("/near", "", &offer("near"));
    harness.serve("/b", "", &offer("of_b"));
    let far = harness.server.cross_site_url("/near");
    let body = format!(
        r#"<iframe id="a" src="/near"></iframe><iframe src="{far}" allow="tools"></iframe>"#
    );
    let tab = harness.page("", &body, &offer("top")).await;
    // Documents of other origins are not asked.
    let all = ["top", "never", "near", "never"];
    harness.until_names(&tab, &all).await;
    assert_eq!(harness.value(&tab, "near", json!({})).await, answer("near"));
    harness.page_value(&tab, "a.remove()").await;
    harness.until_names(&tab, &all[..2]).await;

    let cancel = CancellationToken::new();
    let never = harness.tool(&tab, "never");
    let stop = async {
        while harness.page_value(&tab, "window.busy").await != json!(1) {}
        cancel.cancel();
    };
    let call = harness.call_page_tool(&tab, &never, json!({}), cancel.clone());
    let (cancelled, ()) = tokio::join!(call, stop);
    cancelled.unwrap_err();
    let last = "said.at(-1)";
    while harness.page_value(&tab, last).await != json!("notifications/cancelled") {}

    let top = harness.tool(&tab, "top");
    harness.page_value(&tab, "window.busy = 0").await;
    harness
        .left_during(&tab, "never", "location.href = '/b'")
        .await;
    harness.until_names(&tab, &["of_b", "never"]).await;
    harness.is_gone(&tab, &top).await;
    harness
        .text(&tab, "navigate_page", json!({"type": "back"}))
        .await;
    let mut found = tab.findings();
    let back = found.wait_for(|found| found.web_mcp.iter().any(|tool| &*tool.name == "top"));
    tabmux_testkit::patiently(back, || "not back".into())
        .await
        .unwrap();
    assert_eq!(harness.value(&tab, "top", json!({})).await, answer("top"));
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_a_server_says_the_page_keeps_its_other_tools_and_stays_bounded() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let script = with_server(
        r#"for (let i = 0; i < 50; i++) speak("mcp-server-ready", "channel " + i);
           speak("mcp-server-ready", "x".repeat(1e6));
           for (const word of [null, 7, "text", [], {}, {id: {}}, {method: 7}, {jsonrpc: "2.0", id: 1, result: {tools: "all"}}])
             speak(word, "channel 0");
           for (const data of [null, 7, "mcp", {type: "mcp"}, {type: "mcp", direction: "server-to-client"},
                               {type: "mcp", direction: "server-to-client", channel: {}, payload: {}}])
             window.postMessage(data, "*");
           // Not from this window, and not from the browser at all.
           const fake = (source) => dispatchEvent(new MessageEvent("message", {source, data: {
             channel: "fake", type: "mcp", direction: "server-to-client", payload: "mcp-server-ready"}}));
           fake(window);
           addEventListener("message", ({data}) => {
             if (data?.channel !== "channel 1" || data.direction !== "client-to-server" || !data.payload.id) return;
             const tools = [null, 7, {}, {name: 7}, {name: ""}, {name: "n".repeat(300)}, {name: "no schema", inputSchema: "none"},
               {name: "huge", inputSchema: {type: "object", description: "x".repeat(100_000)}}, {name: "fine", description: {}}];
             for (let i = 0; i < 5000; i++) tools.push({name: "many_" + i});
             speak({jsonrpc: "2.0", id: data.payload.id, result: {tools, nextCursor: "again"}}, "channel 1");
           });
           add({name: "own", execute: () => "own"});"#,
    );
    let tab = harness.page("", "", &script).await;
    let mut found = tab.findings();
    let wait = found.wait_for(|found| found.web_mcp.iter().any(|tool| &*tool.name == "fine"));
    tabmux_testkit::patiently(wait, || "nothing was heard".into())
        .await
        .unwrap();
    let names = harness.names(&tab);
    assert!(names.contains(&"own".to_owned()), "{names:?}");
    assert!(names.len() <= 200, "{}", names.len());
    let found = harness.tools(&tab);
    let left_out = found.left_out(tabmux_browser::page_tools::ToolSource::WebMcp);
    assert!(left_out > 700, "{left_out}");
    assert_eq!(harness.value(&tab, "own", json!({})).await, "own");
}
