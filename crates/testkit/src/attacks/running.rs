//! Runs an attack for as long as the test observes it.

use super::calls::{Answer, ask};
use super::{Arguments, Attack, Call, Hold, Means, access, library, port};
use crate::{McpClient, Response, SharedDaemon};
use futures_util::future::join_all;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// A running attack.
#[derive(Debug)]
pub struct RunningAttack {
    attack: &'static Attack,
    daemon: Arc<SharedDaemon>,
    port: u16,
    played: watch::Receiver<bool>,
    stop: watch::Sender<bool>,
    attacker: JoinHandle<Vec<Answer>>,
    flood: Option<JoinHandle<()>>,
}

/// The outcome of an attack.
#[derive(Debug)]
pub struct Outcome {
    /// The answers that the attacker's session got.
    pub answers: Vec<Answer>,
    /// The conditions that did not hold.
    pub complaints: Vec<String>,
}

/// How often the attacker's session makes its calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turns {
    /// Once each.
    Once,
    /// Repeatedly until the end.
    UntilTheEnd,
}

impl Attack {
    /// Starts the attack, and returns when it is running.
    pub async fn begin(&'static self, daemon: &Arc<SharedDaemon>, turns: Turns) -> RunningAttack {
        let port = daemon.port().await;
        let (under_way, mut is_under_way) = watch::channel(false);
        let (stop, stopped) = watch::channel(false);
        let (has_played, played) = watch::channel(false);
        let flood = self.flood(port, under_way);
        if flood.is_some() {
            // The sender is dropped with the flood; then there is nothing to wait for.
            let _ = is_under_way.wait_for(|it| *it).await;
        }
        if let Means::Fifo = self.means {
            make_fifo(daemon).await;
        }
        let seen = self.path().map(|path| {
            daemon.pages.route(&path, Response::no_content());
            daemon.pages.count(&path)
        });
        let attacker = Attacker {
            attack: self,
            daemon: Arc::clone(daemon),
            turns,
            has_played,
            stopped,
        };
        let attacker = tokio::spawn(attacker.work());
        if let (Some(path), Some(seen)) = (self.path(), seen) {
            // Without this request the page does not attack at all, whatever its session's calls return.
            daemon.pages.wait_for_nth_request(&path, seen + 1).await;
        }
        RunningAttack {
            attack: self,
            daemon: Arc::clone(daemon),
            port,
            played,
            stop,
            attacker,
            flood,
        }
    }

    /// The path that its page requests when the attack is running.
    fn path(&self) -> Option<String> {
        match self.means {
            Means::Page(file) => Some(format!("/under-way/hostile/{file}")),
            _ => None,
        }
    }

    fn flood(&self, port: u16, under_way: watch::Sender<bool>) -> Option<JoinHandle<()>> {
        match self.means {
            Means::Library(kind) => Some(tokio::spawn(async move {
                library::attack(kind, port, &under_way).await;
            })),
            Means::Port(kind) => Some(tokio::spawn(async move {
                port::attack(kind, port, &under_way).await;
            })),
            _ => None,
        }
    }
}

impl RunningAttack {
    /// Whether the attacker's session has made all its calls and got all answers.
    pub fn has_all_answers(&self) -> bool {
        *self.played.borrow()
    }

    /// Checks the other conditions while the attack runs; returns those that did not hold.
    pub async fn complaints(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        for hold in self.attack.holds {
            complaints.extend(access::complaint(*hold, &self.daemon, self.port).await);
        }
        complaints
    }

    /// Ends the attack.
    pub async fn end(mut self) -> Outcome {
        self.stop.send_replace(true);
        let mut complaints = Vec::new();
        let answers = match timeout(LONGEST_END, &mut self.attacker).await {
            Ok(Ok(answers)) => answers,
            Ok(Err(error)) => {
                complaints.push(format!("the attacker's session broke: {error}"));
                Vec::new()
            }
            Err(_) => {
                complaints.push("the attacker's session did not finish".to_owned());
                Vec::new()
            }
        };
        complaints.extend(answers.iter().filter_map(Answer::complaint));
        if self.attack.holds.contains(&Hold::NoHiddenText) {
            complaints.extend(answers.iter().filter_map(hidden_text));
        }
        Outcome {
            answers,
            complaints,
        }
    }
}

impl Drop for RunningAttack {
    fn drop(&mut self) {
        self.attacker.abort();
        if let Some(flood) = &self.flood {
            flood.abort();
        }
    }
}

