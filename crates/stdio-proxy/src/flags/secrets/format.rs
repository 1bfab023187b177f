//! The two formats of secrets: dotenv with origins in comments, and JSON. No error quotes a value.

use serde::Deserialize;
use std::collections::BTreeMap;
use tabmux_protocol::session::SecretDefinition;
use tabmux_text::secrets::SHORTEST;

/// Parses a file of secrets. The error is a sentence.
pub(super) fn parse(text: &str) -> Result<Vec<SecretDefinition>, String> {
    let text = text.trim_start_matches('\u{feff}');
    let all = match text.trim_start().starts_with('{') {
        true => json(text)?,
        false => dotenv(text)?,
    };
    if all.is_empty() {
        return Err(format!("there is no secret in it. {HOW}"));
    }
    if all.len() > MOST {
        return Err(format!(
            "there are more than {MOST} secrets in it. Leave some out."
        ));
    }
    for (place, secret) in all.iter().enumerate() {
        check(secret)?;
        if all[..place].iter().any(|other| other.name == secret.name) {
            return Err(format!(
                "the secret {} is there twice. Remove one.",
                secret.name
            ));
        }
    }
    Ok(all)
}

/// `{"NAME": {"value": "…", "origins": ["https://…"]}}`.
fn json(text: &str) -> Result<Vec<SecretDefinition>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Entry {
        value: String,
        #[serde(default)]
        origins: Vec<String>,
    }
    let read = serde_json::from_str::<BTreeMap<String, Entry>>(text);
    // Not the error's text: it can quote the file.
    let read = read.map_err(|error| {
        format!(
            "the JSON is wrong at line {}, column {}. Write it like {{\"NAME\": {{\"value\": \"…\", \
             \"origins\": [\"https://app.example\"]}}}}.",
            error.line(),
            error.column()
        )
    })?;
    let secrets = read.into_iter().map(|(name, entry)| SecretDefinition {
        name,
        value: entry.value,
        origins: entry.origins,
    });
    Ok(secrets.collect())
}

/// `NAME=value` lines. `# origins: https://…` is for the lines below it, up to an empty line.
fn dotenv(text: &str) -> Result<Vec<SecretDefinition>, String> {
    let mut secrets = Vec::new();
    let mut origins: Vec<String> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            origins.clear();
        } else if let Some(comment) = line.strip_prefix('#') {
            if let Some(named) = comment.trim_start().strip_prefix("origins:") {
                let named = named.split([' ', ',', ';', '\t']);
                let named = named.filter(|it| !it.is_empty());
                origins = named.map(str::to_owned).collect();
            }
        } else {
            let line = line.strip_prefix("export ").unwrap_or(line);
            let assigned = line.split_once('=');
            let (name, value) =
                assigned.ok_or_else(|| format!("line {} is not NAME=value. {HOW}", index + 1))?;
            secrets.push(SecretDefinition {
                name: name.trim().to_owned(),
                value: unquoted(value.trim()),
                origins: origins.clone(),
            });
        }
    }
    Ok(secrets)
}

/// A value without its quotes. Everything else is part of it, `#` too.
fn unquoted(value: &str) -> String {
    let inside = |quote: char| {
        let inner = value.strip_prefix(quote)?.strip_suffix(quote)?;
        Some(inner)
    };
    match (inside('\''), inside('"')) {
        (Some(inner), _) => inner.to_owned(),
        (_, Some(inner)) => unescaped(inner),
        _ => value.to_owned(),
    }
}

/// Double quotes have `\"` and `\\`.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match (character, rest.as_str().chars().next()) {
            ('\\', Some(escaped @ ('"' | '\\'))) => {
                plain.push(escaped);
                rest.next();
            }
            _ => plain.push(character),
        }
    }
    plain
}

fn check(secret: &SecretDefinition) -> Result<(), String> {
    let SecretDefinition {
        name,
        value,
        origins,
    } = secret;
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    if name.is_empty() || name.len() > LONGEST_NAME || !name.chars().all(fits) {
        return Err(format!(
            "a name is not made of letters, digits, `_`, `-` and `.`, or is longer than {LONGEST_NAME}. {HOW}"
        ));
    }
    let length = value.chars().count();
    if !(SHORTEST..=LONGEST_VALUE).contains(&length) {
        return Err(format!(
            "the value of {name} has {length} characters. It needs {SHORTEST} to {LONGEST_VALUE}, because shorter ones \
             cannot be told from other text."
        ));
    }
    if value.chars().any(char::is_control) {
        return Err(format!(
            "the value of {name} has a line break or another control character in it. Use a value of one line."
        ));
    }
    match origins.len() {
        0 => Err(format!(
            "the secret {name} names no origins, so it could be typed anywhere. {HOW}"
        )),
        1..=MOST_ORIGINS => Ok(()),
        _ => Err(format!(
            "the secret {name} names more than {MOST_ORIGINS} origins. Use a pattern such as https://*.app.example."
        )),
    }
}

const HOW: &str = "Write `# origins: https://app.example` above `NAME=value`, or in JSON {\"NAME\": {\"value\": \"…\", \
                   \"origins\": [\"https://app.example\"]}}.";
const MOST: usize = 100;
const MOST_ORIGINS: usize = 20;
const LONGEST_NAME: usize = 64;
const LONGEST_VALUE: usize = 1_024;
