//! `tabmux state`: the login states that `--state NAME` keeps.

use crate::say::say;
use crate::table::Table;
use anyhow::anyhow;
use clap::Subcommand;
use serde_json::json;
use std::process::ExitCode;
use std::time::SystemTime;
use tabmux_browser::saved_state::{self, NamedState, StateFile, StateName, StateSummary};

/// List, show or delete login states.
#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// List all states.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show which sites a state has cookies and storage of, without any value.
    Show {
        #[arg(value_name = "NAME")]
        name: StateName,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Delete a state.
    Delete {
        #[arg(value_name = "NAME")]
        name: StateName,
    },
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let key = tabmux_stdio_proxy::flags::state_key()?;
    let named = |name| NamedState::new(name, key.as_deref());
    let text = match args {
        Args::List { json } => listed(&saved_state::list().map_err(|why| anyhow!(why))?, json),
        Args::Show { name, json } => {
            let summary = named(name).summary().map_err(|why| anyhow!(why))?;
            match json {
                true => json!(summary).to_string(),
                false => shown(&summary),
            }
        }
        Args::Delete { name } => {
            let told = format!("Deleted the state {name}.");
            named(name).delete().map_err(|why| anyhow!(why))?;
            told
        }
    };
    say(text)?;
    Ok(ExitCode::SUCCESS)
}

fn listed(states: &[StateFile], json: bool) -> String {
    if json {
        let rows = states.iter().map(|state| {
            json!({"name": state.name.to_string(), "saved": time(state.saved), "bytes": state.bytes})
        });
        return json!(rows.collect::<Vec<_>>()).to_string();
    }
    if states.is_empty() {
        return "There are no states. `tabmux mcp --state NAME` saves one when its session ends."
            .into();
    }
    let mut table = Table::new(["STATE", "SAVED", "BYTES"]);
    for state in states {
        table.row([
            &state.name.to_string(),
            &time(state.saved),
            &state.bytes.to_string(),
        ]);
    }
    table.to_string()
}

fn shown(summary: &StateSummary) -> String {
    let mut table = Table::new(["SITE", "COOKIES", "LOCAL STORAGE"]);
    for (domain, count) in &summary.cookies {
        table.row([domain, &count.to_string(), "-"]);
    }
    for (origin, count) in &summary.local_storage {
        table.row([origin, "-", &count.to_string()]);
    }
    table.to_string()
}

fn time(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_shown_by_its_sites() {
        let summary = StateSummary {
            cookies: [("app.example".to_owned(), 2)].into(),
            local_storage: [("https://app.example".to_owned(), 1)].into(),
        };
        let text = shown(&summary);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0], "SITE                 COOKIES  LOCAL STORAGE");
        assert_eq!(lines[1], "app.example          2        -");
        assert_eq!(lines[2], "https://app.example  -        1");
    }
}
