//! Which sessions share a browser: those whose plans have equal keys.

use super::browser_plan::{BrowserPlan, PlannedBrowser};
use sha2::{Digest, Sha256};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::path::PathBuf;
use tabmux_browser::{AddressPolicy, GridPlace, LaunchOptions, endpoint};

/// What sessions must agree on to share a browser. Its text is the browser's key in the core and on disk, so it
/// contains no secrets, only a hash of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum SharingKey {
    /// The browser at a URL, also if its headers or its name differ.
    Endpoint {
        url: String,
        /// Whether any certificate is accepted: a session that checks it must not share the connection of one that
        /// does not.
        insecure: bool,
        /// The files of certificates, where they matter: a session without somebody's certificate must not share a
        /// connection that was made with it, nor one that trusts other authorities.
        certificates: Option<Certificates>,
        /// The place of a browser that a grid hands out. Its number is never used again in this process, and no
        /// browser of a grid is looked for by its key later.
        place: Option<u64>,
    },
    Extension {
        name: Option<String>,
    },
    /// A browser that may be launched.
    Launch(Box<LaunchKey>),
}

/// The files with which a connection over TLS is made.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Certificates {
    authorities: Vec<PathBuf>,
    client: Option<(PathBuf, PathBuf)>,
}

/// The settings of a browser that may be launched.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LaunchKey {
    /// Which browsers are possible, for people.
    kind: String,
    launch: LaunchOptions,
    policy: AddressPolicy,
    shim: bool,
}

impl SharingKey {
    pub(super) fn of(plan: &BrowserPlan) -> Self {
        match &plan.browser {
            PlannedBrowser::At(address) => Self::Endpoint {
                url: address.url().to_owned(),
                insecure: plan.tls.insecure,
                certificates: Certificates::of(plan, address.url()),
                place: plan.place.as_ref().map(GridPlace::number),
            },
            PlannedBrowser::Extension { name } => Self::Extension { name: name.clone() },
            PlannedBrowser::Any | PlannedBrowser::Launched | PlannedBrowser::Running => {
                Self::Launch(Box::new(LaunchKey {
                    kind: plan.source(),
                    launch: plan.launch.clone(),
                    policy: plan.policy,
                    shim: plan.shim,
                }))
            }
        }
    }
}

impl Certificates {
    fn of(plan: &BrowserPlan, url: &str) -> Option<Self> {
        let is_secure = ["https:", "wss:", "grid+https:"].iter();
        let mut is_secure = is_secure.map(|start| url.starts_with(start));
        let (authorities, client) = (&plan.tls.ca_files, &plan.tls.client);
        let any = !authorities.is_empty() || client.is_some();
        (any && is_secure.any(|it| it)).then(|| Self {
            authorities: authorities.clone(),
            client: client.clone(),
        })
    }
}

impl fmt::Display for SharingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint {
                url,
                insecure,
                certificates,
                place,
            } => {
                match endpoint::shown(url) {
                    shown if shown == *url => f.write_str(&shown)?,
                    shown => write!(f, "{shown} {}", hex(Sha256::digest(url.as_bytes())))?,
                }
                if let Some(place) = place {
                    write!(f, " {place}")?;
                }
                if let Some(certificates) = certificates {
                    write!(f, " certificates {}", hashed(certificates))?;
                }
                f.write_str(if *insecure { " insecure" } else { "" })
            }
            Self::Extension { name } => {
                write!(f, "extension:{}", name.as_deref().unwrap_or_default())
            }
            Self::Launch(key) => {
                write!(f, "{} {}", key.kind, hashed(key))
            }
        }
    }
}

/// Feeds what is hashed into SHA-256, because the text must be the same in every process of this program.
#[derive(Default)]
struct Bytes(Sha256);

impl Hasher for Bytes {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Not used: the whole digest is.
    fn finish(&self) -> u64 {
        0
    }
}

fn hashed(value: &impl Hash) -> String {
    let mut bytes = Bytes::default();
    value.hash(&mut bytes);
    hex(bytes.0.finalize())
}

