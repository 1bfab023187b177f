//! The formats of configs: each adds, removes and finds entries without touching the rest of the file.

use super::entry::{Entry, Found, Refusal};
use super::{json, toml, yaml};

/// The format of a config, and the key that holds the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Json {
        key: &'static str,
        entry: JsonEntry,
    },
    Toml {
        key: &'static str,
    },
    /// As Goose writes it.
    Yaml {
        key: &'static str,
    },
}

/// How a JSON config describes a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonEntry {
    /// `command` and `args`.
    Plain,
    /// The same, with `"type": "stdio"`.
    Typed,
    /// `"type": "local"`, and the program with its arguments in one list.
    OpenCode,
}

impl Format {
    /// The text with the entry, or `None` if the entry exists already.
    pub(crate) fn add(self, text: &str, entry: &Entry) -> Result<Option<String>, Refusal> {
        match self {
            Self::Json { key, entry: shape } => json::add(text, key, shape, entry),
            Self::Toml { key } => toml::add(text, key, entry),
            Self::Yaml { key } => yaml::add(text, key, entry),
        }
    }

    /// The text without our entry of that name, or `None` if it has none.
    pub(crate) fn remove(
        self,
        text: &str,
        name: &str,
        own_path: &str,
    ) -> Result<Option<String>, Refusal> {
        match self {
            Self::Json { key, .. } => json::remove(text, key, name, own_path),
            Self::Toml { key } => toml::remove(text, key, name, own_path),
            Self::Yaml { key } => yaml::remove(text, key, name, own_path),
        }
    }

    /// All our entries.
    pub(crate) fn ours(self, text: &str, own_path: &str) -> Result<Vec<Found>, Refusal> {
        match self {
            Self::Json { key, .. } => json::ours(text, key, own_path),
            Self::Toml { key } => toml::ours(text, key, own_path),
            Self::Yaml { key } => yaml::ours(text, key, own_path),
        }
    }
}
