//! Random walks through the state machine with a real browser, compared with the model at every
//! step. `TABMUX_SOAK=1` walks many more; `TABMUX_SEED=n` repeats one of them.

use crate::harness::{ACTIONS, McpHarness, Step, Tabs, page};
use crate::model::{Expected, Model, Move, Pick};
use crate::over_extension::Capability;
use crate::user::User;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use tabmux_testkit::{OverExtension, Rng};

/// Spec: dynamic-tools 58, 94.
#[tokio::test]
async fn random_walks_in_a_browser_agree_with_the_model() {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let seeds: Vec<u64> = match (variable("TABMUX_SEED"), variable("TABMUX_SOAK")) {
        (Some(seed), _) => vec![seed],
        (None, Some(1..)) => (0..400).collect(),
        // Over the extension they take turns in one browser, which is slower.
        (None, _) if OverExtension::here().is_some() => (0..4).collect(),
        // Every kind of move is in them.
        (None, _) => (0..8).collect(),
    };
    if OverExtension::here().is_some() {
        return walk_all(&browser, seeds).await;
    }
    // Two at a time: each has its own browser.
    let (even, odd) = seeds
        .into_iter()
        .partition::<Vec<_>, _>(|seed| seed % 2 == 0);
    tokio::join!(walk_all(&browser, even), walk_all(&browser, odd));
}

async fn walk_all(browser: &Path, seeds: Vec<u64>) {
    for seed in seeds {
        Walk::begin(browser, seed).await.run().await;
    }
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .and_then(|value| value.parse().ok())
}

struct Walk {
    rng: Rng,
    harness: McpHarness,
    user: Option<User>,
    model: Model,
    /// The server's numbers of the model's tabs.
    ids: HashMap<usize, u64>,
    pages: usize,
    story: String,
}

impl Walk {
    /// A new server, DISCONNECTED.
    async fn begin(browser: &Path, seed: u64) -> Self {
        // Generated tools are not a part of the model.
        let bare = "--generatedTools=off";
        let is_persons = OverExtension::here().is_some();
        let harness = match is_persons {
            true => McpHarness::start(&["--extension", bare]),
            false => McpHarness::start(&[
                bare,
                "--headless",
                "--userDataDir=profile",
                "--chromeArg=--disable-quic",
                "--chromeArg=--remote-debugging-port=0",
                &format!("--executablePath={}", browser.display()),
            ]),
        };
        harness.client.initialize().await;
        harness
            .pages
            .route_with("/page", |_| page("A page", "<button>Press</button>"));
        harness.pages.hang_up("/broken");
        Self {
            rng: Rng::seeded(seed),
            harness,
            user: None,
            model: Model::of(is_persons),
            ids: HashMap::new(),
            pages: 0,
            story: format!("walk with TABMUX_SEED={seed}\n"),
        }
    }

    async fn run(mut self) {
        for _ in 0..STEPS {
            let next = self.choose();
            self.tell(&format!("{next:?}"));
            let before = self.model.clone();
            let expected = self.model.apply(&next);
            let seen = match self.call(&next, &before) {
                Some((tool, arguments)) => self.play(&next, tool, arguments).await,
                None => self.play_outside(&next, &before, &expected).await,
            };
            assert_eq!(
                seen,
                expected,
                "{}\n{}",
                self.story,
                self.harness.client.transcript()
            );
            self.compare().await;
        }
    }

    /// The call of a move, if it is one.
    fn call(&self, next: &Move, before: &Model) -> Option<(&'static str, Value)> {
        let id = |pick: &Pick| match pick {
            Pick::Known(place) => self.ids[&before.tabs[*place].number],
            // One more than any number so far.
            Pick::Unknown => self.ids.values().max().map_or(1_000, |id| id + 1_000),
        };
        Some(match next {
            Move::Connect { launch } => ("connect_browser", json!({"launch": launch})),
            Move::List => ("list_tabs", json!({})),
            Move::Open { url, focus: None } => ("open_tab", json!({"url": url})),
            Move::Open { url, focus } => ("open_tab", json!({"url": url, "focus": focus})),
            Move::OpenBroken { focus } => {
                let url = self.harness.pages.url("broken");
                ("open_tab", json!({"url": url, "focus": focus}))
            }
            Move::Focus { tab } => ("focus_tab", json!({"tabId": id(tab)})),
            Move::Close { tab: None } => ("close_tab", json!({})),
            Move::Close { tab: Some(tab) } => ("close_tab", json!({"tabId": id(tab)})),
            Move::Act => ("take_snapshot", json!({})),
            _ => return None,
        })
    }

    async fn play(&mut self, next: &Move, tool: &str, arguments: Value) -> Expected {
        let profile = self.profile();
        if tool == "connect_browser" {
            // Files that an ended browser left would mislead the user's connection.
            let _ = std::fs::remove_file(profile.join("DevToolsActivePort"));
        }
        let Step { reply, notices } = self.harness.step(tool, arguments).await;
        self.tell(&format!("    {}", reply.text()));
        let succeeds = Some(!reply.is_error());
        if matches!(next, Move::Connect { .. }) && !reply.is_error() && self.user.is_none() {
            self.user = Some(match OverExtension::here() {
                Some(over) => User::at(&over.websocket()).await,
                None => User::of_profile(&profile).await,
            });
        }
        Expected { succeeds, notices }
    }

