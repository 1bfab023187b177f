//! Tabs whose pages stand still when they are attached.

use crate::error::ToolError;
use crate::fake::{self, Asked, Stand};
use std::time::Duration;
use tokio::time::Instant;

#[tokio::test(start_paused = true)]
async fn a_tab_whose_page_stands_still_is_ready_when_it_goes_on() {
    for seconds in [31, 700] {
        let mut stand = Stand::new(|asked: &Asked| match asked.session_id {
            Some(_) => vec![],
            None => fake::usual(asked),
        })
        .await;
        // Each try takes ten seconds of the test's time.
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(seconds) {
            let stuck = stand.tab().await.map(drop);
            assert!(matches!(stuck, Err(ToolError::Stuck)), "{stuck:?}");
        }
        for asked in stand.fake.heard_so_far() {
            for frame in fake::usual(&asked) {
                stand.fake.say(frame).await;
            }
        }
        let tab = stand.tab().await;
        assert!(tab.is_ok(), "after {seconds} s: {tab:?}");
    }
}
