//! A running browser at the address of its DevTools server, which names its websocket.

use super::{Acquired, ConnectError, websocket};
use crate::dial::http::{self, Answer, HttpError};
use crate::dial::{self, RemoteAddress};
use crate::endpoint;
use url::{Host, Url};

/// Why a running browser could not be reached.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DiscoverError {
    /// The text is not an endpoint.
    #[error("`{given}` is not a browser's address. Give one like http://127.0.0.1:9222.")]
    Malformed {
        /// What was given.
        given: String,
    },
    /// Nothing answers there.
    #[error(
        "No browser answers at {url} ({detail}). Start one with --remote-debugging-port and a \
         --user-data-dir of its own, then try again."
    )]
    Unreachable {
        /// The address that was tried.
        url: String,
        /// What the system reported.
        detail: String,
    },
    /// Something answers that is not a browser.
    #[error(
        "The server at {url} is not a browser with remote debugging ({detail}). Check the address."
    )]
    NotABrowser {
        /// The address that was tried.
        url: String,
        /// What was wrong with the response.
        detail: String,
    },
    /// The server refuses.
    #[error("{sentence}")]
    Refused {
        /// Which server, and why.
        sentence: String,
    },
}

/// Attaches to the browser at `http://host:port`.
pub(super) async fn acquire(address: &RemoteAddress) -> Result<Acquired, ConnectError> {
    websocket::acquire(&websocket_of(address).await?, dial::NAMED_LIMIT).await
}

/// Asks a browser at `http://host:port` for its websocket, using `/json/version`. Credentials, headers and the query
/// are sent with this request and added to the result, because a gateway that checks them for one checks them for the
/// other.
pub(super) async fn websocket_of(address: &RemoteAddress) -> Result<RemoteAddress, DiscoverError> {
    let shown = endpoint::shown(&address.url);
    let malformed = || DiscoverError::Malformed {
        given: shown.clone(),
    };
    let url = Url::parse(&address.url).map_err(|_| malformed())?;
    if url.host().is_none() || !matches!(url.scheme(), "http" | "https") {
        return Err(malformed());
    }
    let not_a_browser = |detail: &str| DiscoverError::NotABrowser {
        url: shown.clone(),
        detail: detail.to_owned(),
    };
    let prefix = prefix(&url).to_owned();
    let mut asked = url.clone();
    asked.set_path(&format!("{prefix}{VERSION}"));
    asked.set_fragment(None);
    let (answer, asked) = ask(address.at(asked), &address.url).await?;
    let Answer {
        status,
        body,
        whole,
    } = answer;
    if matches!(status, 401 | 403 | 408 | 429 | 503) {
        let sentence = endpoint::refusal(&address.url, status);
        return Err(DiscoverError::Refused { sentence });
    }
    if !whole {
        return Err(not_a_browser("the answer of /json/version was cut off"));
    }
    let answer: serde_json::Value =
        serde_json::from_slice(&body).map_err(|_| not_a_browser("/json/version is not JSON"))?;
    let told = answer["webSocketDebuggerUrl"]
        .as_str()
        .and_then(|told| Url::parse(told).ok())
        .ok_or_else(|| not_a_browser("/json/version names no websocket"))?;
    // Behind a name, a port mapping or a tunnel the browser reports another host; use the one that we reached.
    let mut websocket = url;
    match told.path().starts_with(&format!("{prefix}/")) {
        true => websocket.set_path(told.path()),
        false => websocket.set_path(&format!("{prefix}{}", told.path())),
    }
    websocket.set_query(joined(told.query(), websocket.query()).as_deref());
    websocket.set_fragment(None);
    Ok(asked.at(format!("ws{}", &websocket.as_str()["http".len()..])))
}

/// The path of an address whose server is below a folder, without the slash at its end.
fn prefix(url: &Url) -> &str {
    let path = url.path().trim_end_matches('/');
    path.strip_suffix(VERSION).unwrap_or(path)
}

/// Asks the address. Returns the response, and the address with what the server needs. Chrome answers only requests
/// for an IP address or `localhost`; it says so, and is then asked by that name. Other servers need their own.
async fn ask(
    address: RemoteAddress,
    given: &str,
) -> Result<(Answer, RemoteAddress), DiscoverError> {
    let answer = get(&address, given).await?;
    let refuses_name = answer.status == 500 && has_domain(&address.url);
    if !refuses_name || !String::from_utf8_lossy(&answer.body).contains("Host header") {
        return Ok((answer, address));
    }
    let address = endpoint::as_localhost(&address);
    let answer = get(&address, given).await?;
    Ok((answer, address))
}

async fn get(address: &RemoteAddress, given: &str) -> Result<Answer, DiscoverError> {
    let unreachable = |detail| DiscoverError::Unreachable {
        url: endpoint::shown(given),
        detail,
    };
    let limit = dial::NAMED_LIMIT;
    match tokio::time::timeout(limit, http::get(address)).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(HttpError::Unreachable(detail))) => Err(unreachable(detail)),
        Ok(Err(HttpError::Dial(error))) => {
            let sentence = error.sentence(given);
            Err(DiscoverError::Refused { sentence })
        }
        Err(_) => Err(unreachable(format!("no answer in {} s", limit.as_secs()))),
    }
}

fn has_domain(url: &str) -> bool {
    let url = Url::parse(url).ok();
    matches!(url.as_ref().and_then(Url::host), Some(Host::Domain(_)))
}

