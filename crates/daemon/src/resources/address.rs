//! What the address of a resource names.

use super::kinds::{self, Kind};
use std::fmt;

/// What an address names.
#[derive(Clone, Debug)]
pub(crate) enum Address {
    Tab(TabAddress),
    File(FileAddress),
}

/// `tabmux://tab/3/text?offset=12000`
#[derive(Clone, Debug)]
pub(crate) struct TabAddress {
    /// The session's number of the tab.
    pub(crate) tab: u32,
    pub(crate) kind: &'static Kind,
    /// The number after the kind, if the kind has one.
    pub(crate) number: u32,
    /// Where to begin, if the kind has parts.
    pub(crate) start: Option<u32>,
}

/// `tabmux://file/2?offset=8388608`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileAddress {
    pub(crate) number: u64,
    /// Where to begin. `None`: all of it.
    pub(crate) offset: Option<u64>,
}

impl Address {
    /// Parses an address. Each resource has one address only.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        if uri.len() > LONGEST {
            return None;
        }
        let rest = uri.strip_prefix(SCHEME)?;
        let (path, query) = match rest.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (rest, None),
        };
        if let Some(number) = path.strip_prefix("file/") {
            return Some(Self::File(FileAddress {
                number: whole(number)?,
                offset: match query {
                    Some(query) => Some(whole(query.strip_prefix("offset=")?)?),
                    None => None,
                },
            }));
        }
        let (tab, rest) = path.strip_prefix("tab/")?.split_once('/')?;
        let (name, number) = match rest.split_once('/') {
            Some((name, number)) => (name, Some(whole(number)?)),
            None => (rest, None),
        };
        let kind = kinds::named(name, number.is_some())?;
        let start = match query {
            Some(query) => {
                let value = query.strip_prefix(kind.part?)?.strip_prefix('=')?;
                Some(whole(value)?)
            }
            None => None,
        };
        Some(Self::Tab(TabAddress {
            tab: whole(tab)?,
            kind,
            number: number.unwrap_or_default(),
            start,
        }))
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tab(tab) => {
                f.write_str(&of_tab(tab.tab, tab.kind.name))?;
                if tab.kind.has_number() {
                    write!(f, "/{}", tab.number)?;
                }
                match (tab.kind.part, tab.start) {
                    (Some(part), Some(start)) => write!(f, "?{part}={start}"),
                    _ => Ok(()),
                }
            }
            Self::File(file) => {
                f.write_str(&of_file(file.number))?;
                file.offset
                    .map_or(Ok(()), |offset| write!(f, "?offset={offset}"))
            }
        }
    }
}

/// Whether this is an address of ours.
pub(super) fn is_ours(uri: &str) -> bool {
    uri.starts_with(SCHEME)
}

/// The address of a file of the session.
pub(crate) fn of_file(number: u64) -> String {
    format!("{SCHEME}file/{number}")
}

/// The address of a tab's resource of this kind, without a number.
pub(super) fn of_tab(tab: u32, kind: &str) -> String {
    format!("{SCHEME}tab/{tab}/{kind}")
}

/// A number as we write it: without a sign or leading zeros.
fn whole<T: std::str::FromStr + ToString>(text: &str) -> Option<T> {
    let number: T = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

pub(super) const SCHEME: &str = "tabmux://";
/// Longer than every address of ours.
const LONGEST: usize = 200;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_address_names_one_thing_and_nothing_else_is_an_address() {
        for (uri, expected) in [
            ("tabmux://tab/3/text", "3 text 0 None"),
            ("tabmux://tab/3/text?offset=120", "3 text 0 Some(120)"),
            ("tabmux://tab/12/network/7", "12 network 7 None"),
            ("tabmux://tab/12/network?page=1", "12 network 0 Some(1)"),
            ("tabmux://tab/1/download/2", "1 download 2 None"),
        ] {
            let Some(Address::Tab(tab)) = Address::parse(uri) else {
                panic!("{uri}");
            };
            let told = format!(
                "{} {} {} {:?}",
                tab.tab, tab.kind.name, tab.number, tab.start
            );
            assert_eq!(told, expected, "{uri}");
            assert_eq!(Address::Tab(tab).to_string(), uri);
        }
        let file = |number, offset| Some(FileAddress { number, offset });
        for (uri, expected) in [
            ("tabmux://file/3", file(3, None)),
            ("tabmux://file/3?offset=9", file(3, Some(9))),
        ] {
            let Some(Address::File(file)) = Address::parse(uri) else {
                panic!("{uri}");
            };
            assert_eq!(Some(file), expected);
        }
        let long = format!("tabmux://tab/1/{}", "x".repeat(300));
        for uri in [
            "",
            "file:///etc/passwd",
            "tabmux://",
            "tabmux://tab",
            "tabmux://tab/3",
            "tabmux://tab/3/",
            "tabmux://tab/03/text",
            "tabmux://tab/+3/text",
            "tabmux://tab/-1/text",
            "tabmux://tab/99999999999/text",
            "tabmux://tab/3/text/",
            "tabmux://tab/3/text/1",
            "tabmux://tab/3/text?page=1",
            "tabmux://tab/3/text?offset=",
            "tabmux://tab/3/text?offset=1&x=2",
            "tabmux://tab/3/snapshot?offset=1",
            "tabmux://tab/3/network/",
            "tabmux://tab/3/network/1/2",
            "tabmux://tab/3/download",
            "tabmux://tab/3/cookies",
            "tabmux://tab/3/../3/text",
            "tabmux://file/",
            "tabmux://file/x",
            "tabmux://file/../1",
            "TABMUX://tab/3/text",
            &long,
        ] {
            assert!(Address::parse(uri).is_none(), "{uri}");
        }
    }
}
