//! `cargo xtask bench --bystander`: how attacks affect a session that is not their target.

mod chrome_alone;
mod page;
mod row;

pub(super) use page::split;

use super::sample::Sample;
use crate::say;
use anyhow::{Context, Result};
use row::{Found, Row};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tabmux_testkit::attacks::{ATTACKS, Attack, Bystander, Lost, RunningAttack, Turns};
use tabmux_testkit::{SharedDaemon, process};
use tokio::time::timeout;

/// The options of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Measure this binary instead of the one that is built here.
    pub(crate) binary: Option<PathBuf>,
    /// Save the numbers to this file, for a later run to compare with.
    pub(crate) save: Option<PathBuf>,
    /// The numbers of an earlier run.
    pub(crate) before: Option<PathBuf>,
    /// Run only attacks with this in their name; then nothing is written.
    pub(crate) attack: Option<String>,
}

impl Wanted {
    /// Reads `--binary PATH`, `--save FILE`, `--before FILE` and `--attack PART`.
    pub(crate) fn read(flags: &[&str]) -> Option<Self> {
        let mut wanted = Self::default();
        let (pairs, []) = flags.as_chunks::<2>() else {
            return None;
        };
        for [name, value] in pairs {
            match *name {
                // The servers are started in other folders.
                "--binary" => wanted.binary = std::path::absolute(value).ok(),
                "--save" => wanted.save = Some(value.into()),
                "--before" => wanted.before = Some(value.into()),
                "--attack" => wanted.attack = Some((*value).to_owned()),
                _ => return None,
            }
        }
        Some(wanted)
    }
}

/// Runs every attack, each in a new daemon with a new browser, and writes the results to
/// `docs/benchmarks.md`.
pub(super) async fn measure(binary: &Path, browser: &Path, wanted: &Wanted) -> Result<()> {
    process::raise_file_limit();
    let before = match &wanted.before {
        Some(file) => row::load(file).context("the earlier numbers cannot be read")?,
        None => Vec::new(),
    };
    let part = wanted.attack.as_deref().unwrap_or_default();
    let load_before = super::peers::load();
    let mut rows = Vec::new();
    for attack in ATTACKS.iter().filter(|attack| attack.name.contains(part)) {
        let mut found = play(attack, binary, browser).await;
        // The host of a virtual machine takes the processor away for milliseconds now and then, and the clock of the
        // thread counts that. An event that costs too much does so in every run.
        if found.missed() == ["loop"] {
            let again = play(attack, binary, browser).await;
            if again.missed().is_empty() {
                found = again;
            }
        }
        if found.is_slowed_down() {
            let alone = chrome_alone::slowdown(attack, browser);
            let alone = timeout(LONGEST_SAMPLE, alone).await;
            found.chrome_alone = alone.ok().and_then(Result::ok).flatten();
        }
        let row = Row {
            attack: attack.name.to_owned(),
            found,
        };
        say(&page::line(&row));
        rows.push(row);
    }
    if let Some(file) = &wanted.save {
        row::save(file, &rows).context("the numbers cannot be saved")?;
    }
    let section = page::section(&rows, &before, binary, &load_before);
    say(&format!("\n{section}"));
    if wanted.attack.is_none() && wanted.binary.is_none() {
        page::write(&section)?;
    }
    judge(&rows)
}

/// An error if an attack affected others more than documented, or none was run.
fn judge(rows: &[Row]) -> Result<()> {
    anyhow::ensure!(!rows.is_empty(), "no attack has such a name");
    let missed = rows.iter().filter_map(|row| {
        let missed = row.found.missed();
        (!missed.is_empty()).then(|| format!("{}: {}", row.attack, missed.join(", ")))
    });
    let missed: Vec<_> = missed.collect();
    anyhow::ensure!(
        missed.is_empty(),
        "these attacks affected others too much:\n{}",
        missed.join("\n")
    );
    Ok(())
}

/// Runs one attack. If it breaks something, the benchmark continues.
async fn play(attack: &'static Attack, binary: &Path, browser: &Path) -> Found {
    let daemon = Arc::new(SharedDaemon::new(binary, browser));
    let played = tokio::spawn(measure_one(attack, Arc::clone(&daemon)));
    match timeout(LONGEST_ATTACK, played).await {
        Ok(Ok(found)) => found,
        Ok(Err(error)) => Found::lost(format!("the attack could not be run: {error}")),
        Err(_) => Found::lost(format!("nothing ended within {LONGEST_ATTACK:?}")),
    }
}

