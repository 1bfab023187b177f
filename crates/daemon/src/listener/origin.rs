//! Who may come: by the name it was called under, and by the origin of the page.

use url::{Host, Url};

/// The origins whose pages may offer tools.
#[derive(Clone, Debug, Default)]
pub struct PageOrigins {
    allowed: Vec<String>,
}

impl PageOrigins {
    /// Those of this machine, and these. Fails on what is no origin.
    pub fn new(allowed: &[String]) -> Result<Self, String> {
        let allowed = allowed.iter().map(|text| {
            let origin = of_page(text.trim_end_matches('/'));
            origin
                .ok_or_else(|| format!("`{text}` is no origin; write it like https://example.com"))
        });
        Ok(Self {
            allowed: allowed.collect::<Result<_, _>>()?,
        })
    }

    /// Whether pages of this origin may offer tools; why not, for their developer.
    pub(super) fn check(&self, origin: &str) -> Result<(), String> {
        if is_local(origin) || self.allowed.iter().any(|allowed| allowed == origin) {
            return Ok(());
        }
        Err(format!(
            "Pages of {origin} may not offer tools; start the daemon with --allowPageOrigin {origin}."
        ))
    }
}

/// The origin of a web page, as browsers write it. `null`, files and extensions are none.
pub(super) fn of_page(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let origin = url.origin().ascii_serialization();
    (matches!(url.scheme(), "http" | "https") && origin == text).then_some(origin)
}

/// Whether a page comes from this machine.
fn is_local(origin: &str) -> bool {
    let url = Url::parse(origin).ok();
    url.as_ref()
        .and_then(Url::host)
        .is_some_and(|host| is_loopback(&host))
}

/// Whether a `Host` header names us: loopback, and our port.
pub(super) fn is_our_host(host: &str, port: u16) -> bool {
    let Ok(url) = Url::parse(&format!("http://{host}/")) else {
        return false;
    };
    let named = url.host().is_some_and(|host| is_loopback(&host));
    named && url.port_or_known_default() == Some(port) && url.username().is_empty()
}

fn is_loopback(host: &Host<&str>) -> bool {
    match host {
        Host::Ipv4(host) => host.is_loopback(),
        Host::Ipv6(host) => host.is_loopback(),
        Host::Domain(host) => *host == "localhost",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s2_only_loopback_names_with_our_port_are_ours() {
        for ours in ["127.0.0.1:8765", "localhost:8765", "[::1]:8765"] {
            assert!(is_our_host(ours, 8765), "{ours}");
        }
        for strange in [
            "example.com:8765",
            "127.0.0.1.example.com:8765",
            "localhost:1",
            "localhost",
            "",
            "localhost:8765@example.com",
            "me@localhost:8765",
            "192.168.0.1:8765",
        ] {
            assert!(!is_our_host(strange, 8765), "{strange}");
        }
    }

    #[test]
    fn c_23_pages_of_this_machine_may_come_and_others_only_if_they_are_named() {
        let origins = PageOrigins::new(&["https://app.example".into()]).unwrap();
        for fine in [
            "http://localhost:5173",
            "http://127.0.0.1",
            "https://[::1]:8443",
            "https://app.example",
        ] {
            let origin = of_page(fine).unwrap();
            assert_eq!(origins.check(&origin), Ok(()), "{fine}");
        }
        for strange in [
            "https://evil.example",
            "http://localhost.evil.example",
            "http://app.example",
        ] {
            let origin = of_page(strange).unwrap();
            assert!(origins.check(&origin).is_err(), "{strange}");
        }
        for none in [
            "null",
            "file://",
            "chrome-extension://abc",
            "https://a/path",
            "",
        ] {
            assert_eq!(of_page(none), None, "{none}");
        }
        assert!(PageOrigins::new(&["example".into()]).is_err());
    }
}
