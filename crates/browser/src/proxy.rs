//! The proxy of a launched browser. Chrome accepts no password in a proxy's address, so it is removed here and sent
//! when the proxy asks for it (`browser/proxy_login.rs`).

use crate::endpoint::percent_decoded;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use url::Url;

/// One proxy or several, in Chrome's syntax, with their credentials.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Proxy {
    /// In Chrome's syntax, without passwords.
    server: String,
    credentials: Vec<Credentials>,
}

/// Our credentials for one proxy.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Credentials {
    /// `host:port`.
    authority: String,
    pub(crate) user: String,
    pub(crate) password: String,
}

impl Proxy {
    /// Parses what the user wrote, such as `http://user:password@host:8080`. The error is a sentence.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut credentials = Vec::new();
        let mut server = String::new();
        for part in text.split_inclusive([';', ',']) {
            let Some((start, address)) = part.rsplit_once('@') else {
                server.push_str(part);
                continue;
            };
            // `https=http://user:password`; all but the last part is optional.
            let (list, rest) = start
                .split_once('=')
                .filter(|(list, _)| is_scheme(list))
                .unzip();
            let rest = rest.unwrap_or(start);
            let (scheme, login) = rest.split_once("://").unwrap_or(("http", rest));
            if scheme.starts_with("socks") || list.is_some_and(|list| list.starts_with("socks")) {
                return Err(
                    "Chrome cannot give a password to a SOCKS proxy. Use an HTTP proxy for \
                            --proxyServer, or a SOCKS proxy that wants none."
                        .to_owned(),
                );
            }
            let authority = authority(&format!(
                "{scheme}://{}",
                address.trim_end_matches([';', ','])
            ));
            let Some(authority) = authority else {
                return Err(
                    "--proxyServer is not a proxy address. Write it like http://USER:PASSWORD@HOST:PORT, \
                     with %40 for @, %3A for : and %3B for ; in the password."
                        .to_owned(),
                );
            };
            let (user, password) = login.split_once(':').unwrap_or((login, ""));
            credentials.push(Credentials {
                authority,
                user: decoded(user),
                password: decoded(password),
            });
            if let Some(list) = list {
                server.push_str(list);
                server.push('=');
            }
            server.push_str(scheme);
            server.push_str("://");
            server.push_str(address);
        }
        Ok(Self {
            server,
            credentials,
        })
    }

    /// In Chrome's syntax.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Whether any of them needs credentials.
    pub(crate) fn wants_login(&self) -> bool {
        !self.credentials.is_empty()
    }

    /// Our credentials for the proxy at this origin.
    pub(crate) fn credentials_for(&self, origin: &str) -> Option<&Credentials> {
        let authority = authority(origin)?;
        let mut all = self.credentials.iter();
        all.find(|it| it.authority == authority)
    }
}

fn is_scheme(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|letter| letter.is_ascii_alphanumeric())
}

fn authority(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    Some(format!(
        "{}:{}",
        url.host_str()?,
        url.port_or_known_default()?
    ))
}

fn decoded(text: &str) -> String {
    String::from_utf8_lossy(&percent_decoded(text)).into_owned()
}

/// Sessions whose browser plans have the same `Debug` output share a browser. So different passwords give different
/// output, but the passwords cannot be read from it.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hasher = DefaultHasher::new();
        (&self.user, &self.password).hash(&mut hasher);
        write!(f, "{} ({:016x})", self.authority, hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_removed_from_a_proxys_address() {
        for (text, server, origin) in [
            (
                "http://me:p%40w@host:8080",
                "http://host:8080",
                "http://host:8080",
            ),
            ("me:p%40w@host:8080", "http://host:8080", "http://host:8080"),
            ("https://me:p%40w@host", "https://host", "https://host:443"),
            (
                "http=http://a:1;https=http://me:p%40w@host:2",
                "http=http://a:1;https=http://host:2",
                "http://host:2",
            ),
        ] {
            let proxy = Proxy::parse(text).unwrap();
            assert_eq!(proxy.server(), server);
            let credentials = proxy.credentials_for(origin).unwrap();
            assert_eq!((&*credentials.user, &*credentials.password), ("me", "p@w"));
            assert_eq!(proxy.credentials_for("http://elsewhere:1"), None);
        }
        for plain in [
            "http://host:8080",
            "host:8080",
            "socks5://host:1",
            "direct://",
        ] {
            let proxy = Proxy::parse(plain).unwrap();
            assert!(proxy.server() == plain && !proxy.wants_login());
        }
    }

    #[test]
    fn a_password_that_cannot_work_is_refused_and_not_repeated() {
        for text in [
            "socks5://me:hush@host:1",
            "socks=me:hush@host:1",
            "http://me:hush@",
        ] {
            let error = Proxy::parse(text).unwrap_err();
            assert!(!error.contains("hush"), "{error}");
        }
    }

    #[test]
    fn debug_output_differs_by_password_without_revealing_it() {
        let read = |password: &str| {
            let proxy = Proxy::parse(&format!("http://me:{password}@host:1"));
            format!("{:?}", proxy.unwrap())
        };
        assert_ne!(read("one"), read("two"));
        assert!(!read("hush").contains("hush"));
    }
}