/// Both queries joined. If both have a name, the value of the first one.
fn joined(first: Option<&str>, second: Option<&str>) -> Option<String> {
    let pairs = |query: Option<&'_ str>| {
        let pairs = query.into_iter().flat_map(|query| query.split('&'));
        pairs.map(str::to_owned).collect::<Vec<_>>()
    };
    let name = |pair: &str| pair.split('=').next().map(str::to_owned);
    let mut all = pairs(first);
    let names: Vec<_> = all.iter().map(|pair| name(pair)).collect();
    all.extend(
        pairs(second)
            .into_iter()
            .filter(|pair| !names.contains(&name(pair))),
    );
    Some(all.join("&")).filter(|query| !query.is_empty())
}

const VERSION: &str = "/json/version";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dial::http::MOST_BYTES;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    async fn websocket_of(url: &str) -> Result<String, DiscoverError> {
        let found = super::websocket_of(&url.to_owned().into()).await;
        found.map(|address| address.url)
    }

    async fn answer_once(status: &str, body: &str) -> String {
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = [0; 1024];
            let _ = stream.read(&mut request).await.unwrap();
            stream.write_all(answer.as_bytes()).await.unwrap();
            // Keep the connection open, as Chrome does.
            let _ = stream.read(&mut request).await;
        });
        format!("http://127.0.0.1:{port}")
    }

    #[tokio::test]
    async fn the_websocket_uses_the_address_that_was_reached() {
        let url = answer_once(
            "200 OK",
            r#"{"webSocketDebuggerUrl":"ws://localhost:1/devtools/browser/ab"}"#,
        )
        .await;
        let endpoint = websocket_of(&url).await.unwrap();
        assert_eq!(
            endpoint,
            format!("{}/devtools/browser/ab", url.replace("http", "ws"))
        );
    }

    #[tokio::test]
    async fn the_query_and_credentials_are_kept() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut request = vec![0; 4096];
            let length = stream.read(&mut request).await.unwrap();
            let body = r#"{"webSocketDebuggerUrl":"ws://inside:1/chromium?id=7&token=outer"}"#;
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            stream.write_all((head + body).as_bytes()).await.unwrap();
            String::from_utf8_lossy(&request[..length]).into_owned()
        });
        let url = format!("http://user:pw@127.0.0.1:{port}/?token=T&stealth=1#f");
        let websocket = websocket_of(&url).await.unwrap();
        let asked = asked.await.unwrap();
        assert!(asked.starts_with("GET /json/version?token=T&stealth=1 HTTP/1.1\r\n"));
        assert!(
            asked.contains("\r\nAuthorization: Basic dXNlcjpwdw==\r\n"),
            "{asked}"
        );
        assert_eq!(
            websocket,
            format!("ws://user:pw@127.0.0.1:{port}/chromium?id=7&token=outer&stealth=1")
        );
    }

    #[tokio::test]
    async fn each_http_status_has_its_own_error() {
        for (status, word) in [
            ("401 Unauthorized", "credentials are missing or wrong"),
            ("403 Forbidden", "credentials do not allow this"),
            ("408 Request Timeout", "no browser started in time"),
            (
                "429 Too Many Requests",
                "its limit of open browsers is reached",
            ),
            ("503 Service Unavailable", "overloaded or down"),
        ] {
            let url = answer_once(status, "no").await;
            let error = websocket_of(&format!("{url}?token=SECRET"))
                .await
                .unwrap_err();
            let said = error.to_string();
            let start = format!("{url}?token=… answered {}: ", &status[..3]);
            assert!(said.starts_with(&start) && said.contains(word), "{said}");
        }
    }

    #[tokio::test]
    async fn a_server_that_is_not_a_browser_is_an_error() {
        let url = answer_once("404 Not Found", "nope").await;
        assert!(matches!(
            websocket_of(&url).await,
            Err(DiscoverError::NotABrowser { .. })
        ));
    }

    #[tokio::test]
    async fn a_server_that_does_not_speak_http_is_an_error() {
        for bytes in [&b"SSH-2.0-OpenSSH\r\n\r\n"[..], b""] {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let url = format!("http://{}", listener.local_addr().unwrap());
            tokio::spawn(async move {
                let (mut stream, _) = listener.accept().await.unwrap();
                let _ = stream.read(&mut [0; 1024]).await.unwrap();
                stream.write_all(bytes).await.unwrap();
            });
            let said = websocket_of(&url).await.unwrap_err().to_string();
            let start = format!("No browser answers at {url} (the response is not HTTP)");
            assert!(said.starts_with(&start), "{said}");
        }
    }

    #[tokio::test]
    async fn a_response_is_read_up_to_a_limit() {
        let url = answer_once("200 OK", &" ".repeat(MOST_BYTES + 1)).await;
        let error = websocket_of(&url).await.unwrap_err();
        assert!(matches!(error, DiscoverError::NotABrowser { .. }));
    }

    #[tokio::test]
    async fn a_closed_port_and_a_wrong_address_are_explained() {
        let error = websocket_of("http://127.0.0.1:1").await.unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("No browser answers at http://127.0.0.1:1 (")
        );
        for given in ["9222", "ftp://a", ""] {
            assert!(matches!(
                websocket_of(given).await,
                Err(DiscoverError::Malformed { .. })
            ));
        }
    }
}
