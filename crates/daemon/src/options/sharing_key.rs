//! Which sessions share a browser: those whose plans have equal keys.

use super::browser_plan::{BrowserPlan, PlannedBrowser};
use sha2::{Digest, Sha256};
use std::fmt;
use std::hash::{Hash, Hasher};
use tabmux_browser::{AddressPolicy, LaunchOptions, endpoint};

/// What sessions must agree on to share a browser. Its text is the browser's key in the core and on disk, so it
/// contains no secrets, only a hash of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum SharingKey {
    /// The browser at a URL, also if its headers or its name differ.
    Endpoint {
        url: String,
    },
    Extension {
        name: Option<String>,
    },
    /// A browser that may be launched.
    Launch(Box<LaunchKey>),
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

impl fmt::Display for SharingKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endpoint { url } => match endpoint::shown(url) {
                shown if shown == *url => f.write_str(&shown),
                shown => write!(f, "{shown} {}", hex(Sha256::digest(url.as_bytes()))),
            },
            Self::Extension { name } => {
                write!(f, "extension:{}", name.as_deref().unwrap_or_default())
            }
            Self::Launch(key) => {
                let mut bytes = Bytes::default();
                key.hash(&mut bytes);
                write!(f, "{} {}", key.kind, hex(bytes.0.finalize()))
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

/// The first eight bytes of a digest.
fn hex(digest: impl AsRef<[u8]>) -> String {
    let bytes = digest.as_ref().iter().take(8);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_protocol::session::{BrowserChoice, BrowserOptions, EndpointAddress};

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
