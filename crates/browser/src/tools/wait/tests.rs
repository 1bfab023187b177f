//! Waiting in pages that become forbidden.

use crate::bounds::within;
use crate::error::ToolError;
use crate::fake::{self, Asked, FRAME, FakeBrowser, ORIGIN};
use crate::origins::{OriginPattern, OriginPolicy, OriginRules, RuledBy};
use crate::tools::ToolResult;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Waits in the page for a text to disappear.
async fn until_gone(harness: &FakeBrowser) -> ToolResult {
    let waiting = harness.run("wait_for", json!({"textGone": ["Wait"]}));
    within(policy(), waiting).await
}

#[tokio::test(start_paused = true)]
async fn waiting_for_a_text_to_go_fails_at_once_on_a_forbidden_page() {
    let harness = FakeBrowser::new(|asked: &Asked| match asked.runs("tabmux.waitForTextGone") {
        true => vec![navigated(BLOCKED), asked.refuse("Cannot find context")],
        false => usual(asked),
    })
    .await;
    let result = until_gone(&harness).await;
    assert!(
        matches!(&result, Err(ToolError::LedToBlocked(_))),
        "{result:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_frame_that_may_not_be_seen_does_not_keep_a_text_there() {
    let harness = FakeBrowser::new(|asked: &Asked| match asked.method.as_str() {
        "Page.getFrameTree" => {
            let inside = json!({"frame": fake::frame("INSIDE", Some(FRAME), BLOCKED)});
            let tree = json!({"frame": fake::frame(FRAME, None, ORIGIN), "childFrames": [inside]});
            vec![asked.answer(json!({ "frameTree": tree }))]
        }
        _ if asked.runs("tabmux.waitForTextGone") => vec![asked.gives(json!({"found": true}))],
        _ => usual(asked),
    })
    .await;
    let waited = until_gone(&harness).await;
    assert_eq!(waited.unwrap().blocks.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_page_that_does_not_answer_is_not_asked_all_the_time() {
    let times = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&times);
    let harness = FakeBrowser::new(move |asked: &Asked| {
        if asked.runs("tabmux.waitForTextGone") && count.fetch_add(1, Ordering::Relaxed) < 1_000 {
            return vec![asked.refuse("Cannot find context")];
        }
        usual(asked)
    })
    .await;
    let result = until_gone(&harness).await;
    assert!(
        matches!(&result, Err(ToolError::TimedOut { .. })),
        "{result:?}"
    );
    let times = times.load(Ordering::Relaxed);
    assert!(times <= 51, "asked {times} times in 5 s");
}

fn usual(asked: &Asked) -> Vec<Value> {
    match asked.runs("self.origin") {
        true => vec![asked.gives(json!(ORIGIN))],
        false => fake::usual(asked),
    }
}

fn navigated(origin: &str) -> Value {
    let params = json!({"frame": fake::frame(FRAME, None, origin), "type": "Navigation"});
    fake::event("Page.frameNavigated", params)
}

fn policy() -> OriginPolicy {
    OriginPolicy::of([OriginRules {
        by: RuledBy::Flags,
        allowed: Vec::new(),
        blocked: OriginPattern::parse_all("blocked.test").unwrap(),
    }])
}

const BLOCKED: &str = "http://blocked.test";
