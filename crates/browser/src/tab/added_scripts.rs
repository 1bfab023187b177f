//! Scripts that an agent added to a tab: they run in every new document, also in frames that come later.

use crate::error::ToolError;
use futures_util::future::join_all;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tabmux_cdp::types::page::{
    AddScriptToEvaluateOnNewDocument, RemoveScriptToEvaluateOnNewDocument, ScriptIdentifier,
};
use tabmux_cdp::{CdpError, Session};

/// The scripts, and the sessions that run them.
#[derive(Clone, Debug, Default)]
pub(crate) struct AddedScripts(Arc<Mutex<Added>>);

#[derive(Debug, Default)]
struct Added {
    scripts: Vec<Script>,
    /// The number of the next script.
    next: u64,
    /// How many places may be taken: those below, and those that Chrome is asked for.
    taken: usize,
    places: Vec<ScriptPlace>,
}

#[derive(Clone, Debug)]
struct Script {
    number: u64,
    source: String,
}

/// A session that runs a script.
#[derive(Debug)]
struct ScriptPlace {
    session: Session,
    identifier: ScriptIdentifier,
    script: u64,
}

impl AddedScripts {
    /// Adds a script to all sessions of the tab, the tab's own first. Returns how many there are now; none if there are
    /// too many.
    pub(crate) async fn add(
        &self,
        sessions: Vec<Session>,
        source: String,
    ) -> Result<Option<usize>, ToolError> {
        let Some((script, count)) = self.lock().push(source) else {
            return Ok(None);
        };
        let scripts = self.clone();
        // A task of its own: if the call is cancelled meanwhile, the script can still be removed.
        let told = tokio::spawn(async move {
            let told = sessions.iter().map(|it| scripts.tell(it, script.clone()));
            // An error of the tab's own session counts; a frame may be going away.
            let told = join_all(told).await.into_iter().next();
            let told = told.unwrap_or(Ok(()));
            if told.is_err() {
                scripts.remove(|it| it == script.number);
            }
            told
        });
        told.await.map_err(|_| ToolError::BrowserGone)??;
        Ok(Some(count))
    }

    /// Adds the scripts to a new session, before its first document.
    pub(super) async fn join(&self, session: &Session) {
        let scripts = self.lock().scripts.clone();
        join_all(scripts.into_iter().map(|it| self.tell(session, it))).await;
    }

    /// A session has ended, and its scripts with it.
    pub(super) fn leave(&self, session: &Session) {
        let mut added = self.lock();
        let before = added.places.len();
        added.places.retain(|it| it.session.id() != session.id());
        added.taken -= before - added.places.len();
    }

    /// Removes all of them.
    pub(crate) fn clear(&self) {
        self.remove(|_| true);
    }

    fn remove(&self, wanted: impl Fn(u64) -> bool) {
        let mut added = self.lock();
        added.scripts.retain(|it| !wanted(it.number));
        let places = std::mem::take(&mut added.places).into_iter();
        let (gone, kept): (Vec<_>, Vec<_>) = places.partition(|it| wanted(it.script));
        added.taken -= gone.len();
        added.places = kept;
        drop(added);
        for ScriptPlace {
            session,
            identifier,
            ..
        } in gone
        {
            session.post(RemoveScriptToEvaluateOnNewDocument { identifier });
        }
    }

