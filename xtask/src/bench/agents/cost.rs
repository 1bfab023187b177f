//! A server at play, and what its calls cost: each call, the bytes of its answer, and every tool list that a client
//! fetches.

use super::dialects::Server;
use crate::bench::peers::{Bench, Call, Job, PeerServer};
use anyhow::{Context, Result, bail};
use serde_json::json;
use std::time::{Duration, Instant};
use tabmux_testkit::ToolReply;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cost {
    pub(super) calls: usize,
    pub(super) answer_bytes: usize,
    /// With the instructions that a server gives at the start.
    pub(super) list_bytes: usize,
    /// How often the list was fetched.
    pub(super) lists: usize,
    pub(super) took: Duration,
}

impl Cost {
    /// What was added since an earlier count.
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            calls: self.calls - before.calls,
            answer_bytes: self.answer_bytes - before.answer_bytes,
            list_bytes: self.list_bytes - before.list_bytes,
            lists: self.lists - before.lists,
            took: self.took.saturating_sub(before.took),
        }
    }

    /// What the model must read.
    pub(super) fn bytes(self) -> usize {
        self.answer_bytes + self.list_bytes
    }
}

/// The call that took longest, by its tool: a wait is not hidden in the sum.
#[derive(Clone, Debug, Default)]
pub(super) struct Slowest {
    pub(super) took: Duration,
    pub(super) tool: String,
}

impl Slowest {
    fn note(&mut self, tool: &str, took: Duration) {
        if took > self.took {
            *self = Self {
                took,
                tool: tool.to_owned(),
            };
        }
    }
}

pub(super) struct Player {
    pub(super) server: Server,
    /// Whether several actions are one call.
    pub(super) has_steps: bool,
    pub(super) cost: Cost,
    /// The call that took longest, by its tool.
    pub(super) slowest: Slowest,
    peer_server: PeerServer,
    /// The changes of the list that were followed by fetching it.
    followed: usize,
    has_tab: bool,
}

/// The answer to a call.
pub(super) struct Answer {
    pub(super) done: bool,
    /// How many calls `run_steps` made, if it stopped.
    pub(super) calls_done: usize,
    pub(super) text: String,
}

impl Player {
    pub(super) async fn start(server: Server, bench: &Bench) -> Result<Self> {
        let peer_server = PeerServer::with_flags(server.peer, server.flags, bench).await?;
        let mut player = Self {
            server,
            has_steps: false,
            cost: Cost::default(),
            slowest: Slowest::default(),
            peer_server,
            followed: 0,
            has_tab: false,
        };
        player.cost.list_bytes = player.peer_server.instruction_bytes;
        player.fetch_list().await;
        Ok(player)
    }

    /// Opens a page as the server's mode wants it.
    pub(super) async fn open(&mut self, url: &str) -> Result<String> {
        if self.server.is_progressive() && !self.has_tab {
            self.call(("connect_browser", json!({"launch": true})))
                .await?;
            let answer = self.call(("open_tab", json!({"url": url}))).await?;
            self.has_tab = true;
            return Ok(answer.text);
        }
        self.job(&Job::Open(url)).await
    }

    /// Asks the page by a script; counted like any call.
    pub(super) async fn evaluate(&mut self, expression: &str) -> Result<String> {
        self.job(&Job::Evaluate(expression)).await
    }

    /// Whether an expression is true in the page; not counted.
    pub(super) async fn check(&self, expression: &str) -> Result<()> {
        let job = format!("({expression}) ? 'check passed' : 'check failed'");
        let said = self.peer_server.does(&Job::Evaluate(&job)).await?.text;
        match said.contains("check passed") {
            true => Ok(()),
            false => bail!("the page is not as it should be at the end: {said}"),
        }
    }

    async fn job(&mut self, job: &Job<'_>) -> Result<String> {
        let mut calls = self.server.peer.calls(job);
        let answer = self.call(calls.remove(0)).await?;
        match answer.done {
            true => Ok(answer.text),
            false => bail!("{}", answer.text),
        }
    }

    pub(super) async fn call(&mut self, call: Call) -> Result<Answer> {
        let begun = Instant::now();
        let said = format!("{} {}", call.0, call.1);
        let tool = call.0;
        let answer = self.peer_server.begin(call).await.answer().await;
        let took = begun.elapsed();
        self.cost.took += took;
        self.slowest.note(tool, took);
        let reply = answer.map_err(|error| anyhow::anyhow!("{error}"));
        let reply = ToolReply::new(reply.with_context(|| said.clone())?);
        self.cost.calls += 1;
        self.cost.answer_bytes += reply.raw.to_string().len();
        self.follow_list().await;
        let answer = Answer {
            done: !reply.is_error() && reply.raw["structuredContent"]["stopped"].is_null(),
            calls_done: reply.raw["structuredContent"]["done"].as_u64().unwrap_or(0) as usize,
            text: reply.text(),
        };
        if std::env::var_os("TABMUX_BENCH_CALLS").is_some() {
            crate::say(&format!(
                "> {said} ({} ms)\n{}",
                took.as_millis(),
                answer.text
            ));
        }
        Ok(answer)
    }

    /// Fetches the list once for each change that was announced, as clients do.
    async fn follow_list(&mut self) {
        while self.followed < self.peer_server.list_changes() {
            self.followed += 1;
            self.fetch_list().await;
        }
    }

    async fn fetch_list(&mut self) {
        let begun = Instant::now();
        let tools = self.peer_server.list_tools().await;
        self.cost.took += begun.elapsed();
        self.cost.lists += 1;
        self.cost.list_bytes += json!({"tools": tools}).to_string().len();
        self.has_steps |= tools.iter().any(|tool| tool["name"] == "run_steps");
    }
}
