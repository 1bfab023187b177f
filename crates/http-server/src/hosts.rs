//! Which hosts and origins a request may name. A page in a browser can send requests to any address that the browser
//! reaches, and one whose name was made to point here even reads the answers; its host and origin give it away.

use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, header};

/// The allowed ones.
#[derive(Clone, Debug)]
pub struct Hosts {
    port: u16,
    has_tls: bool,
    /// Names under which a proxy passes requests on.
    names: Vec<String>,
    /// Origins whose pages may use the server.
    origins: Vec<String>,
}

impl Hosts {
    /// This machine's own names at a port, and these.
    pub fn new(port: u16, names: Vec<String>, origins: Vec<String>) -> Self {
        Self {
            port,
            has_tls: false,
            names,
            origins,
        }
    }

    /// The same for a server that speaks TLS.
    #[must_use]
    pub fn over_tls(self) -> Self {
        Self {
            has_tls: true,
            ..self
        }
    }

    /// Whether the request names a host of ours, once.
    pub(crate) fn is_host(&self, parts: &Parts) -> bool {
        let Some(host) = single(&parts.headers, header::HOST) else {
            return false;
        };
        let target = parts.uri.authority().map(|authority| authority.as_str());
        self.names_us(host) && target.is_none_or(|target| target == host)
    }

    /// Whether the request comes from no page, or from an allowed one.
    pub(crate) fn is_origin(&self, headers: &HeaderMap) -> bool {
        if !headers.contains_key(header::ORIGIN) {
            return true;
        }
        let Some(origin) = single(headers, header::ORIGIN) else {
            return false;
        };
        let own = origin.strip_prefix(match self.has_tls {
            true => "https://",
            false => "http://",
        });
        self.origins.iter().any(|allowed| allowed == origin)
            || own.is_some_and(|host| self.is_local(host))
    }

    /// The origin of the page that sent the request, if it may use the server.
    pub(crate) fn allowed_page(&self, parts: &Parts) -> Option<HeaderValue> {
        let origin = parts.headers.get(header::ORIGIN)?;
        let is_allowed = self.is_host(parts) && self.is_origin(&parts.headers);
        is_allowed.then(|| origin.clone())
    }

    fn names_us(&self, host: &str) -> bool {
        let is_named = |name: &String| {
            host.strip_prefix(name.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.strip_prefix(':').is_some_and(is_port))
        };
        self.is_local(host) || self.names.iter().any(is_named)
    }

    fn is_local(&self, host: &str) -> bool {
        LOCAL.iter().any(|name| {
            let Some(rest) = host.strip_prefix(name) else {
                return false;
            };
            match rest.strip_prefix(':') {
                Some(port) => is_port(port) && port.parse() == Ok(self.port),
                None => rest.is_empty() && self.port == self.usual_port(),
            }
        })
    }

    /// The port that addresses leave out.
    fn usual_port(&self) -> u16 {
        match self.has_tls {
            true => 443,
            false => 80,
        }
    }
}

/// A host name as clients send it, for [`Hosts::new`]. Returns a sentence if no request can name it.
pub fn host_name(text: &str) -> Result<String, String> {
    match is_written_as_sent(text) {
        true => Ok(text.to_owned()),
        false => Err(
            "clients send a host like mcp.example.com or mcp.example.com:8443: in lower case, without https:// and \
             without a path"
                .to_owned(),
        ),
    }
}

/// An origin as browsers send it, for [`Hosts::new`]. Returns a sentence if no page can have it.
pub fn origin(text: &str) -> Result<String, String> {
    let is_scheme = |scheme: &str| {
        let is_good = |byte: u8| byte.is_ascii_lowercase() || b"+-.".contains(&byte);
        !scheme.is_empty() && scheme.bytes().all(is_good)
    };
    let is_good = text.split_once("://").is_some_and(|(scheme, host)| {
        let usual = match scheme {
            "https" => host.ends_with(":443"),
            "http" => host.ends_with(":80"),
            _ => false,
        };
        is_scheme(scheme) && is_written_as_sent(host) && !usual
    });
    match is_good {
        true => Ok(text.to_owned()),
        false => Err(
            "browsers send an origin like https://app.example.com or http://localhost:3000: in lower case, without a \
             path or a slash at its end, and without the usual port"
                .to_owned(),
        ),
    }
}

