//! `tabmux install`, `tabmux uninstall`: add and remove the tabmux entry in an MCP client's config.

mod clients;
mod confirm;
mod diff;
mod entry;
mod file;
mod format;
mod json;
mod lasting_path;
mod toml;
mod yaml;

use crate::paint::Paint;
use crate::say;
use anyhow::{Context, anyhow, bail};
use clients::{Client, Homes};
pub(crate) use entry::Found;
use entry::{Entry, Refusal};
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    target: Target,

    /// The program that clients run. Default: this one.
    #[arg(long, value_name = "PATH")]
    command: Option<String>,

    /// More arguments for `tabmux mcp`, such as `-- --headless`.
    #[arg(last = true, value_name = "ARGS")]
    more: Vec<String>,
}

// No doc comment here: clap would use it as the help of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct Target {
    /// The MCP clients.
    #[arg(value_name = "CLIENT", required_unless_present = "all", value_enum)]
    clients: Vec<Client>,

    /// All clients on this machine; asks before it writes.
    #[arg(long, conflicts_with = "clients")]
    all: bool,

    /// Do not ask.
    #[arg(long, short, requires = "all")]
    yes: bool,

    /// The name of the entry.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_NAME)]
    name: String,

    /// Show the change and write nothing.
    #[arg(long = "dry-run", alias = "dryRun")]
    dry_run: bool,
}

/// Adds the entry to the config of every named client.
pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let entry = Entry {
        name: args.target.name.clone(),
        command: match args.command {
            Some(command) => command,
            None => lasting_path::find()?,
        },
        more: args.more,
    };
    let messages = Messages {
        unchanged: &|_, _| "already has it.".to_owned(),
        next: "Restart the client to use it.",
    };
    for_each(&args.target, &messages, |client, text| {
        client.format().add(text, &entry)
    })
}

/// Removes the entry from the config of every named client, if it is ours.
pub(crate) fn remove(target: Target) -> anyhow::Result<ExitCode> {
    let own = own_path()?;
    let unchanged = |client: Client, text: &str| {
        let others = client.format().ours(text, &own).unwrap_or_default();
        match others.first() {
            None => "has no tabmux entry.".to_owned(),
            Some(Found { name, .. }) => format!(
                "has no tabmux entry named `{}`, but one named `{name}`; use --name {name} to remove it.",
                target.name
            ),
        }
    };
    let messages = Messages {
        unchanged: &unchanged,
        next: "Restart the client to apply the change.",
    };
    for_each(&target, &messages, |client, text| {
        client.format().remove(text, &target.name, &own)
    })
}

/// A client's config that has a tabmux entry, or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Installed {
    pub(crate) client: &'static str,
    /// Our entries in it, or what is wrong with the config.
    pub(crate) entries: Result<Vec<Found>, String>,
}

/// Every client's config that has a tabmux entry, or cannot be read.
pub(crate) fn installed() -> Vec<Installed> {
    let Some(homes) = Homes::look() else {
        return Vec::new();
    };
    let look = |client: Client| {
        let path = client.config(&homes);
        let entries = entries(client, &path).transpose()?;
        let client = client.name();
        Some(Installed { client, entries })
    };
    Client::ALL.into_iter().filter_map(look).collect()
}

fn entries(client: Client, path: &Path) -> Result<Option<Vec<Found>>, String> {
    let text = file::read(path).map_err(|error| format!("{error:#}"))?;
    let own = own_path().unwrap_or_default();
    let entries = client.format().ours(&text.unwrap_or_default(), &own);
    let entries = entries.map_err(|refusal| refusal.sentence(path, ""))?;
    Ok((!entries.is_empty()).then_some(entries))
}

struct Messages<'a> {
    /// Printed for a config that does not change.
    unchanged: &'a dyn Fn(Client, &str) -> String,
    next: &'static str,
}

