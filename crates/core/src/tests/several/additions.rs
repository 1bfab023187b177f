//! A failed `add_browser` is undone.

use super::*;
use crate::PersonRefusal;

/// A session with one browser that is adding a second one, which does not answer.
fn adding() -> (SeveralBrowsers, CallId) {
    let mut harness = SeveralBrowsers::with(1);
    harness.clicks_in(None);
    harness.hangs = true;
    let wanted = browser_ref("http://2");
    let call = harness.ask(CallKind::AddBrowser { wanted }, None);
    assert!(harness.core.has_several(ONE));
    (harness, call)
}

/// There is one browser again, and calls need no `browserIndex`.
fn nothing_is_left(harness: &mut SeveralBrowsers) {
    assert_eq!(harness.rows().len(), 1);
    assert_eq!(harness.clicks_in(None), "http://1/page");
}

#[test]
fn a_cancelled_add_browser_is_undone() {
    let (mut harness, call) = adding();
    harness.cancel(call);
    assert_eq!(harness.wait_for(call), Reply::Cancelled);
    nothing_is_left(&mut harness);
}

#[test]
fn an_add_browser_that_times_out_is_undone() {
    let (mut harness, call) = adding();
    let reply = harness.wait_for(call);
    assert!(
        matches!(&reply, Reply::Refused(Refusal::TooLate { .. })),
        "{reply:?}"
    );
    assert_eq!(harness.now.elapsed(), Duration::from_secs(30));
    nothing_is_left(&mut harness);
}

#[test]
fn an_add_browser_that_the_person_stops_is_undone() {
    let (mut harness, call) = adding();
    harness.happen(Input::Paused);
    harness.happen(Input::Resumed);
    let reply = harness.wait_for(call);
    assert!(
        matches!(
            &reply,
            Reply::Refused(Refusal::Person(PersonRefusal::Paused { .. }))
        ),
        "{reply:?}"
    );
    nothing_is_left(&mut harness);
}

#[test]
fn calls_that_wait_for_a_browser_whose_addition_is_cancelled_fail() {
    let (mut harness, call) = adding();
    let waiting = harness.ask(page(CLICK, Act), Some(2));
    harness.cancel(call);
    let reply = harness.wait_for(waiting);
    assert_eq!(harness.now.elapsed(), Duration::ZERO, "at once");
    let Reply::Refused(refusal) = reply else {
        panic!("{reply:?}");
    };
    let text = refusal.to_string();
    assert!(text.contains("add_browser"), "{text}");
    nothing_is_left(&mut harness);
}

#[test]
fn calls_that_wait_for_a_browser_that_cannot_be_added_fail_with_the_reason() {
    let mut harness = SeveralBrowsers::with(1);
    harness.up.retain(|up| *up != "http://2");
    let wanted = browser_ref("http://2");
    harness.ask(CallKind::AddBrowser { wanted }, None);
    let refusal = harness.refusal(page(CLICK, Act), Some(2));
    assert!(refusal.contains("connection refused"), "{refusal}");
    nothing_is_left(&mut harness);
}

#[test]
fn a_browser_that_answers_after_its_addition_was_cancelled_is_disconnected() {
    let (mut harness, call) = adding();
    let key = BrowserKey("http://2".into());
    let browser = harness.browser("http://2");
    harness.cancel(call);
    let late = harness.answer(browser, &key);
    harness.happen(late);
    assert_eq!(harness.disconnects, 1);
    assert_eq!(harness.core.browsers().count(), 1);
}

impl SeveralBrowsers {
    fn cancel(&mut self, call: CallId) {
        let (session, request) = (ONE, RequestId(call.0.to_string().into()));
        self.happen(Input::Cancel { session, request });
    }
}
