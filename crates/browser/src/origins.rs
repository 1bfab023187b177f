//! Which sites a session may have to do with: the rule about origins, in one place.
//!
//! What it means, by example, is in `origins/vectors.txt`.

mod pattern;
#[cfg(test)]
mod tests;

pub use pattern::{BadPattern, OriginPattern};

use pattern::Origin;
use std::sync::Arc;
use url::Url;

/// Everything that bounds a session: each of its rules has to permit an origin.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OriginPolicy(Vec<Arc<OriginRules>>);

/// Origins that one source allows and blocks. To block beats to allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OriginRules {
    /// Who says so.
    pub by: RuledBy,
    /// If there are any, no others are permitted.
    pub allowed: Vec<OriginPattern>,
    /// These never are.
    pub blocked: Vec<OriginPattern>,
}

/// Who made a rule, and so who can change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuledBy {
    /// The flags that the session's server was started with.
    Flags,
    /// The person, for all sessions, with `tabmux policy`.
    Person,
    /// Nobody can tell: the person's rules cannot be read, and so nothing is permitted.
    Unreadable {
        /// What is wrong with them.
        why: Arc<str>,
    },
}

/// An origin that is not permitted, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// The origin, without anything of the address behind it.
    pub origin: String,
    by: RuledBy,
    /// The rule that blocks it; none if it is only not among those that are allowed.
    pattern: Option<OriginPattern>,
}

/// What rules say about one site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether it is permitted.
    pub permitted: bool,
    /// The rule that decides. None where it is permitted because nothing is said about it, and where it is
    /// not because only others are allowed.
    pub rule: Option<OriginPattern>,
    /// The rule that would be about this site alone.
    pub own: OriginPattern,
}

impl OriginPolicy {
    /// The policy that consists of these rules.
    pub fn of(rules: impl IntoIterator<Item = OriginRules>) -> Self {
        let rules = rules.into_iter().filter(|rules| !rules.is_empty());
        Self(rules.map(Arc::new).collect())
    }

    /// What both permit.
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

    /// Whether nothing is ruled, so that nobody needs to look.
    pub fn is_open(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a document at this address may be read and acted upon. An address that has no origin of
    /// its own, such as `about:blank`, is not this rule's business; one that cannot be read is blocked.
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

    /// What these rules say about the site of an address, if it has an origin of the web.
    pub fn judge(&self, address: &str) -> Option<Verdict> {
        let origin = Origin::of(&Url::parse(address).ok()?)?;
        let own = origin.to_string().parse().ok()?;
        let closed = matches!(self.by, RuledBy::Unreadable { .. });
        let (permitted, rule) = self.decide(&origin);
        Some(Verdict {
            permitted: permitted && !closed,
            rule: rule.cloned(),
            own,
        })
    }

    /// Whether an origin is permitted, and the pattern that says so.
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

/// A whole sentence for the agent, and what would change it.
impl std::fmt::Display for Blocked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let origin = &self.origin;
        match (&self.by, &self.pattern) {
            (RuledBy::Flags, Some(pattern)) => write!(
                f,
                "{origin} is blocked by --blockedOrigins {pattern} of this server. Work elsewhere; only the \
                 person can take it out of that flag."
            ),
            (RuledBy::Flags, None) => write!(
                f,
                "{origin} is not among the --allowedOrigins of this server. Work elsewhere; only the person can \
                 add it to that flag."
            ),
            (RuledBy::Person, Some(pattern)) => write!(
                f,
                "{origin} is blocked by the person who uses this machine. Work elsewhere; only they can run \
                 `tabmux policy remove '{pattern}'`."
            ),
            (RuledBy::Person, None) => write!(
                f,
                "{origin} is not among the origins that the person who uses this machine allows. Work \
                 elsewhere; only they can run `tabmux policy allow '{origin}'`."
            ),
            (RuledBy::Unreadable { why }, _) => write!(
                f,
                "{origin} is blocked, as every page is: {why}. Ask the person to run `tabmux policy list`."
            ),
        }
    }
}
