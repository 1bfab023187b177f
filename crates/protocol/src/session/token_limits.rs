//! What the token of a client allows it.

use serde::{Deserialize, Serialize};

/// What a client may do with its token. The flags of its server may allow less.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TokenLimits {
    /// Whether it may only use tools that change nothing.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub read_only: bool,
    /// The only origins that it may access. Empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<String>,
    /// The names of the only browsers that it may use. Empty: all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub browsers: Vec<String>,
}
