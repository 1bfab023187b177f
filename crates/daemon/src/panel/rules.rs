//! The person's rules about sites, and their changes, which are written in separate tasks, one after the other.

use crate::extension::PeerName;
use crate::main_loop::Event;
use crate::policy::{PolicyChange, PolicyFile, change_file};
use std::collections::VecDeque;
use tabmux_browser::OriginPattern;
use tabmux_protocol::extension::RulesInfo;
use tabmux_text::one_line;
use tokio::sync::mpsc;

/// The rules, which apply to all sessions.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) file: PolicyFile,
    /// The changes that people requested, in order; the first one is being written.
    changes: VecDeque<(PolicyChange, PeerName)>,
    events: mpsc::Sender<Event>,
}

impl Rules {
    pub(super) fn new(file: PolicyFile, events: mpsc::Sender<Event>) -> Self {
        Self {
            file,
            changes: VecDeque::new(),
            events,
        }
    }

    /// Writes a change, after those before it. Returns a sentence if there are too many.
    pub(super) fn change(&mut self, change: PolicyChange, peer: PeerName) -> Result<(), String> {
        if self.changes.len() >= MOST_CHANGES {
            return Err("The rules cannot be written now. Try again later.".to_owned());
        }
        self.changes.push_back((change, peer));
        if self.changes.len() == 1 {
            self.write();
        }
        Ok(())
    }

    /// The first change was written, or could not be. Returns who requested it, and starts the next one.
    pub(super) fn written(&mut self) -> Option<PeerName> {
        let (_, peer) = self.changes.pop_front()?;
        self.write();
        Some(peer)
    }

    /// What people see of the rules.
    pub(crate) fn shown(&self) -> RulesInfo {
        let rules = match self.file.rules() {
            Ok(rules) => rules,
            Err(why) => {
                return RulesInfo {
                    problem: Some(one_line(why.what(), LONGEST_PROBLEM)),
                    ..RulesInfo::default()
                };
            }
        };
        // The newest rules are at the end of the file.
        let texts = |patterns: &[OriginPattern]| -> Vec<String> {
            let newest = patterns.iter().rev().take(MOST_RULES);
            newest.map(ToString::to_string).collect()
        };
        let (allowed, blocked) = (texts(&rules.allowed), texts(&rules.blocked));
        let all = rules.allowed.len() + rules.blocked.len();
        RulesInfo {
            more: all - allowed.len() - blocked.len(),
            allowed,
            blocked,
            private_windows: rules.private_windows,
            problem: None,
        }
    }

    fn write(&self) {
        let Some((change, _)) = self.changes.front() else {
            return;
        };
        let (change, events) = (change.clone(), self.events.clone());
        let file = self.file.path().zip(self.file.policy_reader());
        tokio::spawn(async move {
            let rules = match file {
                None => Err(
                    "This server has no policy file, so rules cannot be changed here.".to_owned(),
                ),
                Some((path, policy_reader)) => {
                    let write = move || change_file(&path, &change);
                    let written = tokio::task::spawn_blocking(write).await;
                    policy_reader.reread().await;
                    written.unwrap_or_else(|error| Err(error.to_string()))
                }
            };
            let _ = events.send(Event::PolicyWritten { rules }).await;
        });
    }
}

/// How many rules people see, per kind.
const MOST_RULES: usize = 50;
const LONGEST_PROBLEM: usize = 300;

/// More than a person requests at once.
const MOST_CHANGES: usize = 32;
