//! The answer of `run_steps`: a line for each call, where it stopped and why, and what changed on the page.

use super::results::{LONGEST, Results, SHORT, excerpt};
use serde_json::{Map, Value, json, value::to_raw_value};
use tabmux_protocol::{CallReply, Content};
use tabmux_text::{one_line, shorten};

/// What was done so far.
#[derive(Debug, Default)]
pub(super) struct Report {
    lines: Vec<Line>,
    results: Results,
    /// How many characters of answers the lines tell, beyond a short line each.
    told: usize,
    /// How many calls the steps make at most.
    pub(super) of: usize,
    stopped: Option<Stopped>,
    pub(super) changes: String,
    /// What the session has to know besides.
    pub(super) notes: Vec<String>,
}

#[derive(Debug, PartialEq, Eq)]
struct Line {
    /// The number of the step.
    step: usize,
    what: String,
    told: String,
}

#[derive(Debug)]
struct Stopped {
    step: usize,
    reason: String,
    failed: bool,
}

impl Report {
    pub(super) fn new(of: usize) -> Self {
        Self {
            of,
            ..Self::default()
        }
    }

    /// A call that succeeded.
    pub(super) fn done(
        &mut self,
        step: usize,
        tool: &str,
        arguments: &Map<String, Value>,
        reply: &CallReply,
    ) {
        let text = text_of(reply);
        self.results.add(step, tool, true, &text);
        let limit = match self.told > MOST_TOLD {
            true => SHORT,
            false => LONGEST,
        };
        let told = excerpt(tool, &text, limit);
        self.told += told.chars().count().saturating_sub(SHORT);
        self.lines.push(Line {
            step,
            what: what(tool, arguments),
            // No line of an answer can be mistaken for one of ours.
            told: told.replace('\n', "\n   "),
        });
    }

    /// The call in which a step failed.
    pub(super) fn failed(
        &mut self,
        step: usize,
        tool: &str,
        arguments: &Map<String, Value>,
        why: &str,
    ) {
        self.results.add(step, tool, false, why);
        self.stopped = Some(Stopped {
            step,
            reason: format!(
                "{} failed: {}",
                what(tool, arguments),
                shorten(why, LONGEST_ERROR)
            ),
            failed: true,
        });
    }

    /// Something other than a failure stopped the steps.
    pub(super) fn stop(&mut self, step: usize, reason: impl Into<String>) {
        self.stopped = Some(Stopped {
            step,
            reason: reason.into(),
            failed: false,
        });
    }

    pub(super) fn reply(&self) -> CallReply {
        let done = self.lines.len();
        let mut text = self.calls();
        if done == 0 && self.stopped.is_none() {
            text.push_str(HOLDS_ALREADY);
        }
        if let Some(stopped) = &self.stopped {
            text.push_str(&format!(
                "Stopped at step {}: {}\n{done} of at most {} calls were made and succeeded; those after it were not \
                 made.\n",
                stopped.step, stopped.reason, self.of
            ));
        }
        text.push_str(&self.changes);
        let mut structured = json!({ "done": done, "of": self.of });
        self.results.write_to(&mut structured);
        if let Some(stopped) = &self.stopped {
            structured["stopped"] = json!({ "step": stopped.step, "reason": stopped.reason });
        }
        CallReply {
            structured: to_raw_value(&structured).ok(),
            is_error: self.stopped.as_ref().is_some_and(|stopped| stopped.failed),
            content: self.content(text.trim_end()),
            ..CallReply::default()
        }
    }

    fn content(&self, text: &str) -> Vec<Content> {
        let notes = self.notes.iter().map(String::as_str);
        let texts = std::iter::once(text).chain(notes).map(str::to_owned);
        texts.map(|text| Content::Text { text }).collect()
    }

    /// A line for each call; equal ones in a row are one line. Of many, those of the same step that tell the same are
    /// one line.
    fn calls(&self) -> String {
        let rows: Vec<&[Line]> = self.lines.chunk_by(PartialEq::eq).collect();
        if rows.len() <= MOST_LINES {
            return numbered(&rows);
        }
        let mut groups: Vec<(&Line, usize)> = Vec::new();
        for line in &self.lines {
            let same =
                |(one, _): &&mut (&Line, usize)| one.step == line.step && one.told == line.told;
            match groups.iter_mut().find(same) {
                Some((_, count)) => *count += 1,
                None => groups.push((line, 1)),
            }
        }
        let mut text = String::new();
        for (line, count) in groups.iter().take(MOST_LINES) {
            let times = if *count > 1 {
                format!(" and {} more like it", count - 1)
            } else {
                String::new()
            };
            text.push_str(&format!(
                "Step {}: {}{times}: {}\n",
                line.step, line.what, line.told
            ));
        }
        if groups.len() > MOST_LINES {
            text.push_str(&format!(
                "… and {} more kinds of answers.\n",
                groups.len() - MOST_LINES
            ));
        }
        text
    }
}

