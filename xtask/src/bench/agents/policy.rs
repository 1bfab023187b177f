//! The policy: one way of working for all servers, with as few calls as each one's tools allow.
//!
//! An element is used only after an answer has shown it, and a text is believed only if an answer has it.

use super::cost::Player;
use super::dialects::{
    Action, Field, Handle, Look, act, back_to_first_tab, has_forms, list_tabs, look, steps,
    takes_css, takes_names, waits_for_text,
};
use super::outline;
use super::tasks::{Intent, Target, Task};
use anyhow::{Context, Result, bail};
use std::collections::{BTreeSet, VecDeque};

/// An agent at work on one document.
pub(super) struct Agent<'a> {
    player: &'a mut Player,
    /// The answers about this document, the latest last.
    seen: Vec<String>,
    /// The answers since the last action.
    fresh: Vec<String>,
    /// Elements whose reference was gone once: from then on they are looked at each time.
    replaced: BTreeSet<String>,
    /// Unnamed elements of which the agent knows which one is meant.
    asked: BTreeSet<String>,
    /// Elements whose press had no effect, so that the server's reference means another one.
    missed: BTreeSet<String>,
    /// The last press, if it does no harm to repeat it.
    repeatable: Option<Intent>,
    understood: Option<usize>,
    failures: usize,
}

/// Plays a task to its end; says how many calls it took after the first of several records was understood.
pub(super) async fn play(player: &mut Player, task: &Task, url: &str) -> Result<Option<usize>> {
    let mut agent = Agent {
        player,
        seen: Vec::new(),
        fresh: Vec::new(),
        replaced: BTreeSet::new(),
        asked: BTreeSet::new(),
        missed: BTreeSet::new(),
        repeatable: None,
        understood: None,
        failures: 0,
    };
    agent.open(url).await?;
    let mut plan = task.plan(agent.player.has_steps)?;
    while let Some(intent) = plan.front() {
        match intent {
            Intent::See { text } => {
                if let Some(press) = agent.sees(text).await? {
                    plan.push_front(press);
                    continue;
                }
            }
            Intent::Tabs { shows } => agent.lists_tabs(shows).await?,
            Intent::Read { fact, about } => agent.reads(fact, about).await?,
            Intent::Accept { says } => agent.accepts(says).await?,
            Intent::Understood => agent.understood = Some(agent.player.cost.calls),
            _ => {
                agent.acts(&mut plan).await?;
                continue;
            }
        }
        plan.pop_front();
    }
    let calls = agent.player.cost.calls;
    Ok(agent.understood.map(|before| calls - before))
}

