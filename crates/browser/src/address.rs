//! Which addresses an agent may open: the URL policy, in one place.

use url::Url;

/// A URL that an agent may open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address(Url);

/// Why an address was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It is not a URL at all.
    #[error("`{text}` is not a URL. Give a whole one, such as https://example.com/page.")]
    Malformed {
        /// What was given, shortened.
        text: String,
    },
    /// It is a host without a scheme.
    #[error("`{text}` has no scheme. Did you mean {}://{text} ?", likely_scheme(.text))]
    NoScheme {
        /// What was given, shortened.
        text: String,
    },
    /// URLs of this scheme may not be opened by agents.
    #[error("{scheme}: URLs are not opened. Use an http:, https: or data: URL, or about:blank.")]
    Forbidden {
        /// The scheme, without the colon.
        scheme: String,
    },
}

/// Which kinds of URL are allowed beyond `http`, `https`, `data` and `about:blank`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AddressPolicy {
    /// Whether `file:` URLs may be opened and read.
    pub allow_files: bool,
}

impl AddressPolicy {
    /// Parses a URL that an agent wrote.
    pub fn parse(self, text: &str) -> Result<Address, AddressError> {
        let trimmed = text.trim();
        let url = match Url::parse(trimmed) {
            Ok(url) => url,
            Err(url::ParseError::RelativeUrlWithoutBase) if looks_like_host(trimmed) => {
                return Err(AddressError::NoScheme {
                    text: shorten(trimmed),
                });
            }
            Err(_) => {
                return Err(AddressError::Malformed {
                    text: shorten(trimmed),
                });
            }
        };
        if self.allows(&url) {
            return Ok(Address(url));
        }
        // `localhost:3000` parses as a URL with the scheme `localhost`.
        if url.cannot_be_a_base() && looks_like_host_and_port(&url) {
            return Err(AddressError::NoScheme {
                text: shorten(trimmed),
            });
        }
        Err(AddressError::Forbidden {
            scheme: shorten(url.scheme()),
        })
    }

    /// Whether a tab that shows `url` now may be read and acted upon.
    pub fn permits(self, url: &str) -> bool {
        // A tab reports an empty URL before its first navigation commits.
        url.is_empty() || Url::parse(url).is_ok_and(|url| self.allows(&url) || is_error_page(&url))
    }

    fn allows(self, url: &Url) -> bool {
        match url.scheme() {
            "http" | "https" => url.has_host(),
            "data" => true,
            "about" => matches!(url.path(), "blank" | "srcdoc"),
            "file" => self.allow_files,
            _ => false,
        }
    }
}

impl Address {
    /// The URL as it is sent to Chrome.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }
}

/// Chrome's own error page for a failed navigation: harmless, and an agent must be able to navigate away from it.
fn is_error_page(url: &Url) -> bool {
    url.scheme() == "chrome-error"
}

/// The most likely scheme when none was given: local servers rarely have certificates.
fn likely_scheme(text: &str) -> &'static str {
    let host = text.split(['/', '?', '#', ':']).next().unwrap_or_default();
    match host == "localhost" || host.parse::<std::net::Ipv4Addr>().is_ok() {
        true => "http",
        false => "https",
    }
}

fn looks_like_host(text: &str) -> bool {
    let host = text.split(['/', '?', '#', ':']).next().unwrap_or_default();
    (host.contains('.') || host == "localhost")
        && !host.starts_with('.')
        && host
            .chars()
            .all(|c| c.is_alphanumeric() || c == '.' || c == '-')
}

fn looks_like_host_and_port(url: &Url) -> bool {
    let digits = url.path().split('/').next().unwrap_or_default();
    if NOT_HOSTS.contains(&url.scheme()) {
        return false;
    }
    !digits.is_empty() && digits.len() <= 5 && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Schemes whose URLs may look like a host and a port.
const NOT_HOSTS: [&str; 4] = ["javascript", "tel", "sms", "mailto"];

fn shorten(text: &str) -> String {
    tabmux_text::shorten(text, 200)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let answer = match AddressPolicy::default().parse(text) {
            Ok(address) => address.as_str().to_owned(),
            Err(error) => error.to_string(),
        };
        assert_eq!(answer, expected, "for {text:?}");
    }

    /// Spec: dynamic-tools 89.
    #[test]
    fn only_web_addresses_are_opened() {
        check("https://example.com", "https://example.com/");
        check("  http://localhost:80/a?b#c ", "http://localhost/a?b#c");
        check("about:blank", "about:blank");
        check("data:text/html,hi", "data:text/html,hi");
        for (scheme, text) in [
            ("javascript", "javascript:alert(1)"),
            ("javascript", "javascript:1"),
            ("file", "file:///etc/passwd"),
            ("chrome", "chrome://settings"),
            ("about", "about:settings"),
            ("view-source", "view-source:http://a/"),
            ("devtools", "devtools://devtools"),
            ("blob", "blob:http://a/b"),
        ] {
            check(
                text,
                &format!(
                    "{scheme}: URLs are not opened. Use an http:, https: or data: URL, or about:blank."
                ),
            );
        }
    }

    #[test]
    fn a_forgotten_scheme_is_named() {
        check(
            "example.com/x",
            "`example.com/x` has no scheme. Did you mean https://example.com/x ?",
        );
        check(
            "localhost:3000",
            "`localhost:3000` has no scheme. Did you mean http://localhost:3000 ?",
        );
        check(
            "127.0.0.1:80/a",
            "`127.0.0.1:80/a` has no scheme. Did you mean http://127.0.0.1:80/a ?",
        );
        check(
            "",
            "`` is not a URL. Give a whole one, such as https://example.com/page.",
        );
        check(
            "not a url",
            "`not a url` is not a URL. Give a whole one, such as https://example.com/page.",
        );
        check(
            "http://",
            "`http://` is not a URL. Give a whole one, such as https://example.com/page.",
        );
    }

    #[test]
    fn tabs_on_forbidden_pages_are_not_read() {
        let policy = AddressPolicy::default();
        assert!(policy.permits("https://a/"));
        assert!(policy.permits(""));
        assert!(policy.permits("chrome-error://chromewebdata/"));
        assert!(!policy.permits("chrome://version"));
        assert!(!policy.permits("file:///etc/passwd"));
        assert!(AddressPolicy { allow_files: true }.permits("file:///tmp/a.html"));
    }
}