/// The first eight bytes of a digest.
fn hex(digest: impl AsRef<[u8]>) -> String {
    let bytes = digest.as_ref().iter().take(8);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_protocol::session::{BrowserChoice, BrowserOptions, Endpoint, EndpointAddress};

    fn key(choice: BrowserChoice, more: BrowserOptions) -> SharingKey {
        let options = BrowserOptions { choice, ..more };
        SharingKey::of(&BrowserPlan::from_wire(options).unwrap()[0])
    }

    fn at(address: EndpointAddress) -> SharingKey {
        let endpoints = vec![address.into()];
        key(
            BrowserChoice::Endpoints { endpoints },
            BrowserOptions::default(),
        )
    }

    #[test]
    fn an_address_is_its_own_key_without_its_secrets() {
        let url = "http://127.0.0.1:9222".to_owned();
        assert_eq!(
            at(EndpointAddress::DevTools { url: url.clone() }).to_string(),
            url
        );
        let secret = |token: &str| {
            let url = format!("ws://host/?token={token}");
            let headers = vec![("X".to_owned(), "header".to_owned())];
            at(EndpointAddress::WebSocket { url, headers }).to_string()
        };
        assert!(secret("one").starts_with("ws://host/?token=… "));
        assert_eq!(secret("one").len(), "ws://host/?token=… ".len() + 16);
        assert_ne!(secret("one"), secret("two"));
    }

    #[test]
    fn who_checks_the_certificate_shares_nothing_with_who_does_not() {
        let at = |insecure: bool| {
            let url = "https://127.0.0.1:9222".to_owned();
            let mut endpoint = Endpoint::from(EndpointAddress::DevTools { url });
            endpoint.insecure = insecure;
            let endpoints = vec![endpoint];
            key(
                BrowserChoice::Endpoints { endpoints },
                BrowserOptions::default(),
            )
            .to_string()
        };
        assert_eq!(at(false), "https://127.0.0.1:9222");
        assert_eq!(at(true), "https://127.0.0.1:9222 insecure");
    }

    #[test]
    fn a_connection_with_certificates_is_shared_by_sessions_that_name_the_same() {
        let at = |url: &str, authority: Option<&str>, client: Option<&str>| {
            let url = url.to_owned();
            let endpoints = vec![EndpointAddress::DevTools { url }.into()];
            let more = BrowserOptions {
                ca_files: authority.map(Into::into).into_iter().collect(),
                client_certificate: client.map(|file| (file.into(), "key.pem".into())),
                ..BrowserOptions::default()
            };
            key(BrowserChoice::Endpoints { endpoints }, more).to_string()
        };
        let https = "https://127.0.0.1:9222";
        let different = [
            at(https, None, None),
            at(https, Some("ca.pem"), None),
            at(https, None, Some("me.pem")),
            at(https, None, Some("you.pem")),
        ];
        for (index, text) in different.iter().enumerate() {
            assert!(!different[..index].contains(text), "{text}");
        }
        assert_eq!(different[2], at(https, None, Some("me.pem")));
        let http = "http://127.0.0.1:9222";
        assert_eq!(at(http, Some("ca.pem"), Some("me.pem")), http);
    }

    #[test]
    fn plans_and_options_are_written_without_secrets() {
        let url = "grid+http://me:hushhush@hub?cloud:key=hushhush".to_owned();
        let headers = vec![("Authorization".to_owned(), "Bearer hushhush".to_owned())];
        let endpoints = [
            EndpointAddress::Grid { url: url.clone() },
            EndpointAddress::DevTools { url: url.clone() },
            EndpointAddress::WebSocket { url, headers },
        ];
        let endpoints = endpoints.map(|address| Endpoint {
            start_command: Some("start --password hushhush".into()),
            ..address.into()
        });
        let options = BrowserOptions {
            choice: BrowserChoice::Endpoints {
                endpoints: endpoints.to_vec(),
            },
            proxy: Some("http://me:hushhush@proxy:8080".into()),
            ..BrowserOptions::default()
        };
        let written = format!("{options:?} {:?}", BrowserPlan::from_wire(options.clone()));
        assert!(!written.contains("hushhush"), "{written}");
    }

    #[test]
    fn each_session_has_its_own_browser_of_a_grid() {
        let url = "grid+http://hub:4444".to_owned();
        let one = || at(EndpointAddress::Grid { url: url.clone() }).to_string();
        assert!(one().starts_with("grid+http://hub:4444 "));
        assert_ne!(one(), one());
    }

    #[test]
    fn an_extension_is_shared_by_its_name() {
        let named = |name: Option<&str>| {
            let name = name.map(str::to_owned);
            key(BrowserChoice::Extension { name }, BrowserOptions::default()).to_string()
        };
        assert_eq!(named(None), "extension:");
        assert_eq!(named(Some("work")), "extension:work");
    }

    #[test]
    fn launched_browsers_are_shared_if_all_their_settings_are_equal() {
        let plain = BrowserOptions::default;
        let with = |more: BrowserOptions| key(BrowserChoice::Launch, more);
        assert_eq!(with(plain()), with(plain()));
        assert_eq!(with(plain()).to_string(), with(plain()).to_string());
        let proxy = |password: &str| BrowserOptions {
            proxy: Some(format!("http://user:{password}@host:8080")),
            ..plain()
        };
        let different = [
            with(plain()),
            with(BrowserOptions {
                headless: true,
                ..plain()
            }),
            with(BrowserOptions {
                init_scripts: vec!["a".into()],
                ..plain()
            }),
            with(BrowserOptions {
                allow_file_urls: true,
                ..plain()
            }),
            with(BrowserOptions {
                no_shim: true,
                ..plain()
            }),
            with(proxy("s3cret")),
            with(proxy("0ther")),
            key(BrowserChoice::Any, plain()),
            key(BrowserChoice::Running, plain()),
        ];
        let texts: Vec<_> = different.iter().map(ToString::to_string).collect();
        for (index, text) in texts.iter().enumerate() {
            assert!(!text.contains("s3cret"), "{text}");
            assert!(!texts[..index].contains(text), "{text}");
            assert!(!different[..index].contains(&different[index]), "{text}");
        }
    }
}
