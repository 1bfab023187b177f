//! The person's rules about origins, for all sessions, in a file.

#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod fuzzing;
mod page_origin;
mod reader;

pub use page_origin::PageOrigin;

pub(crate) use reader::PolicyReader;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tabmux_browser::origins::Verdict;
use tabmux_browser::{OriginPattern, OriginPolicy, OriginRules, RuledBy};
use tabmux_platform::files::{Refused, SafeOptions, changed_at, identity};
use tabmux_text::one_line;

/// The rules in a file, as last read.
#[derive(Debug)]
pub(crate) struct PolicyFile {
    path: Option<PathBuf>,
    policy_reader: Option<PolicyReader>,
    /// The rules, or why they cannot be read.
    known: Result<PersonRules, Unreadable>,
    policy: OriginPolicy,
}

/// Identifies a version of a file.
type Stamp = (u64, i64, i64, u64);

/// The rules as people see them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonRules {
    /// If not empty, only these are allowed.
    pub allowed: Vec<OriginPattern>,
    /// These are never allowed.
    pub blocked: Vec<OriginPattern>,
    /// Whether agents may work in private windows.
    pub private_windows: bool,
    /// Pages of these origins, and those of this machine, may offer tools with the page library.
    pub page_origins: Vec<PageOrigin>,
}

/// A change of the rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyChange {
    /// Allow it.
    Allow(OriginPattern),
    /// Block it.
    Block(OriginPattern),
    /// Remove the rule about it.
    Remove(OriginPattern),
    /// Allow agents to work in private windows, or forbid it.
    PrivateWindows(bool),
    /// Allow pages of this origin to offer tools.
    AddPages(PageOrigin),
    /// Forbid it again.
    RemovePages(PageOrigin),
}

/// Why a policy file cannot be used. The CLI adds what a person can do about it; an agent does not get that advice,
/// because it must not remove the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable(String);

impl Unreadable {
    /// The reason, without a full stop.
    pub fn what(&self) -> &str {
        &self.0
    }

    /// What a person can do about it.
    pub const ADVICE: &str = "Fix or remove it.";
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}. {}", self.0, Self::ADVICE)
    }
}

impl std::error::Error for Unreadable {}

impl PolicyFile {
    /// The rules in this file; empty if there is no file.
    pub(crate) fn at(path: Option<PathBuf>) -> Self {
        let mut policy_file = Self {
            policy_reader: path.clone().map(PolicyReader::start),
            path,
            known: Ok(PersonRules::default()),
            policy: OriginPolicy::default(),
        };
        policy_file.refresh();
        policy_file
    }

    pub(crate) fn policy(&self) -> &OriginPolicy {
        &self.policy
    }

    /// The rules, or why they cannot be read.
    pub(crate) fn rules(&self) -> &Result<PersonRules, Unreadable> {
        &self.known
    }

    /// Whether agents may work in private windows.
    pub(crate) fn private_windows(&self) -> bool {
        let rules = self.known.as_ref();
        rules.is_ok_and(|rules| rules.private_windows)
    }

    /// What the person's rules say about the site of an address.
    pub(crate) fn judge(&self, address: &str) -> Option<Verdict> {
        origin_rules(&self.known).judge(address)
    }

    /// Applies the contents that the [`PolicyReader`] read last. Returns whether they may have changed. For current
    /// contents, call [`PolicyReader::reread`] first.
    pub(crate) fn refresh(&mut self) -> bool {
        let (Some(path), Some(policy_reader)) = (&self.path, &self.policy_reader) else {
            return false;
        };
        let hung = || {
            let what = format!("{} cannot be read (timeout)", path.display());
            Arc::new(Err(Unreadable(what)))
        };
        let known = policy_reader.seen().unwrap_or_else(hung);
        if *known == self.known {
            return false;
        }
        if let Err(why) = &*known {
            tracing::warn!(%why, "no page may be used");
        }
        self.policy = OriginPolicy::of([origin_rules(&known)]);
        self.known = (*known).clone();
        true
    }

