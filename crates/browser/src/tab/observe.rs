//! What each event of Chrome changes in a tab's state. Pure: state and event in, state out.

use super::frames::Shown;
use super::state::{ConsoleMessage, Dialog, Gone, Load, NetworkRequest, TabState};
use crate::text::{one_line, shorten};
use std::collections::VecDeque;
use tabmux_cdp::types::network::{LoaderId, RequestId};
use tabmux_cdp::types::{inspector, log, network, page, runtime};
use tabmux_cdp::{RawEvent, Session};

/// Applies an event that came over `session`; `is_top` if that is the tab's own.
/// Says whether anything changed.
pub(super) fn apply(
    state: &mut TabState,
    session: &Session,
    is_top: bool,
    event: &RawEvent,
) -> bool {
    apply_page(state, session, is_top, event)
        || apply_network(state, event)
        || apply_console(state, event)
}

fn apply_page(state: &mut TabState, session: &Session, is_top: bool, event: &RawEvent) -> bool {
    if let Some(event) = event.decode::<page::FrameNavigated>() {
        let shown = Shown::from(&event.frame);
        let shown = Shown {
            parent: shown
                .parent
                .or_else(|| state.frames.find(&shown.id)?.parent.clone()),
            ..shown
        };
        let is_main = is_top && shown.parent.is_none();
        let loader = shown.loader.clone();
        state.frames.show(shown, session);
        if is_main {
            push(&mut state.arrivals, loader, MOST_ARRIVALS);
            // What comes back from the cache is whole, and tells nothing more.
            let restored = event.r#type == page::NavigationType::BACK_FORWARD_CACHE_RESTORE;
            state.load = if restored {
                Load::Complete
            } else {
                Load::Loading
            };
            state.navigating = false;
            state.in_flight.clear();
        }
    } else if let Some(event) = event.decode::<page::FrameAttached>() {
        let shown = Shown {
            id: event.frame_id,
            parent: Some(event.parent_frame_id),
            loader: LoaderId::default(),
            url: String::new(),
        };
        if state.frames.find(&shown.id).is_none() {
            state.frames.show(shown, session);
        }
    } else if let Some(event) = event.decode::<page::FrameDetached>() {
        // A swapped frame lives on in another process, over another session.
        if event.reason.as_str() == "swap" {
            return false;
        }
        state.frames.remove(&event.frame_id);
    } else if let Some(event) = event.decode::<page::FrameRequestedNavigation>() {
        let elsewhere = event.disposition.as_str() != "currentTab";
        if !is_top || elsewhere || !state.frames.is_main(&event.frame_id) {
            return false;
        }
        state.navigations_requested += 1;
    } else if let Some(event) = event.decode::<page::FrameStartedNavigating>() {
        let within = event
            .navigation_type
            .as_str()
            .to_ascii_lowercase()
            .contains("samedocument");
        if !is_top || within || !state.frames.is_main(&event.frame_id) {
            return false;
        }
        state.navigations_begun += 1;
        state.navigating = true;
    } else if let Some(event) = event.decode::<page::FrameStoppedLoading>() {
        if !is_top || !state.frames.is_main(&event.frame_id) {
            return false;
        }
        // Loading ends here also when it was aborted, and `load` never fires then.
        state.navigating = false;
        state.load = Load::Complete;
    } else if let Some(event) = event.decode::<page::NavigatedWithinDocument>() {
        if is_top && state.frames.is_main(&event.frame_id) {
            state.moves_within += 1;
        }
        state.frames.move_within(&event.frame_id, event.url);
    } else if event.method() == "Page.domContentEventFired" && is_top {
        state.load = state.load.max(Load::Interactive);
    } else if event.method() == "Page.loadEventFired" && is_top {
        state.load = Load::Complete;
    } else if let Some(event) = event.decode::<page::JavascriptDialogOpening>() {
        state.dialog = Some(Dialog {
            kind: event.r#type.to_string(),
            message: one_line(&event.message, 500),
            default: one_line(event.default_prompt.as_deref().unwrap_or_default(), 200),
        });
    } else if event.method() == "Page.javascriptDialogClosed" {
        state.dialog = None;
    } else if event.decode::<inspector::TargetCrashed>().is_some() && is_top {
        state.gone = Some(Gone::Crashed);
    } else {
        return false;
    }
    true
}

