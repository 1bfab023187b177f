//! Uids by selector, for tests that are not about snapshots.

use std::time::Duration;
use tabmux_browser::Tab;
use tabmux_browser::tab::{Frame, Load};

/// The uid of the element that matches `selector` in the main document.
pub(crate) async fn pick(tab: &Tab, selector: &str) -> String {
    let main = tab.state().frames.main().cloned().unwrap();
    pick_in(tab, &main, selector).await
}

/// The uid of the element that matches `selector` in a frame. `>>>` enters an open shadow root.
pub(crate) async fn pick_in(tab: &Tab, frame: &Frame, selector: &str) -> String {
    let world = tab.world_of(frame).await.unwrap();
    let find = "((path) => tabmux.ref(path.split('>>>').reduce((found, part) => \
                (found.shadowRoot ?? found).querySelector(part), document)))";
    let n: u32 = world.call(find, selector).await.unwrap();
    format!("{}_{n}", frame.document)
}

/// The frame whose URL has this ending, once its document is there.
pub(crate) async fn frame(tab: &Tab, ending: &str) -> Frame {
    let there = tab.until(Duration::from_secs(20), |state| {
        state.load == Load::Complete && state.frames.iter().any(|frame| frame.url.ends_with(ending))
    });
    assert!(there.await.unwrap(), "{:?}", tab.state().frames);
    let state = tab.state();
    state
        .frames
        .iter()
        .find(|frame| frame.url.ends_with(ending))
        .cloned()
        .unwrap()
}
