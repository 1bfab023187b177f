//! The results of calls.

use super::harness::PageToolsHarness;
use serde_json::json;
use tabmux_browser::page_tools::PageAnswer;
use tokio_util::sync::CancellationToken;

#[tokio::test(flavor = "multi_thread")]
async fn what_a_tool_returns_or_throws_arrives() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let script = r#"
        add({name: "text", execute: () => "words"});
        add({name: "object", execute: () => ({a: [1, null]})});
        add({name: "nothing", execute: () => {}});
        add({name: "echo", execute: (input) => input});
        add({name: "late", execute: async () => { await later(20); return "late"; }});
        add({name: "large", execute: () => "x".repeat(5_000_000)});
        add({name: "throws", execute: () => { throw new TypeError("boom\nsecond line"); }});
        add({name: "throws_text", execute: () => { throw "just text"; }});
        add({name: "rejects", execute: async () => { throw new Error("later"); }});
        add({name: "circular", execute: () => { const a = {}; a.a = a; return a; }});
        add({name: "hints", annotations: {consequentialHint: true}, execute: () => 1});"#;
    let tab = harness.page("", "", script).await;

    assert_eq!(harness.value(&tab, "text", json!({})).await, json!("words"));
    assert_eq!(
        harness.value(&tab, "object", json!({})).await,
        json!({"a": [1, null]})
    );
    let nothing = harness.words(&tab, "nothing", json!({})).await;
    assert_eq!(nothing, "The tool ran and returned nothing.");
    let input = json!({"text": "ü\u{1F600}\n", "list": [{}, 1.5]});
    assert_eq!(harness.value(&tab, "echo", input.clone()).await, input);
    // Chrome's protocol does not accept such keys, but the page does.
    let input = json!({"grün": {"größe": [{"ü": 1}]}});
    assert_eq!(harness.value(&tab, "echo", input.clone()).await, input);
    assert_eq!(harness.value(&tab, "late", json!({})).await, json!("late"));
    let large = harness.value(&tab, "large", json!({})).await;
    assert_eq!(large.as_str().unwrap().len(), 5_000_000);

    assert_eq!(
        harness.failure(&tab, "throws", json!({})).await,
        "The page's tool failed: TypeError: boom."
    );
    assert_eq!(
        harness.failure(&tab, "throws_text", json!({})).await,
        "The page's tool failed: just text."
    );
    assert_eq!(
        harness.failure(&tab, "rejects", json!({})).await,
        "The page's tool failed: Error: later."
    );
    let circular = harness.failure(&tab, "circular", json!({})).await;
    assert!(circular.contains("circular structure"), "{circular}");
    assert!(harness.tool(&tab, "hints").consequential);
    assert!(!harness.tool(&tab, "text").consequential);
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_run_beside_each_other_and_none_loses_its_answer() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let script = r#"
        const gates = {};
        add({name: "wait", execute: ({n}) => new Promise((done) => { gates[n] = () => done(n); })});
        add({name: "open", execute: ({n}) => { gates[n](); return "opened"; }});
        add({name: "quick", execute: ({n}) => n});"#;
    let tab = harness.page("", "", script).await;
    let opened = async {
        for n in [2, 0, 1] {
            let wanted = format!("typeof gates[{n}]");
            while harness.page_value(&tab, &wanted).await != json!("function") {}
            harness.value(&tab, "open", json!({"n": n})).await;
        }
    };
    let (zero, one, two, ()) = tokio::join!(
        harness.value(&tab, "wait", json!({"n": 0})),
        harness.value(&tab, "wait", json!({"n": 1})),
        harness.value(&tab, "wait", json!({"n": 2})),
        opened,
    );
    assert_eq!((zero, one, two), (json!(0), json!(1), json!(2)));
    // An answer may come before the id of its call.
    for n in 0..200 {
        assert_eq!(
            harness.value(&tab, "quick", json!({"n": n})).await,
            json!(n)
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_call_is_given_up_in_the_page() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let script = r#"
        window.log = [];
        add({name: "slow", execute: (_, {signal}) => new Promise((done, fail) => {
          log.push("began");
          signal.addEventListener("abort", () => { log.push("aborted"); fail(signal.reason); });
        })});
        add({name: "loop", execute: () => { log.push("looping"); for (;;) {} }});
        add({name: "alive", execute: () => log});"#;
    let tab = harness.page("", "", script).await;
    let cancel = CancellationToken::new();
    let slow = harness.tool(&tab, "slow");
    let call = harness.call_page_tool(&tab, &slow, json!({}), cancel.clone());
    let stop = async {
        while harness.page_value(&tab, "log.length").await != json!(1) {}
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(call, stop);
    answer.unwrap_err();
    while harness.page_value(&tab, "log").await != json!(["began", "aborted"]) {}

    // A tool that never returns from its own script is stopped.
    let cancel = CancellationToken::new();
    let busy = harness.tool(&tab, "loop");
    let call = harness.call_page_tool(&tab, &busy, json!({}), cancel.clone());
    let stop = async {
        while tab.session().send_within(probe(), PATIENCE).await.is_ok() {}
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(call, stop);
    answer.unwrap_err();
    let log = harness.value(&tab, "alive", json!({})).await;
    assert_eq!(log, json!(["began", "aborted", "looping"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_is_filled_and_left_to_the_user_unless_it_submits_itself() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let body = r#"
        <form id="mine" toolname="by_hand" tooldescription="Left to the user">
          <input name="q"><select name="c"><option value="r">Red<option value="g">Green</select>
          <button>Send</button></form>
        <form id="auto" toolname="by_itself" tooldescription="Sends itself" toolautosubmit>
          <input name="n" type="number" min="5"><button>Send</button></form>"#;
    let script = r#"
        window.sent = [];
        mine.addEventListener("submit", (event) => {
          event.preventDefault();
          sent.push(event.target.q.value);
        });
        auto.addEventListener("submit", (event) => {
          event.preventDefault();
          event.respondWith(later(10).then(() => "got " + event.target.n.value));
        });"#;
    let tab = harness.page("", body, script).await;
    for text in ["one", "two"] {
        let filled = harness
            .words(&tab, "by_hand", json!({"q": text, "c": "g"}))
            .await;
        assert!(
            filled.contains("waits for the user to submit it"),
            "{filled}"
        );
        let form = "[mine.q.value, mine.c.value, sent.length]";
        assert_eq!(harness.page_value(&tab, form).await, json!([text, "g", 0]));
    }
    let refused = harness
        .failure(&tab, "by_hand", json!({"c": "purple"}))
        .await;
    assert!(refused.contains("purple"), "{refused}");

    // In Chrome, calls of one form overwrite each other, and only the last one is answered.
    let (five, six, seven) = tokio::join!(
        harness.value(&tab, "by_itself", json!({"n": 5})),
        harness.value(&tab, "by_itself", json!({"n": 6})),
        harness.value(&tab, "by_itself", json!({"n": 7})),
    );
    assert_eq!([five, six, seven], ["got 5", "got 6", "got 7"]);
    let invalid = harness.failure(&tab, "by_itself", json!({"n": 1})).await;
    assert!(invalid.contains("must be greater"), "{invalid}");
    // The user submits the form later: no call waits for it, and nothing breaks.
    harness.page_value(&tab, "mine.requestSubmit()").await;
    assert_eq!(harness.page_value(&tab, "sent").await, json!(["two"]));
    harness.value(&tab, "by_itself", json!({"n": 8})).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_opens_a_dialog_does_not_hang() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let script = r#"
        add({name: "ask", execute: () => { window.said = confirm("Really?"); return said; }});"#;
    let tab = harness.page("", "", script).await;
    let answer = harness.words(&tab, "ask", json!({})).await;
    assert!(answer.contains("\"Really?\""), "{answer}");
    assert!(answer.contains("handle_dialog"), "{answer}");
    let blocked = harness.failure(&tab, "ask", json!({})).await;
    assert!(blocked.contains("Call handle_dialog first"), "{blocked}");
    harness
        .text(&tab, "handle_dialog", json!({"action": "accept"}))
        .await;
    // The tool continued with the dialog's answer.
    assert_eq!(harness.page_value(&tab, "said").await, json!(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_of_two_answers_counts() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let script = r#"
        add({name: "both", execute: () => { location.href = "/next"; return "my answer"; }});"#;
    let further = r#"add({name: "further", execute: ({n}) => n});"#;
    harness.serve("/next", "", further);
    let tab = harness.page("", "", script).await;
    let answer = harness.call(&tab, "both", json!({})).await.unwrap();
    assert_eq!(answer, PageAnswer::Value(json!("my answer")));
    // The second answer comes when the document goes away, so it has come when the next one has its tools.
    harness.until_names(&tab, &["further"]).await;
    for n in 0..3 {
        let answer = harness.value(&tab, "further", json!({"n": n})).await;
        assert_eq!(answer, json!(n));
    }
}

fn probe() -> tabmux_cdp::types::runtime::Evaluate {
    tabmux_cdp::types::runtime::Evaluate {
        expression: "0".into(),
        ..Default::default()
    }
}

const PATIENCE: std::time::Duration = std::time::Duration::from_millis(300);
