//! `tabmux call`: runs one tool from a shell, as an agent would; and the shortcuts for common tools.

mod arguments;
mod command_line;
mod help;
mod paths;
mod show;
mod verbs;

pub(crate) use verbs::{CLICK, FILL, OPEN, SCREENSHOT, SNAPSHOT, Verb};

use super::common_flags::Socket;
use crate::say::{complain, say};
use crate::wrap;
use anyhow::{Context, bail};
use arguments::Takes;
use clap::{CommandFactory, Parser};
use command_line::Parts;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::ffi::OsString;
use std::io::{IsTerminal, Read};
use std::path::PathBuf;
use std::process::ExitCode;
use tabmux_daemon::catalogue;
use tabmux_daemon_client::{Opening, RemoteSession};
use tabmux_protocol::session::{ClientInfo, Confirm, OnSessionEnd, SessionOptions, ToolMode};
use tabmux_protocol::{Backend, CallFailure, CallReply, CallRequest, RequestId, ToolInfo};
use tabmux_stdio_proxy::flags::{BrowserFlags, CategoryFlags};

/// Everything after the command. The schema of the tool decides how it is parsed.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct RawArgs {
    #[arg(
        value_name = "ARGS",
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    args: Vec<OsString>,
}

/// Run one tool, as an agent would.
///
/// Arguments are flags (`tabmux call click --uid 2_3`) or one JSON object (`tabmux call click '{"uid": "2_3"}'`).
/// `tabmux call TOOL --help` shows what a tool takes. After the tool's name, a flag is for the tool if it has such an
/// argument; before the name, flags are those below. Exit code 1 means that the tool answered with an error, 2 that
/// no tool was called.
#[derive(Debug, Parser)]
#[command(
    name = "call",
    bin_name = "tabmux call",
    override_usage = "tabmux call [FLAGS] TOOL [ARGS]\n       tabmux call [FLAGS] TOOL JSON\n       tabmux call --list",
    next_line_help = true,
    max_term_width = 100
)]
pub(crate) struct Flags {
    /// List the tools, including those that open pages offer.
    #[arg(long)]
    list: bool,

    /// Print the whole answer as JSON.
    #[arg(long)]
    json: bool,

    /// The session to work in. The first call opens it. It keeps its tab between calls, and ends after half an hour
    /// without a call or with `tabmux close`.
    #[arg(long, value_name = "NAME", env = "TABMUX_SESSION", hide_env_values = true, default_value = DEFAULT_SESSION)]
    session: String,

    /// Use a new session that ends with this call.
    #[arg(long)]
    once: bool,

    /// Keep the tabs open when the session ends.
    #[arg(long = "keepTabs", alias = "keep-tabs")]
    keep_tabs: bool,

    /// Offer only these categories of tools: input, navigation, emulation, performance, network, debugging, storage,
    /// rules, screencast, advanced. Default: all.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    categories: Option<Vec<String>>,

    /// One more folder in which tools may read and write files, in addition to the current one; may be repeated.
    #[arg(long = "filesystemRoot", alias = "filesystem-root", value_name = "DIR")]
    filesystem_root: Vec<PathBuf>,

    #[command(flatten)]
    browser: BrowserFlags,

    #[command(flatten)]
    socket: Socket,
}

/// `tabmux call`.
pub(crate) fn run(raw: RawArgs) -> anyhow::Result<ExitCode> {
    let own = Flags::command();
    let at = command_line::before_tool(&raw.args, &own);
    let Some((tool, rest)) = raw.args[at..].split_first() else {
        let flags = Flags::read(raw.args);
        if flags.list {
            return list(flags);
        }
        return Ok(usage_error(NO_TOOL));
    };
    let before = &raw.args[..at];
    run_tool(&tool.to_string_lossy(), before, rest, None)
}

/// A shortcut for a tool.
pub(crate) fn run_verb(verb: &Verb, raw: RawArgs) -> anyhow::Result<ExitCode> {
    run_tool(verb.tool, &[], &raw.args, Some(verb))
}

