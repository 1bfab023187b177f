//! Runs the demo: the agent's side of the connection, printed as it happens.

use super::client::{Answer, Client, Log};
use super::printer::{Look, NO_BREAK, Printer, Speaker, WriteError, format_duration, unbroken};
use super::{Args, processes};
use anyhow::{Context, anyhow, ensure};
use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// A client with its own server, and the printer.
pub(super) struct Runner<'a> {
    client: Client,
    printer: &'a mut Printer,
    opened: Instant,
    /// The names of the steps so far.
    steps: Vec<&'static str>,
    tools: Vec<String>,
    /// How many tools there were, and when.
    counts: Vec<(String, usize)>,
    calls: Vec<Duration>,
    picture: String,
}

impl<'a> Runner<'a> {
    /// Starts the server: this program, as an MCP client would start it.
    pub(super) fn open(args: &Args, printer: &'a mut Printer) -> anyhow::Result<Self> {
        let program =
            std::env::current_exe().context("the path of this program cannot be determined")?;
        let mut arguments = SERVER_ARGUMENTS.map(str::to_owned).to_vec();
        if let Some(path) = &args.browser.executable_path {
            arguments.push(format!("--executablePath={}", path.display()));
        }
        let opened = Instant::now();
        let client = Client::start(&program, &arguments)?;
        Ok(Self {
            client,
            printer,
            opened,
            steps: Vec::new(),
            tools: Vec::new(),
            counts: Vec::new(),
            calls: Vec::new(),
            picture: String::new(),
        })
    }

    /// Begins the next step.
    pub(super) fn step(&mut self, name: &'static str, remark: &str) -> anyhow::Result<()> {
        self.steps.push(name);
        self.printer.step(self.steps.len(), name, remark)?;
        Ok(())
    }

    pub(super) fn handshake(&mut self) -> anyhow::Result<()> {
        let command = format!("tabmux {}", SERVER_ARGUMENTS.join(" "));
        self.printer
            .say(Speaker::Agent, "", &[(Look::Plain, &command)])?;
        let about = self.client.initialize()?;
        let took = format_duration(self.opened.elapsed());
        let text_of = |value: &Value| value.as_str().unwrap_or("?").to_owned();
        let (name, version) = (
            text_of(&about["serverInfo"]["name"]),
            text_of(&about["serverInfo"]["version"]),
        );
        let mut text = format!(
            "\"{name}\" {version}, MCP {}, up and answering",
            text_of(&about["protocolVersion"])
        );
        if let Some(megabytes) = processes::resident_megabytes(self.client.pid()) {
            text.push_str(&format!(
                ", {} of memory",
                unbroken(&format!("{megabytes:.1} MB"))
            ));
        }
        self.printer
            .say(Speaker::Tabmux, &took, &[(Look::Plain, &text)])?;
        self.look_at_tools("started")
    }

    /// Calls a tool that must succeed and must not change the tool list.
    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<String> {
        let answer = self.ask(tool, arguments)?;
        self.show(tool, &answer)?;
        ensure!(
            !answer.list_changed,
            "{tool} changed the tool list, which it should not"
        );
        Ok(answer.text)
    }

    /// Calls a tool that must succeed and lead to a state with other tools.
    pub(super) fn call_into(
        &mut self,
        state: &str,
        tool: &str,
        arguments: &Value,
    ) -> anyhow::Result<()> {
        let answer = self.ask(tool, arguments)?;
        self.show(tool, &answer)?;
        ensure!(
            answer.list_changed,
            "{tool} should have changed the tool list, but the server did not notify a change"
        );
        self.look_at_tools(state)
    }

