//! `tabmux doctor`: diagnoses problems and suggests fixes.

mod checks;
mod clients;
mod config_file;
mod display;
mod extension;
mod look;
mod page_library;
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

/// Runs every check. Exit code 1 means that something does not work.
pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let socket_path = args.socket.path();
    let checks = runtime.block_on(look::run_checks(&socket_path, args.browser.executable_path));
    if args.json {
        say(serde_json::to_string_pretty(&as_json(&checks))?)?;
    } else {
        say(as_text(&checks, Paint::for_stdout(), wrap::width()))?;
    }
    Ok(if has_no_failure(&checks) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Check {
    name: &'static str,
    level: Level,
    /// What was found.
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
    fn name(self) -> &'static str {
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

fn has_no_failure(checks: &[Check]) -> bool {
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
    let level = check.level.name();
    let longest = "warn".len();
    let gap = " ".repeat(longest - level.len());
    let level = paint.color(check.level.color(), level);
    let text = match &check.advice {
        Some(advice) => format!("{} {advice}", check.finding),
        None => check.finding.clone(),
    };
    let text = wrap::wrap(&text, longest + 2 + names + 2, width);
    format!("{level}{gap}  {:names$}  {text}", check.name)
}

fn summary(checks: &[Check]) -> String {
    let count = |level| checks.iter().filter(|check| check.level == level).count();
    match (count(Level::Fail), count(Level::Warn)) {
        (0, 0) => "All checks passed.".to_owned(),
        (0, 1) => "It works, with 1 warning.".to_owned(),
        (0, warnings) => format!("It works, with {warnings} warnings."),
        (1, _) => "1 problem to fix.".to_owned(),
        (failures, _) => format!("{failures} problems to fix."),
    }
}

fn as_json(checks: &[Check]) -> Value {
    let rows: Vec<Value> = checks
        .iter()
        .map(|check| {
            json!({
                "name": check.name,
                "level": check.level.name(),
                "finding": check.finding,
                "advice": check.advice,
            })
        })
        .collect();
    json!({ "ok": has_no_failure(checks), "checks": rows })
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
             1 problem to fix."
        );
    }

    #[test]
    fn the_last_line_sums_up() {
        assert_eq!(summary(&three()[..1]), "All checks passed.");
        assert_eq!(summary(&three()[..2]), "It works, with 1 warning.");
        assert!(has_no_failure(&three()[..2]));
        assert!(!has_no_failure(&three()));
    }

    #[test]
    fn only_the_level_is_coloured_and_columns_stay() {
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
