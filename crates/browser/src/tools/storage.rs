//! Web storage: cookies, local and session storage, and a file with all of them.

mod cookies;
mod entries;
mod state;
mod whole;

pub(super) use cookies::Cookies;
pub(super) use entries::{LocalStorage, SessionStorage};
pub(crate) use state::State;
pub(super) use state::{LoadStorage, SaveStorage};

use crate::error::ToolError;
use crate::tab::Tab;
use url::Url;

/// The page's URL, if it came from a web server: other pages have no storage.
fn site(tab: &Tab) -> Result<Url, ToolError> {
    let url = tab.state().frames.main().map(|main| main.url.clone());
    let url = url.and_then(|url| Url::parse(&url).ok());
    url.filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| ToolError::NotActionable {
            why: "This page has no storage: it is not from a web server. Open the site first."
                .into(),
        })
}