    /// Calls a tool that must fail.
    pub(super) fn call_that_fails(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<()> {
        let answer = self.ask(tool, arguments)?;
        ensure!(
            answer.is_error,
            "{tool} should have been an error, but answered: {}",
            answer.text
        );
        let pieces = [(Look::Gone, "error:"), (Look::Plain, &*answer.text)];
        Ok(self
            .printer
            .say(Speaker::Tabmux, &format_duration(answer.took), &pieces)?)
    }

    /// Takes a screenshot of the tab and saves it.
    pub(super) fn take_picture(&mut self, path: &Path) -> anyhow::Result<()> {
        let answer = self.ask("take_screenshot", &json!({}))?;
        ensure!(
            !answer.is_error,
            "take_screenshot answered: {}",
            answer.text
        );
        let image = answer
            .image
            .context("take_screenshot answered without a picture")?;
        let picture = BASE64_STANDARD
            .decode(image)
            .context("the picture is damaged")?;
        let (width, height) = png_size(&picture).context("the picture is not a PNG")?;
        let text = format!(
            "a PNG of {width} × {height} pixels, {} kB",
            picture.len().div_ceil(1000)
        );
        self.printer.say(
            Speaker::Tabmux,
            &format_duration(answer.took),
            &[(Look::Plain, &text)],
        )?;
        self.picture = path.display().to_string();
        let written = fs::write(path, &picture);
        written.with_context(|| {
            format!(
                "{} cannot be written, choose another path with --out",
                self.picture
            )
        })
    }

    /// Disconnects, checks that no process is left, and prints a summary.
    pub(super) fn close(self, result: anyhow::Result<()>) -> anyhow::Result<()> {
        let log = self.client.log();
        let name = self.steps.last().copied().unwrap_or_default();
        result.map_err(|error| stopped(error, name, &log))?;
        self.sum_up()
            .map_err(|error| stopped(error, "Goodbye", &log))
    }

    fn sum_up(mut self) -> anyhow::Result<()> {
        self.step(
            "Goodbye",
            "The client disconnects. The server ends, and its browser with it.",
        )?;
        self.printer.say(
            Speaker::Agent,
            "",
            &[(Look::Plain, "closes the server's standard input")],
        )?;
        let family = processes::descendants(self.client.pid());
        let took = self.client.disconnect()?;
        self.printer.say(
            Speaker::Tabmux,
            &format_duration(took),
            &[(Look::Plain, "exit code 0")],
        )?;
        let left = processes::still_running(&family);
        if !family.is_empty() {
            let text = format!(
                "{} browser processes before, {} now",
                family.len(),
                left.len()
            );
            self.printer
                .say(Speaker::System, "", &[(Look::Plain, &text)])?;
        }
        ensure!(
            left.is_empty(),
            "processes of the browser are still running: {left:?}"
        );

        let printer = self.printer;
        printer.space()?;
        printer.paragraph(Look::Strong, "How the tool list followed the work")?;
        printer.bars(&self.counts)?;
        printer.space()?;
        let text = format!(
            "{} tool calls took {}; the whole demo took {}, including the start and end of the browser.",
            self.calls.len(),
            unbroken(&format_duration(self.calls.iter().sum())),
            unbroken(&format_duration(self.opened.elapsed()))
        );
        printer.paragraph(Look::Plain, &text)?;
        if cfg!(debug_assertions) {
            printer.paragraph(
                Look::Faint,
                "This is a debug build; a release build is faster and smaller.",
            )?;
        }
        printer.paragraph(
            Look::Strong,
            &format!("The picture of the ticket: {}", unbroken(&self.picture)),
        )?;
        Ok(printer.space()?)
    }

    fn ask(&mut self, tool: &str, arguments: &Value) -> anyhow::Result<Answer> {
        let pieces = [(Look::Agent, tool), (Look::Plain, &*spaced(arguments))];
        self.printer.say(Speaker::Agent, "", &pieces)?;
        let answer = self.client.call(tool, arguments)?;
        self.calls.push(answer.took);
        if answer.list_changed {
            self.printer.say(
                Speaker::Tabmux,
                "",
                &[(Look::Fresh, "notifications/tools/list_changed")],
            )?;
        }
        Ok(answer)
    }

    fn show(&mut self, tool: &str, answer: &Answer) -> anyhow::Result<()> {
        ensure!(!answer.is_error, "{tool} answered: {}", answer.text);
        Ok(self.printer.show(
            Speaker::Tabmux,
            &format_duration(answer.took),
            &readable(&answer.text),
            LINES_SHOWN,
        )?)
    }

    /// Fetches the tool list and prints which tools are new and which are gone.
    fn look_at_tools(&mut self, state: &str) -> anyhow::Result<()> {
        let tools = self.client.tool_names()?;
        let fresh = tools.iter().filter(|tool| !self.tools.contains(tool));
        let gone: Vec<&String> = self
            .tools
            .iter()
            .filter(|tool| !tools.contains(tool))
            .collect();
        let mut pieces: Vec<(Look, String)> = Vec::new();
        pieces.extend(fresh.map(|tool| (Look::Fresh, unbroken(&format!("+ {tool}")))));
        // The reader has already seen their names; a few are enough.
        pieces.extend(
            gone.iter()
                .take(GONE_SHOWN)
                .map(|tool| (Look::Gone, unbroken(&format!("- {tool}")))),
        );
        if gone.len() > GONE_SHOWN {
            pieces.push((Look::Gone, format!("and {} more", gone.len() - GONE_SHOWN)));
        }
        let pieces: Vec<(Look, &str)> =
            pieces.iter().map(|(look, text)| (*look, &**text)).collect();
        let number = match self.counts.last() {
            Some((_, before)) => format!("{before} → {}", tools.len()),
            None => tools.len().to_string(),
        };
        self.printer.say(Speaker::Tools, &number, &pieces)?;
        self.counts.push((state.to_owned(), tools.len()));
        self.tools = tools;
        Ok(())
    }
}

/// The error of a demo that stopped, with the server's log. A closed pipe is passed on unchanged.
fn stopped(error: anyhow::Error, step: &str, log: &Log) -> anyhow::Error {
    if error.is::<WriteError>() {
        return error;
    }
    let mut text = format!("the demo stopped at \"{step}\": {error:#}");
    let lines = log.last_lines();
    if !lines.is_empty() {
        text.push_str("\nThe last lines of the server's log:\n  ");
        text.push_str(&lines.join("\n  "));
    }
    text.push_str("\nRun it again with TABMUX_LOG=debug to see more of the log; docs/troubleshooting.md may help.");
    anyhow!(text)
}

/// JSON with spaces, so that it can be wrapped; other text unchanged.
fn readable(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(value @ Value::Object(_)) => spaced(&value),
        _ => text.to_owned(),
    }
}

