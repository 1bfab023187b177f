//! `tabmux policy`: which sites agents may access, whatever the flags of their clients allow.

use crate::say::say;
use clap::Subcommand;
use std::path::Path;
use std::process::ExitCode;
use tabmux_browser::{OriginPattern, OriginPolicy, OriginRules, RuledBy};
use tabmux_daemon::policy::{self, PageOrigin, PersonRules, PolicyChange};

/// Show or change the rules. They apply to all agents at once.
#[derive(Debug, Subcommand)]
pub(crate) enum Args {
    /// Show the rules.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Allow an origin, such as example.com or *.example.com. Once one is allowed, agents may access
    /// no others.
    Allow {
        #[arg(value_name = "ORIGIN", value_parser = pattern)]
        origin: OriginPattern,
    },
    /// Block an origin, even if another rule allows it.
    Block {
        #[arg(value_name = "ORIGIN", value_parser = pattern)]
        origin: OriginPattern,
    },
    /// Remove the rule about an origin.
    Remove {
        #[arg(value_name = "ORIGIN", value_parser = pattern)]
        origin: OriginPattern,
    },
    /// Allow or block agents in private windows of browsers that tabmux did not launch. Blocked by default.
    PrivateWindows {
        /// allow or block.
        #[arg(value_name = "allow|block")]
        rule: PrivateWindows,
    },
    /// Set which sites may offer tools with the page library. Pages of this machine always may.
    #[command(subcommand)]
    PageOrigins(PageOrigins),
}

#[derive(Debug, Subcommand)]
pub(crate) enum PageOrigins {
    /// Show the allowed origins.
    List,
    /// Allow pages of an origin, such as `https://example.com`.
    Add {
        #[arg(value_name = "ORIGIN")]
        origin: PageOrigin,
    },
    /// No longer allow pages of an origin.
    Remove {
        #[arg(value_name = "ORIGIN")]
        origin: PageOrigin,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum PrivateWindows {
    Allow,
    Block,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let path = policy::usual_place();
    let rules = match args {
        Args::List { json: true } => {
            let rules = policy::read(&path)?;
            let texts = |patterns: &[OriginPattern]| -> Vec<String> {
                patterns.iter().map(ToString::to_string).collect()
            };
            let json = serde_json::json!({
                "allowed": texts(&rules.allowed), "blocked": texts(&rules.blocked),
                "privateWindows": rules.private_windows,
                "pageOrigins": rules.page_origins.iter().map(ToString::to_string).collect::<Vec<_>>(),
            });
            say(json.to_string())?;
            return Ok(ExitCode::SUCCESS);
        }
        Args::List { json: false } => policy::read(&path).map_err(|why| why.to_string()),
        Args::PageOrigins(what) => return page_origins(&path, what),
        Args::Allow { origin } => policy::change_file(&path, &PolicyChange::Allow(origin)),
        Args::Block { origin } => policy::change_file(&path, &PolicyChange::Block(origin)),
        Args::Remove { origin } => policy::change_file(&path, &PolicyChange::Remove(origin)),
        Args::PrivateWindows { rule } => {
            let allowed = rule == PrivateWindows::Allow;
            policy::change_file(&path, &PolicyChange::PrivateWindows(allowed))
        }
    };
    say(describe(&rules.map_err(anyhow::Error::msg)?))?;
    Ok(ExitCode::SUCCESS)
}

fn page_origins(path: &Path, what: PageOrigins) -> anyhow::Result<ExitCode> {
    let rules = match what {
        PageOrigins::List => policy::read(path).map_err(|why| why.to_string()),
        PageOrigins::Add { origin } => policy::change_file(path, &PolicyChange::AddPages(origin)),
        PageOrigins::Remove { origin } => {
            policy::change_file(path, &PolicyChange::RemovePages(origin))
        }
    };
    let rules = rules.map_err(anyhow::Error::msg)?;
    say(describe_pages(&rules))?;
    Ok(ExitCode::SUCCESS)
}

fn describe_pages(rules: &PersonRules) -> String {
    match rules.page_origins.as_slice() {
        [] => "Only pages of this machine may offer tools with the page library.".to_owned(),
        origins => format!(
            "Pages of this machine may offer tools with the page library, and those of:{}",
            lines(&marked(rules, origins))
        ),
    }
}

/// Origins whose pages may offer tools, with a note at those that agents may not see.
fn marked(rules: &PersonRules, origins: &[PageOrigin]) -> Vec<String> {
    let policy = OriginPolicy::of([OriginRules {
        by: RuledBy::Person,
        allowed: rules.allowed.clone(),
        blocked: rules.blocked.clone(),
    }]);
    let origins = origins
        .iter()
        .map(|origin| match policy.check(origin.as_str()) {
            Ok(()) => origin.to_string(),
            Err(_) => {
                format!("{origin} (agents may not see this site, so its tools are not offered)")
            }
        });
    origins.collect()
}

fn lines(items: &[impl ToString]) -> String {
    let lines = items.iter().map(|item| format!("\n  {}", item.to_string()));
    lines.collect()
}

fn describe(rules: &PersonRules) -> String {
    let every = rules.allowed.iter().any(is_every_site);
    let sites = match (rules.allowed.as_slice(), rules.blocked.as_slice()) {
        (_, blocked) if blocked.iter().any(is_every_site) => {
            "Agents may see no site: `*` is blocked.".to_owned()
        }
        ([], []) => "Agents may see every site.".to_owned(),
        ([], blocked) => format!("Agents may see every site but:{}", lines(blocked)),
        (_, []) if every => "Agents may see every site: `*` is allowed.".to_owned(),
        (_, blocked) if every => format!(
            "`*` is allowed. Agents may see every site but:{}",
            lines(blocked)
        ),
        (allowed, []) => format!("Agents may see only:{}", lines(allowed)),
        (allowed, blocked) => format!(
            "Agents may see only:{}\nbut not:{}",
            lines(allowed),
            lines(blocked)
        ),
    };
    let private = match rules.private_windows {
        true => {
            "\nAgents may work in private windows: of attached browsers, and where Chrome allows the extension."
        }
        false => "",
    };
    let pages = match rules.page_origins.is_empty() {
        true => String::new(),
        false => format!("\n{}", describe_pages(rules)),
    };
    format!("{sites}{private}{pages}")
}

fn is_every_site(pattern: &OriginPattern) -> bool {
    pattern.to_string() == "*"
}

fn pattern(text: &str) -> Result<OriginPattern, String> {
    text.parse()
        .map_err(|error: tabmux_browser::origins::BadPattern| error.to_string())
}