fn apply_network(state: &mut TabState, event: &RawEvent) -> bool {
    if let Some(event) = event.decode::<network::RequestWillBeSent>() {
        let kind = event
            .r#type
            .map(|kind| kind.to_string())
            .unwrap_or_default();
        // A redirect is the same request, sent on.
        if event.redirect_response.is_none() && counts(&kind) {
            state
                .in_flight
                .insert(state.requests_begun, event.request_id.clone());
        }
        state.requests_begun += 1;
        if state.in_flight.len() > MOST_REQUESTS {
            state.in_flight.pop_first();
        }
        let request = NetworkRequest {
            id: event.request_id,
            method: event.request.method,
            url: shorten(&event.request.url, 2_000),
            kind,
            status: None,
            failure: None,
            ended: false,
        };
        push(&mut state.requests, request, MOST_REQUESTS);
    } else if let Some(event) = event.decode::<network::ResponseReceived>() {
        with_request(state, &event.request_id, |request| {
            request.status = Some(event.response.status)
        });
    } else if let Some(event) = event.decode::<network::LoadingFinished>() {
        end_request(state, &event.request_id, None);
    } else if let Some(event) = event.decode::<network::LoadingFailed>() {
        end_request(state, &event.request_id, Some(event.error_text));
    } else {
        return false;
    }
    true
}

fn apply_console(state: &mut TabState, event: &RawEvent) -> bool {
    let (kind, text) = if let Some(event) = event.decode::<runtime::ConsoleAPICalled>() {
        let words: Vec<_> = event.args.iter().map(console_word).collect();
        (event.r#type.to_string(), words.join(" "))
    } else if let Some(event) = event.decode::<runtime::ExceptionThrown>() {
        (
            "exception".into(),
            crate::script::describe(&event.exception_details),
        )
    } else if let Some(event) = event.decode::<log::EntryAdded>() {
        (event.entry.level.to_string(), event.entry.text)
    } else {
        return false;
    };
    let document = state.frames.main().map(|main| main.document);
    let message = ConsoleMessage {
        kind,
        text: shorten(&text, 2_000),
        document,
    };
    push(&mut state.console, message, MOST_MESSAGES);
    true
}

fn console_word(value: &runtime::RemoteObject) -> String {
    match (&value.value, &value.description) {
        (Some(value), _) => value.decode().unwrap_or_else(|_| value.as_str().to_owned()),
        (None, Some(description)) => description.clone(),
        (None, None) => value.r#type.to_string(),
    }
}

/// Requests whose end a person would wait for. Streams and beacons never end in this sense.
fn counts(kind: &str) -> bool {
    matches!(kind, "Document" | "Stylesheet" | "Script" | "XHR" | "Fetch")
}

fn with_request(state: &mut TabState, id: &RequestId, change: impl FnOnce(&mut NetworkRequest)) {
    if let Some(request) = state
        .requests
        .iter_mut()
        .rev()
        .find(|request| request.id == *id)
    {
        change(request);
    }
}

fn end_request(state: &mut TabState, id: &RequestId, failure: Option<String>) {
    state.in_flight.retain(|_, running| running != id);
    with_request(state, id, |request| {
        request.ended = true;
        request.failure = failure;
    });
}

fn push<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() >= most {
        queue.pop_front();
    }
    queue.push_back(item);
}

/// Keeps what a tab did, for those who ask what an action caused; bounded.
pub(super) fn keep<T>(list: &mut Vec<T>, item: T) {
    if list.len() < MOST_KEPT {
        list.push(item);
    }
}

const MOST_REQUESTS: usize = 1_000;
const MOST_MESSAGES: usize = 1_000;
const MOST_ARRIVALS: usize = 16;
const MOST_KEPT: usize = 1_000;
