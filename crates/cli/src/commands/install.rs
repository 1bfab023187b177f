//! `tabmux install`, `tabmux uninstall`: add and remove the tabmux entry in an MCP client's config.

mod clients;
mod diff;
mod entry;
mod file;
mod json;
mod toml;

use crate::paint::Paint;
use crate::say;
use anyhow::{Context, anyhow};
use clients::{Client, Format, Homes};
pub(crate) use entry::Found;
use entry::{Entry, Refusal};
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    target: Target,

    /// More arguments for `tabmux mcp`, such as `-- --headless`.
    #[arg(last = true, value_name = "ARGS")]
    more: Vec<String>,
}

// No doc comment here: clap would use it as the help of the command.
#[derive(Debug, clap::Args)]
pub(crate) struct Target {
    /// The MCP clients.
    #[arg(value_name = "CLIENT", required = true, value_enum)]
    clients: Vec<Client>,

    /// The name of the entry.
    #[arg(long, value_name = "NAME", default_value = DEFAULT_NAME)]
    name: String,

    /// Show the change and write nothing.
    #[arg(long = "dry-run", alias = "dryRun")]
    dry_run: bool,
}

/// Adds the entry to the config of every named client.
pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let command = own_path()?;
    let change = |client: Client, text: &str| {
        let entry = Entry {
            name: args.target.name.clone(),
            command: command.clone(),
            more: args.more.clone(),
        };
        match client.format() {
            Format::Json { key, typed } => json::add(text, key, typed, &entry),
            Format::Toml { key } => toml::add(text, key, &entry),
        }
    };
    let messages = Messages {
        unchanged: &|_, _| "already has it.".to_owned(),
        next: "Restart the client to use it.",
    };
    for_each(&args.target, &messages, change)
}

/// Removes the entry from the config of every named client, if it is ours.
pub(crate) fn remove(target: Target) -> anyhow::Result<ExitCode> {
    let own = own_path()?;
    let change = |client: Client, text: &str| match client.format() {
        Format::Json { key, .. } => json::remove(text, key, &target.name, &own),
        Format::Toml { key } => toml::remove(text, key, &target.name, &own),
    };
    let unchanged = |client, text: &str| {
        let others = ours(client, text, &own).unwrap_or_default();
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
    for_each(&target, &messages, change)
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
    let entries = ours(client, &text.unwrap_or_default(), &own);
    let entries = entries.map_err(|refusal| refusal.sentence(path, ""))?;
    Ok((!entries.is_empty()).then_some(entries))
}

fn ours(client: Client, text: &str, own: &str) -> Result<Vec<Found>, Refusal> {
    match client.format() {
        Format::Json { key, .. } => json::ours(text, key, own),
        Format::Toml { key } => toml::ours(text, key, own),
    }
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
    let mut code = ExitCode::SUCCESS;
    let mut shown = false;
    for &client in &target.clients {
        let path = client.config(&homes);
        match one(client, &path, target, messages, &change) {
            Ok(Outcome::Shown(change)) => {
                say::print(format!("{}: {change}", client.name()))?;
                shown = true;
            }
            Ok(Outcome::Done(told)) => say::say(format!("{}: {told}", client.name()))?,
            Err(error) => {
                say::complain(format!("tabmux: {}: {error:#}", client.name()));
                code = ExitCode::FAILURE;
            }
        }
    }
    if shown {
        say::say("Nothing was written. Run it without --dry-run to write this.")?;
    }
    Ok(code)
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
    target: &Target,
    messages: &Messages<'_>,
    change: impl Fn(Client, &str) -> Result<Option<String>, Refusal>,
) -> anyhow::Result<Outcome> {
    let shown = path.display();
    let before = file::read(path)?;
    let text = before.as_deref().unwrap_or_default();
    let after = change(client, text);
    let after = after.map_err(|refusal| anyhow!(refusal.sentence(path, &target.name)))?;
    let Some(after) = after else {
        let unchanged = (messages.unchanged)(client, text);
        return Ok(Outcome::Done(format!("{shown} {unchanged}")));
    };
    let diff = diff::lines(text, &after, Paint::for_stdout());
    if target.dry_run {
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
