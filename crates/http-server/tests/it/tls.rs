//! Clients that speak TLS, and those that should.

use crate::client::Request;
use crate::server::{Server, read};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use serde_json::json;
use std::sync::Arc;
use tabmux_testkit::{certificate, patiently};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// A connection to the server, whose certificate is checked.
async fn connect(server: &Server) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(certificate("authority.pem")).unwrap();
    roots.add(authority).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let connector = TlsConnector::from(Arc::new(config));
    let stream = TcpStream::connect(("127.0.0.1", server.port))
        .await
        .unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let connecting = connector.connect(name, stream);
    patiently(connecting, || "TLS".to_owned()).await.unwrap()
}

#[tokio::test]
async fn clients_are_served_over_tls() {
    let server = Server::start_with_tls().await;
    let token = server.token("ci");
    for (token, status) in [(&*token, 200), ("wrong", 401)] {
        let call = Request::call_alone(token, "repeat", json!({"text": "hi"}));
        let mut stream = connect(&server).await;
        let text = call.head(server.port, call.body.len()) + &call.body;
        stream.write_all(text.as_bytes()).await.unwrap();
        let answer = read(stream).await;
        assert_eq!(answer.status, status, "{answer:?}");
    }
}

#[tokio::test]
async fn a_client_that_speaks_plain_http_is_told_to_use_tls() {
    let server = Server::start_with_tls().await;
    let plain = server.send(&Request::initialize("any")).await;
    assert_eq!(plain.status, 400, "{plain:?}");
    assert!(plain.body.contains("use https://"), "{plain:?}");
}

#[tokio::test]
async fn connections_without_a_tls_handshake_do_not_keep_clients_out() {
    let server = Server::start_with_tls().await;
    let mut silent = Vec::new();
    for number in 0..200 {
        let stream = TcpStream::connect(("127.0.0.1", server.port)).await;
        let mut stream = stream.unwrap();
        if number % 2 == 0 {
            // The beginning of a handshake.
            stream.write_all(&[0x16, 3, 1]).await.unwrap();
        }
        silent.push(stream);
    }
    connect(&server).await;
    let ended = async { silent[0].read(&mut [0]).await };
    let ended = patiently(ended, || "the oldest connection is still open".into()).await;
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
}

#[tokio::test(start_paused = true)]
async fn a_tls_handshake_has_a_deadline() {
    let server = Server::start_with_tls().await;
    let mut silent = TcpStream::connect(("127.0.0.1", server.port))
        .await
        .unwrap();
    let ended = async { silent.read(&mut [0]).await };
    let ended = patiently(ended, || "the connection is still open".into()).await;
    assert!(matches!(ended, Ok(0) | Err(_)), "{ended:?}");
}
