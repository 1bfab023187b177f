//! `add_browser` that comes to nothing leaves nothing behind.

use super::*;
use crate::PersonRefusal;

/// A session with one browser that is adding a second one, which does not answer.
fn adding() -> (Desk, CallId) {
    let mut desk = Desk::with(1);
    desk.clicks_in(None);
    desk.hangs = true;
    let meant = meant("http://2");
    let call = desk.ask(CallKind::AddBrowser { meant }, None);
    assert!(desk.core.has_several(ONE));
    (desk, call)
}

/// There is one browser again, and it need not be named.
fn nothing_is_left(desk: &mut Desk) {
    assert_eq!(desk.rows().len(), 1);
    assert_eq!(desk.clicks_in(None), "http://1/page");
}

#[test]
fn an_addition_that_is_cancelled_is_taken_back() {
    let (mut desk, call) = adding();
    desk.cancel(call);
    assert_eq!(desk.wait_for(call), Reply::Cancelled);
    nothing_is_left(&mut desk);
}

#[test]
fn an_addition_that_is_too_late_is_taken_back() {
    let (mut desk, call) = adding();
    let reply = desk.wait_for(call);
    assert!(
        matches!(&reply, Reply::Refused(Refusal::TooLate { .. })),
        "{reply:?}"
    );
    assert_eq!(desk.now.elapsed(), Duration::from_secs(30));
    nothing_is_left(&mut desk);
}

#[test]
fn an_addition_that_the_person_stops_is_taken_back() {
    let (mut desk, call) = adding();
    desk.happen(Input::Paused);
    desk.happen(Input::Resumed);
    let reply = desk.wait_for(call);
    assert!(
        matches!(
            &reply,
            Reply::Refused(Refusal::Person(PersonRefusal::Paused { .. }))
        ),
        "{reply:?}"
    );
    nothing_is_left(&mut desk);
}

#[test]
fn whoever_waits_for_a_browser_that_is_not_added_is_told() {
    let (mut desk, call) = adding();
    let waiting = desk.ask(page(CLICK, Act), Some(2));
    desk.cancel(call);
    let reply = desk.wait_for(waiting);
    assert_eq!(desk.now.elapsed(), Duration::ZERO, "at once");
    let Reply::Refused(refusal) = reply else {
        panic!("{reply:?}");
    };
    let text = refusal.to_string();
    assert!(text.contains("add_browser"), "{text}");
    nothing_is_left(&mut desk);
}

#[test]
fn whoever_waits_for_a_browser_that_cannot_be_added_is_told_why() {
    let mut desk = Desk::with(1);
    desk.up.retain(|up| *up != "http://2");
    let meant = meant("http://2");
    desk.ask(CallKind::AddBrowser { meant }, None);
    let refusal = desk.refusal(page(CLICK, Act), Some(2));
    assert!(refusal.contains("nobody answers"), "{refusal}");
    nothing_is_left(&mut desk);
}

#[test]
fn a_browser_that_answers_after_its_addition_was_cancelled_is_let_go_of() {
    let (mut desk, call) = adding();
    let key = BrowserKey("http://2".into());
    let browser = desk.browser("http://2");
    desk.cancel(call);
    let late = desk.answer(browser, &key);
    desk.happen(late);
    assert_eq!(desk.disconnects, 1);
    assert_eq!(desk.core.browsers().count(), 1);
}

impl Desk {
    fn cancel(&mut self, call: CallId) {
        let (session, request) = (ONE, RequestId(call.0.to_string().into()));
        self.happen(Input::Cancel { session, request });
    }
}
