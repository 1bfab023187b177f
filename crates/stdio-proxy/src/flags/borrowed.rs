//! Translates a command line for chrome-devtools-mcp or Playwright MCP into our own flags.
//!
//! The parser of chrome-devtools-mcp takes `--flag`, `--flag=true`, `--flag true`, `--no-flag`, each in camel case and with
//! hyphens, and lists as several words after one flag. The flags are those of chrome-devtools-mcp 1.11 and Playwright MCP 0.0.83.

mod playwright;
mod table;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::iter::Peekable;
use table::{FLAGS, Flag, Takes, Treatment};

/// A command line in our own flags.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Translated {
    pub(crate) args: Vec<OsString>,
    /// Our switches that it turns off.
    pub(crate) switched_off: Vec<&'static str>,
    /// Flags without effect, for the log.
    pub(crate) notes: Vec<String>,
    /// Whether some flag shows that this configuration was written for another server.
    pub(crate) is_theirs: bool,
}

/// Translates the flags of `tabmux mcp`. Words that are no flags of the other servers are kept.
///
/// # Errors
/// In one sentence, when a flag is not supported and must not be ignored.
pub(crate) fn translate(words: impl IntoIterator<Item = OsString>) -> Result<Translated, String> {
    let words: Vec<OsString> = words.into_iter().collect();
    let mut reading = Reading {
        // With `--extension`, `--browser` is our own flag.
        names_extension: words.iter().any(|word| word == "--extension"),
        ..Reading::default()
    };
    let mut words = words.into_iter().peekable();
    while let Some(word) = words.next() {
        match Written::read(&word) {
            Some(written) => {
                reading.out.is_theirs |= written.flag.is_only_theirs();
                reading.take(word, written, &mut words)?;
            }
            None => reading.out.args.push(word),
        }
    }
    reading.end()
}

/// One flag of the command line.
struct Written {
    flag: &'static Flag,
    /// The name as written, for messages.
    name: String,
    negated: bool,
    value: Option<String>,
}

impl Written {
    fn read(word: &OsString) -> Option<Self> {
        let text = word.to_str()?.strip_prefix("--")?;
        let (written, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        let name = in_camel_case(written);
        let (flag, negated) = match known(&name) {
            Some(flag) => (flag, false),
            None => (negation(&name)?, true),
        };
        Some(Self {
            flag,
            name: written.to_owned(),
            negated,
            value,
        })
    }
}

#[derive(Default)]
struct Reading {
    out: Translated,
    /// Our switches; the last value of each counts.
    switches: BTreeMap<&'static str, (bool, bool)>,
    names_extension: bool,
    /// Headers for an address, as Playwright writes them.
    headers: BTreeMap<String, String>,
    has_web_socket: bool,
}

impl Reading {
    fn take(
        &mut self,
        word: OsString,
        written: Written,
        words: &mut Peekable<impl Iterator<Item = OsString>>,
    ) -> Result<(), String> {
        match written.flag.takes {
            Takes::Switch => self.switch(&written, words),
            Takes::One => self.one(word, &written, words),
            Takes::Several => self.several(&written, words),
        }
    }

    fn switch(
        &mut self,
        written: &Written,
        words: &mut Peekable<impl Iterator<Item = OsString>>,
    ) -> Result<(), String> {
        let said = match &written.value {
            Some(value) => value
                .parse::<bool>()
                .map_err(|_| format!("--{} is true or false: write --{0}=true", written.name))?,
            None => {
                let next = words.next_if(|word| word == "true" || word == "false");
                next.is_none_or(|word| word == "true")
            }
        };
        let on = said != written.negated;
        let name = written.flag.name;
        match written.flag.treatment {
            Treatment::Same => drop(self.switches.insert(name, (on, false))),
            Treatment::Category => drop(self.switches.insert(name, (on, true))),
            Treatment::As(ours) if on => drop(self.switches.insert(ours, (on, false))),
            Treatment::AnyFolder if on => self.out.args.push("--filesystemRoot=/".into()),
            Treatment::AnyFile if on => {
                self.out.args.push("--filesystemRoot=/".into());
                self.switches.insert("allowFileUrls", (true, false));
            }
            Treatment::Sandbox if !on => self.out.args.push("--chromeArg=--no-sandbox".into()),
            Treatment::Idle(when, why) if on == when => self.note(written, why),
            Treatment::Refused(when, why) if on == when => return Err(refusal(written, why)),
            _ => {}
        }
        Ok(())
    }

