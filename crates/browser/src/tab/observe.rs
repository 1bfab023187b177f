//! How each event of Chrome changes a tab's state. Pure: state and event in, state out.

use super::frames::Shown;
use super::network::{Change, MOST_REQUESTS};
use super::shown_documents::ShownDocument;
use super::state::{Dialog, Gone, Load, NewTab, TabState};
use crate::browser::MOST_NEW_TABS;
use std::collections::VecDeque;
use tabmux_cdp::types::network::LoaderId;
use tabmux_cdp::types::{inspector, page};
use tabmux_cdp::{RawEvent, Session};
use tabmux_text::one_line;

/// Applies an event of `session`; `is_top` if that is the tab's own. Returns whether anything
/// changed.
pub(super) fn apply(
    state: &mut TabState,
    session: &Session,
    is_top: bool,
    event: &RawEvent,
) -> bool {
    if event.method().starts_with("Network.") {
        return apply_network(state, session, event);
    }
    if event.method().starts_with("WebMCP.") {
        return state.registered.apply(session, event);
    }
    if event.method().starts_with("Runtime.") && state.registered.apply(session, event) {
        return true;
    }
    state.console.apply(session, state.epoch, event) || apply_page(state, session, is_top, event)
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
        let (id, loader) = (shown.id.clone(), shown.loader.clone());
        let document = |state: &TabState| state.frames.find(&id).map(|frame| frame.document);
        let before = document(state);
        state.frames.show(shown, session);
        if document(state) != before {
            // Chrome does not report that the tools of the previous document are gone.
            state.registered.leave(session, &id);
        }
        if is_main {
            state.registered.keep_only(&state.frames);
            state.epoch += 1;
            let past = ShownDocument {
                epoch: state.epoch,
                url: event.frame.url.clone(),
                origin: event.frame.security_origin.clone(),
            };
            push(&mut state.documents, past, MOST_ARRIVALS);
            state.network.arrive(&loader, state.epoch);
            let oldest = state.epoch.saturating_sub(KEPT_DOCUMENTS);
            state.network.forget_before(oldest);
            state.console.forget_before(oldest);
            push(&mut state.arrivals, loader, MOST_ARRIVALS);
            // A page from the back/forward cache is complete, and sends no more events.
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
            security_origin: String::new(),
        };
        if state.frames.find(&shown.id).is_none() {
            state.frames.show(shown, session);
        }
    } else if let Some(event) = event.decode::<page::FrameDetached>() {
        // A swapped frame continues in another process, with another session.
        if event.reason.as_str() == "swap" {
            return false;
        }
        state.frames.remove(&event.frame_id);
        state.registered.leave(session, &event.frame_id);
    } else if let Some(event) = event.decode::<page::FrameRequestedNavigation>() {
        let disposition = event.disposition.as_str();
        if disposition == "download" {
            state.downloads_requested += 1;
            return true;
        }
        let in_new_tab = disposition != "currentTab";
        if in_new_tab {
            if state.new_tabs.len() >= MOST_NEW_TABS {
                state.new_tabs.pop_front();
            }
            let (url, told) = (event.url, false);
            state.new_tabs.push_back(NewTab { url, told });
            state.new_tabs_requested += 1;
            return true;
        }
        if !is_top || in_new_tab || !state.frames.is_main(&event.frame_id) {
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
        // Loading also ends here when it was aborted, and then `load` never fires.
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
        state.dialogs_opened += 1;
        state.dialog = Some(Dialog {
            number: state.dialogs_opened,
            kind: event.r#type.to_string(),
            message: one_line(&event.message, 500),
            default: one_line(event.default_prompt.as_deref().unwrap_or_default(), 200),
        });
    } else if event.method() == "Page.javascriptDialogOpening" {
        // The event was too large, but the page still waits for an answer.
        state.dialogs_opened += 1;
        state.dialog = Some(Dialog {
            number: state.dialogs_opened,
            kind: "alert".into(),
            message: "(too large to be kept)".into(),
            default: String::new(),
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

fn apply_network(state: &mut TabState, session: &Session, event: &RawEvent) -> bool {
    match state.network.apply(session, state.epoch, event) {
        Some(Change::Began(number, id)) => {
            if state.network.find(number).is_some_and(|it| it.counts()) {
                state.in_flight.insert(number, id);
            }
            if state.in_flight.len() > MOST_REQUESTS {
                state.in_flight.pop_first();
            }
        }
        Some(Change::Ended(id)) => state.in_flight.retain(|_, running| *running != id),
        Some(Change::Noted) => {}
        None => return false,
    }
    true
}

fn push<T>(queue: &mut VecDeque<T>, item: T, most: usize) {
    if queue.len() >= most {
        queue.pop_front();
    }
    queue.push_back(item);
}

/// Appends an entry, which is used to report the effects of an action; the list is limited.
pub(super) fn keep<T>(list: &mut Vec<T>, item: T) {
    if list.len() < MOST_KEPT {
        list.push(item);
    }
}

/// Console and network are kept for the current document and for so many before it.
const KEPT_DOCUMENTS: u64 = 3;
const MOST_ARRIVALS: usize = 16;
const MOST_KEPT: usize = 1_000;
