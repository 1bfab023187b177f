//! Replaces the shared tab numbers in a reply by the session's own. The matches have no wildcard, so the
//! compiler asks about every new kind of reply.

use crate::{
    LostBrowser, LostTab, PageNumbers, PageRow, PersonRefusal, Refusal, Reply, RequestedTab, Stuck,
    TabId, TabName, TabRow, ToolRow,
};

impl Reply {
    /// Replaces the shared numbers by the session's own.
    pub(crate) fn renumber(&mut self, own: &mut PageNumbers) {
        match self {
            Self::Tabs { tabs, focused } => rows(tabs, focused, own),
            Self::Pages { pages, selected } => rows(pages, selected, own),
            Self::Opened { tab, .. } | Self::Focused { tab, .. } => tab.id = own.number_for(tab.id),
            Self::Closed { tab, .. } => *tab = own.number_for(*tab),
            Self::BrowserTabs { tabs, .. } => {
                for PageRow { name, .. } in tabs {
                    name.renumber(own);
                }
            }
            Self::PageTools { tools, .. } => {
                // The driver uses the location; only the name is for agents.
                for ToolRow { tab_name, .. } in tools {
                    tab_name.renumber(own);
                }
            }
            // The answer shows the number only if the tab is shared. Otherwise no new number is used up.
            Self::Done { tab, shared } => {
                if *shared || own.of(*tab).is_some() {
                    *tab = own.number_for(*tab);
                }
            }
            Self::Refused(refusal) => refusal.renumber(own),
            Self::Connected { .. }
            | Self::NotConnected(_)
            | Self::Added { .. }
            | Self::Status { .. }
            | Self::Browsers { .. }
            | Self::Browser { .. }
            | Self::Disconnected { .. }
            | Self::Failed { .. }
            | Self::Cancelled => {}
        }
    }
}

impl Refusal {
    fn renumber(&mut self, own: &mut PageNumbers) {
        match self {
            Self::NotFocused { tab, .. }
            | Self::TabHeld { tab, .. }
            | Self::LastPage { tab }
            | Self::TabBusy { tab, .. }
            | Self::Person(PersonRefusal::Given { tab, .. }) => *tab = own.number_for(*tab),
            Self::NoFocus { lost, .. } => {
                if let Some(lost) = lost {
                    lost.renumber(own);
                }
            }
            Self::BindingLost { lost, .. }
            | Self::TabLost { lost, .. }
            | Self::LostBrowser(LostBrowser::Gone { lost, .. }) => lost.renumber(own),
            Self::UnknownTab { available, .. } => names(available, own),
            Self::NoSuchToolThere { tab, available, .. } => {
                if let RequestedTab::Named(name) = tab {
                    name.renumber(own);
                }
                names(available, own);
            }
            Self::TooLate { stuck, .. } => match stuck {
                Stuck::Working(tab) | Stuck::Queueing(tab) => *tab = own.number_for(*tab),
                Stuck::Connecting | Stuck::Opening | Stuck::Settling => {}
            },
            Self::NotConnected { .. }
            | Self::LostBrowser(LostBrowser::Unreachable { .. })
            | Self::NoBrowser { .. }
            | Self::CoolingDown { .. }
            | Self::IndexForbidden
            | Self::IndexRequired { .. }
            | Self::UnknownBrowser { .. }
            | Self::IndexMisplaced { .. }
            | Self::NoBrowserLeft { .. }
            | Self::BrowserKnown { .. }
            | Self::TooManyBrowsers { .. }
            | Self::AlreadyConnected
            | Self::NoTabs { .. }
            | Self::NotOffered { .. }
            | Self::OnlyReads { .. }
            | Self::NotAskedFor { .. }
            | Self::CategoryOff { .. }
            | Self::OtherList { .. }
            | Self::Hidden { .. }
            | Self::UnknownTool { .. }
            | Self::ToolGone { .. }
            | Self::BrowserLost { .. }
            | Self::NotOpened { .. }
            | Self::SessionBusy { .. }
            | Self::RequestInUse
            | Self::Person(PersonRefusal::Paused { .. })
            | Self::NoSession
            | Self::TooManySessions { .. } => {}
        }
    }
}

impl LostTab {
    fn renumber(&mut self, own: &mut PageNumbers) {
        self.tab = own.number_for(self.tab);
    }
}

impl TabName {
    fn renumber(&mut self, own: &mut PageNumbers) {
        if let Self::Number(tab) = self {
            *tab = own.number_for(*tab);
        }
    }
}

fn rows(rows: &mut [TabRow], bound: &mut Option<TabId>, own: &mut PageNumbers) {
    for row in &mut *rows {
        row.id = own.number_for(row.id);
    }
    rows.sort_by_key(|row| row.id);
    if let Some(bound) = bound {
        *bound = own.number_for(*bound);
    }
}

fn names(names: &mut [TabName], own: &mut PageNumbers) {
    for name in &mut *names {
        name.renumber(own);
    }
    names.sort_by_key(|name| match name {
        TabName::Number(tab) => Some(*tab),
        TabName::Page(_) => None,
    });
}
