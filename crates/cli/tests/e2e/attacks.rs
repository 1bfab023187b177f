//! Runs every known attack while another session works and must not be affected.
//!
//! `cargo xtask bench --bystander` measures how long that session waits; here only its answers count.

#![expect(
    clippy::print_stderr,
    reason = "shown if a test fails: which attack was played, and how it was answered"
)]

use std::path::Path;
use std::sync::Arc;
use tabmux_testkit::attacks::{ATTACKS, Attack, Bystander, Group, MOST_MEMORY, Turns};
use tabmux_testkit::{SharedDaemon, process};

#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_says_harms_nobody_else() {
    play(Group::Console).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_offers_as_tools_harms_nobody_else() {
    play(Group::PageTools).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_consists_of_harms_nobody_else() {
    play(Group::Documents).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_does_with_the_browser_harms_nobody_else() {
    play(Group::Browsing).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn floods_of_connections_harm_nobody_else() {
    play(Group::Connections).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_calls_harm_nobody_else() {
    play(Group::Calls).await;
}

/// Runs the attacks of a group one after the other, with the same bystander in the same browser. Reports all
/// failures together.
async fn play(group: Group) {
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    process::raise_file_limit();
    let binary = Path::new(env!("CARGO_BIN_EXE_tabmux"));
    // An endless call ends at its deadline; a short one keeps the test fast.
    let daemon = SharedDaemon::new(binary, &browser).with("TABMUX_CALL_SECONDS", "6");
    let daemon = Arc::new(daemon);
    let mut bystander = Bystander::arrive(&daemon).await;
    let pid = daemon.pid().expect("there is a daemon");
    let chosen = std::env::var("TABMUX_ATTACK").unwrap_or_default();
    let attacks = ATTACKS.iter().filter(|attack| attack.group == group);
    let mut complaints = Vec::new();
    let mut panics_seen = 0;
    for attack in attacks.filter(|attack| attack.name.contains(&chosen)) {
        let begun = std::time::Instant::now();
        let mut wrong = play_one(attack, &daemon, &mut bystander, pid).await;
        let panics = daemon.panics();
        wrong.extend(panics.iter().skip(panics_seen).cloned());
        panics_seen = panics.len();
        eprintln!("{:?} {}: {wrong:#?}", begun.elapsed(), attack.name);
        complaints.extend(
            wrong
                .into_iter()
                .map(|wrong| format!("{}: {wrong}", attack.name)),
        );
        if daemon.pid() != Some(pid) || bystander.is_intact().await.is_err() {
            complaints.push("what follows was not played".to_owned());
            break;
        }
    }
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

async fn play_one(
    attack: &'static Attack,
    daemon: &Arc<SharedDaemon>,
    bystander: &mut Bystander,
    pid: u32,
) -> Vec<String> {
    process::reset_peak(pid);
    let playing = attack.begin(daemon, Turns::Once).await;
    let mut complaints = Vec::new();
    let mut rounds = 0;
    while rounds < ROUNDS || !playing.has_all_answers() {
        rounds += 1;
        if let Err(lost) = bystander.round().await {
            complaints.push(format!("during it, the bystander lost: {lost}"));
            break;
        }
    }
    complaints.extend(playing.complaints().await);
    let outcome = playing.end().await;
    for answer in &outcome.answers {
        eprintln!("    {answer}");
    }
    complaints.extend(outcome.complaints);
    if let Err(lost) = bystander.is_intact().await {
        complaints.push(format!("after it, the bystander lost: {lost}"));
    }
    if daemon.pid() != Some(pid) {
        complaints.push("the daemon is not the same process".to_owned());
    }
    match process::peak_bytes(pid) {
        Some(peak) if peak <= MOST_MEMORY => {}
        peak => complaints.push(format!("the daemon had {peak:?} bytes of memory")),
    }
    complaints
}

/// The fewest calls of the bystander during an attack.
const ROUNDS: usize = 20;