/// Changes one config after the other. If one cannot be changed, the others are still changed.
fn for_each(
    target: &Target,
    messages: &Messages<'_>,
    change: impl Fn(Client, &str) -> Result<Option<String>, Refusal>,
) -> anyhow::Result<ExitCode> {
    let homes = Homes::look().context("there is no home folder; set HOME")?;
    let clients = match target.all {
        true => all_installed(&homes)?,
        false => target.clients.clone(),
    };
    let each = |write: bool| each(&homes, &clients, &target.name, write, messages, &change);
    let asks = target.all && !target.yes;
    if !target.dry_run && !asks {
        return Ok(each(true)?.code);
    }
    let shown = each(false)?;
    if shown.changes == 0 {
        return Ok(shown.code);
    }
    match target.dry_run {
        true => say::say("Nothing was written. Run it without --dry-run to write this.")?,
        false if confirm::agrees(&files(shown.changes))? => return Ok(each(true)?.code),
        false => say::say("Nothing was written.")?,
    }
    Ok(shown.code)
}

/// The clients that have been used on this machine.
fn all_installed(homes: &Homes) -> anyhow::Result<Vec<Client>> {
    let clients = Client::ALL.into_iter();
    let installed: Vec<_> = clients
        .filter(|client| client.is_installed(homes))
        .collect();
    match installed.is_empty() {
        true => {
            bail!("no MCP client that tabmux knows was found here; name one: tabmux install CLIENT")
        }
        false => Ok(installed),
    }
}

fn files(count: usize) -> String {
    match count {
        1 => "Write this file?".to_owned(),
        _ => format!("Write these {count} files?"),
    }
}

/// What became of all configs.
struct Summary {
    code: ExitCode,
    /// How many changes were shown and not written.
    changes: usize,
}

fn each(
    homes: &Homes,
    clients: &[Client],
    name: &str,
    write: bool,
    messages: &Messages<'_>,
    change: impl Fn(Client, &str) -> Result<Option<String>, Refusal>,
) -> anyhow::Result<Summary> {
    let mut summary = Summary {
        code: ExitCode::SUCCESS,
        changes: 0,
    };
    for &client in clients {
        let path = client.config(homes);
        match one(client, &path, name, write, messages, &change) {
            Ok(Outcome::Shown(change)) => {
                say::print(format!("{}: {change}", client.name()))?;
                summary.changes += 1;
            }
            Ok(Outcome::Done(told)) => say::say(format!("{}: {told}", client.name()))?,
            Err(error) => {
                say::complain(format!("tabmux: {}: {error:#}", client.name()));
                summary.code = ExitCode::FAILURE;
            }
        }
    }
    Ok(summary)
}

/// What to print about one config.
enum Outcome {
    /// A change that would be made.
    Shown(String),
    Done(String),
}

fn one(
    client: Client,
    path: &Path,
    name: &str,
    write: bool,
    messages: &Messages<'_>,
    change: impl Fn(Client, &str) -> Result<Option<String>, Refusal>,
) -> anyhow::Result<Outcome> {
    let shown = path.display();
    let before = file::read(path)?;
    let text = before.as_deref().unwrap_or_default();
    let after = change(client, text);
    let after = after.map_err(|refusal| anyhow!(refusal.sentence(path, name)))?;
    let Some(after) = after else {
        let unchanged = (messages.unchanged)(client, text);
        return Ok(Outcome::Done(format!("{shown} {unchanged}")));
    };
    let diff = diff::lines(text, &after, Paint::for_stdout());
    if !write {
        return Ok(Outcome::Shown(format!("{shown}\n{diff}")));
    }
    let backup = file::replace(path, before.as_deref(), &after)?;
    let kept = match backup {
        Some(backup) => format!("The old file is kept as {}.", backup.display()),
        None => "The file is new.".to_owned(),
    };
    let told = format!("{shown}\n{diff}Written. {kept} {}", messages.next);
    Ok(Outcome::Done(told))
}

fn own_path() -> anyhow::Result<String> {
    let path = std::env::current_exe().context("the path of this program cannot be determined")?;
    path.into_os_string().into_string().map_err(|path| {
        let shown = path.display();
        anyhow!("{shown} cannot be written into a config; move tabmux to a path in plain letters")
    })
}

/// The name of the entry without `--name`.
pub(crate) const DEFAULT_NAME: &str = "browser";