    async fn tell(&self, session: &Session, script: Script) -> Result<(), CdpError> {
        if !self.lock().take_place() {
            tracing::warn!("a tab has too many frames: a new one does not run an added script");
            return Ok(());
        }
        let add = AddScriptToEvaluateOnNewDocument {
            source: script.source,
            ..Default::default()
        };
        let told = session.send(add).await;
        let mut added = self.lock();
        match told {
            // It was removed meanwhile.
            Ok(told) if !added.has(script.number) => {
                added.taken -= 1;
                let identifier = told.identifier;
                session.post(RemoveScriptToEvaluateOnNewDocument { identifier });
                Ok(())
            }
            Ok(told) => {
                added.places.push(ScriptPlace {
                    session: session.clone(),
                    identifier: told.identifier,
                    script: script.number,
                });
                Ok(())
            }
            Err(error) => {
                added.taken -= 1;
                Err(error)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Added> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Added {
    /// The new script, and how many there are with it; none if there are too many.
    fn push(&mut self, source: String) -> Option<(Script, usize)> {
        if self.scripts.len() >= MOST {
            return None;
        }
        let number = self.next;
        self.next += 1;
        let script = Script { number, source };
        self.scripts.push(script.clone());
        Some((script, self.scripts.len()))
    }

    fn has(&self, number: u64) -> bool {
        self.scripts.iter().any(|it| it.number == number)
    }

    fn take_place(&mut self) -> bool {
        let fits = self.taken < MOST_PLACES;
        self.taken += usize::from(fits);
        fits
    }
}

const MOST: usize = 20;
/// A script that runs in more places could not be removed from all of them later.
const MOST_PLACES: usize = 2_000;

#[cfg(test)]
mod tests {
    use crate::fake::{self, Asked, FakeBrowser};
    use serde_json::{Value, json};

    const ADD: &str = "Page.addScriptToEvaluateOnNewDocument";
    const REMOVE: &str = "Page.removeScriptToEvaluateOnNewDocument";

    fn is_mine(asked: &Asked) -> bool {
        asked.method == ADD && asked.params["source"] == "mine()"
    }

    /// Like [`fake::usual`], but the script of the test is answered by `mine`.
    fn with(mine: impl Fn(&Asked) -> Vec<Value>) -> impl FnMut(&Asked) -> Vec<Value> {
        move |asked| match is_mine(asked) {
            true => mine(asked),
            false if asked.method == ADD => vec![asked.answer(json!({"identifier": "OTHER"}))],
            false => fake::usual(asked),
        }
    }

    async fn heard(harness: &mut FakeBrowser) -> Asked {
        loop {
            let asked = harness.fake.hears(ADD).await.unwrap();
            if is_mine(&asked) {
                return asked;
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_script_of_a_cancelled_call_is_removed_with_the_others() {
        let mut harness = FakeBrowser::new(with(|_| vec![])).await;
        let tab = harness.tab().await.unwrap();
        let call = tokio::spawn(harness.run("add_init_script", json!({"script": "mine()"})));
        let asked = heard(&mut harness).await;
        call.abort();
        assert!(call.await.is_err());
        tab.added_scripts().clear();
        let late = asked.answer(json!({"identifier": "MINE"}));
        harness.fake.say(late).await;
        let removed = harness.fake.hears(REMOVE).await.unwrap();
        assert_eq!(removed.params["identifier"], "MINE");
    }

    #[tokio::test(start_paused = true)]
    async fn a_script_that_the_page_refuses_is_forgotten() {
        let harness = FakeBrowser::new(with(|asked| vec![asked.refuse("No")])).await;
        let tab = harness.tab().await.unwrap();
        let added = harness.run("add_init_script", json!({"script": "mine()"}));
        assert!(added.await.is_err());
        let said = harness.run("add_init_script", json!({"script": "other()"}));
        let said = said.await.unwrap();
        assert!(format!("{said:?}").contains("1 in this tab"), "{said:?}");
        assert_eq!(tab.added_scripts().lock().taken, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn the_tabs_own_scripts_are_removed_after_any_number_of_frames() {
        let say = with(|asked| vec![asked.answer(json!({"identifier": "MINE"}))]);
        let mut harness = FakeBrowser::new(say).await;
        let tab = harness.tab().await.unwrap();
        let added = harness.run("add_init_script", json!({"script": "mine()"}));
        added.await.unwrap();
        let frame = tab.session().connection().root();
        for _ in 0..super::MOST_PLACES {
            tab.added_scripts().join(&frame).await;
            harness.fake.heard_so_far();
        }
        assert_eq!(tab.added_scripts().lock().taken, super::MOST_PLACES);
        tab.added_scripts().leave(&frame);
        assert_eq!(tab.added_scripts().lock().taken, 1);
        tab.added_scripts().clear();
        let removed = harness.fake.hears(REMOVE).await.unwrap();
        assert_eq!(removed.session_id.as_deref(), Some(fake::SESSION));
    }
}