async fn measure_one(attack: &'static Attack, daemon: Arc<SharedDaemon>) -> Found {
    let bystander = Bystander::arrive(&daemon).await;
    // Warm up: first calls are slower.
    let _ = snapshots(&bystander, WARM_UP).await;
    let (quiet, _) = snapshots(&bystander, QUIET).await;
    let Some(pid) = daemon.pid() else {
        return Found::lost("there is no daemon");
    };
    process::reset_peak(pid);
    let attacked = tokio::spawn(attacked(attack, Arc::clone(&daemon), bystander));
    let attacked = attacked.await;
    let peak = process::peak_bytes(pid);
    let (sample, mut wrong) = match attacked {
        Ok(attacked) => attacked,
        Err(error) => (Sample::default(), vec![error.to_string()]),
    };
    if daemon.pid() != Some(pid) {
        wrong.insert(0, "the daemon was lost".to_owned());
    }
    wrong.extend(daemon.panics());
    let status = timeout(LONGEST_STATUS, daemon.status()).await;
    let worst = status.ok().flatten().as_ref().and_then(row::worst_event);
    let (loop_event, loop_cost) = worst.unzip();
    Found {
        peak,
        loop_cost,
        loop_event,
        wrong,
        ..Found::of(&quiet, &sample)
    }
}

/// How long snapshots take during an attack, and what went wrong.
async fn attacked(
    attack: &'static Attack,
    daemon: Arc<SharedDaemon>,
    bystander: Bystander,
) -> (Sample, Vec<String>) {
    let browser = daemon.browser_pid();
    let playing = attack.begin(&daemon, Turns::UntilTheEnd).await;
    let (sample, lost) = snapshots(&bystander, ATTACKED).await;
    let mut wrong = Vec::new();
    if !browser.is_some_and(process::is_alive) {
        wrong.push("the browser was lost".to_owned());
    }
    wrong.extend(lost.map(|lost| lost.0));
    if wrong.is_empty() {
        wrong = holds(playing).await;
    }
    (sample, wrong)
}

/// Failed checks other than times. Skipped if the bystander has already lost something.
async fn holds(playing: RunningAttack) -> Vec<String> {
    let mut wrong: Vec<String> = Vec::new();
    let held = playing.complaints().await;
    for complaint in held.into_iter().chain(playing.end().await.complaints) {
        // The attack repeats its calls.
        if wrong.len() < MOST_COMPLAINTS && !wrong.contains(&complaint) {
            wrong.push(complaint);
        }
    }
    wrong
}

/// Takes one snapshot after the other for a while, as an agent would; stops when one fails.
async fn snapshots(bystander: &Bystander, duration: Duration) -> (Sample, Option<Lost>) {
    let mut sample = Sample::default();
    let begun = Instant::now();
    while begun.elapsed() < duration || sample.len() < FEWEST {
        match bystander.snapshot().await {
            Ok(took) => sample.push(took),
            Err(lost) => return (sample, Some(lost)),
        }
        tokio::time::sleep(PAUSE).await;
        if begun.elapsed() > LONGEST_SAMPLE {
            break;
        }
    }
    (sample, None)
}

const WARM_UP: Duration = Duration::from_millis(500);
const QUIET: Duration = Duration::from_secs(2);
const ATTACKED: Duration = Duration::from_secs(5);
/// The pause between calls, as of an agent that thinks.
const PAUSE: Duration = Duration::from_millis(10);
/// The fewest snapshots for a meaningful p95; slow ones are waited for.
const FEWEST: usize = 20;
const LONGEST_SAMPLE: Duration = Duration::from_secs(60);
const MOST_COMPLAINTS: usize = 8;
const LONGEST_STATUS: Duration = Duration::from_secs(10);
const LONGEST_ATTACK: Duration = Duration::from_secs(300);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bench_that_misses_a_promise_fails() {
        let row = |p95| Row {
            attack: format!("{p95} ms"),
            found: Found {
                quiet_p95: 5.0,
                p95,
                peak: Some(1),
                ..Found::default()
            },
        };
        assert!(judge(&[row(49.0)]).is_ok());
        let error = judge(&[row(49.0), row(51.0)]).unwrap_err().to_string();
        assert!(error.ends_with("51 ms: time"), "{error}");
        assert!(judge(&[]).is_err());
    }

    #[test]
    fn flags_come_with_their_values() {
        assert_eq!(Wanted::read(&[]), Some(Wanted::default()));
        let wanted = Wanted::read(&["--binary", "/a/tabmux", "--attack", "console"]);
        let wanted = wanted.unwrap();
        assert_eq!(wanted.binary, Some("/a/tabmux".into()));
        assert_eq!(wanted.attack.as_deref(), Some("console"));
        assert_eq!(Wanted::read(&["--binary"]), None);
        assert_eq!(Wanted::read(&["--what", "x"]), None);
    }
}
