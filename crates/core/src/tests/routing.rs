//! Checks every case of `routing.txt`.

use super::pages::Pages;
use super::sim::{fixed, select_page};
use crate::{CallKind, Output, Reason, Reply, Routing, TabLocation, TabRef, ToolName};

/// Spec: multi-tab 12.
#[test]
fn every_case_of_the_rule_book_holds() {
    let mut cases = 0;
    for case in include_str!("routing.txt").split("\ncase ").skip(1) {
        let (title, lines) = case.split_once('\n').unwrap();
        let hybrid = lines.lines().any(|line| line == "hybrid");
        let mut player = Player::new(title, hybrid);
        for line in lines.lines().filter(|line| !line.is_empty()) {
            player.play(line);
        }
        cases += 1;
    }
    assert!(cases > 20, "{cases} cases are too few: is the file cut?");
}

struct Player {
    title: String,
    pages: Pages,
}

impl Player {
    fn new(title: &str, hybrid: bool) -> Self {
        // The default is the smart order.
        let mut session = fixed();
        if hybrid {
            session.routing = Routing::Hybrid;
        }
        Self {
            title: title.to_owned(),
            pages: Pages::with_session(session),
        }
    }

    fn play(&mut self, line: &str) {
        if line.starts_with('#') {
            return;
        }
        if let Some((call, expected)) = line.split_once(" -> ") {
            let got = self.call(call);
            assert_eq!(got, expected, "in {:?}, {line:?}", self.title);
            return;
        }
        let words: Vec<_> = line.split(' ').collect();
        match words[..] {
            ["hybrid"] => {}
            ["open", page] => self.pages.open(page),
            ["open", page, "in", "browser"] => self.pages.open_in_browser(page),
            ["front", page] => self.pages.front(page),
            ["hide", page] => self.pages.hide(page),
            ["reload", page] => self.pages.reload(page),
            ["close", page] => self.pages.close(page),
            ["work", "in", page] => {
                let reply = self.pages.sim.call(select_page(page));
                assert!(matches!(reply, Reply::Focused { .. }), "{reply:?}");
            }
            [page, "has", ..] => {
                for tool in &words[2..] {
                    self.pages.register(page, tool);
                }
            }
            [page, "loses", tool] => self.pages.unregister(page, tool),
            _ => panic!("in {:?}, what is {line:?}?", self.title),
        }
    }

    /// Where a call went and why, in the form of `routing.txt`.
    fn call(&mut self, call: &str) -> String {
        let (name, tab) = match call.split_once(" in ") {
            Some((name, tab)) => (name, Some(TabRef::from(tab))),
            None => (call, None),
        };
        let name = ToolName::new(name);
        let before = self.pages.sim.outputs.len();
        match self.pages.sim.call(CallKind::PageTool { name, tab }) {
            Reply::Refused(refusal) => format!("error {refusal}"),
            _ => {
                let mut since = self.pages.sim.outputs[before..].iter();
                let ran = since.find_map(|output| match output {
                    Output::RunTool {
                        place: TabLocation::Page { page, .. },
                        reason,
                        ..
                    } => Some(format!("{page}, {}", words(*reason))),
                    _ => None,
                });
                ran.unwrap()
            }
        }
    }
}

fn words(reason: Reason) -> &'static str {
    match reason {
        Reason::Named => "named",
        Reason::Bound => "bound",
        Reason::Only => "only",
        Reason::Active => "active",
        Reason::ActiveLacks => "active lacks it",
        Reason::NoneActive => "none active",
    }
}