fn run_tool(
    tool: &str,
    before: &[OsString],
    rest: &[OsString],
    verb: Option<&Verb>,
) -> anyhow::Result<ExitCode> {
    let own = Flags::command();
    let read = |known: Option<&ToolInfo>| {
        let takes = known.map(|info| Takes::new(tool, &info.input_schema));
        let parts = command_line::split(rest, takes.as_ref(), &own);
        let flags = Flags::read(before.iter().chain(&parts.own).cloned().collect());
        (parts, flags)
    };
    // With several browsers tools take more arguments, and only the flags say how many browsers there are.
    let several = read(known(tool, false).as_ref()).1.browser.is_several();
    let known = known(tool, several);
    let (parts, flags) = read(known.as_ref());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    let _guard = runtime.enter();
    let json = flags.json;
    let roots = flags.roots()?;
    let session = match (&known, parts.help) {
        (Some(info), true) => return show_help(info, verb),
        _ => match flags.open() {
            Ok(session) => session,
            Err(why) => return Ok(usage_error(&format!("{why:#}"))),
        },
    };
    runtime.block_on(async {
        // Only the session knows the tools of pages.
        let info = match known {
            Some(info) => info,
            None => {
                let tools = listed(&session).await?;
                match tools.iter().find(|info| info.name == tool) {
                    Some(info) => info.clone(),
                    None => return Ok(usage_error(&unknown(tool, &tools))),
                }
            }
        };
        let takes = Takes::new(tool, &info.input_schema);
        let parts = Parts {
            help: parts.help,
            ..command_line::split(rest, Some(&takes), &own)
        };
        if parts.help {
            return show_help(&info, verb);
        }
        let arguments = match read_arguments(parts, &takes, verb)? {
            Ok(arguments) => paths::absolute(arguments, help::is_ours(tool))?,
            Err(why) => {
                let why = why.trim_end_matches('.');
                return Ok(usage_error(&format!("{why}. {}", see_help(tool, verb))));
            }
        };
        let hint = hint(&arguments, &roots);
        let reply = match call(&session, tool, arguments).await? {
            Outcome::Answered(reply) => reply,
            Outcome::Unknown => return Ok(usage_error(&unknown(tool, &listed(&session).await?))),
        };
        print_reply(verb.map_or(tool, |verb| verb.name), &reply, json)?;
        if let (true, false, Some(hint)) = (reply.is_error, json, hint) {
            complain(hint);
        }
        Ok(match reply.is_error {
            true => ExitCode::FAILURE,
            false => ExitCode::SUCCESS,
        })
    })
}

/// The arguments, from flags or one JSON object. The inner error is a sentence.
fn read_arguments(
    parts: Parts,
    takes: &Takes<'_>,
    verb: Option<&Verb>,
) -> anyhow::Result<Result<Map<String, Value>, String>> {
    let mut given = parts.given;
    if let Some(verb) = verb {
        match verb.read(parts.plain, &given) {
            Ok(plain) => given.extend(plain),
            Err(why) => return Ok(Err(why)),
        }
        let read = takes.read(&given);
        return Ok(read.map(|read| verb.complete(read)));
    }
    Ok(match (parts.plain.as_slice(), given.is_empty()) {
        ([], _) => takes
            .read(&given)
            .and_then(|read| takes.check(&read).map(|()| read)),
        ([_], false) => Err("Write the arguments as flags or as JSON, not both".to_owned()),
        ([text], true) => {
            let text = match text.as_str() {
                "-" => std::io::read_to_string(std::io::stdin().lock().take(LONGEST_ARGUMENTS))
                    .context("standard input cannot be read")?,
                _ => text.clone(),
            };
            serde_json::from_str(&text).map_err(|error| {
                format!("the arguments are neither flags nor a JSON object ({error})")
            })
        }
        ([_, extra, ..], _) => Err(format!(
            "`{extra}` is one argument too many. Write `--name value` for each argument, or one JSON object in quotes"
        )),
    })
}

enum Outcome {
    Answered(CallReply),
    /// There is no such tool in this session.
    Unknown,
}

async fn call(
    session: &RemoteSession,
    tool: &str,
    arguments: Map<String, Value>,
) -> anyhow::Result<Outcome> {
    let request = CallRequest {
        request_id: RequestId("1".to_owned()),
        tool: tool.to_owned(),
        arguments: raw(&arguments)?,
        progress: false,
        asking: Default::default(),
    };
    match session.call(request).await {
        Ok(reply) => Ok(Outcome::Answered(reply)),
        Err(CallFailure::UnknownTool { .. }) => Ok(Outcome::Unknown),
        Err(CallFailure::Unavailable { why }) => bail!("{why}"),
        Err(CallFailure::UnknownResource { .. } | CallFailure::Cancelled | CallFailure::Closed) => {
            bail!("the session ended before the tool answered; see `tabmux logs`")
        }
    }
}

fn print_reply(name: &str, reply: &CallReply, json: bool) -> anyhow::Result<()> {
    if json {
        say(serde_json::to_string_pretty(reply)?)?;
        return Ok(());
    }
    let text = show::text(name, reply, std::env::current_dir()?.as_path())?;
    match reply.is_error {
        true => complain(show::for_terminal(text, std::io::stderr().is_terminal())),
        false => say(show::for_terminal(text, std::io::stdout().is_terminal()))?,
    }
    Ok(())
}

/// What a person at a shell can do when a tool refuses an argument. The tool's own answer is for agents, who cannot.
fn hint(arguments: &Map<String, Value>, roots: &[PathBuf]) -> Option<&'static str> {
    let url = arguments.get("url").and_then(Value::as_str);
    if url.is_some_and(|url| url.starts_with("file:")) {
        return Some(FILES);
    }
    paths::is_outside(arguments, roots).then_some(FOLDERS)
}

