//! Compares two builds: they take turns, so that both have the same machine.

use super::tabmux_alone;
use crate::say;
use std::collections::BTreeMap;
use std::path::Path;

/// The numbers of each row, one for each round.
type Rounds = BTreeMap<String, Vec<f64>>;

/// Measures both builds several times, and prints the medians and their ratios.
pub(super) async fn measure(earlier: &Path, later: &Path, browser: &Path) {
    let (mut before, mut after) = (Rounds::new(), Rounds::new());
    for round in 0..ROUNDS {
        let mut turns = [(earlier, &mut before), (later, &mut after)];
        // The first of a pair warms the machine for the second.
        if round % 2 == 1 {
            turns.reverse();
        }
        for (binary, rounds) in turns {
            say(&format!(
                "Round {} of {ROUNDS}: {}",
                round + 1,
                binary.display()
            ));
            for (row, number) in tabmux_alone(binary, browser).await.numbers() {
                rounds.entry(row).or_default().push(number);
            }
        }
    }
    for line in lines(&before, &after) {
        say(&line);
    }
}

fn lines(before: &Rounds, after: &Rounds) -> Vec<String> {
    let both = before
        .iter()
        .filter_map(|(row, earlier)| Some((row, median(earlier), median(after.get(row)?))));
    let shown = both.map(|(row, earlier, later)| {
        let ratio = later / earlier;
        let sign = if ratio > SLOWER { "✗" } else { " " };
        format!("{sign} {ratio:>6.2} ×  {earlier:>12.2} → {later:<12.2} {row}")
    });
    shown.collect()
}

fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

const ROUNDS: usize = 5;
/// A later build may be this much slower.
const SLOWER: f64 = 1.05;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slower_row_is_marked_and_one_round_does_not_decide() {
        let row = |name: &str, numbers: &[f64]| (name.to_owned(), numbers.to_vec());
        let before = Rounds::from([row("a", &[1.0, 9.0, 1.0]), row("b", &[1.0])]);
        let after = Rounds::from([
            row("a", &[1.0, 1.0, 9.0]),
            row("b", &[1.1]),
            row("c", &[1.0]),
        ]);
        let lines = lines(&before, &after);
        let marks: Vec<_> = lines.iter().map(|line| line.starts_with('✗')).collect();
        assert_eq!(marks, [false, true], "{lines:?}");
    }
}
