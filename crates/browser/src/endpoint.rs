//! The address of a browser that a user configured: shown without secrets, local or not, its credentials, and what
//! its HTTP errors mean.

use crate::dial::RemoteAddress;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use tabmux_text::one_line;
use url::{Host, Url};

/// An endpoint as users, agents and logs may see it: without its password, the values of its query, and path segments
/// that look like tokens. Everything else is as written.
pub fn shown(endpoint: &str) -> String {
    let endpoint = one_line(endpoint, LONGEST);
    let end = endpoint.find(['?', '#']).unwrap_or(endpoint.len());
    let (address, rest) = endpoint.split_at(end);
    let (scheme, address) = match address.split_once("://") {
        Some((scheme, address)) => (format!("{scheme}://"), address),
        None => (String::new(), address),
    };
    // A password that was not escaped may contain any of these characters.
    if rest.contains('@') && !address.contains('@') && !starts_with_host(address) {
        return format!("{scheme}{HIDDEN}");
    }
    let address = match address.rsplit_once('@') {
        Some((_, host)) => format!("{HIDDEN}@{}", shown_path(host)),
        None => shown_path(address),
    };
    let query = rest.strip_prefix('?').map(|rest| {
        let query = rest.split('#').next().unwrap_or_default();
        let names = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) => format!("{name}={HIDDEN}"),
            None => HIDDEN.to_owned(),
        });
        format!("?{}", names.collect::<Vec<_>>().join("&"))
    });
    format!("{scheme}{address}{}", query.unwrap_or_default())
}

/// The address of a grid as that of its server; any other one as it is.
pub fn without_grid(endpoint: &str) -> &str {
    endpoint.strip_prefix("grid+").unwrap_or(endpoint)
}

/// Whether an endpoint is on this machine, judged by its host name.
pub fn is_local(endpoint: &str) -> bool {
    let url = Url::parse(without_grid(endpoint)).ok();
    match url.as_ref().and_then(Url::host) {
        Some(Host::Ipv4(host)) => host.is_loopback(),
        Some(Host::Ipv6(host)) => host.is_loopback(),
        Some(Host::Domain(host)) => host == "localhost",
        None => false,
    }
}

/// The address without its user and password, and the header that carries them.
pub(crate) fn with_credentials_as_header(endpoint: &str) -> (String, Option<(String, String)>) {
    let Some(mut url) = Url::parse(endpoint).ok().filter(has_credentials) else {
        return (endpoint.to_owned(), None);
    };
    let text = |part: &str| percent_decoded(part);
    let user = text(url.username());
    let password = text(url.password().unwrap_or_default());
    let both = BASE64_STANDARD.encode([&user[..], b":", &password[..]].concat());
    if url.set_username("").is_err() || url.set_password(None).is_err() {
        return (endpoint.to_owned(), None);
    }
    let header = ("Authorization".to_owned(), format!("Basic {both}"));
    (url.into(), Some(header))
}

/// The same address, asked for as `localhost`.
pub(crate) fn as_localhost(address: &RemoteAddress) -> RemoteAddress {
    let mut address = address.clone();
    let is_host = |(name, _): &(String, String)| name.eq_ignore_ascii_case("Host");
    address.headers.retain(|header| !is_host(header));
    let host = ("Host".to_owned(), "localhost".to_owned());
    address.headers.push(host);
    address
}

/// What an HTTP status of an endpoint means, and what to do next.
pub(crate) fn refusal(endpoint: &str, status: u16) -> String {
    let shown = shown(endpoint);
    let meaning = match status {
        401 => {
            "its credentials are missing or wrong. Put the ones that its provider gave you into the address \
             (http://USER:PASSWORD@HOST or ?token=TOKEN), or into --wsHeaders with --wsEndpoint."
        }
        403 => {
            "its credentials do not allow this, or it accepts other machines only. Check what the account \
             may do and which addresses it accepts."
        }
        408 => {
            "no browser started in time. Try again; if this happens often, raise the provider's start \
             timeout."
        }
        429 => {
            "its limit of open browsers is reached. Close one, or wait until one is free, then try again."
        }
        503 => "it is overloaded or down. Wait a minute, then try again.",
        _ if is_local(endpoint) => {
            "it may belong to a browser that was restarted. Read the current address from \
             http://HOST:PORT/json/version, or pass http://HOST:PORT to --browserUrl."
        }
        _ => "there is no browser at this address. Check it against the provider's documentation.",
    };
    format!("{shown} answered {status}: {meaning}")
}

