//! `tabmux config`: checks and shows the config file.

use crate::say::{complain, say};
use crate::table::Table;
use clap::{CommandFactory, Subcommand};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use tabmux_browser::endpoint;
use tabmux_config::{
    ConfigError, ConfigFile, Configurable, DAEMON, Effective, MCP, Setting, usual_path,
};

/// Check or show tabmux.toml, which has flags for every client, and named profiles of them.
#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Check the file; name what is wrong, and where.
    Check {
        #[command(flatten)]
        file: File,
    },
    /// Show the settings that `tabmux mcp` has from the file.
    Show {
        /// Also those of this profile.
        #[arg(long, value_name = "NAME", env = "TABMUX_PROFILE")]
        profile: Option<String>,

        /// Print JSON.
        #[arg(long)]
        json: bool,

        #[command(flatten)]
        file: File,
    },
    /// Print where the file is.
    Path {
        #[command(flatten)]
        file: File,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct File {
    /// Another file than the usual one.
    #[arg(long, value_name = "FILE", env = "TABMUX_CONFIG")]
    config: Option<PathBuf>,
}

impl File {
    fn read(self) -> Result<ConfigFile, ConfigError> {
        ConfigFile::read(self.config)
    }
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args {
        Args::Check { file } => check(&file.read()?),
        Args::Show {
            profile,
            json,
            file,
        } => {
            let file = file.read()?;
            let settings = effective(&file, MCP, profile.as_deref())?.settings;
            match json {
                true => say(Value::from_iter(settings.iter().map(as_json)).to_string())?,
                false => say(shown(&file, &settings))?,
            }
            Ok(ExitCode::SUCCESS)
        }
        Args::Path { file } => {
            let path = file.config.or_else(usual_path);
            say(path.unwrap_or_default().display().to_string())?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

fn check(file: &ConfigFile) -> anyhow::Result<ExitCode> {
    let problems = problems(file);
    for problem in &problems {
        complain(format!("tabmux: {problem}"));
    }
    if !problems.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    let path = file.path.display();
    let names: Vec<&str> = file.profiles().map(|(name, _)| name).collect();
    say(match (file.exists, names.is_empty()) {
        (false, _) => format!("There is no file {path}; every flag has its default."),
        (true, true) => format!("{path} is correct. It has no profiles."),
        (true, false) => format!("{path} is correct. Profiles: {}.", names.join(", ")),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// What is wrong in any table of the file.
pub(super) fn problems(file: &ConfigFile) -> Vec<String> {
    let uses = std::iter::once((MCP, None))
        .chain(file.profiles().map(|(name, _)| (MCP, Some(name))))
        .chain(std::iter::once((DAEMON, None)));
    let mut problems: Vec<String> = Vec::new();
    for (configurable, profile) in uses {
        let problem = try_out(file, configurable, profile).err();
        let problem = problem.map(|error| error.to_string());
        problems.extend(problem.filter(|problem| !problems.contains(problem)));
    }
    problems
}

/// Parses the settings as the command does.
fn try_out(
    file: &ConfigFile,
    configurable: Configurable,
    profile: Option<&str>,
) -> Result<(), ConfigError> {
    let effective = effective(file, configurable, profile)?;
    let parsed = effective.parsed(file, configurable, &mut parser(configurable));
    parsed.map(drop)
}

fn effective(
    file: &ConfigFile,
    configurable: Configurable,
    profile: Option<&str>,
) -> Result<Effective, ConfigError> {
    let mut parser = parser(configurable);
    parser.build();
    let Some(command) = tabmux_config::command_below(&parser, configurable.path) else {
        return Ok(Effective::default());
    };
    Effective::of(file, configurable, profile, command)
}

fn parser(configurable: Configurable) -> clap::Command {
    match configurable.path {
        ["mcp"] => tabmux_stdio_proxy::Args::parser(),
        _ => crate::Cli::command(),
    }
}

fn shown(file: &ConfigFile, settings: &[Setting]) -> String {
    let path = file.path.display();
    if settings.is_empty() {
        return match file.exists {
            true => format!("{path} changes no flag of `tabmux mcp`."),
            false => format!("There is no file {path}; every flag has its default."),
        };
    }
    let mut table = Table::new(["FLAG", "FROM", "VALUE"]);
    for setting in settings {
        let from = format!("[{}], line {}", setting.table, setting.line);
        table.row([
            &format!("--{}", setting.flag),
            &from,
            &values(setting).join(" "),
        ]);
    }
    format!("{path}\n\n{table}")
}

fn as_json(setting: &Setting) -> Value {
    json!({
        "flag": setting.flag,
        "values": values(setting),
        "table": setting.table,
        "line": setting.line,
    })
}

/// The values, without passwords and tokens.
fn values(setting: &Setting) -> Vec<String> {
    let is_address = ["browserUrl", "wsEndpoint", "proxyServer"].contains(&setting.flag.as_str());
    let values = setting.values.iter();
    let values = values.map(|value| match setting.flag.as_str() {
        "wsHeaders" => "…".to_owned(),
        _ if is_address => public(value),
        _ => value.clone(),
    });
    values.collect()
}

/// `NAME=URL|COMMAND` without what is secret in the address.
fn public(value: &str) -> String {
    let (name, rest) = match value.split_once('=') {
        Some((name, rest)) if !name.contains(':') => (format!("{name}="), rest),
        _ => (String::new(), value),
    };
    let (url, command) = match rest.split_once('|') {
        Some((url, command)) => (url, format!("|{command}")),
        None => (rest, String::new()),
    };
    format!("{name}{}{command}", endpoint::shown(url))
}

#[cfg(test)]
mod tests {
    use crate::Cli;
    use clap::CommandFactory as _;
    use tabmux_config::fuzzing::config_file;
    use tabmux_config::{DAEMON, SERVE};
    use tabmux_testkit::play_corpus;

    #[test]
    fn config_files_fit_the_server_and_the_daemon() {
        play_corpus("config_file", |data| {
            config_file(data, SERVE, Cli::command);
            config_file(data, DAEMON, Cli::command);
        });
    }
}
