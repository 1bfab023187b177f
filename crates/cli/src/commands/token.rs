//! `tabmux token`: the tokens of clients of `tabmux serve`.

use crate::say::say;
use crate::table::Table;
use clap::Subcommand;
use serde_json::json;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};
use tabmux_http_server::tokens::TokenEntry;
use tabmux_http_server::{TokenFile, TokenName};
use tabmux_mcp::http::TokenLimits;

/// Make, list and revoke tokens.
#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Make a token and print it. It is not shown again.
    Add {
        /// Who will use it.
        #[arg(value_name = "NAME")]
        name: TokenName,

        /// When it ends, such as 12h or 30d. Without this it ends when it is revoked.
        #[arg(long, value_name = "TIME", value_parser = lifetime)]
        expires: Option<Duration>,

        /// Allow only tools that change nothing.
        #[arg(long)]
        readonly: bool,

        /// Allow only pages of these origins, such as https://*.example.com; the flags of the server may allow less.
        #[arg(long, value_name = "ORIGIN,…", value_delimiter = ',', value_parser = origin)]
        origins: Vec<String>,

        /// Allow only the browsers with these names, such as those of --browserUrl NAME=ADDRESS.
        #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
        browsers: Vec<String>,
    },
    /// List the tokens.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Revoke a token at once, and end its sessions.
    Revoke {
        #[arg(value_name = "NAME")]
        name: TokenName,
    },
}

/// The tokens of this user.
pub(super) fn token_file() -> TokenFile {
    TokenFile::at(tabmux_browser::profile::data_home().join("tokens.json"))
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let file = token_file();
    match args {
        // Only the token, so that a script can store it.
        Args::Add {
            name,
            expires,
            readonly,
            origins,
            browsers,
        } => {
            let limits = TokenLimits {
                read_only: readonly,
                origins,
                browsers,
            };
            say(file.add(name, expires, limits)?)?;
        }
        Args::List { json } => {
            let tokens = file.read()?.tokens;
            say(match json {
                true => as_json(&tokens),
                false => listed(&tokens),
            })?;
        }
        Args::Revoke { name } => {
            file.revoke(&name)?;
            say(format!("Revoked the token {name}."))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn lifetime(text: &str) -> Result<Duration, String> {
    let lifetime = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    match (SHORTEST..=LONGEST).contains(&lifetime) {
        true => Ok(lifetime),
        false => Err(format!(
            "a token ends after 1s to {LONGEST_DAYS}d; without --expires it ends when it is revoked"
        )),
    }
}

fn listed(tokens: &[TokenEntry]) -> String {
    if tokens.is_empty() {
        return "There are no tokens. `tabmux token add NAME` makes one.".to_owned();
    }
    let mut table = Table::new(["NAME", "CREATED", "EXPIRES", "MAY USE"]);
    for token in tokens {
        table.row([
            token.name.as_str(),
            &time(token.created()),
            &token.expires().map_or_else(|| "never".to_owned(), expiry),
            &allowed(&token.limits),
        ]);
    }
    table.to_string()
}

fn as_json(tokens: &[TokenEntry]) -> String {
    let rows = tokens.iter().map(|token| {
        json!({
            "name": token.name,
            "created": time(token.created()),
            "expires": token.expires().map(time),
            "readonly": token.limits.read_only,
            "origins": token.limits.origins,
            "browsers": token.limits.browsers,
        })
    });
    json!(rows.collect::<Vec<_>>()).to_string()
}

/// What a token allows, in words.
fn allowed(limits: &TokenLimits) -> String {
    let list = |what: &str, names: &[String]| {
        (!names.is_empty()).then(|| format!("{what} {}", names.join(", ")))
    };
    let tools = limits.read_only.then(|| "tools that read".to_owned());
    let parts = [
        tools,
        list("origins", &limits.origins),
        list("browsers", &limits.browsers),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    match parts.is_empty() {
        true => "everything".to_owned(),
        false => parts.join("; "),
    }
}

fn origin(text: &str) -> Result<String, String> {
    match super::mcp::origins(text)?.is_empty() {
        false => Ok(text.to_owned()),
        true => Err("name an origin, such as https://*.example.com".to_owned()),
    }
}

fn expiry(end: SystemTime) -> String {
    match end <= SystemTime::now() {
        true => "expired".to_owned(),
        false => time(end),
    }
}

fn time(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}

const SHORTEST: Duration = Duration::from_secs(1);
/// A longer time is probably a mistake.
const LONGEST_DAYS: u64 = 3_650;
const LONGEST: Duration = Duration::from_secs(LONGEST_DAYS * 24 * 3_600);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_has_a_lifetime_that_makes_sense() {
        assert_eq!(lifetime("12h"), Ok(Duration::from_secs(12 * 3_600)));
        assert_eq!(lifetime("3650d"), Ok(LONGEST));
        for wrong in ["0s", "3651d", "500000000000y", "1", "-1d", ""] {
            let said = lifetime(wrong);
            assert!(said.is_err(), "{wrong}: {said:?}");
        }
        let said = lifetime("20y").unwrap_err();
        assert!(said.contains("ends after 1s to 3650d"), "{said}");
    }
}
