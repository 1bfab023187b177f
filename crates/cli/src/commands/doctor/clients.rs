//! Whether the program that MCP clients start as tabmux exists.

use super::Check;
use super::checks::sentences;
use crate::commands::install::{DEFAULT_NAME, Found, Installed};

/// The configs of MCP clients: one line for all that are fine, and one for each problem.
pub(super) fn check(configs: &[Installed], is_there: impl Fn(&str) -> bool) -> Vec<Check> {
    let mut fine = Vec::new();
    let mut checks = Vec::new();
    for Installed { client, entries } in configs {
        match entries {
            Err(why) => {
                let (what, advice) = sentences(why);
                checks.push(Check::warn(NAME, what, advice));
            }
            Ok(entries) => match entries.iter().find(|entry| !is_there(&entry.program)) {
                None => fine.push(*client),
                Some(Found { name, program }) => {
                    let named = match name == DEFAULT_NAME {
                        true => String::new(),
                        false => format!(" --name {name}"),
                    };
                    checks.push(Check::fail(
                        NAME,
                        format!("{client} runs {program}, which does not exist."),
                        format!("Run `tabmux install {client}{named}`."),
                    ));
                }
            },
        }
    }
    let configured = match fine.as_slice() {
        [] if !checks.is_empty() => return checks,
        [] => "No client is configured for tabmux; run `tabmux install CLIENT`.".to_owned(),
        fine => format!("Configured for tabmux: {}.", fine.join(", ")),
    };
    checks.insert(0, Check::ok(NAME, configured));
    checks
}

const NAME: &str = "clients";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_runs_a_program_that_has_gone_fails() {
        let config = |client, entry: Result<(&str, &str), &str>| Installed {
            client,
            entries: entry.map_err(str::to_owned).map(|(name, program)| {
                let (name, program) = (name.to_owned(), program.to_owned());
                vec![Found { name, program }]
            }),
        };
        let configs = [
            config("cursor", Ok(("browser", "/bin/tabmux"))),
            config("codex", Err("It is broken. Fix it.")),
            config("gemini", Ok(("browser", "/old/tabmux"))),
            config("vscode", Ok(("tabs", "/old/tabmux"))),
        ];
        let said = |configs: &[Installed]| -> Vec<String> {
            let checks = check(configs, |program| program == "/bin/tabmux");
            let said = |check: &Check| {
                let advice = check.advice.as_deref().unwrap_or("–");
                format!("{} | {} | {advice}", check.level.name(), check.finding)
            };
            checks.iter().map(said).collect()
        };
        assert_eq!(
            said(&configs),
            [
                "ok | Configured for tabmux: cursor. | –",
                "warn | It is broken. | Fix it.",
                "fail | gemini runs /old/tabmux, which does not exist. | Run `tabmux install gemini`.",
                "fail | vscode runs /old/tabmux, which does not exist. | Run `tabmux install vscode --name tabs`.",
            ]
        );
        assert_eq!(
            said(&[]),
            ["ok | No client is configured for tabmux; run `tabmux install CLIENT`. | –"]
        );
        assert_eq!(said(&configs[1..2]).len(), 1);
    }
}