fn has_credentials(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

/// Decodes percent escapes.
pub(crate) fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = match (first, tail) {
            (b'%', [high, low, ..]) => std::str::from_utf8(&[*high, *low])
                .ok()
                .and_then(|hex| u8::from_str_radix(hex, 16).ok()),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(*first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    bytes
}

/// Whether a text starts with a host and an optional port, so that the rest cannot be part of a password.
fn starts_with_host(address: &str) -> bool {
    let authority = address.split('/').next().unwrap_or_default();
    match authority.rsplit_once(':') {
        Some((_, port)) => port.ends_with(']') || port.parse::<u16>().is_ok(),
        None => true,
    }
}

/// Hosts and paths unchanged, except path segments that look like tokens.
fn shown_path(address: &str) -> String {
    let mut before = "";
    let parts = address.split('/').enumerate().map(|(place, part)| {
        // Chrome's ids of browsers and pages do not grant access by themselves on another machine.
        let is_id = matches!(before, "browser" | "page");
        before = part;
        match place > 0 && !is_id && is_random(part) {
            true => HIDDEN,
            false => part,
        }
    });
    parts.collect::<Vec<_>>().join("/")
}

fn is_random(part: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| part.as_bytes().iter().any(kind);
    part.len() >= 20 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

const HIDDEN: &str = "…";
const LONGEST: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_endpoint_is_shown_without_its_secrets() {
        for (endpoint, expected) in [
            ("http://127.0.0.1:9222", "http://127.0.0.1:9222"),
            ("http://127.0.0.1:9222/", "http://127.0.0.1:9222/"),
            ("http://[::1]:9222", "http://[::1]:9222"),
            ("http://user:pw@host:9222", "http://…@host:9222"),
            ("http://user@host:9222/a", "http://…@host:9222/a"),
            ("http://user:p/w@host:9222", "http://…@host:9222"),
            ("http://user:p?w@host:9222", "http://…"),
            ("http://user:p#w@host:9222", "http://…"),
            ("user:pw@host:9222", "…@host:9222"),
            (
                "ws://host/devtools/browser?token=T",
                "ws://host/devtools/browser?token=…",
            ),
            (
                "ws://host?token=T&launch={\"a\":1}#F",
                "ws://host?token=…&launch=…",
            ),
            ("ws://host/?T", "ws://host/?…"),
            ("ws://host#T", "ws://host"),
            ("ws://host?mail=a@b", "ws://host?mail=…"),
            (
                "ws://host/0a1b2c3d4e5f60718293/devtools",
                "ws://host/…/devtools",
            ),
            (
                "ws://127.0.0.1:1/devtools/browser/9d6c1c8b-0a3e-4b8e-9e58-6a4fb2a3f1c7",
                "ws://127.0.0.1:1/devtools/browser/9d6c1c8b-0a3e-4b8e-9e58-6a4fb2a3f1c7",
            ),
            ("9222", "9222"),
            ("", ""),
        ] {
            assert_eq!(shown(endpoint), expected);
        }
    }

    #[test]
    fn credentials_of_an_address_are_sent_as_a_header() {
        let (address, header) = with_credentials_as_header("http://us%40er:p%3Aw@host:1/a?b=c");
        assert_eq!(address, "http://host:1/a?b=c");
        let (_, value) = header.unwrap();
        assert_eq!(
            value,
            format!("Basic {}", BASE64_STANDARD.encode("us@er:p:w"))
        );
        for plain in ["http://host:1", "nonsense", "ws://host/a@b"] {
            assert_eq!(with_credentials_as_header(plain), (plain.to_owned(), None));
        }
    }

    #[test]
    fn a_restart_is_suspected_of_local_browsers_only() {
        let said = |endpoint: &str, status| refusal(endpoint, status).contains("restarted");
        assert!(said("ws://127.0.0.1:9222/devtools/browser/x", 404));
        assert!(said("ws://localhost:9222/devtools/browser/x", 500));
        assert!(said("ws://[::1]:9222/devtools/browser/x", 404));
        assert!(!said("ws://browsers.example/devtools/browser/x", 404));
        assert!(!said("ws://127.0.0.1:9222/devtools/browser/x", 503));
    }
}
