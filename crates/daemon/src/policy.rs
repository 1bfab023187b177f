//! The person's own rules about origins: for all sessions, kept in a file of theirs.

use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use tabmux_browser::text::one_line;
use tabmux_browser::{OriginPattern, OriginPolicy, OriginRules, RuledBy};

/// The rules in a file, as they are now.
#[derive(Debug)]
pub(crate) struct Lasting {
    path: Option<PathBuf>,
    stamp: Option<Stamp>,
    policy: OriginPolicy,
}

/// What tells one state of a file from another.
type Stamp = (u64, i64, i64, u64);

/// The rules as people see them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersonRules {
    /// If there are any, no others are permitted.
    pub allowed: Vec<OriginPattern>,
    /// These never are.
    pub blocked: Vec<OriginPattern>,
}

/// What the person wants to be otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyChange {
    /// Permit it.
    Allow(OriginPattern),
    /// Never permit it.
    Block(OriginPattern),
    /// Have no rule about it.
    Remove(OriginPattern),
}

impl Lasting {
    /// The rules in this file; none, if there is no file.
    pub(crate) fn at(path: Option<PathBuf>) -> Self {
        let mut lasting = Self {
            path,
            stamp: None,
            policy: OriginPolicy::default(),
        };
        lasting.refresh();
        lasting
    }

    pub(crate) fn policy(&self) -> &OriginPolicy {
        &self.policy
    }

    /// Reads the file again if it is another one now. Says whether that may matter.
    pub(crate) fn refresh(&mut self) -> bool {
        let Some(path) = &self.path else {
            return false;
        };
        let stamp = stamp(path);
        if stamp == self.stamp {
            return false;
        }
        self.stamp = stamp;
        let policy = OriginPolicy::of([rules(path)]);
        let changed = policy != self.policy;
        self.policy = policy;
        changed
    }

    /// Changes the file, and what holds from now on.
    pub(crate) fn change(&mut self, change: &PolicyChange) -> Result<PersonRules, String> {
        let path = self.path.clone();
        let path = path.ok_or("This server keeps no rules of its own.")?;
        let rules = change_file(&path, change);
        self.stamp = None;
        self.refresh();
        rules
    }
}

/// Where the rules of this user are.
pub fn usual_place() -> PathBuf {
    tabmux_browser::profile::data_home().join("policy.json")
}

/// The rules in a file. Fails, in words, on one that cannot be read.
pub fn read(path: &Path) -> Result<PersonRules, String> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(PersonRules::default()),
        Err(error) => return Err(format!("{} cannot be read ({error})", path.display())),
    };
    let kept: Kept = serde_json::from_str(&text).map_err(|error| {
        let error = one_line(&error.to_string(), 200);
        format!("{} is damaged ({error})", path.display())
    })?;
    let parse = |texts: Vec<String>| {
        let patterns = texts.iter().map(|text| text.parse());
        let patterns: Result<Vec<OriginPattern>, _> = patterns.collect();
        patterns.map_err(|error| format!("{} is damaged ({error})", path.display()))
    };
    Ok(PersonRules {
        allowed: parse(kept.allowed)?,
        blocked: parse(kept.blocked)?,
    })
}

/// Changes the rules in a file, which is there or is made. Fails, in words, and then changes nothing.
pub fn change_file(path: &Path, change: &PolicyChange) -> Result<PersonRules, String> {
    let mut rules = read(path)?;
    let (PolicyChange::Allow(it) | PolicyChange::Block(it) | PolicyChange::Remove(it)) = change;
    let known = rules.allowed.contains(it) || rules.blocked.contains(it);
    rules.allowed.retain(|pattern| pattern != it);
    rules.blocked.retain(|pattern| pattern != it);
    match change {
        PolicyChange::Allow(pattern) => rules.allowed.push(pattern.clone()),
        PolicyChange::Block(pattern) => rules.blocked.push(pattern.clone()),
        PolicyChange::Remove(pattern) if !known => {
            return Err(format!("There is no rule about {pattern}."));
        }
        PolicyChange::Remove(_) => {}
    }
    if rules.allowed.len() + rules.blocked.len() > MOST_RULES {
        return Err(format!(
            "There are {MOST_RULES} rules already. Remove some."
        ));
    }
    let texts = |patterns: &[OriginPattern]| patterns.iter().map(ToString::to_string).collect();
    let kept = Kept {
        allowed: texts(&rules.allowed),
        blocked: texts(&rules.blocked),
    };
    let write = || -> io::Result<()> {
        let folder = path.parent().unwrap_or_else(|| Path::new("/"));
        tabmux_browser::profile::private_dir(folder)?;
        let new = path.with_extension(format!("{}.new", std::process::id()));
        let mut file = fs::OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .custom_flags(libc::O_NOFOLLOW)
            .open(&new)?;
        file.write_all(&serde_json::to_vec_pretty(&kept)?)?;
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().map_err(|error| format!("{} cannot be written ({error}).", path.display()))?;
    Ok(rules)
}

fn rules(path: &Path) -> OriginRules {
    match read(path) {
        Ok(PersonRules { allowed, blocked }) => OriginRules {
            by: RuledBy::Person,
            allowed,
            blocked,
        },
        Err(why) => {
            tracing::warn!(why, "no page may be used");
            OriginRules {
                by: RuledBy::Unreadable { why: why.into() },
                allowed: Vec::new(),
                blocked: Vec::new(),
            }
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    let facts = fs::metadata(path);
    // A file that is there and cannot be looked at is not the same as none.
    match facts {
        Ok(facts) => Some((facts.ino(), facts.mtime(), facts.mtime_nsec(), facts.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some((0, 0, 0, 0)),
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    #[serde(default)]
    allowed: Vec<String>,
    #[serde(default)]
    blocked: Vec<String>,
}

const MOST_RULES: usize = 1_000;

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
        // The same origin has one rule at most.
        let rules = change_file(&path, &PolicyChange::Block(pattern("A.test"))).unwrap();
        assert_eq!(rules.allowed, []);
        assert_eq!(rules.blocked.len(), 2);
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let unknown = change_file(&path, &PolicyChange::Remove(pattern("c.test")));
        assert_eq!(unknown, Err("There is no rule about c.test.".into()));
    }

    #[test]
    fn a_change_is_noticed_and_a_damaged_file_closes_everything() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy.json");
        let mut lasting = Lasting::at(Some(path.clone()));
        assert!(lasting.policy().is_open() && !lasting.refresh());
        change_file(&path, &PolicyChange::Block(pattern("a.test"))).unwrap();
        assert!(lasting.refresh() && !lasting.refresh());
        assert!(lasting.policy().check("https://a.test/").is_err());
        assert!(lasting.policy().check("https://b.test/").is_ok());
        for damage in ["{", "{\"allow\": []}", "{\"allowed\": [\"a/b/c\"]}"] {
            fs::write(&path, damage).unwrap();
            lasting.refresh();
            let blocked = lasting.policy().check("https://b.test/").unwrap_err();
            assert!(blocked.to_string().contains("is damaged"), "{blocked}");
        }
        assert!(change_file(&path, &PolicyChange::Allow(pattern("a.test"))).is_err());
        fs::remove_file(&path).unwrap();
        assert!(lasting.refresh() && lasting.policy().is_open());
    }
}
