//! tabmux errors end with what to do next. Advice that names a tool which the session does not have is removed.

use std::borrow::Cow;

/// Removes the advice that names a missing tool from a tabmux error. The first sentence, which says what happened,
/// always stays: it may quote a page.
pub(crate) fn without_missing_tools(text: &str, can_call: impl Fn(&str) -> bool) -> Cow<'_, str> {
    let names_missing = |part: &str| tools_in(part).any(|tool| !can_call(tool));
    if !names_missing(text) {
        return Cow::Borrowed(text);
    }
    let mut sentences = text.split_inclusive(". ");
    let mut kept = sentences.next().unwrap_or_default().to_owned();
    for sentence in sentences {
        match names_missing(sentence) {
            false => kept.push_str(sentence),
            true => kept.push_str(&other_advice(sentence, names_missing)),
        }
    }
    Cow::Owned(kept.trim_end().to_owned())
}

/// Keeps the part of a sentence that names no missing tool: `Call a, or call b; c shows it.`
fn other_advice(sentence: &str, names_missing: impl Fn(&str) -> bool) -> String {
    let trimmed = sentence.trim_end().trim_end_matches('.');
    let options = trimmed.split("; ").flat_map(|part| part.split(", or "));
    let kept: Vec<&str> = options.filter(|option| !names_missing(option)).collect();
    let mut advice = kept.join(", or ");
    let begins_with_tool = advice.split(' ').next().is_some_and(super::is_ours);
    if let Some(first) = advice.get_mut(..1).filter(|_| !begins_with_tool) {
        first.make_ascii_uppercase();
    }
    match advice.is_empty() {
        true => advice,
        false => advice + ". ",
    }
}

/// The tools that a text names. A tool whose name is a common word counts only after `call` or `use`.
fn tools_in(text: &str) -> impl Iterator<Item = &str> {
    let mut before = "";
    let words = text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'));
    let words = words.filter(|word| !word.is_empty());
    words.filter(move |word| {
        let advised = before.eq_ignore_ascii_case("call") || before.eq_ignore_ascii_case("use");
        before = word;
        (word.contains('_') || advised) && super::is_ours(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(text: &str, missing: &[&str]) -> String {
        without_missing_tools(text, |tool| !missing.contains(&tool)).into_owned()
    }

    #[test]
    fn advice_names_only_tools_that_are_there() {
        let late = "click was stopped: it had not finished after 30 s. Call it again, or call new_page if page 3 no longer responds.";
        let focus = "click needs a focused tab. Call focus_tab first; list_tabs shows the tabs.";
        for (text, missing, expected) in [
            (late, &[][..], late),
            (
                late,
                &["new_page"],
                "click was stopped: it had not finished after 30 s. Call it again.",
            ),
            (
                focus,
                &["list_tabs"],
                "click needs a focused tab. Call focus_tab first.",
            ),
            (
                focus,
                &["focus_tab"],
                "click needs a focused tab. list_tabs shows the tabs.",
            ),
            (
                focus,
                &["list_tabs", "focus_tab"],
                "click needs a focused tab.",
            ),
            (
                "It does not respond. Call navigate_page to leave it, or close the tab. So it is.",
                &["navigate_page"],
                "It does not respond. Close the tab. So it is.",
            ),
            (
                "No. Use click and take_snapshot. Or fill it.",
                &["click", "fill"],
                "No. Or fill it.",
            ),
        ] {
            assert_eq!(advice(text, missing), expected, "{missing:?}");
        }
    }

    #[test]
    fn what_happened_stays_whatever_it_quotes() {
        let text = "The script failed: take_snapshot is not defined. Correct it and try again; take_snapshot shows what the page has.";
        assert_eq!(
            advice(text, &["take_snapshot"]),
            "The script failed: take_snapshot is not defined. Correct it and try again."
        );
    }
}
