//! Asks the client which folders it works in: its roots.

use crate::session::Session;
use rmcp::{
    Peer, RoleServer,
    model::{ClientCapabilities, ServerRequest},
    service::PeerRequestOptions,
};
use serde::Deserialize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tabmux_protocol::Backend;
use tabmux_protocol::session::{LONGEST_ROOT, MOST_ROOTS};
use tokio::sync::watch;

/// What is known of a client's roots.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    /// Whether the client has said that it has some, and not yet which.
    awaited: watch::Sender<bool>,
    is_asking: AtomicBool,
    has_changed: AtomicBool,
}

impl Roots {
    /// The client said what it can do.
    pub(crate) fn hear(&self, capabilities: &ClientCapabilities) {
        self.awaited.send_replace(capabilities.roots.is_some());
    }

    /// Waits until roots that the client has are known, or it has had time to tell them.
    pub(crate) async fn settled(&self) {
        let mut awaited = self.awaited.subscribe();
        let told = awaited.wait_for(|awaited| !awaited);
        if tokio::time::timeout(PATIENCE_OF_LISTS, told).await.is_err() {
            self.awaited.send_replace(false);
        }
    }
}

/// Asks the client for its roots, if it has any, and tells the backend. However often it says that
/// they have changed, one question at a time is asked.
pub(crate) async fn learn<B: Backend>(session: &Session<B>, client: &Peer<RoleServer>) {
    let has_roots = client
        .peer_info()
        .is_some_and(|info| info.capabilities.roots.is_some());
    if !has_roots {
        return;
    }
    let roots = &session.roots;
    roots.has_changed.store(true, Ordering::SeqCst);
    while roots.has_changed.load(Ordering::SeqCst) && !roots.is_asking.swap(true, Ordering::SeqCst)
    {
        roots.has_changed.store(false, Ordering::SeqCst);
        if let Some(folders) = ask(client).await {
            session.backend.works_in(folders).await;
        }
        roots.awaited.send_replace(false);
        roots.is_asking.store(false, Ordering::SeqCst);
    }
}

/// `None` if the client does not say.
async fn ask(client: &Peer<RoleServer>) -> Option<Vec<PathBuf>> {
    let question = ServerRequest::ListRootsRequest(Default::default());
    let mut options = PeerRequestOptions::no_options();
    options.timeout = Some(PATIENCE);
    let handle = client.send_cancellable_request(question, options).await;
    let answer = handle.ok()?.await_response().await.ok()?;
    let answer = serde_json::to_value(answer).ok()?;
    let answer: Answer = serde_json::from_value(answer).ok()?;
    let uris = answer.roots.iter().take(MOST_ROOTS);
    let folders = uris.filter_map(|root| folder(&root.uri));
    Some(folders.collect())
}

#[derive(Deserialize)]
struct Answer {
    roots: Vec<Root>,
}

#[derive(Deserialize)]
struct Root {
    uri: String,
}

/// The folder of a `file:` URI on this machine.
fn folder(uri: &str) -> Option<PathBuf> {
    let place = uri.get(..7).filter(|it| it.eq_ignore_ascii_case("file://"));
    let place = place.and_then(|_| uri.get(7..))?;
    let place = place.strip_prefix("localhost").unwrap_or(place);
    let is_place = place.starts_with('/') && place.len() <= LONGEST_ROOT;
    let place = is_place.then_some(place)?.split(['?', '#']).next()?;
    let folder = PathBuf::from(unescaped(place)?);
    folder.canonicalize().ok().filter(|folder| folder.is_dir())
}

/// A path as it is, out of a path as URIs have it. `None` if it is no text.
/// By hand: every client has a process of ours in memory, and the crate `url` would bring tables of
/// all the world's host names into it, for paths of this machine.
fn unescaped(path: &str) -> Option<String> {
    let mut bytes = path.bytes();
    let mut plain = Vec::with_capacity(path.len());
    while let Some(byte) = bytes.next() {
        plain.push(match byte {
            b'%' => {
                let digits = [bytes.next()?, bytes.next()?];
                let digits = std::str::from_utf8(&digits).ok()?;
                let are_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                u8::from_str_radix(digits, 16).ok().filter(|_| are_digits)?
            }
            byte => byte,
        });
    }
    String::from_utf8(plain)
        .ok()
        .filter(|path| !path.contains('\0'))
}

const PATIENCE: Duration = Duration::from_secs(10);
/// How long a client that has roots may keep its own list waiting.
const PATIENCE_OF_LISTS: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_this_machine_are_roots_and_nothing_else_is() {
        let temporary = std::env::temp_dir().canonicalize().unwrap();
        let place = temporary.display().to_string();
        let first = place.chars().nth(1).unwrap();
        let escaped = place.replacen(first, &format!("%{:02x}", u32::from(first)), 1);
        for uri in [
            format!("file://{place}"),
            format!("file://localhost{place}/"),
            format!("FILE://{escaped}"),
            format!("file://{place}/../{place}"),
        ] {
            assert_eq!(folder(&uri), Some(temporary.clone()), "{uri}");
        }
        let long = format!("file:///{}", "a/../".repeat(LONGEST_ROOT));
        for uri in [
            "",
            "file:",
            "file://",
            "file://host/tmp",
            "https://example.com/tmp",
            "file:///no/such/folder",
            "file:///dev/null",
            "file:///tmp%",
            "file:///tmp%0",
            "file:///tmp%+1",
            "file:///tmp%00",
            "file:///tmp%ff",
            "fileé://x",
            &long,
        ] {
            assert_eq!(folder(uri), None, "{uri}");
        }
    }
}
