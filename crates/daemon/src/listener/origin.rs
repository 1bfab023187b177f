//! Access checks: the host name of the request, and the origin of the page.

use crate::policy::{PageOrigin, PolicyReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;
use url::{Host, Url};

/// The origins whose pages may offer tools: those of this machine, and those that the person allows.
#[derive(Clone, Debug, Default)]
pub struct PageOrigins {
    named: Vec<PageOrigin>,
    file: Option<PolicyReader>,
}

impl PageOrigins {
    /// These origins, and those of this machine.
    pub fn of(named: Vec<PageOrigin>) -> Self {
        Self { named, file: None }
    }

    /// Also those in the person's file, which is reread for each check.
    #[must_use]
    pub fn and_in_file(self, path: PathBuf) -> Self {
        Self {
            file: Some(PolicyReader::start(path)),
            ..self
        }
    }

    /// Whether pages of this origin may offer tools; if not, the reason for their developer.
    pub(super) async fn check(&self, origin: &str) -> Result<(), String> {
        if is_local(origin) || self.named.iter().any(|named| named.as_str() == origin) {
            return Ok(());
        }
        match self.is_in_file(origin).await {
            true => Ok(()),
            false => Err(format!(
                "Pages of {origin} may not offer tools; run `tabmux policy page-origins add {origin}` to allow them."
            )),
        }
    }

    async fn is_in_file(&self, origin: &str) -> bool {
        let Some(policy_reader) = &self.file else {
            return false;
        };
        policy_reader.reread().await;
        let Some(rules) = policy_reader.seen() else {
            return false;
        };
        let rules = rules.as_ref().as_ref();
        rules.is_ok_and(|rules| rules.page_origins.iter().any(|it| it.as_str() == origin))
    }
}

/// The origin of a web page, as browsers write it. `null`, files and extensions do not count.
pub(super) fn of_page(text: &str) -> Option<String> {
    let url = Url::parse(text).ok()?;
    let origin = url.origin().ascii_serialization();
    (matches!(url.scheme(), "http" | "https") && origin == text).then_some(origin)
}

/// Who an origin counts as in slots and quotas: a server on this machine can use every address of 127/8, so one
/// local port is one owner under all its host names.
pub(crate) fn quota_owner(origin: &str) -> String {
    let url = Url::parse(origin).ok();
    let port = url.as_ref().and_then(Url::port_or_known_default);
    match (is_local(origin), port) {
        (true, Some(port)) => format!("this machine, port {port}"),
        _ => origin.to_owned(),
    }
}

/// Whether an origin is on this machine.
fn is_local(origin: &str) -> bool {
    let url = Url::parse(origin).ok();
    url.as_ref()
        .and_then(Url::host)
        .is_some_and(|host| is_loopback(&host))
}

/// Whether a `Host` header names us: loopback with our port, spelled as browsers do.
pub(super) fn is_our_host(host: &str, port: u16) -> bool {
    let (name, after) = match host.strip_prefix('[') {
        Some(literal) => match literal.split_once(']') {
            Some((name, after)) => (name.parse::<Ipv6Addr>().ok().map(IpAddr::V6), after),
            None => return false,
        },
        None => {
            let end = host.find(':').unwrap_or(host.len());
            let (name, after) = host.split_at(end);
            match name.eq_ignore_ascii_case("localhost") {
                true => (Some(IpAddr::V4(Ipv4Addr::LOCALHOST)), after),
                false => (name.parse::<Ipv4Addr>().ok().map(IpAddr::V4), after),
            }
        }
    };
    // Browsers omit the default port of the scheme.
    let is_port = after == format!(":{port}") || (port == 80 && after.is_empty());
    is_port && name.is_some_and(|name| name.is_loopback())
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
    use crate::policy::{PolicyChange, change_file};

    /// Spec: security 2.
    #[test]
    fn only_loopback_names_with_our_port_are_ours() {
        for ours in [
            "127.0.0.1:8765",
            "127.0.0.2:8765",
            "localhost:8765",
            "LocalHost:8765",
            "[::1]:8765",
            "[0:0:0:0:0:0:0:1]:8765",
        ] {
            assert!(is_our_host(ours, 8765), "{ours}");
        }
        for strange in [
            "example.com:8765",
            "127.0.0.1.example.com:8765",
            "localhost.example.com:8765",
            "192.168.0.1:8765",
            "0.0.0.0:8765",
            "[::]:8765",
            "[::ffff:127.0.0.1]:8765",
            // Another port, no port, or an invalid one.
            "localhost:1",
            "localhost",
            "localhost:",
            "localhost:08765",
            "localhost:+8765",
            "localhost:8765:8765",
            "localhost:87650",
            "[::1]",
            "[::1]8765",
            "::1:8765",
            "[::1:8765",
            // More than a host and a port.
            "localhost:8765@example.com",
            "me@localhost:8765",
            "me:you@localhost:8765",
            "localhost:8765#@evil.example",
            "localhost:8765#",
            "localhost:8765?",
            "localhost:8765/",
            "localhost:8765\\",
            "localhost#:8765",
            "localhost/:8765",
            "http://localhost:8765",
            " localhost:8765",
            "localhost:8765 ",
            "local host:8765",
            "localhost :8765",
            "localhost\t:8765",
            "localhost,localhost:8765",
            // Other spellings, which no browser sends.
            "localhost.:8765",
            "127.0.0.1.:8765",
            "127.1:8765",
            "0x7f.0.0.1:8765",
            "2130706433:8765",
            "127.0.0.01:8765",
            "%6cocalhost:8765",
            "[::1%25lo]:8765",
            "[127.0.0.1]:8765",
            "",
            ":8765",
        ] {
            assert!(!is_our_host(strange, 8765), "{strange}");
        }
        assert!(is_our_host("localhost", 80) && is_our_host("[::1]", 80));
        assert!(!is_our_host("localhost", 8080));
    }

    #[test]
    fn a_server_on_this_machine_is_one_owner_under_all_its_names() {
        let same = [
            "http://localhost",
            "http://127.0.0.1",
            "http://127.1.2.3",
            "http://[::1]:80",
        ];
        assert!(
            same.iter()
                .all(|origin| quota_owner(origin) == quota_owner(same[0]))
        );
        for other in ["http://localhost:81", "https://localhost", "http://a.test"] {
            assert_ne!(quota_owner(other), quota_owner(same[0]));
        }
        assert_ne!(quota_owner("http://a.test"), quota_owner("http://b.test"));
    }

    /// Spec: decisions 23.
    #[tokio::test]
    async fn local_pages_may_connect_and_others_only_if_named() {
        let origins = PageOrigins::of(vec!["https://app.example".parse().unwrap()]);
        for fine in [
            "http://localhost:5173",
            "http://127.0.0.1",
            "https://[::1]:8443",
            "https://app.example",
        ] {
            let origin = of_page(fine).unwrap();
            assert_eq!(origins.check(&origin).await, Ok(()), "{fine}");
        }
        for strange in [
            "https://evil.example",
            "http://localhost.evil.example",
            "http://app.example",
        ] {
            let origin = of_page(strange).unwrap();
            assert!(origins.check(&origin).await.is_err(), "{strange}");
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
    }

    /// Spec: decisions 23.
    #[tokio::test]
    async fn the_persons_file_allows_and_forbids_pages_as_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.json");
        let origins = PageOrigins::default().and_in_file(path.clone());
        let may = async || origins.check("https://app.example").await.is_ok();
        let origin: PageOrigin = "https://app.example".parse().unwrap();
        assert!(!may().await);
        change_file(&path, &PolicyChange::AddPages(origin.clone())).unwrap();
        assert!(may().await && origins.check("https://evil.example").await.is_err());
        change_file(&path, &PolicyChange::RemovePages(origin)).unwrap();
        assert!(!may().await);
        std::fs::write(&path, "{").unwrap();
        assert!(!may().await && origins.check("http://localhost:1").await.is_ok());
    }
}
