//! An origin whose pages a person allows, in the spelling of browsers.

use std::fmt;
use std::str::FromStr;
use url::Url;

/// An origin such as `https://example.com`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageOrigin(String);

impl PageOrigin {
    /// As browsers write it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for PageOrigin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let url = Url::parse(text).ok();
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let origin = url.and_then(|url| {
            let origin = url.origin().ascii_serialization();
            (url.as_str().trim_end_matches('/') == origin).then_some(origin)
        });
        origin
            .map(Self)
            .ok_or_else(|| format!("`{text}` is not an origin; write it like https://example.com"))
    }
}

impl fmt::Display for PageOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spec: decisions 23.
    #[test]
    fn an_origin_has_one_spelling_and_is_nothing_else() {
        let read = |text: &str| text.parse().map(|origin: PageOrigin| origin.to_string());
        for text in ["https://a.test", "https://A.test/", "https://a.test:443"] {
            assert_eq!(read(text).as_deref(), Ok("https://a.test"));
        }
        assert_eq!(
            read("http://a.test:8080").as_deref(),
            Ok("http://a.test:8080")
        );
        for none in [
            "example",
            "a.test",
            "https://*.a.test/x",
            "https://a.test/path",
            "https://a.test/?q",
            "https://me@a.test",
            "file:///x",
            "null",
            "",
        ] {
            assert!(read(none).is_err(), "{none}");
        }
    }
}
