//! A daemon with a listener, and an extension that the test plays.

use futures_util::{SinkExt, StreamExt};
use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tabmux_daemon::extension::Secret;
use tabmux_daemon::listener::{self, Bound, ListenerAccess, PageOrigins};
use tabmux_daemon::{Hub, StateFiles};
use tabmux_protocol::extension::{EXTENSION_ID, Role, proof_text};
use tabmux_protocol::session::{self as wire, ToolMode};
use tabmux_testkit::patiently;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};
use tokio_util::sync::CancellationToken;

/// An agent's session in the browser of an extension, with all tools listed.
pub(crate) fn through_extension() -> wire::SessionOptions {
    wire::SessionOptions {
        browser: wire::BrowserOptions {
            choice: wire::BrowserChoice::Extension { name: None },
            ..wire::BrowserOptions::default()
        },
        tools: ToolMode::Static,
        page_actions: true,
        ..wire::SessionOptions::default()
    }
}

/// A main loop with its own listener and secret.
pub(crate) struct Daemon {
    pub(crate) hub: Arc<Hub>,
    pub(crate) port: u16,
    pub(crate) secret: PathBuf,
    /// The person's rules.
    pub(crate) policy: PathBuf,
    stop: CancellationToken,
    _folder: Option<tempfile::TempDir>,
}

