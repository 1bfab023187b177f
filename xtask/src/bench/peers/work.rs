//! One turn of one server: start it, run the jobs, record the times.

use super::dialect::{Job, Peer};
use super::pages::{FIELDS, PRESSED, filled};
use super::peer_server::{Done, PeerServer, new_page, opened_page, succeeded};
use super::results::{Results, Row};
use super::{Bench, EVALUATIONS};
use crate::bench::sample::millis;
use anyhow::{Result, ensure};
use std::time::Instant;
use tabmux_testkit::FixtureServer;

pub(super) async fn round(
    peer: Peer,
    bench: &Bench,
    pages: &FixtureServer,
    results: &mut Results,
) -> Result<()> {
    for _ in 0..STARTS {
        let peer_server = PeerServer::take(peer, bench).await?;
        results.note(Row::Start, peer, millis(peer_server.started));
    }
    let peer_server = PeerServer::take(peer, bench).await?;
    results.note(Row::ListBytes, peer, peer_server.list_bytes().await as f64);
    results.note(Row::MemoryIdle, peer, peer_server.memory() as f64 / 1e6);
    let first = peer_server.does(&Job::Open(&pages.url("small"))).await?;
    results.note(
        Row::FirstPage,
        peer,
        millis(peer_server.started + first.took),
    );

    let mut turn = Turn {
        peer_server,
        pages,
        results,
    };
    turn.evaluate().await;
    turn.clicks(Row::Click, "small", 5).await;
    turn.clicks(Row::BusyClick, "busy", 2).await;
    turn.form().await;
    turn.seeing(Row::SmallSnapshot, "small", &Job::Snapshot, 5)
        .await;
    turn.seeing(Row::LongSnapshot, "rows.html", &Job::Snapshot, 3)
        .await;
    turn.seeing(Row::Screenshot, "small", &Job::Screenshot, 4)
        .await;
    turn.navigate().await;
    let memory = turn.peer_server.memory() as f64 / 1e6;
    turn.results.note(Row::MemoryUsed, peer, memory);
    turn.ten_tabs().await;
    Ok(())
}

struct Turn<'a> {
    peer_server: PeerServer,
    pages: &'a FixtureServer,
    results: &'a mut Results,
}

impl Turn<'_> {
    async fn evaluate(&mut self) {
        for _ in 0..EVALUATIONS {
            let done = self.peer_server.does(&Job::Evaluate("1+1")).await;
            self.note(Row::Evaluate, done);
        }
    }

    /// Clicks, and checks that every click arrived.
    async fn clicks(&mut self, row: Row, page: &str, times: usize) {
        let work = async {
            self.open(page).await?;
            let button = self.peer_server.references(&["Press".into()]).await?;
            let mut all = Vec::new();
            for _ in 0..times {
                all.push(
                    self.peer_server
                        .does(&Job::Click(button.join("").as_str()))
                        .await?,
                );
            }
            self.sees(PRESSED, &format!("pressed {times}")).await?;
            Ok(all)
        };
        let done = work.await;
        self.note_all(row, done);
    }

    /// Fills the form twice with different values, and checks them.
    async fn form(&mut self) {
        let work = async {
            self.open("form").await?;
            let names: Vec<String> = (1..=FIELDS).map(|n| format!("Field {n}")).collect();
            let references = self.peer_server.references(&names).await?;
            let mut all = Vec::new();
            for stamp in 0..2 {
                let fields: Vec<(String, String)> = (1..)
                    .zip(&references)
                    .map(|(n, reference)| (reference.clone(), format!("f{n}-{stamp}")))
                    .collect();
                all.push(self.peer_server.does(&Job::Fill(&fields)).await?);
                self.sees(&filled(stamp), &format!("filled {FIELDS}"))
                    .await?;
            }
            Ok(all)
        };
        let done = work.await;
        self.note_all(Row::Form, done);
    }

    async fn seeing(&mut self, row: Row, page: &str, job: &Job<'_>, times: usize) {
        let opened = self.open(page).await;
        for _ in 0..times {
            let done = match &opened {
                Ok(()) => self.peer_server.does(job).await,
                Err(why) => Err(anyhow::anyhow!("{why}")),
            };
            if let (Row::LongSnapshot, Ok(done)) = (row, &done) {
                for (row, bytes) in [
                    (Row::LongSnapshotBytes, done.bytes),
                    (Row::LongSnapshotText, done.text.len()),
                ] {
                    self.results.note(row, self.peer_server.peer, bytes as f64);
                }
            }
            self.note(row, done);
        }
    }

    async fn navigate(&mut self) {
        for number in 0..5 {
            let url = self.pages.url(&format!("small?{number}"));
            let done = self.peer_server.does(&Job::Open(&url)).await;
            self.note(Row::Navigate, done);
        }
    }

    /// Scripts that wait for a second in ten tabs, all sent before the first has answered.
    async fn ten_tabs(&mut self) {
        let peer = self.peer_server.peer;
        if peer.evaluate_in(0, WAIT).is_none() {
            return;
        }
        let took = async {
            let mut tabs = Vec::new();
            for _ in 0..10 {
                let opened = self
                    .peer_server
                    .begin(new_page(&self.pages.url("small")))
                    .await;
                tabs.push(opened_page(&succeeded(&opened).await?.text())?);
            }
            let begun = Instant::now();
            let mut waits = Vec::new();
            for call in tabs.iter().filter_map(|tab| peer.evaluate_in(*tab, WAIT)) {
                waits.push(self.peer_server.begin(call).await);
            }
            for wait in &waits {
                succeeded(wait).await?;
            }
            anyhow::Ok(millis(begun.elapsed()))
        }
        .await;
        match took {
            Ok(took) => self.results.note(Row::TenTabs, peer, took),
            Err(why) => self.results.failed(Row::TenTabs, peer, why.to_string()),
        }
    }

    async fn open(&self, page: &str) -> Result<()> {
        self.peer_server
            .does(&Job::Open(&self.pages.url(page)))
            .await?;
        Ok(())
    }

    async fn sees(&self, expression: &str, wanted: &str) -> Result<()> {
        let seen = self
            .peer_server
            .does(&Job::Evaluate(expression))
            .await?
            .text;
        ensure!(
            seen.contains(wanted),
            "wanted {wanted:?}, the page says {seen}"
        );
        Ok(())
    }

    fn note_all(&mut self, row: Row, done: Result<Vec<Done>>) {
        match done {
            Ok(all) => all.into_iter().for_each(|done| self.note(row, Ok(done))),
            Err(why) => self.note(row, Err(why)),
        }
    }

    fn note(&mut self, row: Row, done: Result<Done>) {
        match done {
            Ok(done) => self
                .results
                .note(row, self.peer_server.peer, millis(done.took)),
            Err(why) => self
                .results
                .failed(row, self.peer_server.peer, why.to_string()),
        }
    }
}

const WAIT: &str = "new Promise(done => setTimeout(() => done(1), 1000))";
const STARTS: usize = 3;
