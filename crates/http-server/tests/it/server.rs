//! A running server, at a port of its own, with its own file of tokens.

use crate::backend::{Controls, Opener};
use crate::client::{Answer, Request};
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;
use tabmux_http_server::{Hosts, Probe, ServeOptions, Tls, TokenFile, serve};
use tabmux_mcp::http::TokenLimits;
use tabmux_testkit::{certificate, patiently};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};

pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) controls: Arc<Controls>,
    tokens: TokenFile,
    _folder: tempfile::TempDir,
    _stop: DropGuard,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::start_with(None, None).await
    }

    /// With the certificate of the tests.
    pub(crate) async fn start_with_tls() -> Self {
        let files = ["server.pem", "server.key"].map(certificate);
        Self::start_with(Some(Tls::read(&files[0], &files[1]).unwrap()), None).await
    }

    /// At a daemon that answers this.
    pub(crate) async fn start_at(daemon: Result<String, String>) -> Self {
        let probe = Probe::new(move || std::future::ready(daemon.clone()));
        Self::start_with(None, Some(probe)).await
    }

    async fn start_with(tls: Option<Tls>, probe: Option<Probe>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let tokens = TokenFile::at(folder.path().join("tokens.json"));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let options = ServeOptions {
            tls,
            probe,
            hosts: Hosts::new(port, Vec::new(), vec![APP.to_owned()]),
            tokens: tokens.clone(),
            idle: Duration::from_secs(3600),
        };
        let (controls, stop) = (Controls::new(), CancellationToken::new());
        let opener = Opener(Arc::clone(&controls));
        tokio::spawn(serve(listener, opener, options, stop.clone()));
        Self {
            port,
            controls,
            tokens,
            _folder: folder,
            _stop: stop.drop_guard(),
        }
    }

    /// A new token.
    pub(crate) fn token(&self, name: &str) -> String {
        let limits = TokenLimits::default();
        let name = name.parse().unwrap();
        self.tokens.add(name, None, limits).unwrap()
    }

    /// Others may read the file of the tokens, so it is not trusted.
    pub(crate) fn spoil_tokens(&self) {
        let open = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(self.tokens.path(), open).unwrap();
    }

    pub(crate) fn revoke(&self, name: &str) {
        self.tokens.revoke(&name.parse().unwrap()).unwrap();
    }

    /// A connection on which the request was sent.
    pub(crate) async fn begin(&self, request: &Request) -> TcpStream {
        let text = request.head(self.port, request.body.len()) + &request.body;
        self.begin_with(&text).await
    }

    /// A connection on which this was sent.
    pub(crate) async fn begin_with(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).await.unwrap();
        // A server that refuses a request need not read all of it.
        let _ = stream.write_all(text.as_bytes()).await;
        stream
    }

    pub(crate) async fn send(&self, request: &Request) -> Answer {
        read(self.begin(request).await).await
    }

    /// The id of a session that its client goes on using.
    pub(crate) async fn handshake(&self, token: &str) -> String {
        let id = self.half_handshake(token).await;
        let ready = self.send(&Request::initialized(token, &id)).await;
        assert_eq!(ready.status, 202, "{}", ready.body);
        id
    }

    /// The id of a session whose client has sent nothing more yet.
    pub(crate) async fn half_handshake(&self, token: &str) -> String {
        let answer = self.send(&Request::initialize(token)).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.header("mcp-session-id").unwrap().to_owned()
    }
}

/// The answer on a connection, which ends with it.
pub(crate) async fn read(mut stream: impl AsyncRead + Unpin) -> Answer {
    let mut answer = Vec::new();
    let reading = stream.read_to_end(&mut answer);
    let _ = patiently(reading, || "an answer".to_owned()).await;
    Answer::read(&String::from_utf8_lossy(&answer))
}

/// An origin whose pages may use the server.
pub(crate) const APP: &str = "https://app.example.com";