fn list(flags: Flags) -> anyhow::Result<ExitCode> {
    let json = flags.json;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    let _guard = runtime.enter();
    let session = match flags.open() {
        Ok(session) => session,
        Err(why) => return Ok(usage_error(&format!("{why:#}"))),
    };
    let tools = runtime.block_on(listed(&session))?;
    match json {
        true => say(help::list_as_json(&tools)?)?,
        false => say(help::list(&tools, wrap::width()))?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn listed(session: &RemoteSession) -> anyhow::Result<Vec<ToolInfo>> {
    match session.tools().await {
        Ok(tools) => Ok(tools),
        Err(CallFailure::Unavailable { why }) => bail!("{why}"),
        Err(_) => bail!("the session ended before it listed its tools; see `tabmux logs`"),
    }
}

impl Flags {
    /// Parses the flags with clap, which prints errors and help itself.
    fn read(words: Vec<OsString>) -> Self {
        let program = std::iter::once("tabmux call".into());
        Self::try_parse_from(program.chain(words)).unwrap_or_else(|error| error.exit())
    }

    /// The folders in which files may be: the current one, and those of `--filesystemRoot`.
    fn roots(&self) -> anyhow::Result<Vec<PathBuf>> {
        let named = self.filesystem_root.iter().map(std::path::absolute);
        let all: Result<Vec<_>, _> = std::env::current_dir()
            .into_iter()
            .map(Ok)
            .chain(named)
            .collect();
        all.context("--filesystemRoot")
    }

    /// Opens the session of these flags, or resumes it.
    fn open(self) -> anyhow::Result<RemoteSession> {
        let here = std::env::current_dir().ok();
        let roots = self.roots()?;
        let kinds = super::mcp::kinds;
        let categories = match self.categories {
            Some(wanted) => CategoryFlags::only(wanted).chosen(kinds)?,
            // A user who types a tool's name wants it, so every category is on.
            None => Some(kinds().iter().map(|kind| kind.name.to_owned()).collect()),
        };
        let options = SessionOptions {
            browser: self.browser.options()?,
            tools: ToolMode::Static,
            // The numbers that `tabmux tabs` shows.
            shared_numbers: true,
            page_actions: true,
            changes: true,
            categories,
            folder: here.clone(),
            roots,
            // The user wants to keep the file after the session.
            output: here,
            on_session_end: match self.keep_tabs {
                true => OnSessionEnd::Keep,
                false => OnSessionEnd::Close,
            },
            // The user who types the call is the person who would be asked.
            confirm: Confirm::Never,
            ..SessionOptions::default()
        };
        let socket_path = self.socket.path();
        Ok(RemoteSession::open(Opening {
            start: tabmux_stdio_proxy::starter(&socket_path, None, None)?,
            socket_path,
            client: ClientInfo {
                name: "tabmux call".to_owned(),
                pid: std::process::id(),
            },
            options,
            name: Some(self.session).filter(|_| !self.once),
        }))
    }
}

/// One of our own tools, as in a fixed list.
fn known(tool: &str, several: bool) -> Option<ToolInfo> {
    catalogue::in_fixed_list(tool, several)
}

fn show_help(info: &ToolInfo, verb: Option<&Verb>) -> anyhow::Result<ExitCode> {
    say(help::tool(info, verb, wrap::width()))?;
    Ok(ExitCode::SUCCESS)
}

/// The arguments as JSON on one line.
fn raw(arguments: &Map<String, Value>) -> serde_json::Result<Box<RawValue>> {
    to_raw_value(arguments)
}

fn unknown(name: &str, tools: &[ToolInfo]) -> String {
    let near = tools.iter().map(|tool| tool.name.as_str());
    let near: Vec<_> = near.filter(|known| is_near(name, known)).collect();
    let suggestion = match near.as_slice() {
        [] => String::new(),
        near => format!(" Did you mean {}?", near.join(" or ")),
    };
    format!("there is no tool `{name}`.{suggestion} `tabmux call --list` shows all of them.")
}

/// Whether `written` may be a misspelling of `known`: it is a part of it, or they differ in few letters.
fn is_near(written: &str, known: &str) -> bool {
    let letters = |text: &str| text.to_lowercase().replace(['-', '_'], "");
    let (written, known) = (letters(written), letters(known));
    let same = written
        .chars()
        .zip(known.chars())
        .take_while(|(a, b)| a == b)
        .count();
    let longest = written.chars().count().max(known.chars().count());
    (same >= 3 && longest - same <= 3) || (written.len() >= 4 && known.contains(&written))
}

fn see_help(tool: &str, verb: Option<&Verb>) -> String {
    match verb {
        Some(verb) => format!("`tabmux {} --help` shows more.", verb.name),
        None => format!("`tabmux call {tool} --help` shows what it takes."),
    }
}

fn usage_error(why: &str) -> ExitCode {
    complain(format!("tabmux: {why}"));
    ExitCode::from(USAGE)
}

const NO_TOOL: &str = "name a tool, such as `tabmux call list_pages`. `tabmux call --list` shows all of them, \
                       `tabmux call --help` the flags.";
const FILES: &str = "`--allowFileUrls` lets a session open files. It takes effect only when the session is opened; run \
                     `tabmux close` first.";
const FOLDERS: &str =
    "Tools may use files in the current folder only; `--filesystemRoot DIR` adds another folder.";
/// The session without `--session`.
pub(crate) const DEFAULT_SESSION: &str = "default";
const USAGE: u8 = 2;
const LONGEST_ARGUMENTS: u64 = 16 * 1_024 * 1_024;
