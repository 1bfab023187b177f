//! What can go wrong while a tool runs, each as a sentence with a next step.

use crate::address::AddressError;
use crate::origins::Blocked;
use crate::tab::{Dialog, Gone};
use tabmux_cdp::CdpError;

/// Why a tool did not do what it was asked. The agent reads the text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ToolError {
    /// The arguments make no sense together.
    #[error("{0}")]
    Arguments(String),
    /// The address may not be opened.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The tab shows a page that agents may not touch.
    #[error(
        "This tab shows {url}, which is not a web page that tools may touch. Use another tab, or open \
         a new one."
    )]
    ForbiddenPage {
        /// What the tab shows.
        url: String,
    },
    /// The policy of the session does not permit the page.
    #[error("{0}")]
    Blocked(Blocked),
    /// The page shows a frame that the policy does not permit.
    #[error("{what} {blocked}")]
    UnseenFrame {
        /// What was refused, in a sentence.
        what: &'static str,
        /// Whose frame it is.
        blocked: Blocked,
    },
    /// The tool led to a page that the policy does not permit.
    #[error("The tab went elsewhere while the tool ran, and nothing is told of that. {0}")]
    LedToBlocked(Blocked),
    /// The tool wanted to go to a page that the policy does not permit, and was stopped.
    #[error("The way there leads elsewhere, and was stopped. {0}")]
    Stopped(Blocked),
    /// The text is no uid.
    #[error("`{uid}` is not a uid. Use one from take_snapshot or find, such as 3_14.")]
    NotAUid {
        /// What was given.
        uid: String,
    },
    /// The uid is from a document that is no longer shown.
    #[error(
        "uid {uid} is from a page that is no longer shown. Call take_snapshot for the present page."
    )]
    StaleUid {
        /// The uid.
        uid: String,
    },
    /// The element has been removed.
    #[error(
        "The element {uid} is no longer on the page. Call take_snapshot to see what is there now."
    )]
    ElementGone {
        /// Its uid.
        uid: String,
    },
    /// The element is there but cannot be acted upon; `why` is a whole sentence.
    #[error("{why}")]
    NotActionable {
        /// What is in the way, and what to do.
        why: String,
    },
    /// The document went away under the tool.
    #[error("The page navigated while the tool ran. Call take_snapshot and try again.")]
    DocumentGone,
    /// A dialog blocks the page.
    #[error("{} Call handle_dialog first.", dialog_open(.0))]
    DialogOpen(Dialog),
    /// The navigation did not succeed.
    #[error("{url} could not be loaded: {reason}.")]
    Navigation {
        /// Where it should have gone.
        url: String,
        /// What Chrome says, and what to do.
        reason: String,
    },
    /// Something did not happen in time.
    #[error("{what} did not happen within {millis} ms. {next}")]
    TimedOut {
        /// What was waited for.
        what: String,
        /// How long.
        millis: u128,
        /// What to do.
        next: String,
    },
    /// A tool of the page did not do what it was asked; the text is a whole sentence.
    #[error("{0}")]
    PageTool(String),
    /// The page no longer has the tool.
    #[error(
        "The page no longer has this tool: it took it back, or the tab shows another page now. Call \
         list_page_tools to see what is there."
    )]
    ToolGone,
    /// The page's own script failed.
    #[error("{}", script_failed(.0))]
    Script(String),
    /// A file could not be read or written; the text is a whole sentence.
    #[error("{0}")]
    File(String),
    /// The page does not answer.
    #[error(
        "The page does not respond: a script on it keeps it busy. Call navigate_page to leave it, \
         or close the tab."
    )]
    Stuck,
    /// The tab is no more.
    #[error("{}", gone(*.0))]
    TabGone(Gone),
    /// The browser is no more.
    #[error("The connection to the browser was lost. Connect again, and repeat the call.")]
    BrowserGone,
    /// Chrome refused a command.
    #[error("Chrome refused {method}: {message}.")]
    Chrome {
        /// The command.
        method: String,
        /// What Chrome says.
        message: String,
    },
    /// Chrome's answer is too large.
    #[error(
        "Chrome's answer to {method} has {} MB, and at most {} MB are taken, so it was given up. Ask for \
         less, for example for a part of it.",
        bytes / 1_000_000,
        tabmux_cdp::MAX_ANSWER / 1_000_000
    )]
    TooLarge {
        /// The command.
        method: String,
        /// How large it is.
        bytes: u64,
    },
    /// Our own fault.
    #[error("tabmux failed inside: {detail}. This is a bug; please report it.")]
    Internal {
        /// What went wrong.
        detail: String,
    },
}

impl From<CdpError> for ToolError {
    fn from(error: CdpError) -> Self {
        match error {
            CdpError::Rejected {
                method, message, ..
            } => Self::Chrome {
                method,
                message: message.trim_end_matches('.').to_owned(),
            },
            CdpError::Disconnected { .. } => Self::BrowserGone,
            CdpError::Detached { .. } => Self::TabGone(Gone::Closed),
            CdpError::TimedOut { .. } => Self::Stuck,
            CdpError::TooLarge { method, bytes } => Self::TooLarge { method, bytes },
            CdpError::Overloaded { .. } => Self::Internal {
                detail: error.to_string(),
            },
            CdpError::Malformed { .. } => Self::Internal {
                detail: error.to_string(),
            },
        }
    }
}

/// "An alert dialog is open: …", for whoever meets it.
pub fn dialog_open(dialog: &Dialog) -> String {
    let article = if dialog.kind == "alert" { "An" } else { "A" };
    let default = match dialog.default.as_str() {
        "" => String::new(),
        text => format!(" (it offers \"{text}\")"),
    };
    format!(
        "{article} {} dialog is open: \"{}\"{default}.",
        dialog.kind, dialog.message
    )
}

fn script_failed(why: &str) -> String {
    let stop = if why.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    let next = match why.starts_with("SyntaxError") {
        true => "Give a whole function, such as () => document.title.",
        false => "Correct it and try again; take_snapshot shows what the page has.",
    };
    format!("The script failed: {why}{stop} {next}")
}

fn gone(how: Gone) -> &'static str {
    match how {
        Gone::Closed => "The tab was closed. The list of tabs shows what is open.",
        Gone::Crashed => "The tab crashed. Open the page again in another tab.",
    }
}