fn spaced(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let entries = map.iter();
            let entries =
                entries.map(|(key, value)| format!("\"{key}\":{NO_BREAK}{}", spaced(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        // Keeps each item on one line, if it fits.
        Value::Array(list) => {
            let items = list.iter().map(|item| unbroken(&spaced(item)));
            format!("[{}]", items.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

/// The size in the header of a PNG.
fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let head = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?.get(8..16)?;
    let (width, height) = head.split_at(4);
    Some((
        u32::from_be_bytes(width.try_into().ok()?),
        u32::from_be_bytes(height.try_into().ok()?),
    ))
}

const SERVER_ARGUMENTS: [&str; 6] = [
    "mcp",
    "--tools=progressive",
    "--no-daemon",
    "--headless",
    "--isolated",
    "--viewport=1100x720",
];
/// How much of a long answer is printed.
const LINES_SHOWN: usize = 15;
/// How many of the tools that went away are named.
const GONE_SHOWN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_given_blanks_to_wrap_at() {
        let text = readable(r#"{"a":[1,"x y"],"b":{"c":null}}"#);
        assert_eq!(
            text.replace(NO_BREAK, " "),
            r#"{"a": [1, "x y"], "b": {"c": null}}"#
        );
        assert_eq!(readable("Clicked."), "Clicked.");
    }

    #[test]
    fn the_size_of_a_picture_is_read_from_its_head() {
        let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        png.extend([0, 0, 4, 76, 0, 0, 2, 208]);
        assert_eq!(png_size(&png), Some((1100, 720)));
        assert_eq!(png_size(&png[..20]), None);
        assert_eq!(png_size(b"GIF89a"), None);
    }
}
