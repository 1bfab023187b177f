//! Answers that say what changed on the page, switched off by a flag or in a call.

use crate::harness::{McpHarness, page};
use serde_json::{Value, json};

const BODY: &str =
    "<button onclick=\"out.textContent += 'x'\">Press</button><output id=out></output>";
const CHANGED: &str = "Changed on the page:";

async fn opened(flags: &[&str]) -> Option<McpHarness> {
    let harness = McpHarness::launched(flags).await?;
    harness.pages.route("/press", page("Press", BODY));
    harness.open("/press").await;
    Some(harness)
}

fn steps() -> Value {
    json!({"steps": [{"tool": "click", "arguments": {"name": "Press"}}]})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_without_changes_is_told_only_what_was_done() {
    let Some(harness) = opened(&["--changes=off"]).await else {
        return;
    };
    let press = json!({"name": "Press"});
    assert_eq!(harness.text("click", press).await, "Clicked.");
    let told = harness.text("run_steps", steps()).await;
    assert_eq!(told, "1. click \"Press\": Clicked.");
    let told = harness.text("press", json!({})).await;
    assert!(told.starts_with("Pressed \"Press\".\nThe page is still at "));
    assert_eq!(told.lines().count(), 2, "{told}");
    let url = json!({"url": harness.pages.url("/press")});
    let told = harness.text("navigate_page", url).await;
    assert!(!told.contains("On the page"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_and_generated_tools_can_leave_out_what_changed() {
    let Some(harness) = opened(&[]).await else {
        return;
    };
    for (tool, arguments) in [("run_steps", steps()), ("press", json!({}))] {
        let told = harness.text(tool, arguments.clone()).await;
        assert!(told.contains(CHANGED), "{tool}: {told}");
        let mut quiet = arguments;
        quiet["changes"] = json!(false);
        let told = harness.text(tool, quiet).await;
        assert!(!told.contains("on the page"), "{tool}: {told}");
    }
    // What was not told then is told later.
    let told = harness.text("click", json!({"name": "Press"})).await;
    assert!(told.contains(CHANGED) && told.contains("xxxxx"), "{told}");
    let wrong = json!({"changes": "no"});
    let refused = harness.refusal("press", wrong).await;
    assert!(
        refused.contains("`changes` must be true or false"),
        "{refused}"
    );
}