    /// The reader of the file; `None` if there is no file.
    pub(crate) fn policy_reader(&self) -> Option<PolicyReader> {
        self.policy_reader.clone()
    }

    pub(crate) fn path(&self) -> Option<PathBuf> {
        self.path.clone()
    }
}

/// Rereads the person's file, if there is one, before something is judged by it.
pub(crate) async fn reread(policy_reader: Option<&PolicyReader>) {
    if let Some(policy_reader) = policy_reader {
        policy_reader.reread().await;
    }
}

/// The path of this user's rules.
pub fn usual_place() -> PathBuf {
    tabmux_browser::profile::data_home().join("policy.json")
}

/// Reads the rules in a file. Fails if it is unreadable or damaged.
pub fn read(path: &Path) -> Result<PersonRules, Unreadable> {
    let text = match read_text(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PersonRules::default()),
        Err(error) => {
            let what = format!("{} cannot be read ({error})", path.display());
            return Err(Unreadable(what));
        }
    };
    parse(&text).map_err(|error| Unreadable(format!("{} is damaged ({error})", path.display())))
}

/// Parses the rules. Returns a sentence if they are invalid.
fn parse(text: &str) -> Result<PersonRules, String> {
    let damaged = |error: &dyn fmt::Display| one_line(&error.to_string(), 200);
    let kept: Kept = serde_json::from_str(text).map_err(|error| damaged(&error))?;
    let parse = |texts: Vec<String>| {
        let patterns = texts.iter().map(|text| text.parse());
        let patterns: Result<Vec<OriginPattern>, _> = patterns.collect();
        patterns.map_err(|error| damaged(&error))
    };
    let pages = kept.page_origins.iter().map(|text| text.parse());
    let pages: Result<Vec<PageOrigin>, String> = pages.collect();
    Ok(PersonRules {
        allowed: parse(kept.allowed)?,
        blocked: parse(kept.blocked)?,
        private_windows: kept.private_windows,
        page_origins: pages.map_err(|error| damaged(&error))?,
    })
}

/// The text of a regular file: opening a FIFO would block.
fn read_text(path: &Path) -> io::Result<String> {
    let file = fs::OpenOptions::new()
        .read(true)
        .refusing(Refused::Waiting)
        .open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text)?;
    Ok(text)
}

/// The stored form of the rules.
fn render(rules: &PersonRules) -> Kept {
    let texts = |patterns: &[OriginPattern]| patterns.iter().map(ToString::to_string).collect();
    Kept {
        allowed: texts(&rules.allowed),
        blocked: texts(&rules.blocked),
        private_windows: rules.private_windows,
        page_origins: rules.page_origins.iter().map(ToString::to_string).collect(),
    }
}