/// The attacker's session.
struct Attacker {
    attack: &'static Attack,
    daemon: Arc<SharedDaemon>,
    turns: Turns,
    has_played: watch::Sender<bool>,
    stopped: watch::Receiver<bool>,
}

impl Attacker {
    async fn work(mut self) -> Vec<Answer> {
        let pages = &self.daemon.pages;
        let own = "<!doctype html><title>The attacker's own page</title><h1>Own</h1>";
        pages.route("/attacker", Response::html(own));
        let own = pages.url("/attacker");
        let mut client = self.daemon.client().await;
        let mut answers = vec![ask(&client, "new_page", json!({"url": own})).await];
        if let Means::Page(file) = self.attack.means {
            let url = pages.url(&format!("/hostile/{file}"));
            answers.push(ask(&client, "new_page", json!({"url": url})).await);
        }
        loop {
            answers.extend(self.calls(&client).await);
            self.has_played.send_replace(true);
            if self.turns == Turns::Once || self.attack.calls.is_empty() {
                let _ = self.stopped.wait_for(|it| *it).await;
            }
            if *self.stopped.borrow() {
                break;
            }
        }
        answers.push(self.keeps(&client, &own).await);
        client.close_input().await;
        let _ = timeout(LONGEST_END, client.wait_for_exit()).await;
        answers
    }

    async fn calls(&self, client: &McpClient) -> Vec<Answer> {
        if let Means::Burst(count) = self.attack.means {
            let call = || ask(client, "evaluate_script", json!({"function": "() => 1"}));
            return join_all((0..count).map(|_| call())).await;
        }
        let mut answers = Vec::new();
        for (number, Call(tool, arguments)) in self.attack.calls.iter().enumerate() {
            if *self.stopped.borrow() {
                break;
            }
            let is_last = number + 1 == self.attack.calls.len();
            let answer = ask(client, tool, arguments.value()).await;
            let must = is_last && self.attack.holds.contains(&Hold::LastSucceeds);
            answers.push(if must { answer.must_succeed() } else { answer });
        }
        answers
    }

    /// Whatever its calls did, its session and its own tab must be there.
    async fn keeps(&self, client: &McpClient, own: &str) -> Answer {
        let answer = ask(client, "list_pages", json!({})).await;
        match answer.text() {
            Some(pages) if pages.contains(own) => answer,
            _ => Answer::None {
                tool: "list_pages".to_owned(),
                why: format!("the attacker has lost its own page: {answer:?}"),
            },
        }
    }
}

impl Arguments {
    fn value(&self) -> Value {
        match self {
            Self::Json(text) => serde_json::from_str(text).expect("the table has JSON"),
            Self::Made(make) => make(),
        }
    }
}

async fn make_fifo(daemon: &SharedDaemon) {
    let fifo = daemon.work().join("fifo");
    if !fifo.exists() {
        let made = tokio::process::Command::new("mkfifo")
            .arg(&fifo)
            .status()
            .await;
        assert!(
            made.is_ok_and(|status| status.success()),
            "{fifo:?} was not made"
        );
    }
}

/// Invisible characters, or ones that control a terminal; or a call that returned nothing at all.
fn hidden_text(answer: &Answer) -> Option<String> {
    let Answer::Said { tool, text, .. } = answer else {
        return None;
    };
    if answer.text().is_none() {
        return Some(format!("{tool} read nothing: {answer}"));
    }
    let hidden = text.chars().find(|it| is_hidden(*it))?;
    Some(format!(
        "{tool} answers with the hidden character {hidden:?}"
    ))
}

/// The characters in `fixtures/hostile/hidden-text.html`, and similar ones.
fn is_hidden(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
}

/// Longer than any call takes.
const LONGEST_END: Duration = Duration::from_secs(90);

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str, is_error: bool) -> Answer {
        Answer::Said {
            tool: "take_snapshot".to_owned(),
            is_error,
            text: text.to_owned(),
        }
    }

    #[test]
    fn every_hidden_character_of_the_fixture_is_found() {
        for c in "\u{e0069}\u{202e}\u{61c}\u{200b}\u{1b}\u{7}\u{2028}".chars() {
            assert!(
                hidden_text(&said(&format!("shown{c}end"), false)).is_some(),
                "{c:?}"
            );
        }
        assert_eq!(hidden_text(&said("shown\n\tend", false)), None);
    }

    #[test]
    fn an_attack_whose_calls_fail_is_a_complaint() {
        assert!(hidden_text(&said("no such tool", true)).is_some());
        assert!(said("no", true).must_succeed().complaint().is_some());
        assert!(said("yes", false).must_succeed().complaint().is_none());
    }
}