    /// Makes a move of the user or the browser, and waits for its effect.
    async fn play_outside(&mut self, next: &Move, before: &Model, expected: &Expected) -> Expected {
        let url = |place: &usize| before.tabs[*place].url.as_str();
        let mut user = self.user.take().expect("a connected browser has a user");
        match next {
            Move::UserOpens { url } => drop(user.opens(url).await),
            Move::UserNavigates { tab, url: to } => user.navigates(url(tab), to).await,
            Move::UserCloses { tab } => user.closes(url(tab)).await,
            Move::Crash { tab } => user.crashes(url(tab)).await,
            _ => self.harness.kill_browser(),
        }
        for _ in 0..expected.notices {
            self.harness.client.next_notification().await;
        }
        if let Some(over) = OverExtension::here() {
            // It might only be disconnected for a moment, so its end is reported after some seconds.
            let is_over = matches!(next, Move::BrowserDies);
            while is_over && self.harness.names().await != ["connect_browser"] {
                self.harness.client.next_notification().await;
            }
            over.start_browser();
        }
        if self.model.connected {
            self.user = Some(user);
            let wanted = |tabs: &Tabs| tabs.urls() == self.urls();
            self.harness.tabs_until(wanted).await;
        }
        let surplus = self.harness.client.take_notifications().await.len();
        Expected {
            succeeds: None,
            notices: expected.notices + surplus,
        }
    }

    /// Compares everything that the agent can see with the model.
    async fn compare(&mut self) {
        let story = || format!("{}\n{}", self.story, self.harness.client.transcript());
        assert_eq!(
            self.harness.names().await,
            self.model.tools(&ACTIONS),
            "{}",
            story()
        );
        if !self.model.connected {
            return;
        }
        let tabs = self.harness.tabs().await;
        assert_eq!(tabs.urls(), self.urls(), "{}", story());
        let focused: Vec<bool> = tabs
            .rows()
            .iter()
            .map(|row| row["focused"] == true)
            .collect();
        let numbers = self.model.tabs.iter().map(|tab| tab.number);
        let expected: Vec<bool> = numbers
            .clone()
            .map(|n| self.model.focused == Some(n))
            .collect();
        assert_eq!(focused, expected, "{}", story());
        for (number, id) in numbers.zip(tabs.ids()) {
            let greatest = self.ids.values().max().copied().unwrap_or_default();
            let known = *self.ids.entry(number).or_insert_with(|| {
                assert!(id > greatest, "tab {id} comes after tab {greatest}");
                id
            });
            assert_eq!(known, id, "a tab keeps its number\n{}", self.story);
        }
        let focused = self.model.focused.map(|number| self.ids[&number]);
        assert_eq!(tabs.focused(), focused, "{}", self.story);
    }

    /// Usually a valid move in this state, sometimes an invalid one.
    fn choose(&mut self) -> Move {
        let tabs = self.model.tabs.len();
        if !self.model.connected && !self.rng.one_in(4) {
            return Move::Connect {
                launch: !self.rng.one_in(4),
            };
        }
        match self.rng.below(24) {
            0 => Move::Connect { launch: true },
            1..=3 => Move::Open {
                url: self.page(),
                focus: None,
            },
            4 => Move::Open {
                url: self.page(),
                focus: Some(true),
            },
            5..=6 => Move::Open {
                url: self.page(),
                focus: Some(false),
            },
            7 => Move::OpenBroken {
                focus: self.rng.one_in(2),
            },
            8..=11 => Move::Focus { tab: self.pick() },
            12..=13 => Move::Close { tab: None },
            14..=15 => Move::Close {
                tab: Some(self.pick()),
            },
            16..=17 => Move::Act,
            18 if self.model.connected => Move::UserOpens { url: self.page() },
            19 if tabs > 0 => Move::UserNavigates {
                tab: self.rng.below(tabs),
                url: self.page(),
            },
            20..=21 if tabs > 0 => Move::UserCloses {
                tab: self.rng.below(tabs),
            },
            22 if tabs > 0 => {
                let tab = self.rng.below(tabs);
                match Capability::CrashesElsewhere.is_given() || self.model.is_held(tab) {
                    true => Move::Crash { tab },
                    false => Move::List,
                }
            }
            23 if self.model.connected && self.rng.one_in(3) => Move::BrowserDies,
            _ => Move::List,
        }
    }

    fn pick(&mut self) -> Pick {
        match self.model.tabs.len() {
            0 => Pick::Unknown,
            _ if self.rng.one_in(6) => Pick::Unknown,
            tabs => Pick::Known(self.rng.below(tabs)),
        }
    }

    /// The address of a page that no tab has shown before.
    fn page(&mut self) -> String {
        self.pages += 1;
        self.harness.pages.url(&format!("page?{}", self.pages))
    }

    fn urls(&self) -> Vec<&str> {
        self.model.tabs.iter().map(|tab| tab.url.as_str()).collect()
    }

    /// Adds to the story, which is also printed when a wait times out.
    fn tell(&mut self, line: &str) {
        self.story += line;
        self.story.push('\n');
        #[expect(
            clippy::print_stderr,
            reason = "the reader of a test run wants to know"
        )]
        {
            eprintln!("{line}");
        }
    }

    fn profile(&self) -> PathBuf {
        self.harness.home.path().join("profile")
    }
}

const STEPS: usize = 25;
