//! What each call of `run_steps` answered, as data: bounded, so that many calls do not cost more than a long answer.

use serde::Serialize;
use serde_json::{Value, json};
use tabmux_text::{one_line, shorten};

/// The answers so far.
#[derive(Debug, Default)]
pub(super) struct Results(Vec<StepResult>);

#[derive(Debug, Serialize)]
struct StepResult {
    step: usize,
    tool: String,
    ok: bool,
    text: String,
    #[serde(skip)]
    is_plain: bool,
}

impl Results {
    /// A call that succeeded or failed.
    pub(super) fn add(&mut self, step: usize, tool: &str, ok: bool, text: &str) {
        self.0.push(StepResult {
            step,
            tool: one_line(tool, 60),
            ok,
            text: excerpt(tool, text, LONGEST),
            is_plain: ok && is_plain_action(tool),
        });
    }

    /// Writes them into the data of the answer. Of many calls, plain actions that succeeded are left out.
    pub(super) fn write_to(&self, structured: &mut Value) {
        let are_few = self.0.len() <= FEW;
        let mut room = MOST_CHARACTERS;
        let wanted = self.0.iter().filter(|it| are_few || !it.is_plain);
        let kept = wanted.take_while(|it| {
            let length = it.text.chars().count();
            let fits = length <= room;
            room = room.saturating_sub(length);
            fits
        });
        let kept: Vec<_> = kept.collect();
        if kept.len() < self.0.len() {
            structured["leftOut"] = json!(self.0.len() - kept.len());
        }
        structured["results"] = json!(kept);
    }
}

/// What an answer tells: the first line of a plain action, and up to `limit` characters of any other.
pub(super) fn excerpt(tool: &str, text: &str, limit: usize) -> String {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    if is_plain_action(tool) || limit <= SHORT {
        return one_line(lines.next().unwrap_or("Done."), SHORT);
    }
    let lines: Vec<_> = lines.collect();
    match lines.is_empty() {
        true => "Done.".to_owned(),
        false => shorten(lines.join("\n").trim(), limit),
    }
}

/// Whether the answer of a tool only confirms what it did. Tools of pages are asked for what they answer.
fn is_plain_action(tool: &str) -> bool {
    tabmux_browser::tools::find(tool).is_some_and(|tool| tool.is_plain_action())
}

/// Of an answer that is worth reading.
pub(super) const LONGEST: usize = 300;
/// Of one that only confirms.
pub(super) const SHORT: usize = 90;
/// In how many calls plain actions are data, too.
const FEW: usize = 20;
/// Of the texts of all results.
const MOST_CHARACTERS: usize = 6_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn written(results: &Results) -> Value {
        let mut structured = json!({});
        results.write_to(&mut structured);
        structured
    }

    #[test]
    fn each_call_has_a_result() {
        let mut results = Results::default();
        results.add(1, "click", true, "Clicked.\nmore");
        results.add(2, "find", true, "uid=1_2 button\n\nuid=1_3 link");
        results.add(3, "total", false, "It threw.");
        let told = json!([
            {"step": 1, "tool": "click", "ok": true, "text": "Clicked."},
            {"step": 2, "tool": "find", "ok": true, "text": "uid=1_2 button\nuid=1_3 link"},
            {"step": 3, "tool": "total", "ok": false, "text": "It threw."},
        ]);
        assert_eq!(written(&results), json!({ "results": told }));
    }

    #[test]
    fn results_are_bounded_and_the_rest_counted() {
        let mut results = Results::default();
        for step in 1..=50 {
            results.add(step, "click", true, "Clicked.");
            results.add(step, "total", true, &"é".repeat(500));
        }
        let written = written(&results);
        let kept = written["results"].as_array().unwrap();
        assert!(kept.iter().all(|it| it["tool"] == "total"));
        let first = kept[0]["text"].as_str().unwrap();
        assert_eq!(first.chars().count(), LONGEST + 1, "with the ellipsis");
        assert_eq!(kept.len(), MOST_CHARACTERS / (LONGEST + 1));
        assert_eq!(written["leftOut"], 100 - kept.len());
    }
}
