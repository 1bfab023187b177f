//! JavaScript that runs in every page before the page's own scripts.

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// These scripts, in order. `Debug` shows a hash instead of the text, because scripts are long.
#[derive(Clone, Default, PartialEq, Eq, Hash)]
pub struct InitScripts(Arc<[String]>);

impl From<Vec<String>> for InitScripts {
    fn from(scripts: Vec<String>) -> Self {
        Self(scripts.into())
    }
}

impl Deref for InitScripts {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl fmt::Debug for InitScripts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut hasher = DefaultHasher::new();
        self.0.hash(&mut hasher);
        write!(f, "InitScripts({}, {:016x})", self.0.len(), hasher.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_distinguished_without_being_shown() {
        let shown = |text: &str| format!("{:?}", InitScripts::from(vec![text.to_owned()]));
        assert_ne!(shown("a"), shown("b"));
        assert_eq!(shown("a"), shown("a"));
        assert!(shown(&"a".repeat(9_999)).len() < 50);
    }
}