impl Agent<'_> {
    async fn open(&mut self, url: &str) -> Result<()> {
        let answer = self.player.open(url).await?;
        self.heard(answer);
        Ok(())
    }

    /// Does as many of the next intents as one call can do, and leaves the others in the plan.
    async fn acts(&mut self, plan: &mut VecDeque<Intent>) -> Result<()> {
        self.finds(&plan[0]).await?;
        let batch = self.batch(plan);
        let taken = batch.iter().map(|(_, intents)| intents).sum();
        let rest = plan.split_off(taken);
        let actions: Vec<Action> = batch.iter().map(|(action, _)| action.clone()).collect();
        let look = self.must_look_after(&rest);
        let finished = self.does(&actions, look).await?;
        let finished = batch
            .iter()
            .take(finished)
            .map(|(_, intents)| intents)
            .sum();
        let undone = plan.split_off(finished);
        let is_repeatable = |intent: &&Intent| matches!(intent, Intent::Press { again: true, .. });
        self.repeatable = plan.iter().rev().find(is_repeatable).cloned();
        // What must be seen after the call is still to be seen.
        plan.retain(|intent| matches!(intent, Intent::See { .. }));
        if let Some(failed) = undone.front() {
            self.failures += 1;
            if self.failures > MOST_FAILURES {
                bail!("{failed:?} failed: {}", self.fresh.join("\n"));
            }
            if self.is_to_blame() {
                self.replaced.extend(key(failed));
            }
            // The error may name the element that is meant.
            if self.action(failed).is_none() {
                self.look_for(target(failed)).await?;
            }
        }
        plan.extend(undone);
        plan.extend(rest);
        Ok(())
    }

    /// Whether the step that was not done failed itself; steps also stop before one.
    fn is_to_blame(&self) -> bool {
        let stopped = has(&self.fresh, "Stopped at step");
        !stopped || has(&self.fresh, " failed: ")
    }

    /// The actions of one call, each with how many intents it is.
    fn batch(&self, plan: &VecDeque<Intent>) -> Vec<(Action, usize)> {
        let mut batch: Vec<(Action, usize)> = Vec::new();
        for intent in plan {
            let room = batch.is_empty() || self.player.has_steps && batch.len() < MOST_STEPS;
            match (batch.last_mut(), self.action(intent)) {
                // It is seen in the answer to all.
                (Some((_, intents)), None)
                    if self.player.has_steps && matches!(intent, Intent::See { .. }) =>
                {
                    *intents += 1;
                }
                (Some((Action::Fill(fields), intents)), Some(Action::Fill(more)))
                    if has_forms(self.player.server.peer) =>
                {
                    fields.extend(more);
                    *intents += 1;
                }
                (_, Some(action)) if room => batch.push((action, 1)),
                _ => break,
            }
        }
        batch
    }

    /// Makes sure that the element of an intent was shown: looks, and then asks by a script.
    async fn finds(&mut self, intent: &Intent) -> Result<()> {
        if self.action(intent).is_some() {
            return Ok(());
        }
        let Some(target) = target(intent) else {
            bail!("{intent:?} is no action");
        };
        self.look_for(Some(target)).await?;
        if self.action(intent).is_none() {
            self.asks_which(intent).await?;
        }
        if self.action(intent).is_none() {
            self.look(true).await?;
        }
        let found = self.action(intent);
        found.map(drop).with_context(|| {
            let shown: String = self
                .seen
                .last()
                .into_iter()
                .flat_map(|text| text.chars())
                .take(3_000)
                .collect();
            format!("nothing shows {target:?}: {shown}")
        })
    }

    /// The action of an intent, if its element was shown.
    fn action(&self, intent: &Intent) -> Option<Action> {
        match intent {
            Intent::Press { target, times, .. } => {
                Some(Action::Press(self.handle(target)?, *times))
            }
            Intent::Fill { target, value } => Some(Action::Fill(vec![Field {
                handle: self.handle(target)?,
                role: target.role.clone().unwrap_or_else(|| "textbox".into()),
                name: target.name.clone(),
                value: value.clone(),
            }])),
            Intent::Key { key } => Some(Action::Key(key.clone())),
            _ => None,
        }
    }

    fn handle(&self, target: &Target) -> Option<Handle> {
        let peer = self.player.server.peer;
        let asked = self.asked.contains(&target.name);
        let replaced = self.replaced.contains(&target.name);
        let named = !replaced && takes_names(peer, target, self.player.has_steps);
        let answers = if replaced { &self.fresh } else { &self.seen };
        if named && target.given {
            return Some(Handle::Named(target.clone()));
        }
        // Where names are taken, what it is near comes from the task.
        let anywhere = Target {
            near: None,
            ..target.clone()
        };
        let is_named = |shown: &outline::Shown| shown.by_name;
        let mut latest = answers.iter().rev();
        let by_name =
            |answer: &String| outline::find(answer, &anywhere, peer, false).filter(is_named);
        if named && latest.clone().find_map(by_name).is_some() {
            return Some(Handle::Named(target.clone()));
        }
        let shown = latest.find_map(|answer| outline::find(answer, target, peer, asked));
        let css = || {
            let unnamed = target.unnamed.as_ref().filter(|_| asked);
            unnamed.filter(|_| takes_css(peer))?.css.clone()
        };
        let reference = || shown.and_then(|shown| shown.reference);
        let reference = match self.missed.contains(&target.name) {
            true => css().or_else(reference),
            false => reference().or_else(css),
        };
        reference.map(Handle::Reference)
    }

    /// Whether the agent must look before it can go on, as far as it knows before the next action.
    fn must_look_after(&self, rest: &VecDeque<Intent>) -> bool {
        rest.front().is_some_and(|next| match next {
            Intent::See { .. } | Intent::Read { .. } => true,
            Intent::Understood | Intent::Accept { .. } | Intent::Tabs { .. } => false,
            next => {
                let replaced = key(next).is_some_and(|key| self.replaced.contains(&key));
                replaced || self.action(next).is_none()
            }
        })
    }

    /// One call for all actions. Says how many of them were done.
    async fn does(&mut self, actions: &[Action], look: bool) -> Result<usize> {
        let peer = self.player.server.peer;
        let call = match actions {
            [Action::Press(_, 2..)] | [_, _, ..] => steps(actions),
            [action] => act(peer, action, look),
            [] => return Ok(0),
        };
        self.fresh.clear();
        let answer = self.player.call(call).await?;
        self.heard(answer.text);
        match answer.done {
            true => Ok(actions.len()),
            false => Ok(finished(actions, answer.calls_done)),
        }
    }

    async fn accepts(&mut self, says: &str) -> Result<()> {
        if !has(&self.fresh, says) {
            bail!(
                "no answer tells of the dialog {says:?}: {}",
                self.fresh.join("\n")
            );
        }
        match self.does(&[Action::Accept], false).await? {
            1 => Ok(()),
            _ => bail!("the dialog was not answered: {}", self.fresh.join("\n")),
        }
    }

    /// A text that the agent can guess: the cheapest look will do. Returns the press to repeat if it does not come.
    async fn sees(&mut self, text: &str) -> Result<Option<Intent>> {
        for _ in 0..MOST_LOOKS {
            if has(&self.fresh, text) {
                return Ok(None);
            }
            // What may not come is not waited for.
            match self.repeatable.is_some() && waits_for_text(self.player.server.peer) {
                true => self.look(true).await?,
                false => self.ask(Look::Text(text)).await?,
            }
        }
        match (has(&self.fresh, text), self.repeatable.take()) {
            (false, None) => bail!("no answer has {text:?}: {}", self.fresh.join("\n")),
            (true, _) => Ok(None),
            (false, Some(press)) => {
                self.asks_which(&press).await?;
                self.missed.extend(key(&press));
                Ok(Some(press))
            }
        }
    }

    /// Asks the page by a script which element is meant.
    async fn asks_which(&mut self, intent: &Intent) -> Result<()> {
        if let Some(unnamed) = target(intent).and_then(|target| target.unnamed.as_ref()) {
            let answer = self.player.evaluate(&unnamed.ask).await?;
            self.heard(answer);
            self.asked.extend(key(intent));
        }
        Ok(())
    }

    /// The tabs, among them one that may not respond.
    async fn lists_tabs(&mut self, shows: &str) -> Result<()> {
        for _ in 0..MOST_LOOKS {
            let answer = self.player.call(list_tabs(self.player.server)).await?;
            let is_shown = answer.text.contains(shows);
            self.heard(answer.text);
            if is_shown {
                if let Some(call) = back_to_first_tab(self.player.server.peer) {
                    self.player.call(call).await?;
                }
                return Ok(());
            }
        }
        bail!("no list of tabs has {shows:?}: {}", self.fresh.join("\n"))
    }

    /// A fact that the agent does not know, so that it must be shown.
    async fn reads(&mut self, fact: &str, about: &str) -> Result<()> {
        if !has(&self.fresh, fact) && has_find(self.player.server.peer) {
            self.ask(Look::Text(about)).await?;
        }
        if !has(&self.fresh, fact) {
            self.look(true).await?;
        }
        match has(&self.fresh, fact) {
            true => Ok(()),
            false => bail!("no answer has {fact:?}: {}", self.fresh.join("\n")),
        }
    }

    /// Looks where an element may be shown: at what has its name if the task gave that, or else at the page.
    async fn look_for(&mut self, target: Option<&Target>) -> Result<()> {
        match target {
            Some(Target {
                given: true, name, ..
            }) if has_find(self.player.server.peer) => self.ask(Look::Text(name)).await,
            Some(target) => {
                self.look(target.near.is_some() || target.role.is_none())
                    .await
            }
            None => self.look(true).await,
        }
    }

    async fn look(&mut self, texts: bool) -> Result<()> {
        self.ask(Look::Page { texts }).await
    }

    async fn ask(&mut self, way: Look<'_>) -> Result<()> {
        let call = look(self.player.server.peer, way);
        let mut text = self.player.call(call).await?.text;
        if matches!(way, Look::Text(_)) {
            // They repeat what they looked for, even if nothing has it.
            let repeats = |line: &&str| line.to_lowercase().contains("match");
            let lines: Vec<&str> = text.lines().filter(|line| !repeats(line)).collect();
            text = lines.join("\n");
        }
        self.heard(text);
        Ok(())
    }

    fn heard(&mut self, answer: String) {
        self.seen.push(answer.clone());
        self.fresh.push(answer);
    }
}

/// How many actions are done after so many calls of one `run_steps`.
fn finished(actions: &[Action], calls: usize) -> usize {
    let needed = actions.iter().scan(0, |sum, action| {
        *sum += match action {
            Action::Press(_, times) => *times,
            _ => 1,
        };
        Some(*sum)
    });
    needed.take_while(|needed| *needed <= calls).count()
}

fn has(answers: &[String], text: &str) -> bool {
    answers.iter().any(|answer| answer.contains(text))
}

/// Whether a look for a text shows what is around it.
fn has_find(peer: crate::bench::peers::Peer) -> bool {
    use crate::bench::peers::Peer;
    matches!(peer, Peer::Tabmux | Peer::Playwright)
}

fn target(intent: &Intent) -> Option<&Target> {
    match intent {
        Intent::Press { target, .. } | Intent::Fill { target, .. } => Some(target),
        _ => None,
    }
}

fn key(intent: &Intent) -> Option<String> {
    target(intent).map(|target| target.name.clone())
}

/// The most failed calls in one task.
const MOST_FAILURES: usize = 5;
const MOST_LOOKS: usize = 2;
/// The most steps of one call.
const MOST_STEPS: usize = 50;
