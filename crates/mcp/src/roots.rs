//! Asks the client for its roots: the folders that it works in.

use crate::connection::Connection;
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

/// The state of asking a client for its roots.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    /// Whether the client has roots that it has not sent yet.
    awaited: watch::Sender<bool>,
    is_asking: AtomicBool,
    has_changed: AtomicBool,
}

impl Roots {
    /// Takes the capabilities of the handshake.
    pub(crate) fn set_capabilities(&self, capabilities: &ClientCapabilities) {
        self.awaited.send_replace(capabilities.roots.is_some());
    }

    /// Waits until the client's roots are known, for a limited time.
    pub(crate) async fn known(&self) {
        let mut awaited = self.awaited.subscribe();
        let known = awaited.wait_for(|awaited| !awaited);
        if tokio::time::timeout(LIST_TIMEOUT, known).await.is_err() {
            self.awaited.send_replace(false);
        }
    }
}

/// Asks the client for its roots, if it has any, and passes them to the backend. At most one request
/// is open at a time, however often the client reports a change.
pub(crate) async fn update<B: Backend>(connection: &Connection<B>, client: &Peer<RoleServer>) {
    let has_roots = client
        .peer_info()
        .is_some_and(|info| info.capabilities.roots.is_some());
    if !has_roots {
        return;
    }
    let roots = &connection.roots;
    roots.has_changed.store(true, Ordering::SeqCst);
    while roots.has_changed.load(Ordering::SeqCst) && !roots.is_asking.swap(true, Ordering::SeqCst)
    {
        roots.has_changed.store(false, Ordering::SeqCst);
        if let Some(folders) = ask(client).await {
            connection.backend.works_in(folders).await;
        }
        roots.awaited.send_replace(false);
        roots.is_asking.store(false, Ordering::SeqCst);
    }
}

/// `None` if the client does not answer.
async fn ask(client: &Peer<RoleServer>) -> Option<Vec<PathBuf>> {
    let question = ServerRequest::ListRootsRequest(Default::default());
    let mut options = PeerRequestOptions::no_options();
    options.timeout = Some(ANSWER_TIMEOUT);
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
    let path = uri.get(..7).filter(|it| it.eq_ignore_ascii_case("file://"));
    let path = path.and_then(|_| uri.get(7..))?;
    let path = path.strip_prefix("localhost").unwrap_or(path);
    let is_path = path.starts_with('/') && path.len() <= LONGEST_ROOT;
    let path = is_path.then_some(path)?.split(['?', '#']).next()?;
    let folder = PathBuf::from(unescaped(path)?);
    folder.canonicalize().ok().filter(|folder| folder.is_dir())
}

/// Decodes the percent signs of a URI's path. `None` if the result is not text.
/// By hand: every client has a process of ours in memory, and the crate `url` would add large tables
/// for host names.
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

const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the tool list waits for a client's roots.
const LIST_TIMEOUT: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_this_machine_are_roots_and_nothing_else_is() {
        let temporary = std::env::temp_dir().canonicalize().unwrap();
        let path = temporary.display().to_string();
        let first = path.chars().nth(1).unwrap();
        let escaped = path.replacen(first, &format!("%{:02x}", u32::from(first)), 1);
        for uri in [
            format!("file://{path}"),
            format!("file://localhost{path}/"),
            format!("FILE://{escaped}"),
            format!("file://{path}/../{path}"),
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