impl Daemon {
    pub(crate) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let policy = folder.path().join("policy.json");
        Self::serve(
            Hub::start_under(policy),
            folder.path().to_owned(),
            Some(folder),
        )
        .await
    }

    /// A shared daemon, which keeps its notes in this folder for the next one.
    pub(crate) async fn start_shared(folder: &Path) -> Self {
        let hub = Hub::start_shared(StateFiles {
            audit: folder.join("audit.jsonl"),
            memory: folder.join("sessions.json"),
            policy: folder.join("policy.json"),
            grace: Duration::from_secs(60),
        });
        Self::serve(hub, folder.to_owned(), None).await
    }

    async fn serve(hub: Hub, place: PathBuf, folder: Option<tempfile::TempDir>) -> Self {
        let (secret, policy) = (place.join("pairing-secret"), place.join("policy.json"));
        let hub = Arc::new(hub);
        let stop = CancellationToken::new();
        let bound = Bound::take(0).await.unwrap();
        let port = bound.port();
        let access = ListenerAccess {
            origins: PageOrigins::default(),
            secret: secret.clone(),
            other_users: false,
        };
        tokio::spawn(listener::serve(
            bound,
            Arc::clone(&hub),
            access,
            stop.clone(),
        ));
        Self {
            hub,
            port,
            secret,
            policy,
            stop,
            _folder: folder,
        }
    }

    pub(crate) fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Opens a websocket with these headers; the status if it is refused.
    pub(crate) async fn dial(&self, host: &str, origin: Option<&str>) -> Result<Extension, u16> {
        let url = format!("ws://127.0.0.1:{}/", self.port);
        let mut request = url.into_client_request().unwrap();
        let headers = request.headers_mut();
        headers.insert("Host", host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert("Origin", origin.parse().unwrap());
        }
        match connect_async(request).await {
            Ok((socket, answer)) => {
                assert!(
                    !answer.headers().contains_key("sec-websocket-extensions"),
                    // Spec: security 10.
                );
                Ok(Extension {
                    socket,
                    host: host.to_owned(),
                    name: String::new(),
                    version: None,
                })
            }
            Err(Error::Http(answer)) => {
                let named = answer.headers().keys().map(|name| name.as_str().to_owned());
                assert!(
                    !named
                        .into_iter()
                        .any(|name| name.starts_with("access-control")),
                    // Spec: security 11.
                );
                Err(answer.status().as_u16())
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// A connection with the headers of our extension, before its proof.
    pub(crate) async fn unproved(&self) -> Extension {
        let origin = format!("chrome-extension://{EXTENSION_ID}");
        self.dial(&self.host(), Some(&origin)).await.ok().unwrap()
    }

    /// Our extension, after its proof.
    pub(crate) async fn extension(&self, instance: &str) -> Extension {
        self.named_extension(instance, "").await
    }

    /// Our extension in a named profile, after its proof.
    pub(crate) async fn named_extension(&self, instance: &str, name: &str) -> Extension {
        let mut extension = self.unproved().await;
        extension.name = name.to_owned();
        let answer = extension.greet(&self.secret(), instance).await;
        assert_eq!(answer, json!({"type": "welcome"}));
        assert_eq!(extension.hear().await, Some(json!({"type": "connect"})));
        extension
    }

    pub(crate) fn secret(&self) -> Secret {
        Secret::load_or_make(&self.secret).unwrap()
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// The test's end of the websocket.
pub(crate) struct Extension {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
    pub(crate) host: String,
    name: String,
    /// The version of its files, if it says it.
    pub(crate) version: Option<&'static str>,
}

impl Extension {
    pub(crate) async fn say(&mut self, message: Value) {
        self.say_raw(&message.to_string()).await;
    }

    pub(crate) async fn say_raw(&mut self, text: &str) {
        // If the connection is closed, the next read shows it.
        let _ = self.socket.send(Message::text(text)).await;
    }

    /// The next message; `None` at the end. Skips keep-alives and overviews.
    pub(crate) async fn hear(&mut self) -> Option<Value> {
        loop {
            match self.hear_all().await {
                Some(message) if message["type"] == "overview" => {}
                other => return other,
            }
        }
    }

    /// The overview, once it matches.
    pub(crate) async fn shown(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message = self.hear_all().await.expect("an overview");
            if message["type"] == "overview" && wanted(&message) {
                return message;
            }
        }
    }

    async fn hear_all(&mut self) -> Option<Value> {
        loop {
            let next = patiently(self.socket.next(), || "a message of the daemon".to_owned()).await;
            let text = match next? {
                Ok(Message::Text(text)) => text,
                Ok(Message::Close(frame)) => {
                    let code = frame.map(|frame| u16::from(frame.code));
                    return Some(json!({"closed": code}));
                }
                Ok(_) => continue,
                Err(_) => return None,
            };
            let message: Value = serde_json::from_str(&text).unwrap();
            if message != json!({"type": "ping"}) {
                return Some(message);
            }
        }
    }

    /// Sends hello and returns the daemon's challenge.
    pub(crate) async fn hello(&mut self, nonce: &str, instance: &str) -> Value {
        let mut hello = json!({"type": "hello", "version": 1, "nonce": nonce, "instance": instance, "name": self.name});
        if let Some(version) = self.version {
            hello["extensionVersion"] = version.into();
        }
        self.say(hello).await;
        self.hear().await.unwrap()
    }

    /// Runs the whole handshake and returns the daemon's answer to the proof.
    pub(crate) async fn greet(&mut self, secret: &Secret, instance: &str) -> Value {
        let nonce = "a1".repeat(32);
        let challenge = self.hello(&nonce, instance).await;
        assert_eq!(challenge["type"], "challenge", "{challenge}");
        let ours = challenge["nonce"].as_str().unwrap();
        let daemon = prove(secret, Role::Daemon, &nonce, ours, &self.host);
        assert_eq!(challenge["proof"], daemon, "the daemon proves itself first");
        let proof = prove(secret, Role::Extension, &nonce, ours, &self.host);
        self.say(json!({"type": "proof", "proof": proof})).await;
        self.hear().await.unwrap()
    }
}

/// Advances the clock. Nothing is received meanwhile, because real sockets use real time.
pub(crate) async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

/// A proof as described in `docs/protocol.md`.
pub(crate) fn prove(secret: &Secret, role: Role, theirs: &str, ours: &str, host: &str) -> String {
    let key = secret.to_hex();
    let key: Vec<u8> = (0..32)
        .map(|i| u8::from_str_radix(&key[2 * i..2 * i + 2], 16).unwrap())
        .collect();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(proof_text(role, theirs, ours, EXTENSION_ID, host).as_bytes());
    let bytes = mac.finalize().into_bytes();
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
