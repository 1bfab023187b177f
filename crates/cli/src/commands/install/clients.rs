//! The MCP clients: the path and the format of their configs.

use std::env;
use std::path::PathBuf;

/// An MCP client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Codex,
    Gemini,
    Windsurf,
}

/// The format of a config, and the key that holds the servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON. If `typed`, a server has `"type": "stdio"`.
    Json {
        key: &'static str,
        typed: bool,
    },
    Toml {
        key: &'static str,
    },
}

/// The folders that hold the configs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Homes {
    /// The user's home.
    home: PathBuf,
    /// The configuration folder of applications.
    applications: PathBuf,
}

impl Homes {
    pub(crate) fn look() -> Option<Self> {
        let home = env::home_dir().filter(|home| home.is_absolute())?;
        let xdg = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let applications = if cfg!(target_os = "macos") {
            home.join("Library/Application Support")
        } else {
            xdg.filter(|path| path.is_absolute())
                .unwrap_or_else(|| home.join(".config"))
        };
        Some(Self { home, applications })
    }
}

impl Client {
    /// Every client, in the order in which they are shown.
    pub(crate) const ALL: [Self; 7] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
        Self::Gemini,
        Self::Windsurf,
    ];

    /// The name as the command line takes it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Windsurf => "windsurf",
        }
    }

    /// The config that holds for all of the user's projects.
    pub(crate) fn config(self, homes: &Homes) -> PathBuf {
        let Homes { home, applications } = homes;
        match self {
            Self::ClaudeCode => home.join(".claude.json"),
            Self::ClaudeDesktop => applications.join("Claude/claude_desktop_config.json"),
            Self::Cursor => home.join(".cursor/mcp.json"),
            Self::VsCode => applications.join("Code/User/mcp.json"),
            Self::Codex => home.join(".codex/config.toml"),
            Self::Gemini => home.join(".gemini/settings.json"),
            Self::Windsurf => home.join(".codeium/windsurf/mcp_config.json"),
        }
    }

    pub(crate) fn format(self) -> Format {
        match self {
            Self::VsCode => Format::Json {
                key: "servers",
                typed: true,
            },
            Self::Codex => Format::Toml { key: "mcp_servers" },
            Self::ClaudeCode => Format::Json {
                key: "mcpServers",
                typed: true,
            },
            _ => Format::Json {
                key: "mcpServers",
                typed: false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::ValueEnum;

    #[test]
    fn the_command_line_takes_the_names_that_are_shown() {
        for client in Client::ALL {
            assert_eq!(Client::from_str(client.name(), false), Ok(client));
        }
        assert_eq!(Client::value_variants(), Client::ALL);
    }
}
