//! Properties that must hold for any text written as an origin. `fuzz/` runs this with random text, tests with the
//! saved corpus.

use crate::{OriginPattern, OriginPolicy, OriginRules, RuledBy};
use url::{Host, Url};

/// A pattern and an address, separated by a newline.
///
/// # Panics
/// If a pattern changes its meaning when it is printed and parsed again, or an address is permitted or blocked
/// against the rules.
pub fn origin_pattern(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let (pattern, address) = text.split_once('\n').unwrap_or((text, text));
    let pattern: OriginPattern = match pattern.parse() {
        Ok(pattern) => pattern,
        Err(error) => {
            let told = error.to_string();
            assert!(told.len() <= 1_000, "a long complaint: {told}");
            return;
        }
    };
    let shown = pattern.to_string();
    assert_eq!(shown.parse(), Ok(pattern.clone()), "{shown}");
    assert_eq!(OriginPattern::parse_all(&shown), Ok(vec![pattern.clone()]));
    let rules = |allowed: &[&OriginPattern], blocked: &[&OriginPattern]| {
        OriginPolicy::of([OriginRules {
            by: RuledBy::Flags,
            allowed: allowed.iter().copied().cloned().collect(),
            blocked: blocked.iter().copied().cloned().collect(),
        }])
    };
    let allows = |policy: OriginPolicy| policy.check(address).is_ok();
    let by_allowing = allows(rules(&[&pattern], &[]));
    let by_blocking = allows(rules(&[], &[&pattern]));
    let both = allows(rules(&[&pattern], &[&pattern]));
    match Site::of(address) {
        Site::None => assert!(by_allowing && by_blocking && both, "{address}"),
        Site::Unreadable => assert!(!by_allowing && !by_blocking && !both, "{address}"),
        Site::Web(site) => {
            let meant = site.is_meant_by(&shown);
            assert_eq!(by_allowing, meant, "{shown} allows {address}");
            assert_eq!(by_blocking, !meant, "{shown} blocks {address}");
            assert!(!both, "blocking takes precedence");
            let own = OriginRules {
                by: RuledBy::Person,
                allowed: Vec::new(),
                blocked: Vec::new(),
            };
            match own.judge(address) {
                Some(verdict) => {
                    let own = verdict.own;
                    assert!(!allows(rules(&[], &[&own])), "{own} is about {address}");
                }
                None => assert!(!site.can_be_named, "{address} is not judged"),
            }
        }
    }
}

/// The site that a pattern can be about, parsed without the code under test.
enum Site {
    /// None: the address has no site.
    None,
    /// The address cannot be parsed.
    Unreadable,
    Web(WebSite),
}

struct WebSite {
    scheme: String,
    host: String,
    port: u16,
    /// Whether a rule can name the host: no characters with a special meaning in a rule, no empty labels.
    can_be_named: bool,
}

impl Site {
    fn of(address: &str) -> Self {
        if address.is_empty() {
            return Self::None;
        }
        let Ok(mut url) = Url::parse(address) else {
            return Self::Unreadable;
        };
        // The origin of a blob is that of the page that created it, also if that is written as a blob.
        while url.scheme() == "blob" {
            match Url::parse(url.path()) {
                Ok(inner) => url = inner,
                Err(_) => return Self::None,
            }
        }
        let (scheme @ ("http" | "https"), Some(host), Some(port)) =
            (url.scheme(), url.host(), url.port_or_known_default())
        else {
            return Self::None;
        };
        let written = host.to_string();
        let can_be_named =
            written != "." && !written.contains("..") && !written.contains(['*', ';']);
        let host = match host {
            Host::Domain(name) => name.trim_end_matches('.').to_owned(),
            Host::Ipv4(address) => address.to_string(),
            Host::Ipv6(address) => match address.to_ipv4_mapped() {
                Some(address) => address.to_string(),
                None => format!("[{address}]"),
            },
        };
        Self::Web(WebSite {
            scheme: scheme.to_owned(),
            host,
            port,
            can_be_named,
        })
    }
}

impl WebSite {
    /// Whether a pattern means this site, judged by its text alone.
    fn is_meant_by(&self, pattern: &str) -> bool {
        let (scheme, rest) = match pattern.split_once("://") {
            Some((scheme, rest)) => (Some(scheme), rest),
            None => (None, pattern),
        };
        let (host, port) = match rest.rsplit_once(':') {
            Some((host, port)) if !port.contains(']') => (host, Some(port)),
            _ => (rest, None),
        };
        let usual = match self.scheme.as_str() {
            "http" => 80,
            _ => 443,
        };
        let port = match port {
            Some("*") => true,
            Some(port) => port.parse() == Ok(self.port),
            None => scheme.is_none() || host == "*" || self.port == usual,
        };
        let host = match host.strip_prefix('*') {
            Some("") => true,
            Some(below) => {
                // An IP address has no subdomains.
                let is_name =
                    !self.host.starts_with('[') && self.host.parse::<std::net::Ipv4Addr>().is_err();
                is_name && self.host.ends_with(below) && self.host.len() > below.len()
            }
            None => host == self.host,
        };
        port && host && scheme.is_none_or(|scheme| scheme == self.scheme)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_what_it_shows() {
        tabmux_testkit::play_corpus("origin_pattern", origin_pattern);
    }
}
