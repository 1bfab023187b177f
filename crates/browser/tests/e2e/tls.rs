//! Browsers behind TLS: a server with a certificate of the test authority in front of a real one.

use std::net::TcpListener;
use tabmux_browser::{
    Browser, Connected, OutputRoot, RemoteAddress, Source, TabSettings, TlsOptions,
};
use tabmux_testkit::{Chromium, TlsProxy, certificate, real_browser};

fn trusting() -> TlsOptions {
    TlsOptions {
        ca_files: vec![certificate("authority.pem")],
        ..TlsOptions::default()
    }
}

async fn connect(url: &str, tls: TlsOptions) -> Result<Connected, String> {
    let address = RemoteAddress {
        tls,
        ..url.to_owned().into()
    };
    let source = match url.starts_with("ws") {
        true => Source::WebSocket(address),
        false => Source::Url(address),
    };
    let connected = Browser::connect(&source, TabSettings::default(), &OutputRoot::usual()).await;
    connected.map_err(|error| error.to_string())
}

async fn refusal(url: &str, tls: TlsOptions) -> String {
    connect(url, tls).await.err().unwrap_or_default()
}

/// The websocket of a browser behind a TLS server.
fn websocket(chromium: &Chromium, proxy: &TlsProxy) -> String {
    let plain = format!("ws://127.0.0.1:{}", chromium.port());
    let secure = format!("wss://127.0.0.1:{}", proxy.port());
    chromium.websocket_url().replace(&plain, &secure)
}

#[tokio::test]
async fn a_browser_behind_tls_works_with_its_authority_and_only_then() {
    let Some(executable) = real_browser() else {
        return;
    };
    let chromium = Chromium::start(&executable);
    let proxy = TlsProxy::start(chromium.port(), "server");
    let by_name = format!("https://localhost:{}", proxy.port());
    let by_socket = websocket(&chromium, &proxy);
    for url in [&by_name, &by_socket] {
        let connected = connect(url, trusting()).await;
        assert_eq!(connected.unwrap().info.tabs.len(), 1);
        let insecure = TlsOptions {
            insecure: true,
            ..TlsOptions::default()
        };
        assert!(connect(url, insecure).await.is_ok());
        assert_eq!(
            refusal(url, TlsOptions::default()).await,
            format!(
                "{url} has a certificate of an unknown certificate authority. If you trust it, name the file of its \
                 certificate with --caFile FILE."
            )
        );
    }

    // The plain port of the browser, and the TLS port without TLS.
    let plain = format!("https://127.0.0.1:{}", chromium.port());
    let said = refusal(&plain, trusting()).await;
    assert_eq!(
        said,
        format!(
            "{plain} ended the connection during the TLS handshake. If this port does not use TLS, write http:// or \
             ws:// in the address."
        )
    );
    for (url, instead) in [
        (by_name.replace("https:", "http:"), &by_name),
        (by_socket.replace("wss:", "ws:"), &by_socket),
    ] {
        let said = refusal(&url, trusting()).await;
        assert_eq!(said, format!("{url} speaks TLS. Use {instead} instead."));
    }
}

#[tokio::test]
async fn a_server_that_wants_a_certificate_gets_the_users() {
    let Some(executable) = real_browser() else {
        return;
    };
    let chromium = Chromium::start(&executable);
    let proxy = TlsProxy::start_for_known_clients(chromium.port());
    let known = TlsOptions {
        client: Some((certificate("client.pem"), certificate("client.key"))),
        ..trusting()
    };
    let by_name = format!("https://localhost:{}", proxy.port());
    for url in [&by_name, &websocket(&chromium, &proxy)] {
        assert!(connect(url, known.clone()).await.is_ok());
        assert_eq!(
            refusal(url, trusting()).await,
            format!(
                "{url} wants a client certificate that it knows. Name yours with --clientCert FILE and --clientKey \
                 FILE."
            )
        );
    }
    let other_key = TlsOptions {
        client: Some((certificate("client.pem"), certificate("server.key"))),
        ..trusting()
    };
    let said = refusal(&by_name, other_key).await;
    assert!(
        said.starts_with("--clientCert and --clientKey cannot be used together: "),
        "{said}"
    );
}

/// The server behind it is never reached.
#[tokio::test]
async fn a_certificate_that_is_expired_or_for_another_name_is_refused() {
    for (name, sentence) in [
        (
            "expired",
            "has a certificate that has expired. Renew it on the server, and check the clock of this machine.",
        ),
        (
            "other-name",
            "has a certificate for other names (other.test). Use one of them in the address, or give the server a \
             certificate for this one.",
        ),
    ] {
        let proxy = TlsProxy::start(1, name);
        for url in ["https://localhost", "wss://127.0.0.1"] {
            let url = format!("{url}:{}", proxy.port());
            assert_eq!(refusal(&url, trusting()).await, format!("{url} {sentence}"));
        }
    }
}

#[tokio::test]
async fn a_port_that_answers_without_tls_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let answering = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().unwrap();
            std::io::Write::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        }
    });
    for (url, instead) in [("https", "http"), ("wss", "ws")] {
        let [url, instead] = [url, instead].map(|scheme| format!("{scheme}://127.0.0.1:{port}"));
        let said = refusal(&url, trusting()).await;
        assert_eq!(
            said,
            format!("{url} does not speak TLS. Use {instead} instead.")
        );
    }
    answering.join().unwrap();
}

#[tokio::test]
async fn files_of_certificates_that_cannot_be_used_are_named() {
    let proxy = TlsProxy::start(1, "server");
    let url = format!("https://localhost:{}", proxy.port());
    let with = |file: &str| TlsOptions {
        ca_files: vec![certificate(file)],
        ..TlsOptions::default()
    };
    let said = refusal(&url, with("missing.pem")).await;
    let start = format!("--caFile {} cannot", certificate("missing.pem").display());
    assert!(said.starts_with(&start), "{said}");
    let said = refusal(&url, with("server.key")).await;
    assert!(said.contains("has no certificate in PEM"), "{said}");
}
