//! `tabmux call`: one tool, run from a shell as an agent would run it.

mod show;

use super::common_flags::Socket;
use crate::say::{complain, say};
use anyhow::{Context, bail};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value};
use std::io::{IsTerminal, Read};
use std::process::ExitCode;
use tabmux_client::{Opening, Place, RemoteSession};
use tabmux_protocol::session::{ClientInfo, Confirm, OnSessionEnd, SessionOptions, ToolMode};
use tabmux_protocol::{Backend, CallFailure, CallReply, CallRequest, RequestId, ToolInfo};
use tabmux_shim::flags::BrowserFlags;

/// Run one tool, as an agent would. Exit code 1 means that the tool answered with an error.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The tool, such as `list_pages`.
    #[arg(value_name = "TOOL")]
    tool: String,

    /// Its arguments, a JSON object; `-` reads them from standard input.
    #[arg(value_name = "JSON", default_value = "{}")]
    arguments: String,

    /// Print the whole answer as JSON.
    #[arg(long)]
    json: bool,

    /// Run it in the session of this name, which keeps its tab between calls. It is opened by the
    /// first call and ends after half an hour without one.
    #[arg(long, value_name = "NAME", env = "TABMUX_SESSION")]
    session: Option<String>,

    /// Leave the tabs open that the call opens.
    #[arg(long = "keepTabs", alias = "keep-tabs")]
    keep_tabs: bool,

    #[command(flatten)]
    browser: BrowserFlags,

    #[command(flatten)]
    socket: Socket,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let written = match args.arguments.as_str() {
        "-" => std::io::read_to_string(std::io::stdin().lock().take(LONGEST_ARGUMENTS))
            .context("standard input cannot be read")?,
        _ => args.arguments,
    };
    let arguments = match understand(&written) {
        Ok(arguments) => arguments,
        Err(why) => return Ok(misused(&why)),
    };
    let browser = match args.browser.options() {
        Ok(browser) => browser,
        Err(why) => return Ok(misused(&format!("{why:#}."))),
    };
    let options = SessionOptions {
        browser,
        tools: ToolMode::Static,
        // Those that `tabmux tabs` shows: the session may end with this call.
        shared_numbers: true,
        page_actions: true,
        folder: std::env::current_dir().ok(),
        // Its session may end with this call, and the file is what was wanted.
        output: std::env::current_dir().ok(),
        on_session_end: if args.keep_tabs {
            OnSessionEnd::Keep
        } else {
            OnSessionEnd::Close
        },
        // Whoever types the call is the person who would be asked.
        confirm: Confirm::Never,
        ..SessionOptions::default()
    };
    let request = CallRequest {
        request_id: RequestId("call".to_owned()),
        tool: args.tool.clone(),
        arguments,
        progress: false,
        asking: Default::default(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("the runtime did not start")?;
    match runtime.block_on(call(args.socket.place(), options, args.session, request))? {
        Outcome::Answered(reply) => answered(&args.tool, &reply, args.json),
        Outcome::Unknown { tools } => Ok(misused(&unknown(&args.tool, &tools))),
        Outcome::Ended => bail!("the session ended before the tool answered; see `tabmux logs`"),
    }
}

enum Outcome {
    Answered(CallReply),
    /// There is no such tool, but these.
    Unknown {
        tools: Vec<ToolInfo>,
    },
    Ended,
}

/// Opens a session for this one call, or takes the one of that name.
async fn call(
    place: Place,
    options: SessionOptions,
    name: Option<String>,
    request: CallRequest,
) -> anyhow::Result<Outcome> {
    let client = ClientInfo {
        name: "tabmux call".to_owned(),
        pid: std::process::id(),
    };
    let start = tabmux_shim::starter(&place, None)?;
    let session = RemoteSession::open(Opening {
        place,
        client,
        options,
        name,
        start,
    });
    Ok(match session.call(request).await {
        Ok(reply) => Outcome::Answered(reply),
        Err(CallFailure::UnknownTool { .. }) => Outcome::Unknown {
            tools: session.tools().await.unwrap_or_default(),
        },
        Err(CallFailure::Cancelled | CallFailure::Closed | CallFailure::Unavailable { .. }) => {
            Outcome::Ended
        }
    })
}

fn answered(tool: &str, reply: &CallReply, json: bool) -> anyhow::Result<ExitCode> {
    if json {
        say(serde_json::to_string_pretty(reply)?)?;
    } else if reply.is_error {
        let text = show::text(tool, reply, std::env::current_dir()?.as_path())?;
        complain(show::for_terminal(text, std::io::stderr().is_terminal()));
    } else {
        let text = show::text(tool, reply, std::env::current_dir()?.as_path())?;
        say(show::for_terminal(text, std::io::stdout().is_terminal()))?;
    }
    Ok(if reply.is_error {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// The arguments on one line, as the daemon takes them.
fn understand(written: &str) -> Result<Box<RawValue>, String> {
    let advice = "Write them like '{\"url\": \"https://example.com\"}'.";
    let object: Map<String, Value> = serde_json::from_str(written)
        .map_err(|error| format!("the arguments are not a JSON object ({error}). {advice}"))?;
    to_raw_value(&object).map_err(|error| error.to_string())
}

fn unknown(name: &str, tools: &[ToolInfo]) -> String {
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    format!(
        "there is no tool `{name}`. There are: {}.",
        names.join(", ")
    )
}

fn misused(why: &str) -> ExitCode {
    complain(format!("tabmux: {why}"));
    ExitCode::from(USAGE)
}

const USAGE: u8 = 2;
const LONGEST_ARGUMENTS: u64 = 16 * 1_024 * 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_one_line_in_their_order() {
        let raw = understand("{\n \"b\": \"x\\ny\",\n \"a\": 1\n}").unwrap();
        assert_eq!(raw.get(), r#"{"b":"x\ny","a":1}"#);
    }

    #[test]
    fn what_is_no_object_is_refused_with_an_example() {
        for written in ["", "[]", "{a: 1}", "url"] {
            assert!(
                understand(written).unwrap_err().contains("Write them like"),
                "{written}"
            );
        }
    }
}
