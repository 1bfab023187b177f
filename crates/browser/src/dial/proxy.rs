//! The proxy that the environment names (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`), and tunnels through
//! it. Addresses of this machine never use one.

use super::error::DialError;
use crate::endpoint;
use hyper::Uri;
use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use std::sync::LazyLock;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use url::Url;

/// The proxy for an address, if there is one.
pub(super) fn for_url(url: &Url) -> Option<Intercept> {
    static PROXIES: LazyLock<Matcher> = LazyLock::new(Matcher::from_env);
    chosen(&PROXIES, url)
}

fn chosen(proxies: &Matcher, url: &Url) -> Option<Intercept> {
    if endpoint::is_local(url.as_str()) {
        return None;
    }
    // It knows only the schemes of HTTP.
    let scheme = match url.scheme() {
        "https" | "wss" => "https",
        _ => "http",
    };
    let host = url.host_str()?;
    let uri: Uri = format!("{scheme}://{host}/").parse().ok()?;
    proxies.intercept(&uri)
}

/// Opens a tunnel to a host.
pub(super) async fn through(
    proxy: &Intercept,
    host: &str,
    port: u16,
) -> Result<TcpStream, DialError> {
    let uri = proxy.uri();
    let name = shown(uri);
    if uri.scheme_str() != Some("http") {
        return Err(DialError::Sentence(format!(
            "The proxy {name} of the environment (HTTPS_PROXY) is not supported: only http:// proxies are. Name \
             one, or exempt {host} with NO_PROXY, and end the daemon with `tabmux daemon stop`."
        )));
    }
    let failed = |detail: &str| {
        DialError::Sentence(format!(
            "The proxy {name} of the environment (HTTPS_PROXY) does not lead to {host}:{port} ({detail}). Correct \
             it, or exempt the host with NO_PROXY, and end the daemon with `tabmux daemon stop`."
        ))
    };
    let address = (
        uri.host().unwrap_or_default().trim_matches(['[', ']']),
        uri.port_u16().unwrap_or(80),
    );
    let tunnel = async {
        let mut stream = TcpStream::connect(address).await?;
        let mut request = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
        if let Some(login) = proxy.basic_auth().and_then(|login| login.to_str().ok()) {
            request += &format!("Proxy-Authorization: {login}\r\n");
        }
        request += "\r\n";
        stream.write_all(request.as_bytes()).await?;
        let status = status(&mut stream).await?;
        Ok::<_, std::io::Error>((stream, status))
    };
    match tunnel.await {
        Ok((stream, 200..=299)) => Ok(stream),
        Ok((_, 407)) => Err(DialError::Sentence(format!(
            "The proxy {name} of the environment wants a password. Put it into HTTPS_PROXY \
             (http://USER:PASSWORD@HOST:PORT), and end the daemon with `tabmux daemon stop`."
        ))),
        Ok((_, status)) => Err(failed(&format!("it answered {status}"))),
        Err(error) => Err(failed(&error.to_string())),
    }
}

/// Reads the head of the proxy's response, and nothing after it.
async fn status(stream: &mut TcpStream) -> std::io::Result<u16> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() == LONGEST_HEAD {
            return Err(std::io::Error::other("its response is not HTTP"));
        }
        head.push(stream.read_u8().await?);
    }
    let line = String::from_utf8_lossy(&head);
    let status = line.split(' ').nth(1).and_then(|it| it.parse().ok());
    status.ok_or_else(|| std::io::Error::other("its response is not HTTP"))
}

/// Without its user and password.
fn shown(proxy: &Uri) -> String {
    let authority = proxy.authority().map_or("", |it| it.as_str());
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{}://{host}", proxy.scheme_str().unwrap_or_default())
}

const LONGEST_HEAD: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn proxy_of(url: &str) -> Option<String> {
        let proxies = Matcher::builder()
            .http("http://plain.test:1")
            .https("http://me:pw@secure.test:2")
            .no("exempt.test,10.0.0.0/8")
            .build();
        let chosen = chosen(&proxies, &Url::parse(url).unwrap())?;
        Some(shown(chosen.uri()))
    }

    #[test]
    fn the_scheme_chooses_the_proxy_and_some_hosts_need_none() {
        for (url, proxy) in [
            ("wss://hub.test/x", Some("http://secure.test:2")),
            ("https://hub.test", Some("http://secure.test:2")),
            ("ws://hub.test", Some("http://plain.test:1")),
            ("http://hub.test:9222", Some("http://plain.test:1")),
            ("https://exempt.test", None),
            ("https://a.exempt.test", None),
            ("https://10.1.2.3", None),
            ("https://localhost:9222", None),
            ("wss://127.0.0.1:9222", None),
            ("ws://[::1]:9222", None),
        ] {
            assert_eq!(proxy_of(url).as_deref(), proxy, "{url}");
        }
    }
}
