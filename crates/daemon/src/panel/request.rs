//! Requests of a person, as their extension sends them.

use tabmux_protocol::extension::{FromExtension, SiteRule};

/// A request of a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PersonRequest {
    Pause {
        /// Whether this repeats a request of an earlier connection.
        again: bool,
    },
    Resume,
    TakeBack {
        tab: u32,
    },
    Give {
        tab: u32,
        session: String,
    },
    /// Switch to this tab. Agents that follow the user switch, too.
    See {
        tab: u32,
    },
    /// Make an agent follow the user, or stop following.
    Follow {
        session: String,
        follows: bool,
        front: Option<u32>,
    },
    /// Questions can be shown in this side panel.
    CanAsk,
    /// Answer a question.
    Answer {
        question: String,
        allowed: bool,
    },
    /// Change the rule about a site.
    Rule {
        origin: String,
        rule: SiteRule,
    },
    /// Report what the rules say about a site.
    Judge {
        origin: String,
    },
    PrivateWindows {
        allowed: bool,
    },
    /// Close tabs that the extension opened and that the daemon may not know.
    Tidy {
        tabs: Vec<u32>,
    },
}

impl PersonRequest {
    /// The request in a message, if there is one.
    pub(crate) fn in_message(message: &FromExtension) -> Option<Self> {
        Some(match message {
            FromExtension::Pause { again } => Self::Pause {
                again: *again == Some(true),
            },
            FromExtension::Resume => Self::Resume,
            FromExtension::TakeBack { tab_id } => Self::TakeBack { tab: *tab_id },
            FromExtension::Give { tab_id, session } => Self::Give {
                tab: *tab_id,
                session: session.clone(),
            },
            FromExtension::TabFocused { tab_id, .. } => Self::See { tab: *tab_id },
            FromExtension::Detached { tab_id, reason } if reason == CANCELLED => {
                Self::TakeBack { tab: *tab_id }
            }
            FromExtension::Follow {
                session,
                follows,
                tab_id,
            } => Self::Follow {
                session: session.clone(),
                follows: *follows,
                front: *tab_id,
            },
            FromExtension::CanAsk => Self::CanAsk,
            FromExtension::Answer { question, allowed } => Self::Answer {
                question: question.clone(),
                allowed: *allowed,
            },
            FromExtension::Rule { origin, rule } => Self::Rule {
                origin: origin.clone(),
                rule: *rule,
            },
            FromExtension::Site { origin } => Self::Judge {
                origin: origin.clone(),
            },
            FromExtension::PrivateWindows { allowed } => Self::PrivateWindows { allowed: *allowed },
            FromExtension::LeftTabs { tab_ids } => Self::Tidy {
                tabs: tab_ids.clone(),
            },
            _ => return None,
        })
    }
}

/// Chrome's reason for "Cancel" in its debugging bar.
const CANCELLED: &str = "canceled_by_user";
