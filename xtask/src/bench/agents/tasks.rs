//! The tasks as data: an application, what is wanted of it, and a check of the result. They are in
//! `fixtures/agents/tasks.json`.

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::fs;
use std::path::PathBuf;

#[derive(Clone, Debug, Deserialize)]
pub(super) struct Task {
    pub(super) name: String,
    /// What the application is made of.
    pub(super) make: String,
    pub(super) page: String,
    intents: Vec<Intent>,
    /// An expression that is true in the page if the task is done. It is not counted.
    pub(super) check: String,
}

/// What an agent wants next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(super) enum Intent {
    Press {
        #[serde(flatten)]
        target: Target,
        #[serde(default = "once")]
        times: usize,
        /// Whether it does no harm to press again if the text that is to be seen next does not come.
        #[serde(default)]
        again: bool,
    },
    Fill {
        #[serde(flatten)]
        target: Target,
        value: String,
    },
    Key {
        key: String,
    },
    /// Accept the dialog of the browser that says this.
    Accept {
        says: String,
    },
    /// A text that an answer after the last action must have.
    See {
        text: String,
    },
    /// A fact that the agent does not know, beside something that it knows.
    Read {
        fact: String,
        about: String,
    },
    /// A text that the list of all tabs must have.
    Tabs {
        shows: String,
    },
    /// The same for each item; `{item}` in strings is the item.
    Each {
        items: Vec<String>,
        intents: Vec<Self>,
    },
    /// The first item is done, so the others are known to be alike.
    Understood,
}

/// An element as a person would describe it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Target {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) role: Option<String>,
    pub(super) name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) near: Option<String>,
    /// Whether the task itself says the name, as it does for records, so that it is known before it was shown.
    #[serde(default)]
    pub(super) given: bool,
    /// How it is found where answers do not name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) unnamed: Option<Unnamed>,
}

/// An element that answers do not name: a script tells which one it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Unnamed {
    /// Its number among those of its role, counted from `near`; negative before it, 0 if they do not show it at all.
    #[serde(default)]
    pub(super) nth: isize,
    /// Its selector, for servers that take one.
    #[serde(default)]
    pub(super) css: Option<String>,
    /// The expression that tells the agent so.
    pub(super) ask: String,
}

impl Task {
    /// The intents one after the other, without [`Intent::Each`]; `repeats` says that one call can press many times.
    pub(super) fn plan(&self, repeats: bool) -> Result<VecDeque<Intent>> {
        let plan = self.expanded()?;
        let alone = |intent: Intent| match intent {
            Intent::Press {
                target,
                times,
                again,
            } if !repeats => {
                let once = Intent::Press {
                    target,
                    times: 1,
                    again,
                };
                vec![once; times]
            }
            intent => vec![intent],
        };
        Ok(plan.into_iter().flat_map(alone).collect())
    }

    fn expanded(&self) -> Result<Vec<Intent>> {
        let mut plan = Vec::new();
        for intent in &self.intents {
            let Intent::Each { items, intents } = intent else {
                plan.push(intent.clone());
                continue;
            };
            for (n, item) in items.iter().enumerate() {
                let text = serde_json::to_string(intents)?.replace("{item}", item);
                plan.extend(serde_json::from_str::<Vec<Intent>>(&text)?);
                plan.extend((n == 0).then_some(Intent::Understood));
            }
        }
        Ok(plan)
    }
}

/// All tasks.
pub(super) fn load() -> Result<Vec<Task>> {
    let text = fs::read_to_string(folder().join("tasks.json"))?;
    serde_json::from_str(&text).context("fixtures/agents/tasks.json")
}

/// The folder of the applications.
pub(super) fn folder() -> PathBuf {
    tabmux_testkit::workspace_root().join("fixtures/agents")
}

fn once() -> usize {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_tasks_on_applications_of_different_make() {
        let tasks = load().unwrap();
        let makes: std::collections::BTreeSet<_> = tasks.iter().map(|task| &task.make).collect();
        assert_eq!((tasks.len(), makes.len()), (10, 10));
        for task in &tasks {
            assert!(folder().join(&task.page).is_file(), "{}", task.page);
            assert!(task.plan(true).is_ok());
        }
    }

    #[test]
    fn items_are_expanded_after_the_first_is_understood() {
        let key = |key: &str| Intent::Key { key: key.into() };
        let task = Task {
            name: String::new(),
            make: String::new(),
            page: String::new(),
            check: String::new(),
            intents: vec![Intent::Each {
                items: vec!["a".into(), "b".into()],
                intents: vec![key("{item}")],
            }],
        };
        assert_eq!(
            task.plan(true).unwrap(),
            [key("a"), Intent::Understood, key("b")]
        );
    }
}
