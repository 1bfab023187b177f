//! What a site keeps in the browser: cookies, its two storages, and a file that holds them all.

mod cookies;
mod entries;
mod state;

pub(super) use cookies::Cookies;
pub(super) use entries::{LocalStorage, SessionStorage};
pub(crate) use state::State;
pub(super) use state::{LoadStorage, SaveStorage};

use crate::error::ToolError;
use crate::tab::Tab;
use url::Url;

/// The address of the page, if it came from a web server: no other has anything of its own.
fn site(tab: &Tab) -> Result<Url, ToolError> {
    let url = tab.state().frames.main().map(|main| main.url.clone());
    let url = url.and_then(|url| Url::parse(&url).ok());
    url.filter(|url| matches!(url.scheme(), "http" | "https"))
        .ok_or_else(|| ToolError::NotActionable {
            why: "This page keeps nothing: it is not from a web server. Open the site first."
                .into(),
        })
}
