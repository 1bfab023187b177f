//! Why a tool failed, each as a sentence with a next step.

use crate::address::AddressError;
use crate::origins::Blocked;
use crate::tab::{Dialog, Gone};
use tabmux_cdp::CdpError;

/// Why a tool failed. The agent reads the text.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ToolError {
    /// The arguments are wrong.
    #[error("{0}")]
    Arguments(String),
    /// The address may not be opened.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The tab shows a page that agents may not use.
    #[error(
        "This tab shows {url}, which is not a web page that tools may touch. Use another tab, or open \
         a new one."
    )]
    ForbiddenPage {
        /// What the tab shows.
        url: String,
    },
    /// The session's policy disallows the page.
    #[error("{0}")]
    Blocked(Blocked),
    /// The page shows a frame that the policy disallows.
    #[error("{what} {blocked}")]
    DisallowedFrame {
        /// What was refused, in a sentence.
        what: &'static str,
        /// The frame's origin and the rule.
        blocked: Blocked,
    },
    /// The tool led to a page that the policy disallows.
    #[error(
        "The tab navigated to a disallowed site while the tool ran, so its result is withheld. {0}"
    )]
    LedToBlocked(Blocked),
    /// The tool tried to navigate to a page that the policy disallows, and was blocked.
    #[error("Blocked: the navigation leads to a disallowed site. {0}")]
    Stopped(Blocked),
    /// The text is not a uid.
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
    /// The element exists but cannot be used; `why` is a whole sentence.
    #[error("{why}")]
    NotActionable {
        /// The obstacle, and what to do.
        why: String,
    },
    /// The document was replaced while the tool ran.
    #[error("The page navigated while the tool ran. Call take_snapshot and try again.")]
    DocumentGone,
    /// A dialog blocks the page.
    #[error("{} Call handle_dialog first.", dialog_open(.0))]
    DialogOpen(Dialog),
    /// The navigation failed.
    #[error("{url} could not be loaded: {reason}.")]
    Navigation {
        /// Its target.
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
    /// A page tool failed; the text is a whole sentence.
    #[error("{0}")]
    PageTool(String),
    /// The page no longer has the tool.
    #[error(
        "The page no longer has this tool: the page removed it, or the tab shows another page now. Call \
         list_page_tools to see the current tools."
    )]
    ToolGone,
    /// The page's own script failed.
    #[error("{}", script_failed(.0))]
    Script(String),
    /// A file could not be read or written; the text is a whole sentence.
    #[error("{0}")]
    File(String),
    /// The page does not respond.
    #[error(
        "The page does not respond: a script on it keeps it busy. Call navigate_page to leave it, \
         or close the tab."
    )]
    Stuck,
    /// The tab is closed or has crashed.
    #[error("{}", gone(*.0))]
    TabGone(Gone),
    /// The connection to the browser is lost.
    #[error("The connection to the browser was lost. Connect again, and repeat the call.")]
    BrowserGone,
    /// Chrome refused a command.
    #[error("Chrome refused {method}: {message}.")]
    Chrome {
        /// The command.
        method: String,
        /// Chrome's error message.
        message: String,
    },
    /// Chrome's response is too large.
    #[error(
        "Chrome's response to {method} has {} MB; the limit is {} MB. Ask for less, for example for a \
         part of it.",
        bytes / 1_000_000,
        tabmux_cdp::MAX_ANSWER / 1_000_000
    )]
    TooLarge {
        /// The command.
        method: String,
        /// How large it is.
        bytes: u64,
    },
    /// A bug in tabmux.
    #[error("Internal tabmux error: {detail}. This is a bug; please report it.")]
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

/// "An alert dialog is open: …"
pub(crate) fn dialog_open(dialog: &Dialog) -> String {
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