    fn one(
        &mut self,
        word: OsString,
        written: &Written,
        words: &mut Peekable<impl Iterator<Item = OsString>>,
    ) -> Result<(), String> {
        match written.flag.treatment {
            Treatment::Idle(_, why) => {
                if written.value.is_none() {
                    words.next_if(|word| !is_flag(word));
                }
                self.note(written, why);
            }
            Treatment::Refused(_, why) => return Err(refusal(written, why)),
            Treatment::Value(ours) => {
                // The parser of our own flags reports what is missing.
                let value = value_of(written, words).unwrap_or_default();
                self.out
                    .args
                    .push(format!("--{ours}={}", value.replace(',', "x")).into());
            }
            Treatment::Endpoint => {
                let value = value_of(written, words).unwrap_or_default();
                let is_web_socket = value.starts_with("ws://") || value.starts_with("wss://");
                self.has_web_socket |= is_web_socket;
                let ours = if is_web_socket {
                    "wsEndpoint"
                } else {
                    "browserUrl"
                };
                self.out.args.push(format!("--{ours}={value}").into());
            }
            Treatment::Browser if !self.names_extension => {
                let value = value_of(written, words).unwrap_or_default();
                self.browser(written, &value)?;
            }
            _ => self.out.args.push(word),
        }
        Ok(())
    }

    /// A browser as Playwright names it.
    fn browser(&mut self, written: &Written, name: &str) -> Result<(), String> {
        match name {
            "chrome" | "chromium" => {}
            "chrome-beta" | "chrome-dev" | "chrome-canary" => {
                let channel = name.trim_start_matches("chrome-");
                self.out.args.push(format!("--channel={channel}").into());
            }
            "firefox" | "webkit" => {
                return Err(refusal(
                    written,
                    "only Chrome, Chromium, Edge and Brave are supported; remove it to use Chrome or Chromium",
                ));
            }
            name if name.starts_with("msedge") => {
                return Err(refusal(
                    written,
                    "give the path of Edge with --executablePath",
                ));
            }
            name => self.out.args.push(format!("--browser={name}").into()),
        }
        Ok(())
    }

    fn several(
        &mut self,
        written: &Written,
        words: &mut Peekable<impl Iterator<Item = OsString>>,
    ) -> Result<(), String> {
        let name = match written.flag.treatment {
            Treatment::As(ours) => ours,
            Treatment::Refused(_, why) => return Err(refusal(written, why)),
            _ => written.flag.name,
        };
        // Arguments for a browser begin with hyphens, too.
        let first = match &written.value {
            Some(value) => Some(value.into()),
            None if name.ends_with("hromeArg") => words.next(),
            None => words.next_if(|word| !is_flag(word)),
        };
        let rest = std::iter::from_fn(|| words.next_if(|word| !is_flag(word)));
        let values: Vec<OsString> = first.into_iter().chain(rest).collect();
        match written.flag.treatment {
            Treatment::Idle(_, why) => {
                self.note(written, why);
                return Ok(());
            }
            Treatment::Headers => {
                for value in &values {
                    let text = value.to_string_lossy();
                    let (name, value) = text
                        .split_once(':')
                        .ok_or_else(|| format!("--{0} is NAME: VALUE, in quotes", written.name))?;
                    self.headers
                        .insert(name.trim().to_owned(), value.trim().to_owned());
                }
                return Ok(());
            }
            _ => {}
        }
        if values.is_empty() {
            // The parser of our own flags reports what is missing.
            self.out.args.push(format!("--{name}").into());
        }
        for value in values {
            let mut word = OsString::from(format!("--{name}="));
            word.push(value);
            self.out.args.push(word);
        }
        Ok(())
    }

    fn note(&mut self, written: &Written, why: &str) {
        let note = format!("--{} has no effect: {why}", written.name);
        self.out.notes.push(note);
    }

