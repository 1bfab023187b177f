//! One origin, and the patterns that users write for one or many of them.

use std::fmt;
use std::str::FromStr;
use url::{Host, Url};

/// Scheme, host and port of a web page. Different spellings of one host are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    scheme: Scheme,
    host: Host<String>,
    port: u16,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scheme {
    Http,
    Https,
}

/// Origins as users write them: `https://example.com`, `https://*.example.com`, `http://localhost:*`, `example.com`,
/// `*`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginPattern {
    scheme: Option<Scheme>,
    host: Hosts,
    port: Ports,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Hosts {
    Any,
    One(Host<String>),
    /// All subdomains of this name, but not the name itself.
    Below(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ports {
    Any,
    /// The default port of the scheme.
    Usual,
    One(u16),
}

/// The text is not an origin.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not an origin: {why}. Write it like https://example.com, https://*.example.com, \
     http://localhost:* or example.com."
)]
pub struct BadPattern {
    text: String,
    why: &'static str,
}

impl Origin {
    /// The origin of an address, if it is a web address.
    pub(super) fn of(url: &Url) -> Option<Self> {
        let url::Origin::Tuple(scheme, host, port) = url.origin() else {
            return None;
        };
        let scheme = Scheme::parse(&scheme)?;
        let host = plain(host);
        Some(Self { scheme, host, port })
    }
}

impl OriginPattern {
    /// All patterns in a text, separated by `;` or spaces.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, BadPattern> {
        let parts = text.split([';', ' ', '\t', '\n']).map(str::trim);
        let parts = parts.filter(|part| !part.is_empty());
        let all: Vec<_> = parts.map(str::parse).collect::<Result<_, _>>()?;
        match all.is_empty() {
            true => Err(bad(text, "it is empty")),
            false => Ok(all),
        }
    }

    pub(super) fn matches(&self, origin: &Origin) -> bool {
        let port = match self.port {
            Ports::Any => true,
            Ports::Usual => origin.port == origin.scheme.port(),
            Ports::One(port) => origin.port == port,
        };
        let host = match (&self.host, &origin.host) {
            (Hosts::Any, _) => true,
            (Hosts::One(wanted), host) => wanted == host,
            (Hosts::Below(parent), Host::Domain(name)) => {
                let rest = name.strip_suffix(parent.as_str());
                rest.is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
            }
            (Hosts::Below(_), _) => false,
        };
        port && host && self.scheme.is_none_or(|scheme| scheme == origin.scheme)
    }
}

impl FromStr for OriginPattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let text = text.trim();
        let fail = |why| bad(text, why);
        let (scheme, rest) = match text.split_once("://") {
            None => (None, text),
            Some(("*", rest)) => (None, rest),
            Some((scheme, rest)) => {
                let scheme = scheme.to_ascii_lowercase();
                let scheme = Scheme::parse(&scheme);
                let scheme = scheme.ok_or_else(|| fail("its scheme is neither http nor https"))?;
                (Some(scheme), rest)
            }
        };
        // These separate patterns in a list, so a pattern cannot contain them.
        if text.contains([';', ' ', '\t', '\n']) {
            return Err(fail("it has a `;` or a space in it"));
        }
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains(['/', '?', '#', '\\']) {
            return Err(fail("it has a path, but rules apply to whole origins"));
        }
        if rest.contains('@') {
            return Err(fail("it has a user name"));
        }
        let (host, port) = split_port(rest).ok_or_else(|| fail("its port is invalid"))?;
        let host = hosts(host).map_err(fail)?;
        let port = match (port, scheme) {
            (Some("*"), _) => Ports::Any,
            (Some(port), _) => match port.parse() {
                Ok(number) if Some(number) == scheme.map(Scheme::port) => Ports::Usual,
                Ok(number) => Ports::One(number),
                Err(_) => return Err(fail("its port is invalid")),
            },
            // A name alone means the host with any port.
            (None, None) => Ports::Any,
            (None, Some(_)) if host == Hosts::Any => Ports::Any,
            (None, Some(_)) => Ports::Usual,
        };
        Ok(Self { scheme, host, port })
    }
}

