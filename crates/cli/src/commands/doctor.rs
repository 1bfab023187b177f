//! `tabmux doctor`: finds what is wrong, and says how to mend it.

mod checks;
mod clients;
mod display;
mod extension;
mod look;
mod rules;
mod web_mcp;

use super::common_flags::{Executable, Socket};
use crate::paint::{Color, Paint};
use crate::say::say;
use crate::wrap;
use serde_json::{Value, json};
use std::process::ExitCode;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print JSON instead of lines.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    browser: Executable,

    #[command(flatten)]
    socket: Socket,
}

/// Looks at everything. Exit code 1 means that something does not work.
pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let place = args.socket.place();
    let checks = runtime.block_on(look::around(&place, args.browser.executable_path));
    if args.json {
        say(serde_json::to_string_pretty(&as_json(&checks))?)?;
    } else {
        say(as_text(&checks, Paint::for_stdout(), wrap::width()))?;
    }
    Ok(if is_well(&checks) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// What was found out about one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Check {
    name: &'static str,
    level: Level,
    /// What is so.
    finding: String,
    /// What to do about it.
    advice: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Ok,
    Warn,
    Fail,
}

impl Check {
    fn ok(name: &'static str, finding: impl Into<String>) -> Self {
        Self {
            name,
            level: Level::Ok,
            finding: finding.into(),
            advice: None,
        }
    }

    fn warn(name: &'static str, finding: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            level: Level::Warn,
            advice: Some(advice.into()),
            ..Self::ok(name, finding)
        }
    }

    fn fail(name: &'static str, finding: impl Into<String>, advice: impl Into<String>) -> Self {
        Self {
            level: Level::Fail,
            ..Self::warn(name, finding, advice)
        }
    }
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    fn color(self) -> Color {
        match self {
            Self::Ok => Color::Green,
            Self::Warn => Color::Yellow,
            Self::Fail => Color::Red,
        }
    }
}

fn is_well(checks: &[Check]) -> bool {
    checks.iter().all(|check| check.level != Level::Fail)
}

fn as_text(checks: &[Check], paint: Paint, width: usize) -> String {
    let names = checks.iter().map(|check| check.name.len()).max();
    let names = names.unwrap_or(0);
    let mut lines: Vec<String> = checks
        .iter()
        .map(|check| line(check, names, paint, width))
        .collect();
    lines.push(String::new());
    lines.push(summary(checks));
    lines.join("\n")
}

fn line(check: &Check, names: usize, paint: Paint, width: usize) -> String {
    let word = check.level.word();
    let longest = "warn".len();
    let gap = " ".repeat(longest - word.len());
    let word = paint.color(check.level.color(), word);
    let told = match &check.advice {
        Some(advice) => format!("{} {advice}", check.finding),
        None => check.finding.clone(),
    };
    let told = wrap::wrap(&told, longest + 2 + names + 2, width);
    format!("{word}{gap}  {:names$}  {told}", check.name)
}

fn summary(checks: &[Check]) -> String {
    let count = |level| checks.iter().filter(|check| check.level == level).count();
    match (count(Level::Fail), count(Level::Warn)) {
        (0, 0) => "All is well.".to_owned(),
        (0, 1) => "It works; 1 thing is worth a look.".to_owned(),
        (0, warnings) => format!("It works; {warnings} things are worth a look."),
        (1, _) => "1 thing has to be mended.".to_owned(),
        (failures, _) => format!("{failures} things have to be mended."),
    }
}

fn as_json(checks: &[Check]) -> Value {
    let rows: Vec<Value> = checks
        .iter()
        .map(|check| {
            json!({
                "name": check.name,
                "level": check.level.word(),
                "finding": check.finding,
                "advice": check.advice,
            })
        })
        .collect();
    json!({ "ok": is_well(checks), "checks": rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Vec<Check> {
        vec![
            Check::ok("browser", "Chromium 150 at /usr/bin/chromium."),
            Check::warn("user", "This is root.", "Use another user."),
            Check::fail("log", "The log is a folder.", "Remove it."),
        ]
    }

    #[test]
    fn each_check_is_one_line_with_what_to_do() {
        assert_eq!(
            as_text(&three(), Paint::OFF, 80),
            "ok    browser  Chromium 150 at /usr/bin/chromium.\n\
             warn  user     This is root. Use another user.\n\
             fail  log      The log is a folder. Remove it.\n\
             \n\
             1 thing has to be mended."
        );
    }

    #[test]
    fn the_last_line_sums_up() {
        assert_eq!(summary(&three()[..1]), "All is well.");
        assert_eq!(summary(&three()[..2]), "It works; 1 thing is worth a look.");
        assert!(is_well(&three()[..2]));
        assert!(!is_well(&three()));
    }

    #[test]
    fn only_the_word_is_painted_and_columns_stay() {
        let text = as_text(&three(), Paint::ON, 80);
        assert!(
            text.starts_with("\x1b[32mok\x1b[0m    browser  Chromium"),
            "{text:?}"
        );
    }

    #[test]
    fn programs_read_json() {
        let json = as_json(&three());
        assert_eq!(json["ok"], false);
        assert_eq!(
            json["checks"][1],
            json!({
                "name": "user",
                "level": "warn",
                "finding": "This is root.",
                "advice": "Use another user.",
            })
        );
    }
}
