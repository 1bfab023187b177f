//! `tabmux install`, `tabmux uninstall`: one entry in an MCP client's config, put there and taken out.

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
use entry::{Entry, Refusal};
use std::path::Path;
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The MCP clients.
    #[arg(value_name = "CLIENT", required = true, value_enum)]
    clients: Vec<Client>,

    /// The name of the entry.
    #[arg(long, value_name = "NAME", default_value = "browser")]
    name: String,

    /// Show the change and write nothing.
    #[arg(long = "dry-run", alias = "dryRun")]
    dry_run: bool,

    /// More arguments for `tabmux mcp`, such as `-- --headless`.
    #[arg(last = true, value_name = "ARGS")]
    more: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RemoveArgs {
    /// The MCP clients.
    #[arg(value_name = "CLIENT", required = true, value_enum)]
    clients: Vec<Client>,

    /// The name of the entry.
    #[arg(long, value_name = "NAME", default_value = "browser")]
    name: String,

    /// Show the change and write nothing.
    #[arg(long = "dry-run", alias = "dryRun")]
    dry_run: bool,
}

/// Puts the entry into every named client's config.
pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let command = own_path()?;
    let change = |client: Client, text: &str| {
        let entry = Entry {
            name: args.name.clone(),
            command: command.clone(),
            more: args.more.clone(),
        };
        match client.format() {
            Format::Json { key, typed } => json::add(text, key, typed, &entry),
            Format::Toml { key } => toml::add(text, key, &entry),
        }
    };
    let words = Words {
        unchanged: "already has it",
        next: "Restart the client to use it.",
    };
    for_each(&args.clients, args.dry_run, &args.name, &words, change)
}

/// Takes the entry out of every named client's config, if it is ours.
pub(crate) fn remove(args: RemoveArgs) -> anyhow::Result<ExitCode> {
    let own = own_path()?;
    let change = |client: Client, text: &str| match client.format() {
        Format::Json { key, .. } => json::remove(text, key, &args.name, &own),
        Format::Toml { key } => toml::remove(text, key, &args.name, &own),
    };
    let words = Words {
        unchanged: "has no entry of tabmux",
        next: "Restart the client to forget it.",
    };
    for_each(&args.clients, args.dry_run, &args.name, &words, change)
}

/// A client's config that names tabmux, or cannot be understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Installed {
    pub(crate) client: &'static str,
    /// The programs that its entries run, or what is wrong with the config.
    pub(crate) programs: Result<Vec<String>, String>,
}

/// Every client's config that is worth a word.
pub(crate) fn installed() -> Vec<Installed> {
    let Some(homes) = Homes::look() else {
        return Vec::new();
    };
    let look = |client: Client| {
        let path = client.config(&homes);
        let programs = programs(client, &path).transpose()?;
        let client = client.name();
        Some(Installed { client, programs })
    };
    Client::ALL.into_iter().filter_map(look).collect()
}

fn programs(client: Client, path: &Path) -> Result<Option<Vec<String>>, String> {
    let text = file::read(path).map_err(|error| format!("{error:#}."))?;
    let text = text.unwrap_or_default();
    let own = own_path().unwrap_or_default();
    let programs = match client.format() {
        Format::Json { key, .. } => json::programs(&text, key, &own),
        Format::Toml { key } => toml::programs(&text, key, &own),
    };
    let programs = programs.map_err(|refusal| refusal.sentence(path, ""))?;
    Ok((!programs.is_empty()).then_some(programs))
}

struct Words {
    unchanged: &'static str,
    next: &'static str,
}

/// Changes one config after the other. One that cannot be changed does not keep the others from it.
fn for_each(
    clients: &[Client],
    dry_run: bool,
    name: &str,
    words: &Words,
    change: impl Fn(Client, &str) -> Result<Option<String>, Refusal>,
) -> anyhow::Result<ExitCode> {
    let homes = Homes::look().context("there is no home folder; set HOME")?;
    let mut code = ExitCode::SUCCESS;
    let mut shown = false;
    for &client in clients {
        let path = client.config(&homes);
        match one(&path, dry_run, name, words, |text| change(client, text)) {
            Ok(Told::Shown(change)) => {
                say::print(format!("{}: {change}", client.name()))?;
                shown = true;
            }
            Ok(Told::Done(told)) => say::say(format!("{}: {told}", client.name()))?,
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

/// What became of one config.
enum Told {
    /// A change that would be made.
    Shown(String),
    Done(String),
}

fn one(
    path: &Path,
    dry_run: bool,
    name: &str,
    words: &Words,
    change: impl Fn(&str) -> Result<Option<String>, Refusal>,
) -> anyhow::Result<Told> {
    let shown = path.display();
    let before = file::read(path)?;
    let text = before.as_deref().unwrap_or_default();
    let after = change(text).map_err(|refusal| anyhow!(refusal.sentence(path, name)))?;
    let Some(after) = after else {
        return Ok(Told::Done(format!("{shown} {}.", words.unchanged)));
    };
    let diff = diff::lines(text, &after, Paint::for_stdout());
    if dry_run {
        return Ok(Told::Shown(format!("{shown}\n{diff}")));
    }
    let backup = file::replace(path, before.as_deref(), &after)?;
    let kept = match backup {
        Some(backup) => format!("The old file is kept as {}.", backup.display()),
        None => "The file is new.".to_owned(),
    };
    let told = format!("{shown}\n{diff}Written. {kept} {}", words.next);
    Ok(Told::Done(told))
}

fn own_path() -> anyhow::Result<String> {
    let path = std::env::current_exe().context("this program cannot find itself")?;
    path.into_os_string().into_string().map_err(|path| {
        let shown = path.display();
        anyhow!("{shown} cannot be written into a config; move tabmux to a path in plain letters")
    })
}