impl Scheme {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "http" => Some(Self::Http),
            "https" => Some(Self::Https),
            _ => None,
        }
    }

    const fn port(self) -> u16 {
        match self {
            Self::Http => 80,
            Self::Https => 443,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Http => "http",
            Self::Https => "https",
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", self.scheme.name(), self.host)?;
        match self.port == self.scheme.port() {
            true => Ok(()),
            false => write!(f, ":{}", self.port),
        }
    }
}

impl fmt::Display for OriginPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(scheme) = self.scheme {
            write!(f, "{}://", scheme.name())?;
        }
        match &self.host {
            Hosts::Any => f.write_str("*")?,
            Hosts::One(host) => write!(f, "{host}")?,
            Hosts::Below(parent) => write!(f, "*.{parent}")?,
        }
        match self.port {
            Ports::Any if self.scheme.is_some() && self.host != Hosts::Any => f.write_str(":*"),
            Ports::Usual if self.host == Hosts::Any => {
                write!(f, ":{}", self.scheme.map_or(0, Scheme::port))
            }
            Ports::Any | Ports::Usual => Ok(()),
            Ports::One(port) => write!(f, ":{port}"),
        }
    }
}

/// The host and the text after its colon. `None` if a bracket is not closed.
fn split_port(text: &str) -> Option<(&str, Option<&str>)> {
    if text.starts_with('[') {
        let (host, rest) = text.split_at(text.find(']')? + 1);
        return match rest.strip_prefix(':') {
            None if rest.is_empty() => Some((host, None)),
            port => Some((host, Some(port?))),
        };
    }
    match text.split_once(':') {
        Some((host, port)) => Some((host, Some(port))),
        None => Some((text, None)),
    }
}

fn hosts(text: &str) -> Result<Hosts, &'static str> {
    if text == "*" {
        return Ok(Hosts::Any);
    }
    let (below, name) = match text.strip_prefix("*.") {
        Some(name) => (true, name),
        None => (false, text),
    };
    if name.contains('*') {
        return Err("a `*` must be the whole host or be followed by a dot");
    }
    // We must read a name as Chrome does, so it is parsed as part of a URL.
    let url = Url::parse(&format!("https://{name}/")).map_err(|_| "its host is invalid")?;
    let host = url.host_str().unwrap_or_default();
    // A name has no empty labels, and `6..` without its dots would be an IP address: another host.
    if host.contains("..") {
        return Err("its host is invalid");
    }
    // Some characters become one of these when a URL is parsed, such as the Greek question mark.
    if host.contains([';', '*']) {
        return Err("its host has a character that means `;` or `*`");
    }
    match (below, url.host().map(|host| plain(host.to_owned()))) {
        (_, None) => Err("its host is invalid"),
        (_, Some(Host::Domain(name))) if name.is_empty() => Err("its host is invalid"),
        (true, Some(Host::Domain(name))) => Ok(Hosts::Below(name)),
        (true, Some(_)) => Err("an IP address has no subdomains"),
        (false, Some(host)) => Ok(Hosts::One(host)),
    }
}

/// One spelling for a host: without a final dot, and IPv4 as such.
fn plain(host: Host<String>) -> Host<String> {
    match host {
        Host::Domain(name) => Host::Domain(name.trim_end_matches('.').to_owned()),
        Host::Ipv6(address) => match address.to_ipv4_mapped() {
            Some(address) => Host::Ipv4(address),
            None => Host::Ipv6(address),
        },
        host @ Host::Ipv4(_) => host,
    }
}

fn bad(text: &str, why: &'static str) -> BadPattern {
    let text = tabmux_text::one_line(text, 100);
    BadPattern { text, why }
}
