//! The flags that choose which categories of tools are offered.

use anyhow::bail;
use clap::Args;

/// A category of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// The name that the flags use.
    pub name: &'static str,
    /// Whether it is offered only on request.
    pub opt_in: bool,
}

/// Which categories of tools are offered.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Tools")]
pub struct CategoryFlags {
    /// Offer only these categories of tools: input, navigation, emulation, performance, network,
    /// debugging, and those that are offered only on request: storage, rules, screencast, advanced. A
    /// progressive list then has all their tools from the start.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    categories: Option<Vec<String>>,

    /// Whether to offer tools that act on the page.
    #[arg(long = "categoryInput", alias = "category-input", value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    input: Option<bool>,

    /// Whether to offer tools that navigate and wait.
    #[arg(long = "categoryNavigation", alias = "category-navigation", value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    navigation: Option<bool>,

    /// Whether to offer tools that emulate another device, network or location.
    #[arg(long = "categoryEmulation", alias = "category-emulation", value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    emulation: Option<bool>,

    /// Whether to offer tools that measure performance.
    #[arg(long = "categoryPerformance", alias = "category-performance", value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    performance: Option<bool>,

    /// Whether to offer tools that show requests.
    #[arg(long = "categoryNetwork", alias = "category-network", value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    network: Option<bool>,

    /// Whether to offer tools that inspect the page and its scripts.
    #[arg(long = "categoryDebugging", alias = "category-debugging", value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    debugging: Option<bool>,

    /// Whether to offer tools that read and change cookies and storage.
    #[arg(long = "categoryStorage", alias = "category-storage", value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    storage: Option<bool>,

    /// Whether to offer tools that block, answer and change requests.
    #[arg(long = "categoryRules", alias = "category-rules", value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    rules: Option<bool>,

    /// Whether to offer tools that record the page.
    #[arg(long = "categoryScreencast", alias = "category-screencast", value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    screencast: Option<bool>,

    /// Whether to offer tools for the clipboard, passwords, permissions, downloads and styles.
    #[arg(long = "categoryAdvanced", alias = "category-advanced", value_name = "BOOL",
        num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    advanced: Option<bool>,
}

impl CategoryFlags {
    /// Only these categories.
    pub fn only(categories: Vec<String>) -> Self {
        Self {
            categories: Some(categories),
            ..Self::default()
        }
    }

    /// The categories to offer; `None` without a flag.
    ///
    /// # Errors
    /// On an unknown category.
    pub fn chosen(self, kinds: fn() -> Vec<Kind>) -> anyhow::Result<Option<Vec<String>>> {
        let switches = self.switches();
        if self.categories.is_none() && switches.iter().all(|(_, on)| on.is_none()) {
            return Ok(None);
        }
        let kinds = kinds();
        let known = names(&kinds, |_| true);
        let mut chosen = self
            .categories
            .unwrap_or_else(|| names(&kinds, |kind| !kind.opt_in));
        if let Some(unknown) = chosen.iter().find(|name| !known.contains(name)) {
            bail!(
                "there is no category `{unknown}`; choose from {}",
                known.join(", ")
            );
        }
        for (name, on) in switches {
            match on {
                Some(true) if !chosen.iter().any(|chosen| chosen == name) => {
                    chosen.push(name.to_owned());
                }
                Some(false) => chosen.retain(|chosen| chosen != name),
                _ => {}
            }
        }
        Ok(Some(chosen))
    }

    /// The categories that flags request by name.
    pub(crate) fn asked_for(&self) -> Vec<String> {
        let named = self.categories.iter().flatten().cloned();
        let switched_on = self.switches().into_iter();
        let switched_on = switched_on.filter(|(_, on)| *on == Some(true));
        let mut asked: Vec<_> = named
            .chain(switched_on.map(|(name, _)| name.to_owned()))
            .collect();
        asked.sort_unstable();
        asked.dedup();
        asked
    }

    fn switches(&self) -> [(&'static str, Option<bool>); 10] {
        [
            ("input", self.input),
            ("navigation", self.navigation),
            ("emulation", self.emulation),
            ("performance", self.performance),
            ("network", self.network),
            ("debugging", self.debugging),
            ("storage", self.storage),
            ("rules", self.rules),
            ("screencast", self.screencast),
            ("advanced", self.advanced),
        ]
    }
}

/// The names of categories, each once.
fn names(kinds: &[Kind], wanted: impl Fn(&Kind) -> bool) -> Vec<String> {
    let kinds = kinds.iter().filter(|kind| wanted(kind));
    let mut names: Vec<_> = kinds.map(|kind| kind.name.to_owned()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        flags: CategoryFlags,
    }

    fn chosen(flags: &[&str]) -> anyhow::Result<Option<Vec<String>>> {
        let args = [&["x"], flags].concat();
        Only::try_parse_from(args)?.flags.chosen(kinds)
    }

    fn kinds() -> Vec<Kind> {
        let kind = |name| Kind {
            name,
            opt_in: name == "storage",
        };
        [
            "input",
            "debugging",
            "emulation",
            "input",
            "network",
            "storage",
        ]
        .map(kind)
        .to_vec()
    }

    #[test]
    fn without_a_flag_nothing_is_chosen() {
        assert_eq!(chosen(&[]).unwrap(), None);
    }

    #[test]
    fn a_category_can_be_switched_off_and_the_others_stay() {
        let left = chosen(&["--categoryEmulation=false"]).unwrap().unwrap();
        assert!(!left.contains(&"emulation".to_owned()));
        assert!(left.contains(&"input".to_owned()) && left.contains(&"network".to_owned()));
    }

    #[test]
    fn a_category_is_asked_for_by_its_name() {
        let asked = |flags: &[&str]| {
            let args = [&["x"], flags].concat();
            Only::try_parse_from(args).unwrap().flags.asked_for()
        };
        assert_eq!(asked(&[]), [""; 0]);
        assert_eq!(asked(&["--categoryEmulation=false"]), [""; 0]);
        assert_eq!(asked(&["--categoryStorage"]), ["storage"]);
        let both = ["--categories", "network,input", "--categoryNetwork"];
        assert_eq!(asked(&both), ["input", "network"]);
    }

    #[test]
    fn only_those_that_are_named_are_offered() {
        let named = chosen(&["--categories", "input,debugging"])
            .unwrap()
            .unwrap();
        assert_eq!(named, ["input", "debugging"]);
        let error = chosen(&["--categories", "magic"]).unwrap_err().to_string();
        assert!(
            error.contains("there is no category `magic`; choose from "),
            "{error}"
        );
    }
}
