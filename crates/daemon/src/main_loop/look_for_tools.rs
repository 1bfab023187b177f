//! Which tabs are inspected for page tools, and when.

use super::OpenSessions;
use crate::browsers::Browsers;
use tabmux_browser::Browser;
use tabmux_core::{BrowserId, Core, SessionId, TabRef, TargetId};

/// How many generated tools the holders of a tab want, if any.
pub(super) fn generated_for_holders(
    core: &Core,
    sessions: &OpenSessions,
    browser: BrowserId,
    target: &TargetId,
) -> Option<usize> {
    let mut tabs = core.tabs();
    let tab = tabs.find(|tab| tab.browser == browser && tab.target == target)?;
    let holders = tab.owner.into_iter().chain(tab.bound.iter().copied());
    holders
        .filter_map(|holder| sessions.generated_in_list_of(holder))
        .max()
}

/// The tabs of a launched browser that a session could focus. Tabs of other browsers are not inspected before a
/// session works in them, unless they were opened for this session.
pub(super) fn free_tabs(core: &Core, session: SessionId, browser: BrowserId) -> Vec<TargetId> {
    let launched = is_launched(core, browser);
    let tabs = core.tabs().filter(|tab| tab.browser == browser);
    let free = tabs.filter(|tab| match tab.holder {
        Some(holder) => holder == session,
        None => launched || tab.owner == Some(session),
    });
    free.map(|tab| tab.target.clone())
        .take(MOST_LOOKED_INTO)
        .collect()
}

fn is_launched(core: &Core, id: BrowserId) -> bool {
    let mut browsers = core.browsers();
    let about = browsers.find(|browser| browser.id == id);
    about.is_none_or(|browser| browser.about.is_some_and(|about| about.launched))
}

/// The tabs to inspect before `list_page_tools` answers: in browsers that tabmux did not launch, a tab is attached
/// when a session works in it, or here. `named` is the tab that the call names.
pub(super) fn tabs_to_inspect(
    session: SessionId,
    named: Option<&TabRef>,
    core: &Core,
    sessions: &OpenSessions,
    browsers: &Browsers,
) -> Vec<(Browser, TargetId)> {
    let generate = sessions.generated_for(session);
    let free = |holder: Option<SessionId>| holder.is_none_or(|holder| holder == session);
    let only = named.map(|tab| core.tab_by_ref(session, tab));
    let tabs = core.tabs().filter(|tab| {
        let is_named = only.is_none_or(|only| only == Some(tab.id));
        is_named && free(tab.holder) && (generate.is_some() || !is_launched(core, tab.browser))
    });
    let tabs = tabs.filter_map(|tab| {
        let browser = browsers.get(tab.browser)?.clone();
        // Inspecting a person's tab attaches to it, so a session must have named it or hold it.
        let may = !browser.is_personal() || named.is_some() || tab.holder == Some(session);
        may.then(|| (browser, tab.target.clone()))
    });
    tabs.take(MOST_LOOKED_INTO).collect()
}

const MOST_LOOKED_INTO: usize = 50;