/// Whether this is a host, and perhaps a port, as requests name them.
fn is_written_as_sent(host: &str) -> bool {
    let (name, port) = match host.rsplit_once(':') {
        Some((name, port)) if !port.ends_with(']') => (name, Some(port)),
        _ => (host, None),
    };
    let is_address = |name: &str| {
        let inside = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'));
        inside.is_some_and(|inside| inside.parse::<std::net::Ipv6Addr>().is_ok())
    };
    let is_good =
        |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-_".contains(&byte);
    let is_name = !name.is_empty() && name.bytes().all(is_good);
    (is_name || is_address(name)) && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

/// A header that is there once.
fn single(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    let mut all = headers.get_all(name).iter();
    let value = all.next()?.to_str().ok()?;
    all.next().is_none().then_some(value)
}

fn is_port(text: &str) -> bool {
    !text.is_empty() && text.len() <= 5 && text.bytes().all(|byte| byte.is_ascii_digit())
}

const LOCAL: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn hosts() -> Hosts {
        Hosts::new(
            8931,
            vec!["mcp.example.com".into()],
            vec!["https://app.example.com".into()],
        )
    }

    fn parts(uri: &str, headers: &[(&str, &str)]) -> Parts {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn hosts_and_origins_that_nobody_sends_are_refused() {
        for (text, expected) in [
            ("mcp.example.com", true),
            ("mcp.example.com:8443", true),
            ("192.0.2.1", true),
            ("[2001:db8::1]", true),
            ("[2001:db8::1]:8443", true),
            ("2001:db8::1", false),
            ("MCP.example.com", false),
            ("https://mcp.example.com", false),
            ("mcp.example.com/", false),
            ("mcp.example.com:x", false),
            ("", false),
        ] {
            assert_eq!(host_name(text).is_ok(), expected, "{text}");
        }
        for (text, expected) in [
            ("https://a.example", true),
            ("http://localhost:3000", true),
            ("chrome-extension://abcdef", true),
            ("https://a.example/", false),
            ("https://A.example", false),
            ("https://a.example:443", false),
            ("a.example", false),
            ("null", false),
            ("*", false),
        ] {
            assert_eq!(origin(text).is_ok(), expected, "{text}");
        }
    }

    #[test]
    fn only_our_own_hosts_are_served() {
        for host in [
            "localhost:8931",
            "127.0.0.1:8931",
            "[::1]:8931",
            "mcp.example.com",
            "mcp.example.com:443",
        ] {
            assert!(hosts().is_host(&parts("/mcp", &[("host", host)])), "{host}");
        }
        for host in [
            "",
            "localhost",
            "localhost:8932",
            "localhost:08931x",
            "localhost:8931@evil.com",
            "evil.com:8931",
            "mcp.example.com.evil.com",
            "mcp.example.com:evil",
            "127.0.0.1.evil.com:8931",
        ] {
            assert!(
                !hosts().is_host(&parts("/mcp", &[("host", host)])),
                "{host}"
            );
        }
        assert!(!hosts().is_host(&parts("/mcp", &[])));
        let twice = [("host", "localhost:8931"), ("host", "localhost:8931")];
        assert!(!hosts().is_host(&parts("/mcp", &twice)));
        let other = parts("http://evil.com/mcp", &[("host", "localhost:8931")]);
        assert!(!hosts().is_host(&other));
    }

    #[test]
    fn over_tls_our_own_origin_is_a_secure_one_and_the_usual_port_is_left_out() {
        let hosts = Hosts::new(443, Vec::new(), Vec::new()).over_tls();
        for (host, expected) in [
            ("localhost", true),
            ("localhost:443", true),
            ("localhost:80", false),
        ] {
            assert_eq!(
                hosts.is_host(&parts("/mcp", &[("host", host)])),
                expected,
                "{host}"
            );
        }
        for (origin, expected) in [("https://localhost", true), ("http://localhost", false)] {
            let parts = parts("/mcp", &[("origin", origin)]);
            assert_eq!(hosts.is_origin(&parts.headers), expected, "{origin}");
        }
    }

    #[test]
    fn only_pages_of_allowed_origins_may_connect() {
        for (origin, expected) in [
            ("http://localhost:8931", true),
            ("http://127.0.0.1:8931", true),
            ("https://app.example.com", true),
            ("http://localhost:3000", false),
            ("https://localhost:8931", false),
            ("https://app.example.com.evil.com", false),
            ("http://evil.com", false),
            ("null", false),
            ("", false),
        ] {
            let parts = parts("/mcp", &[("origin", origin)]);
            assert_eq!(hosts().is_origin(&parts.headers), expected, "{origin}");
        }
        assert!(hosts().is_origin(&HeaderMap::new()));
    }
}
