//! What a failed write tells about the server that has refused us.

use super::*;
use crate::dial::{DialError, TlsOptions, tls};
use tabmux_testkit::{TlsProxy, certificate};
use tokio::io::{AsyncWriteExt, Interest};
use url::Url;

/// A connection that the server has already ended, because it knows no certificate of the client.
pub(in crate::dial) async fn ended_by_the_server() -> TlsStream {
    // Nothing listens behind the server, and nobody gets that far.
    let server = TlsProxy::start_for_known_clients(1);
    let url = Url::parse(&format!("https://localhost:{}", server.port())).expect("an address");
    let trusting = TlsOptions {
        ca_files: vec![certificate("authority.pem")],
        ..TlsOptions::default()
    };
    let stream = crate::dial::connect(&url).await.expect("a connection");
    let stream = tls::handshake(&url, &trusting, stream).await;
    let stream = stream.expect("the client's side of the handshake succeeds");
    while !is_ended(&stream).await {
        tokio::task::yield_now().await;
    }
    TlsStream::new(stream)
}

async fn is_ended(stream: &client::TlsStream<TcpStream>) -> bool {
    let ready = stream.get_ref().0.ready(Interest::READABLE).await;
    ready.expect("a socket").is_read_closed()
}

#[tokio::test]
async fn a_write_to_a_server_that_has_refused_us_fails_with_its_reason() {
    let mut stream = ended_by_the_server().await;
    // The first writes succeed, until the other side's system has answered that nobody listens.
    let error = loop {
        let written = async {
            stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await?;
            stream.flush().await
        };
        if let Err(error) = written.await {
            break error;
        }
        tokio::task::yield_now().await;
    };
    let error = DialError::in_text(&error.to_string()).expect("an alert");
    let sentence = error.sentence("https://localhost");
    assert!(
        sentence.starts_with("https://localhost wants a client certificate"),
        "{sentence}"
    );
}
