//! What a session may not see of the tabs that are there. The rule itself is somebody else's.

use std::fmt;
use std::sync::Arc;

/// Says of an address whether a session may see the page behind it. Always the same for the same address.
#[derive(Clone, Default)]
pub struct SiteFilter(Option<Arc<Rule>>);

type Rule = dyn Fn(&str) -> Option<Hidden> + Send + Sync;

/// A page that a session may not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// All that it is told of the address.
    pub origin: Arc<str>,
    /// Why, in whole sentences, and what would change it.
    pub why: Arc<str>,
}

impl SiteFilter {
    /// Hides what the rule hides.
    pub fn new(rule: impl Fn(&str) -> Option<Hidden> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(rule)))
    }

    pub(crate) fn hides(&self, address: &str) -> Option<Hidden> {
        self.0.as_ref()?(address)
    }

    /// Whether it hides anything at all.
    pub(crate) fn is_set(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for SiteFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SiteFilter").field(&self.is_set()).finish()
    }
}

/// The same rule, not one that says the same.
impl PartialEq for SiteFilter {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for SiteFilter {}
