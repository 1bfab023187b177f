//! The flags that set which sites a session may access.

use anyhow::anyhow;
use clap::Args;

/// Parses the origins in a flag as the daemon does. The error is a sentence.
pub type ReadOrigins = fn(&str) -> Result<Vec<String>, String>;

/// Which sites a session may access.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Policy")]
pub(crate) struct OriginFlags {
    /// The only origins that agents may open, read and act on, such as https://example.com,
    /// https://*.example.com, http://localhost:* or example.com. May be repeated; `;` separates several.
    #[arg(
        long = "allowedOrigins",
        alias = "allowed-origins",
        value_name = "ORIGINS"
    )]
    allowed_origins: Vec<String>,

    /// Origins that agents may not open, read or act on, even if they are allowed.
    #[arg(
        long = "blockedOrigins",
        alias = "blocked-origins",
        value_name = "ORIGINS"
    )]
    blocked_origins: Vec<String>,
}

impl OriginFlags {
    pub(crate) fn allowed(&self, read: ReadOrigins) -> anyhow::Result<Vec<String>> {
        all("--allowedOrigins", &self.allowed_origins, read)
    }

    pub(crate) fn blocked(&self, read: ReadOrigins) -> anyhow::Result<Vec<String>> {
        all("--blockedOrigins", &self.blocked_origins, read)
    }
}

fn all(flag: &str, texts: &[String], read: ReadOrigins) -> anyhow::Result<Vec<String>> {
    let read = texts.iter().map(|text| read(text));
    let all: Result<Vec<_>, _> = read.collect();
    all.map(|all| all.concat())
        .map_err(|why| anyhow!("{flag}: {why}"))
}
