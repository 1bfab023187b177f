//! A session that is unrelated to an attack, and must not be affected by it.

use super::calls::{Answer, ask_within};
use crate::{McpClient, Response, SharedDaemon};
use serde_json::{Value, json};
use std::fmt;
use std::time::{Duration, Instant};

/// One client with one tab, in the same browser as the attacker.
#[derive(Debug)]
pub struct Bystander {
    client: McpClient,
    url: String,
    /// How often its page was told to count.
    counted: u64,
}

/// What the bystander lost.
#[derive(Clone, Debug)]
pub struct Lost(pub String);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Bystander {
    /// The document of its page.
    pub fn page() -> String {
        format!("<!doctype html><title>{SECRET}</title>{PAGE}")
    }

    /// Connects, opens its page, and stores some state in it.
    pub async fn arrive(daemon: &SharedDaemon) -> Self {
        daemon
            .pages
            .route("/bystander", Response::html(Self::page()));
        let client = daemon.client().await;
        // Another site than the attackers': all pages of one host share one cookie jar, which Chrome limits.
        let url = daemon.pages.cross_site_url("/bystander");
        client.call_tool("new_page", json!({"url": url})).await.ok();
        let mut bystander = Self {
            client,
            url,
            counted: 0,
        };
        let begun =
            bystander.evaluate("() => { document.cookie = 'mine=1'; return window.count = 0; }");
        assert_eq!(begun.await.expect("a quiet beginning"), json!(0));
        bystander.round().await.expect("a quiet first round");
        bystander
    }

    /// Reads its page, counts in it and presses its button; everything must be unchanged.
    pub async fn round(&mut self) -> Result<(), Lost> {
        self.snapshot().await?;
        self.counted += 1;
        let counted = self.evaluate("() => ++window.count").await?;
        match counted == json!(self.counted) {
            true => Ok(()),
            false => Err(Lost(format!(
                "its page has counted {counted}, and not {}",
                self.counted
            ))),
        }
    }

    /// Takes a snapshot of its page; returns how long that took.
    pub async fn snapshot(&self) -> Result<Duration, Lost> {
        let begun = Instant::now();
        let text = self.ask("take_snapshot", json!({})).await?;
        let took = begun.elapsed();
        match text.contains(SECRET) && text.contains("button \"Press\"") {
            true => Ok(took),
            false => Err(Lost(format!("its snapshot shows another page: {text}"))),
        }
    }

    /// Checks that its tab is there with its state, and can be used.
    pub async fn is_intact(&mut self) -> Result<(), Lost> {
        let pages = self.ask("list_pages", json!({})).await?;
        if !pages.contains(&self.url) {
            return Err(Lost(format!("its page is not in the list: {pages}")));
        }
        let cookie = self.evaluate("() => document.cookie").await?;
        if cookie != json!("mine=1") {
            return Err(Lost(format!("its cookie is {cookie}")));
        }
        self.press().await?;
        self.round().await
    }

    /// Presses its button, and checks that exactly this happened.
    async fn press(&self) -> Result<(), Lost> {
        let pressed = "() => Number(document.querySelector('button').value)";
        let before = self.evaluate(pressed).await?;
        let snapshot = self.ask("take_snapshot", json!({})).await?;
        let line = snapshot
            .lines()
            .find(|line| line.contains("button \"Press\""));
        let uid = line.and_then(|line| line.split("uid=").nth(1)?.split(' ').next());
        let uid = uid.ok_or_else(|| Lost(format!("its button is gone: {snapshot}")))?;
        self.ask("click", json!({"uid": uid})).await?;
        let after = self.evaluate(pressed).await?;
        match before.as_u64().map(|before| before + 1) == after.as_u64() {
            true => Ok(()),
            false => Err(Lost(format!(
                "its button was at {before} and is at {after}"
            ))),
        }
    }

    async fn evaluate(&self, function: &str) -> Result<Value, Lost> {
        let text = self
            .ask("evaluate_script", json!({"function": function}))
            .await?;
        serde_json::from_str(&text).map_err(|error| Lost(format!("no JSON ({error}): {text}")))
    }

    async fn ask(&self, tool: &str, arguments: Value) -> Result<String, Lost> {
        let answer = ask_within(&self.client, tool, arguments, LIMIT).await;
        match answer {
            Answer::Said {
                text,
                is_error: false,
                ..
            } => Ok(text),
            Answer::Said { tool, text, .. } => Err(Lost(format!("{tool} failed: {text}"))),
            Answer::None { tool, why } => Err(Lost(format!("{tool}: {why}"))),
        }
    }
}

const SECRET: &str = "The bystander's own page";
const PAGE: &str = "<h1>The bystander's own page</h1><p>No other session uses it.</p>\
                    <button onclick='this.value++' value=0>Press</button>";
/// Longer than any call takes.
const LIMIT: Duration = Duration::from_secs(40);