/// Changes the rules in a file, which is created if needed. On an error it changes nothing and returns a sentence.
pub fn change_file(path: &Path, change: &PolicyChange) -> Result<PersonRules, String> {
    let mut rules = read(path).map_err(|why| why.to_string())?;
    match change {
        PolicyChange::Allow(pattern) => {
            rules.forget(pattern);
            rules.allowed.push(pattern.clone());
        }
        PolicyChange::Block(pattern) => {
            rules.forget(pattern);
            rules.blocked.push(pattern.clone());
        }
        PolicyChange::Remove(pattern) if !rules.forget(pattern) => {
            return Err(format!(
                "There is no rule about {pattern}. `tabmux policy list` shows the rules."
            ));
        }
        PolicyChange::Remove(_) => {}
        PolicyChange::PrivateWindows(allowed) => rules.private_windows = *allowed,
        PolicyChange::AddPages(origin) if rules.page_origins.contains(origin) => {}
        PolicyChange::AddPages(origin) => rules.page_origins.push(origin.clone()),
        PolicyChange::RemovePages(origin) if !rules.page_origins.contains(origin) => {
            return Err(format!(
                "Pages of {origin} were not allowed. `tabmux policy page-origins list` shows which are."
            ));
        }
        PolicyChange::RemovePages(origin) => rules.page_origins.retain(|it| it != origin),
    }
    let many = rules.allowed.len() + rules.blocked.len();
    if many.max(rules.page_origins.len()) > MOST_RULES {
        return Err(format!(
            "There are {MOST_RULES} rules already. Remove some."
        ));
    }
    let kept = render(&rules);
    let write = || -> io::Result<()> {
        let folder = path.parent().unwrap_or_else(|| Path::new("/"));
        tabmux_browser::profile::private_dir(folder)?;
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let mut file = fs::OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .private()
            .refusing(Refused::Links)
            .open(&new)?;
        file.write_all(&serde_json::to_vec_pretty(&kept)?)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().map_err(|error| format!("{} cannot be written ({error}).", path.display()))?;
    Ok(rules)
}

impl PersonRules {
    /// Removes the rule about this origin. False if there is none.
    fn forget(&mut self, it: &OriginPattern) -> bool {
        let count = |rules: &Self| rules.allowed.len() + rules.blocked.len();
        let before = count(self);
        self.allowed.retain(|pattern| pattern != it);
        self.blocked.retain(|pattern| pattern != it);
        count(self) < before
    }
}

fn origin_rules(known: &Result<PersonRules, Unreadable>) -> OriginRules {
    match known {
        Ok(rules) => OriginRules {
            by: RuledBy::Person,
            allowed: rules.allowed.clone(),
            blocked: rules.blocked.clone(),
        },
        Err(why) => OriginRules {
            by: RuledBy::Unreadable {
                why: why.what().into(),
            },
            allowed: Vec::new(),
            blocked: Vec::new(),
        },
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let facts = fs::metadata(path);
    // A file that cannot be inspected is not the same as a missing one.
    match facts {
        Ok(facts) => {
            let (seconds, nanos) = changed_at(&facts);
            Some((identity(&facts), seconds, nanos, facts.len()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some(UNKNOWN),
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Kept {
    #[serde(default)]
    allowed: Vec<String>,
    #[serde(default)]
    blocked: Vec<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    private_windows: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    page_origins: Vec<String>,
}

/// The stamp of a file that cannot be inspected.
const UNKNOWN: Stamp = (0, 0, 0, 0);

const MOST_RULES: usize = 1_000;

/// The longest possible rules are shorter; a longer file is cut, and so counts as damaged.
const MOST_BYTES: u64 = 4_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn pattern(text: &str) -> OriginPattern {
        text.parse().unwrap()
    }

    #[test]
    fn rules_are_kept_in_a_file_of_the_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/policy.json");
        assert_eq!(read(&path), Ok(PersonRules::default()));
        change_file(&path, &PolicyChange::Allow(pattern("a.test"))).unwrap();
        let rules = change_file(&path, &PolicyChange::Block(pattern("https://b.test/"))).unwrap();
        assert_eq!(read(&path).unwrap(), rules);
        assert_eq!(rules.allowed, [pattern("a.test")]);
        // An origin has at most one rule.
        let rules = change_file(&path, &PolicyChange::Block(pattern("A.test"))).unwrap();
        assert_eq!(rules.allowed, []);
        assert_eq!(rules.blocked.len(), 2);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let unknown = change_file(&path, &PolicyChange::Remove(pattern("c.test")));
        let told = "There is no rule about c.test. `tabmux policy list` shows the rules.";
        assert_eq!(unknown, Err(told.into()));
    }

    /// Rereads the file and applies it.
    async fn look(policy_file: &mut PolicyFile) -> bool {
        policy_file.policy_reader().unwrap().reread().await;
        policy_file.refresh()
    }

    #[tokio::test]
    async fn a_change_is_noticed_and_a_damaged_file_closes_everything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.json");
        let mut policy_file = PolicyFile::at(Some(path.clone()));
        assert!(policy_file.policy().is_open() && !look(&mut policy_file).await);
        change_file(&path, &PolicyChange::Block(pattern("a.test"))).unwrap();
        assert!(look(&mut policy_file).await && !look(&mut policy_file).await);
        assert!(policy_file.policy().check("https://a.test/").is_err());
        assert!(policy_file.policy().check("https://b.test/").is_ok());
        for damage in ["{", "{\"allow\": []}", "{\"allowed\": [\"a/b/c\"]}"] {
            fs::write(&path, damage).unwrap();
            look(&mut policy_file).await;
            let blocked = policy_file.policy().check("https://b.test/").unwrap_err();
            assert!(blocked.to_string().contains("is damaged"), "{blocked}");
        }
        let refused = change_file(&path, &PolicyChange::Allow(pattern("a.test"))).unwrap_err();
        assert!(refused.ends_with("). Fix or remove it."), "{refused}");
        let blocked = policy_file.policy().check("https://b.test/").unwrap_err();
        let for_agents = blocked.to_string();
        assert!(!for_agents.contains("remove"), "{for_agents}");
        assert!(!policy_file.private_windows());
        fs::remove_file(&path).unwrap();
        assert!(look(&mut policy_file).await && policy_file.policy().is_open());
    }

    #[test]
    fn a_file_that_is_a_fifo_closes_everything_and_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.json");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.unwrap().success());
        let policy_file = PolicyFile::at(Some(path));
        let blocked = policy_file.policy().check("https://b.test/").unwrap_err();
        assert!(
            blocked.to_string().contains("not a regular file"),
            "{blocked}"
        );
    }

    #[tokio::test]
    async fn private_windows_are_closed_until_the_person_opens_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.json");
        let mut policy_file = PolicyFile::at(Some(path.clone()));
        assert!(!policy_file.private_windows());
        change_file(&path, &PolicyChange::Block(pattern("a.test"))).unwrap();
        assert!(!fs::read_to_string(&path).unwrap().contains("private"));
        change_file(&path, &PolicyChange::PrivateWindows(true)).unwrap();
        assert!(look(&mut policy_file).await && policy_file.private_windows());
        let rules = change_file(&path, &PolicyChange::PrivateWindows(false));
        look(&mut policy_file).await;
        assert!(!policy_file.private_windows());
        assert_eq!(rules.unwrap().blocked, [pattern("a.test")]);
    }

    #[tokio::test]
    async fn a_site_is_judged_by_the_rule_that_decides() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.json");
        let mut policy_file = PolicyFile::at(Some(path.clone()));
        let judged = |policy_file: &PolicyFile, site: &str| {
            let verdict = policy_file.judge(site).unwrap();
            (verdict.permitted, verdict.rule.map(|rule| rule.to_string()))
        };
        assert_eq!(judged(&policy_file, "https://a.test/x"), (true, None));
        assert_eq!(policy_file.judge("about:blank"), None);
        change_file(&path, &PolicyChange::Block(pattern("*.test"))).unwrap();
        look(&mut policy_file).await;
        let all = Some("*.test".to_owned());
        assert_eq!(judged(&policy_file, "https://a.test"), (false, all));
        change_file(&path, &PolicyChange::Remove(pattern("*.test"))).unwrap();
        change_file(&path, &PolicyChange::Allow(pattern("https://a.test"))).unwrap();
        look(&mut policy_file).await;
        let own = Some("https://a.test".to_owned());
        assert_eq!(judged(&policy_file, "https://a.test"), (true, own));
        assert_eq!(judged(&policy_file, "https://b.test"), (false, None));
        fs::write(&path, "{").unwrap();
        look(&mut policy_file).await;
        assert_eq!(judged(&policy_file, "https://a.test"), (false, None));
    }
}
