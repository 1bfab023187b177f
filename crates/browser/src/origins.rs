//! Which sites a session may access: the rules about origins, in one place.
//!
//! `origins/vectors.txt` shows their meaning by examples.

mod pattern;
#[cfg(test)]
mod tests;

pub use pattern::{BadPattern, OriginPattern};

use pattern::Origin;
use std::sync::Arc;
use url::Url;

/// All rules of a session. An origin needs the permission of each of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginPolicy(Vec<Arc<OriginRules>>);

/// Origins that one source allows and blocks. Blocking takes precedence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginRules {
    /// Who made these rules.
    pub by: RuledBy,
    /// If not empty, only these are permitted.
    pub allowed: Vec<OriginPattern>,
    /// These are never permitted.
    pub blocked: Vec<OriginPattern>,
}

/// Who made a rule, and so can change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuledBy {
    /// The flags that the session's server was started with.
    Flags,
    /// The token with which a client came over HTTP.
    Token,
    /// The user, for all sessions, with `tabmux policy`.
    Person,
    /// The user's rules cannot be read, so nothing is permitted.
    Unreadable {
        /// Why they cannot be read.
        why: Arc<str>,
    },
}

/// An origin that is not permitted, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The origin, without the rest of the address.
    pub origin: String,
    by: RuledBy,
    /// The rule that blocks it. `None` if it is only missing from the allowed ones.
    pattern: Option<OriginPattern>,
}

/// What the rules say about one site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it is permitted.
    pub permitted: bool,
    /// The rule that decides. `None` if it is permitted because no rule mentions it, or disallowed because only
    /// others are allowed.
    pub rule: Option<OriginPattern>,
    /// The rule for exactly this site.
    pub own: OriginPattern,
}

impl OriginPolicy {
    /// A policy of these rules.
    pub fn of(rules: impl IntoIterator<Item = OriginRules>) -> Self {
        let rules = rules.into_iter().filter(|rules| !rules.is_empty());
        Self(rules.map(Arc::new).collect())
    }

    /// The sites that both permit.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let mut rules = self.0.clone();
        for rule in &other.0 {
            if !rules.contains(rule) {
                rules.push(Arc::clone(rule));
            }
        }
        Self(rules)
    }

    /// Whether there are no rules, so that no check is needed.
    pub fn is_open(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a document at this address may be read and used. An address without its own origin, such as
    /// `about:blank`, is permitted here; one that cannot be parsed is blocked.
    pub fn check(&self, address: &str) -> Result<(), Blocked> {
        if self.is_open() || address.is_empty() {
            return Ok(());
        }
        let origin = match Url::parse(address) {
            Ok(url) => match Origin::of(&url) {
                Some(origin) => Some(origin),
                None => return Ok(()),
            },
            Err(_) => None,
        };
        self.0
            .iter()
            .try_for_each(|rules| rules.check(origin.as_ref()))
    }
}

impl OriginRules {
    fn is_empty(&self) -> bool {
        let closed = matches!(self.by, RuledBy::Unreadable { .. });
        !closed && self.allowed.is_empty() && self.blocked.is_empty()
    }

    fn check(&self, origin: Option<&Origin>) -> Result<(), Blocked> {
        let refused = |pattern: Option<&OriginPattern>| Blocked {
            origin: origin.map_or_else(|| "This address".to_owned(), ToString::to_string),
            by: self.by.clone(),
            pattern: pattern.cloned(),
        };
        let Some(it) = origin else {
            return Err(refused(None));
        };
        if let RuledBy::Unreadable { .. } = self.by {
            return Err(refused(None));
        }
        match self.decide(it) {
            (true, _) => Ok(()),
            (false, pattern) => Err(refused(pattern)),
        }
    }

    /// What these rules say about the site of an address, if it has a web origin.
    pub fn judge(&self, address: &str) -> Option<Verdict> {
        let origin = Origin::of(&Url::parse(address).ok()?)?;
        let own: OriginPattern = origin.to_string().parse().ok()?;
        // A host with empty labels such as `6..` is read as another one once it is written in a rule.
        if !own.matches(&origin) {
            return None;
        }
        let closed = matches!(self.by, RuledBy::Unreadable { .. });
        let (permitted, rule) = self.decide(&origin);
        Some(Verdict {
            permitted: permitted && !closed,
            rule: rule.cloned(),
            own,
        })
    }

    /// Whether an origin is permitted, and the pattern that decides it.
    fn decide(&self, origin: &Origin) -> (bool, Option<&OriginPattern>) {
        let is_it = |pattern: &&OriginPattern| pattern.matches(origin);
        let blocked = self.blocked.iter().find(is_it);
        let allowed = self.allowed.iter().find(is_it);
        match blocked {
            Some(_) => (false, blocked),
            None => (self.allowed.is_empty() || allowed.is_some(), allowed),
        }
    }
}

/// A whole sentence for the agent, and who can change the rule.
impl std::fmt::Display for Blocked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let origin = &self.origin;
        match (&self.by, &self.pattern) {
            (RuledBy::Flags, Some(pattern)) => write!(
                f,
                "{origin} is blocked by --blockedOrigins {pattern} of this server. Use another site; only the \
                 person can take it out of that flag."
            ),
            (RuledBy::Flags, None) => write!(
                f,
                "{origin} is not among the --allowedOrigins of this server. Use another site; only the person can \
                 add it to that flag."
            ),
            (RuledBy::Token, _) => write!(
                f,
                "{origin} is not among the origins that the token of this client allows. Use another site; only the \
                 person who made the token can make another one."
            ),
            (RuledBy::Person, Some(pattern)) => write!(
                f,
                "{origin} is blocked by the person who uses this machine. Use another site; only they can run \
                 `tabmux policy remove '{pattern}'`."
            ),
            (RuledBy::Person, None) => write!(
                f,
                "{origin} is not among the origins that the person who uses this machine allows. Use \
                 another site; only they can run `tabmux policy allow '{origin}'`."
            ),
            (RuledBy::Unreadable { why }, _) => write!(
                f,
                "{origin} is blocked, as every page is: {why}. Ask the person to run `tabmux policy list`."
            ),
        }
    }
}