    fn end(self) -> Result<Translated, String> {
        let mut out = self.out;
        if !self.headers.is_empty() {
            if !self.has_web_socket {
                return Err(
                    "--cdp-header needs a --cdp-endpoint that begins with ws: or wss:".to_owned(),
                );
            }
            let headers = serde_json::to_string(&self.headers).unwrap_or_default();
            out.args.push(format!("--wsHeaders={headers}").into());
        }
        for (name, (on, valued)) in self.switches {
            match (on, valued) {
                (on, true) => out.args.push(format!("--{name}={on}").into()),
                (true, false) => out.args.push(format!("--{name}").into()),
                (false, false) => out.switched_off.push(name),
            }
        }
        Ok(out)
    }
}

/// The value of a flag that has one.
fn value_of(
    written: &Written,
    words: &mut Peekable<impl Iterator<Item = OsString>>,
) -> Option<String> {
    written.value.clone().or_else(|| {
        let separate = words.next_if(|word| !is_flag(word))?;
        Some(separate.to_string_lossy().into_owned())
    })
}

fn refusal(written: &Written, why: &str) -> String {
    let is_playwrights = playwright::FLAGS
        .iter()
        .any(|flag| flag.name == written.flag.name);
    let server = match is_playwrights {
        true => "Playwright MCP",
        false => "chrome-devtools-mcp",
    };
    format!("--{} of {server} is not supported: {why}", written.name)
}

fn known(name: &str) -> Option<&'static Flag> {
    let mut all = FLAGS.iter().chain(playwright::FLAGS);
    let flag = all.find(|flag| flag.name == name);
    let is_experiment = name.starts_with("experimental");
    flag.or_else(|| is_experiment.then_some(&table::ANY_EXPERIMENT))
}

/// The switch that `noX` turns off.
fn negation(name: &str) -> Option<&'static Flag> {
    let rest = name.strip_prefix("no")?;
    let first = rest.chars().next()?;
    if !first.is_ascii_uppercase() {
        return None;
    }
    let name = rest.replacen(first, &first.to_ascii_lowercase().to_string(), 1);
    known(&name)
        .filter(|flag| flag.takes == Takes::Switch || matches!(flag.treatment, Treatment::Idle(..)))
}

fn in_camel_case(name: &str) -> String {
    let mut parts = name.split('-');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |mut all, part| {
        let mut letters = part.chars();
        all.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        all.push_str(letters.as_str());
        all
    })
}

fn is_flag(word: &OsString) -> bool {
    word.as_encoded_bytes().starts_with(b"-")
}

/// Every flag of chrome-devtools-mcp that is known, and ways to write it.
#[cfg(test)]
pub(crate) fn samples() -> Vec<(&'static str, Vec<String>)> {
    samples_of(FLAGS)
}

/// The same of Playwright MCP.
#[cfg(test)]
pub(crate) fn playwright_samples() -> Vec<(&'static str, Vec<String>)> {
    let mut samples = samples_of(playwright::FLAGS);
    samples.extend(playwright::SHARED.map(|name| (name, Vec::new())));
    samples
}

#[cfg(test)]
fn samples_of(flags: &[Flag]) -> Vec<(&'static str, Vec<String>)> {
    let sample = |flag: &Flag| match (flag.takes, flag.name) {
        (Takes::Switch, name) => vec![
            format!("--{name}"),
            format!("--{name}=true"),
            format!("--{name}=false"),
            format!("--no-{name}"),
        ],
        (_, "wsHeaders" | "secrets") => Vec::new(),
        (_, name @ ("viewport" | "viewportSize")) => vec![format!("--{name}=1280x720")],
        (_, "cdpHeader") => vec!["--cdpHeader=A: b".to_owned()],
        (_, "grantPermissions") => vec!["--grantPermissions=camera".to_owned()],
        (_, "browser") => vec![
            "--browser=chrome".to_owned(),
            "--browser=firefox".to_owned(),
        ],
        (_, "channel") => vec!["--channel=canary".to_owned()],
        (_, name) => vec![format!("--{name}=http://x")],
    };
    flags.iter().map(|flag| (flag.name, sample(flag))).collect()
}

#[cfg(test)]
mod tests;
