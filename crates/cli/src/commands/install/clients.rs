//! The MCP clients: the path and the format of their configs, and how to tell that one is installed.

use super::format::{Format, JsonEntry};
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
    #[value(name = "opencode")]
    OpenCode,
    Zed,
    Cline,
    Roo,
    Continue,
    Goose,
    Amp,
    #[value(alias = "jetbrains")]
    Junie,
    #[value(name = "lmstudio")]
    LmStudio,
}

/// The folders that hold the configs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Homes {
    /// The user's home.
    home: PathBuf,
    /// The configuration folder of applications with a window.
    applications: PathBuf,
    /// The configuration folder of programs that keep to XDG on every system.
    config: PathBuf,
}

impl Homes {
    pub(crate) fn look() -> Option<Self> {
        let home = env::home_dir().filter(|home| home.is_absolute())?;
        let xdg = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
        let config = xdg
            .filter(|path| path.is_absolute())
            .unwrap_or_else(|| home.join(".config"));
        let applications = if cfg!(target_os = "macos") {
            home.join("Library/Application Support")
        } else {
            config.clone()
        };
        Some(Self {
            home,
            applications,
            config,
        })
    }
}

impl Client {
    /// Every client, in the order in which they are shown.
    pub(crate) const ALL: [Self; 16] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::VsCode,
        Self::Codex,
        Self::Gemini,
        Self::Windsurf,
        Self::OpenCode,
        Self::Zed,
        Self::Cline,
        Self::Roo,
        Self::Continue,
        Self::Goose,
        Self::Amp,
        Self::Junie,
        Self::LmStudio,
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
            Self::OpenCode => "opencode",
            Self::Zed => "zed",
            Self::Cline => "cline",
            Self::Roo => "roo",
            Self::Continue => "continue",
            Self::Goose => "goose",
            Self::Amp => "amp",
            Self::Junie => "junie",
            Self::LmStudio => "lmstudio",
        }
    }

    /// The config that holds for all of the user's projects.
    pub(crate) fn config(self, homes: &Homes) -> PathBuf {
        let folder = self.folder(homes);
        match self {
            Self::ClaudeCode => homes.home.join(".claude.json"),
            Self::ClaudeDesktop => folder.join("claude_desktop_config.json"),
            Self::Codex => folder.join("config.toml"),
            Self::Gemini | Self::Zed | Self::Amp => folder.join("settings.json"),
            Self::Windsurf => folder.join("mcp_config.json"),
            Self::OpenCode => folder.join("opencode.json"),
            Self::Cline => folder.join("settings/cline_mcp_settings.json"),
            Self::Roo => folder.join("settings/mcp_settings.json"),
            // It reads every file of this folder.
            Self::Continue => folder.join("mcpServers/tabmux.json"),
            Self::Goose => folder.join("config.yaml"),
            Self::Junie => folder.join("mcp/mcp.json"),
            Self::VsCode => folder.join("User/mcp.json"),
            Self::Cursor | Self::LmStudio => folder.join("mcp.json"),
        }
    }

    /// Whether the client has been used here: it has made its folder.
    pub(crate) fn is_installed(self, homes: &Homes) -> bool {
        self.folder(homes).is_dir() || self.config(homes).is_file()
    }

    /// The folder that the client makes for itself.
    fn folder(self, homes: &Homes) -> PathBuf {
        let Homes {
            home,
            applications,
            config,
        } = homes;
        let of_vs_code = |extension| {
            let extensions = applications.join("Code/User/globalStorage");
            extensions.join(extension)
        };
        match self {
            Self::ClaudeCode => home.join(".claude"),
            Self::ClaudeDesktop => applications.join("Claude"),
            Self::Cursor => home.join(".cursor"),
            Self::VsCode => applications.join("Code"),
            Self::Codex => home.join(".codex"),
            Self::Gemini => home.join(".gemini"),
            Self::Windsurf => home.join(".codeium/windsurf"),
            Self::OpenCode => config.join("opencode"),
            Self::Zed => config.join("zed"),
            Self::Cline => of_vs_code("saoudrizwan.claude-dev"),
            Self::Roo => of_vs_code("rooveterinaryinc.roo-cline"),
            Self::Continue => home.join(".continue"),
            Self::Goose => config.join("goose"),
            Self::Amp => config.join("amp"),
            Self::Junie => home.join(".junie"),
            Self::LmStudio => home.join(".lmstudio"),
        }
    }

    pub(crate) fn format(self) -> Format {
        let json = |key, entry| Format::Json { key, entry };
        match self {
            Self::VsCode => json("servers", JsonEntry::Typed),
            Self::ClaudeCode => json("mcpServers", JsonEntry::Typed),
            Self::Codex => Format::Toml { key: "mcp_servers" },
            Self::Goose => Format::Yaml { key: "extensions" },
            Self::OpenCode => json("mcp", JsonEntry::OpenCode),
            Self::Zed => json("context_servers", JsonEntry::Plain),
            // One key with a dot in its name.
            Self::Amp => json("amp.mcpServers", JsonEntry::Plain),
            _ => json("mcpServers", JsonEntry::Plain),
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
