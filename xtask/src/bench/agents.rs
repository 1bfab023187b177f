//! `cargo xtask bench --agents`: the same tasks on ten applications through tabmux and other servers, played by one
//! policy.

mod cost;
mod dialects;
mod outline;
mod policy;
mod report;
mod tasks;

pub(super) use report::section_of;

use super::peers::{Bench, install, load};
use crate::say;
use anyhow::{Context, Result, bail};
use cost::{Cost, Player, Slowest};
use dialects::Server;
use std::path::{Path, PathBuf};
use std::process::Command;
use tabmux_testkit::FixtureServer;
use tasks::Task;

/// The options of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AgentsWanted {
    /// Measure this binary instead of the one that is built here; then nothing is written.
    pub(crate) binary: Option<PathBuf>,
    /// Play only tasks on pages with this in their name; then nothing is written.
    task: Option<String>,
    /// Play only servers with this in their name; then nothing is written.
    server: Option<String>,
}

impl AgentsWanted {
    /// Reads `--binary PATH`, `--task PART` and `--server PART`.
    pub(crate) fn read(flags: &[&str]) -> Option<Self> {
        let mut wanted = Self::default();
        let (pairs, []) = flags.as_chunks::<2>() else {
            return None;
        };
        for [name, value] in pairs {
            match *name {
                // The servers are started in other folders.
                "--binary" => wanted.binary = std::path::absolute(value).ok(),
                "--task" => wanted.task = Some((*value).to_owned()),
                "--server" => wanted.server = Some((*value).to_owned()),
                _ => return None,
            }
        }
        Some(wanted)
    }
}

/// The result of one task with one server.
#[derive(Debug, Default)]
struct Played {
    cost: Cost,
    /// Calls for the other records, after the first was understood.
    alike: Option<usize>,
    failure: Option<String>,
}

/// One server's results, in the order of the tasks.
struct Column {
    server: Server,
    /// With the lists at the start and the end.
    total: Cost,
    slowest: Slowest,
    played: Vec<Played>,
}

/// Plays all tasks with all servers, and writes the table to `docs/benchmarks.md`.
pub(super) async fn measure(binary: &Path, browser: &Path, wanted: &AgentsWanted) -> Result<()> {
    say("Installing the peers and the applications …");
    install_applications()?;
    let bench = Bench {
        tabmux: binary.to_owned(),
        browser: browser.to_owned(),
        shelf: install()?,
    };
    let load_before = load();
    let part = wanted.task.as_deref().unwrap_or_default();
    let mut all = tasks::load()?;
    all.retain(|task| task.page.contains(part));
    let part = wanted.server.as_deref().unwrap_or_default();
    let pages = FixtureServer::serving(tasks::folder());
    let mut columns = Vec::new();
    for server in Server::ALL {
        if server.name.contains(part) {
            columns.push(play_all(server, &all, &bench, &pages).await?);
        }
    }
    let section = report::section(&all, &columns, &bench, &load_before);
    say(&format!("\n{section}"));
    match *wanted == AgentsWanted::default() {
        true => report::write(&section),
        false => Ok(()),
    }
}

/// One session for all tasks, as an agent that works through them.
async fn play_all(
    server: Server,
    tasks: &[Task],
    bench: &Bench,
    pages: &FixtureServer,
) -> Result<Column> {
    let mut player = Player::start(server, bench).await?;
    let mut played = Vec::new();
    for task in tasks {
        let one = play_one(&mut player, task, pages).await;
        let failed = one.failure.as_deref().map(|why| format!(", failed: {why}"));
        say(&format!(
            "{}: {}: {} calls, {} bytes{}",
            server.name,
            task.name,
            one.cost.calls,
            one.cost.answer_bytes + one.cost.list_bytes,
            failed.unwrap_or_default()
        ));
        played.push(one);
    }
    Ok(Column {
        server,
        total: player.cost,
        slowest: player.slowest,
        played,
    })
}

async fn play_one(player: &mut Player, task: &Task, pages: &FixtureServer) -> Played {
    let before = player.cost;
    let played = policy::play(player, task, &pages.url(&task.page)).await;
    let cost = player.cost.since(before);
    let checked = match &played {
        Ok(_) => player.check(&task.check).await,
        Err(_) => Ok(()),
    };
    let failure = played.as_ref().err().or_else(|| checked.as_ref().err());
    Played {
        cost,
        failure: failure.map(|why| format!("{why:#}")),
        alike: played.ok().flatten(),
    }
}

/// The libraries that the applications are made of.
fn install_applications() -> Result<()> {
    let status = Command::new("npm")
        .args(["ci", "--no-audit", "--no-fund", "--ignore-scripts"])
        .arg("--loglevel=error")
        .current_dir(tasks::folder())
        .status()
        .context("npm did not start: install Node.js with npm")?;
    match status.success() {
        true => Ok(()),
        false => bail!("npm could not install the applications of fixtures/agents"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_the_tasks_can_be_asked_for() {
        let wanted = AgentsWanted::read(&["--task", "vue", "--server", "tabmux"]).unwrap();
        assert_eq!(wanted.task.as_deref(), Some("vue"));
        assert_eq!(AgentsWanted::read(&[]), Some(AgentsWanted::default()));
        assert_eq!(AgentsWanted::read(&["--task"]), None);
    }
}
