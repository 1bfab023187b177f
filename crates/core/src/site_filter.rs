//! Which pages a session may not see. The driver supplies the rule.

use std::fmt;
use std::sync::Arc;

/// Decides by its address whether a session may see a page. The same address always gives the same result.
#[derive(Clone, Default)]
pub struct SiteFilter(Option<Arc<Rule>>);

type Rule = dyn Fn(&str) -> Option<Hidden> + Send + Sync;

/// A page that a session may not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The only part of the address that the session reads.
    pub origin: Arc<str>,
    /// The reason and how to change it, in whole sentences.
    pub why: Arc<str>,
}

impl SiteFilter {
    /// Hides the pages for which the rule returns `Some`.
    pub fn new(rule: impl Fn(&str) -> Option<Hidden> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(rule)))
    }

    pub(crate) fn hides(&self, address: &str) -> Option<Hidden> {
        self.0.as_ref()?(address)
    }

    /// Whether there is a rule.
    pub(crate) fn is_set(&self) -> bool {
        self.0.is_some()
    }
}

impl fmt::Debug for SiteFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SiteFilter").field(&self.is_set()).finish()
    }
}

/// Equal if they are the same rule object.
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
