//! What a person wants, as their extension says it.

use tabmux_protocol::extension::{FromExtension, SiteRule};

/// What a person wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    Pause {
        /// Whether they said so on an earlier connection.
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
    /// To see this tab. Whoever follows the user comes along.
    See {
        tab: u32,
    },
    /// An agent follows them from now on, or does not.
    Follow {
        session: String,
        follows: bool,
        front: Option<u32>,
    },
    /// To be asked there.
    CanAsk,
    /// To have answered a question.
    Answer {
        question: String,
        allowed: bool,
    },
    /// Another rule about a site.
    Rule {
        origin: String,
        rule: SiteRule,
    },
    /// To know what their rules say about a site.
    Judge {
        origin: String,
    },
    PrivateWindows {
        allowed: bool,
    },
    /// That nothing is left over: their extension opened these tabs and does not know whether anybody knows.
    Tidy {
        tabs: Vec<u32>,
    },
}

impl Wish {
    /// What is wished by a message, if anything is.
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

/// Chrome's word for "Cancel" in the bar that says that a tab is being debugged.
const CANCELLED: &str = "canceled_by_user";