/// `1. click "Save": Clicked.`, or `1–12.` for equal calls.
fn numbered(rows: &[&[Line]]) -> String {
    let mut text = String::new();
    let mut made = 0;
    for row in rows {
        let Some(line) = row.first() else { continue };
        let first = made + 1;
        made += row.len();
        let numbers = match row.len() {
            1 => format!("{first}"),
            _ => format!("{first}–{made}"),
        };
        text.push_str(&format!("{numbers}. {}: {}\n", line.what, line.told));
    }
    text
}

/// The text of a reply.
pub(super) fn text_of(reply: &CallReply) -> String {
    let texts = reply.content.iter().filter_map(Content::as_text);
    texts.collect::<Vec<_>>().join("\n")
}

/// The tool and its target. Values are not repeated: they may be secret. A `name` given to a tool of a page is a value.
fn what(tool: &str, arguments: &Map<String, Value>) -> String {
    if tabmux_browser::tools::find(tool).is_none() {
        return one_line(tool, 60);
    }
    let text = |key: &str| arguments.get(key).and_then(Value::as_str);
    let quoted = |text: &str| format!("{:?}", one_line(text, 40));
    let parts = [
        Some(one_line(tool, 60)),
        text("uid").map(|uid| one_line(uid, 20)),
        text("role").map(|role| one_line(role, 20)),
        text("name").map(quoted),
        text("near").map(|near| format!("near {}", quoted(near))),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

const HOLDS_ALREADY: &str = "Nothing had to be done: the condition of `until` holds already.\n";
const LONGEST_ERROR: usize = 4_000;
/// After that many characters, answers are told in one short line each.
const MOST_TOLD: usize = 4_000;
const MOST_LINES: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn click(name: &str) -> Map<String, Value> {
        [("name".to_owned(), json!(name))].into_iter().collect()
    }

    #[test]
    fn a_report_says_what_was_done_and_why_it_stopped() {
        let mut report = Report::new(3);
        report.done(
            1,
            "click",
            &click("Save"),
            &CallReply::text("Clicked.\nmore"),
        );
        report.failed(2, "fill", &click("City"), "It is disabled.");
        report.changes = "Nothing on the page changed.".into();
        let reply = report.reply();
        assert_eq!(
            text_of(&reply),
            "1. click \"Save\": Clicked.\n\
             Stopped at step 2: fill \"City\" failed: It is disabled.\n\
             1 of at most 3 calls were made and succeeded; those after it were not made.\n\
             Nothing on the page changed."
        );
        assert!(reply.is_error);
        let structured = reply.structured.unwrap();
        let structured: Value = serde_json::from_str(structured.get()).unwrap();
        assert_eq!(
            (&structured["done"], &structured["of"]),
            (&json!(1), &json!(3))
        );
        assert_eq!(structured["stopped"]["step"], 2);
    }

    #[test]
    fn answers_that_were_asked_for_are_told() {
        let mut report = Report::new(2);
        let found = "2 matches:\n\nuid=1_2 button \"Save\"\n3. click: Clicked.";
        report.done(1, "find", &Map::new(), &CallReply::text(found));
        let name = click("Ada");
        let total = format!("{{\"total\": {}}}", "9".repeat(400));
        report.done(2, "total", &name, &CallReply::text(&total));
        let told = text_of(&report.reply());
        let number = "9".repeat(LONGEST - 10);
        assert_eq!(
            told,
            format!(
                "1. find: 2 matches:\n   uid=1_2 button \"Save\"\n   3. click: Clicked.\n2. total: {{\"total\": {number}…"
            )
        );
    }

    #[test]
    fn long_answers_of_many_calls_are_bounded() {
        let mut report = Report::new(200);
        for number in 0..200 {
            let text = format!("{number}\n{}", "x".repeat(500));
            report.done(1, "read_page", &Map::new(), &CallReply::text(text));
        }
        let told = text_of(&report.reply());
        assert!(told.len() < 10_000, "{}", told.len());
        assert!(told.ends_with("… and 180 more kinds of answers."), "{told}");
    }

    #[test]
    fn equal_calls_in_a_row_are_one_line() {
        let mut report = Report::new(14);
        report.done(1, "click", &click("Show"), &CallReply::text("Clicked."));
        for _ in 0..12 {
            report.done(2, "click", &click("Prev"), &CallReply::text("Clicked."));
        }
        report.done(3, "click", &click("Prev"), &CallReply::text("Clicked."));
        assert_eq!(
            text_of(&report.reply()),
            "1. click \"Show\": Clicked.\n2–13. click \"Prev\": Clicked.\n14. click \"Prev\": Clicked."
        );
    }

    #[test]
    fn many_equal_lines_become_one() {
        let mut report = Report::new(60);
        for number in 0..30 {
            report.done(
                1,
                "click",
                &click(&format!("Edit {number}")),
                &CallReply::text("Clicked."),
            );
            report.done(2, "fill", &click("City"), &CallReply::text("Filled."));
        }
        assert_eq!(
            text_of(&report.reply()),
            "Step 1: click \"Edit 0\" and 29 more like it: Clicked.\n\
             Step 2: fill \"City\" and 29 more like it: Filled."
        );
        assert!(!report.reply().is_error);
    }
}
