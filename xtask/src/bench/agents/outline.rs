//! Finds elements in answers: every server prints a line for each element, indented below what contains it.

use super::tasks::Target;
use crate::bench::peers::Peer;

/// How an answer shows an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Shown {
    /// How it is named in calls of this server, if its line says so.
    pub(super) reference: Option<String>,
    /// Whether its line has the name itself, so that a server that takes names can find it by that.
    pub(super) by_name: bool,
}

struct Line<'a> {
    indent: usize,
    role: &'a str,
    name: Option<String>,
    /// The whole line.
    text: &'a str,
}

/// The best line for a target. `asked` says that the agent knows which of the unnamed ones it is.
pub(super) fn find(answer: &str, target: &Target, peer: Peer, asked: bool) -> Option<Shown> {
    let lines = read_all(answer);
    let hit = named(&lines, target).map(|at| (at, true));
    let hit = hit.or_else(|| hinted(&lines, target).map(|at| (at, false)));
    let hit = hit.or_else(|| beside_label(&lines, target).map(|at| (at, false)));
    let (at, by_name) = hit.or_else(|| {
        let at = asked.then(|| numbered(&lines, target))??;
        Some((at, false))
    })?;
    let own = peer.reference(lines[at].text);
    Some(Shown {
        by_name: by_name && own.is_some(),
        // A text without a reference is pressed where it is: in the next thing around it that has one.
        reference: own.or_else(|| around(&lines, at).find_map(|at| peer.reference(lines[at].text))),
    })
}

/// The lines that contain a line, from the inside.
fn around(lines: &[Line<'_>], at: usize) -> impl Iterator<Item = usize> {
    let parent = |at: &usize| {
        (0..*at)
            .rev()
            .find(|n| lines[*n].indent < lines[*at].indent)
    };
    std::iter::successors(parent(&at), parent)
}

/// The lines, without those below fields: their texts and choices are values.
fn read_all(answer: &str) -> Vec<Line<'_>> {
    let mut lines: Vec<Line<'_>> = Vec::new();
    for line in answer.lines().map(read) {
        let within = |field: &Line<'_>| FIELDS.contains(&field.role) && field.indent < line.indent;
        if !lines.last().is_some_and(within) {
            lines.push(line);
        }
    }
    lines
}

fn read(text: &str) -> Line<'_> {
    let body = text.trim_start();
    let indent = text.len() - body.len();
    // Signs of lists and of changes.
    let body = ["- ", "+ ", "~ "]
        .iter()
        .find_map(|sign| body.strip_prefix(sign))
        .unwrap_or(body);
    let body = match body.strip_prefix("uid=") {
        Some(rest) => rest.split_once(' ').map_or("", |(_, body)| body),
        None => body,
    };
    let role = match body.starts_with('"') {
        true => "",
        false => body.split([' ', ':']).next().unwrap_or_default(),
    };
    Line {
        indent,
        role,
        name: name(body),
        text,
    }
}

/// The first quoted text, or what follows the colon of Playwright's lines.
fn name(body: &str) -> Option<String> {
    // Texts after `options:` and in attributes are not names.
    let head = body.split("options:").next().unwrap_or(body);
    let quoted = head
        .split_once('"')
        .filter(|(before, _)| !before.ends_with('='));
    let quoted = quoted.and_then(|(_, rest)| rest.split_once('"').map(|(name, _)| name));
    // What follows the colon of a field is its value.
    let is_field = FIELDS.iter().any(|role| head.starts_with(role));
    let after = || {
        head.split_once(": ")
            .filter(|_| !is_field)
            .map(|(_, text)| text)
    };
    let name = quoted.or_else(after)?;
    Some(name.trim_matches('"').trim().to_owned())
}

fn named(lines: &[Line<'_>], target: &Target) -> Option<usize> {
    let fits = |line: &Line<'_>| {
        role_fits(line, target) && line.name.as_deref().is_some_and(|name| name == target.name)
    };
    pick(lines, target, &fits)
}

/// A line whose hints have the word: an attribute such as its colour or, without a name, its class or its picture.
fn hinted(lines: &[Line<'_>], target: &Target) -> Option<usize> {
    let wanted = target.name.to_lowercase();
    let attribute = format!("={}", target.name);
    let fits = |line: &Line<'_>| {
        target.role.is_some()
            && role_fits(line, target)
            && line.text.to_lowercase().contains(&wanted)
            && (line.name.is_none() || line.text.contains(&attribute))
    };
    pick(lines, target, &fits)
}

/// A field without a name after a line with the text of its label.
fn beside_label(lines: &[Line<'_>], target: &Target) -> Option<usize> {
    let role = target.role.as_deref()?;
    let fits = |pair: &[Line<'_>]| {
        let label = pair[0]
            .name
            .as_deref()
            .is_some_and(|text| text == target.name);
        label && pair[1].role == role && pair[1].name.is_none()
    };
    lines.windows(2).position(fits).map(|at| at + 1)
}

fn numbered(lines: &[Line<'_>], target: &Target) -> Option<usize> {
    let (unnamed, near) = (target.unnamed.as_ref()?, target.near.as_deref()?);
    let from = anchor(lines, near)?;
    let fits = |at: &usize| role_fits(&lines[*at], target);
    let steps = unnamed.nth.unsigned_abs().checked_sub(1)?;
    match unnamed.nth > 0 {
        true => (from + 1..lines.len()).filter(fits).nth(steps),
        false => (0..from).rev().filter(fits).nth(steps),
    }
}

/// The line that fits, in the smallest part of the page that has it together with the text that is near.
fn pick(lines: &[Line<'_>], target: &Target, fits: &dyn Fn(&Line<'_>) -> bool) -> Option<usize> {
    let Some(near) = &target.near else {
        return lines.iter().position(fits);
    };
    let says_both = |line: &Line<'_>| fits(line) && line.text.contains(near.as_str());
    if let Some(at) = lines.iter().position(says_both) {
        return Some(at);
    }
    let at = anchor(lines, near)?;
    let parts = std::iter::once(at).chain(around(lines, at));
    let parts = parts.map(|parent| parent + 1..end(lines, parent));
    // The last part is the whole answer, which may begin with lines of the same depth.
    let mut parts = parts.chain(std::iter::once(0..lines.len()));
    parts.find_map(|part| {
        let hit = |n: &usize| fits(&lines[*n]);
        let after = part.clone().filter(|n| *n > at).find(hit);
        after.or_else(|| part.clone().rev().filter(|n| *n < at).find(hit))
    })
}

/// The line with the text that is near: one with exactly that name, or else one that has it.
fn anchor(lines: &[Line<'_>], near: &str) -> Option<usize> {
    let exact = lines
        .iter()
        .position(|line| line.name.as_deref() == Some(near));
    exact.or_else(|| lines.iter().position(|line| line.text.contains(near)))
}

/// The end of the lines below a line.
fn end(lines: &[Line<'_>], parent: usize) -> usize {
    let below = &lines[parent + 1..];
    let more = below
        .iter()
        .position(|line| line.indent <= lines[parent].indent);
    more.map_or(lines.len(), |more| parent + 1 + more)
}

fn role_fits(line: &Line<'_>, target: &Target) -> bool {
    target.role.as_deref().is_none_or(|role| match role {
        "img" => ["img", "image"].contains(&line.role),
        role => line.role == role,
    })
}

const FIELDS: [&str; 4] = ["textbox", "combobox", "searchbox", "spinbutton"];

#[cfg(test)]
mod tests {
    use super::super::tasks::Unnamed;
    use super::*;

    fn target(role: &str, name: &str, near: Option<&str>) -> Target {
        Target {
            role: (!role.is_empty()).then(|| role.to_owned()),
            name: name.into(),
            near: near.map(str::to_owned),
            given: false,
            unnamed: None,
        }
    }

    fn reference(answer: &str, target: &Target, peer: Peer) -> Option<String> {
        find(answer, target, peer, true)?.reference
    }

    #[test]
    fn an_element_is_found_in_the_row_that_is_meant() {
        let answer = "- row [ref=e1]:\n  - link \"A-1\" [ref=e2]\n  - button \"Edit\" [ref=e3]\n\
                      - row [ref=e4]:\n  - link \"A-2\" [ref=e5]\n  - button \"Edit\" [ref=e6]";
        let edit = target("button", "Edit", Some("A-2"));
        assert_eq!(
            reference(answer, &edit, Peer::Playwright).as_deref(),
            Some("e6")
        );
    }

    #[test]
    fn a_flat_answer_is_read_downwards() {
        let answer =
            "uid=1_1 \"A-1\"\nuid=1_2 button \"Edit\"\nuid=1_3 \"A-2\"\nuid=1_4 button \"Edit\"";
        let edit = target("button", "Edit", Some("A-2"));
        assert_eq!(
            reference(answer, &edit, Peer::DevTools).as_deref(),
            Some("1_4")
        );
    }

    #[test]
    fn a_field_has_the_name_of_the_label_beside_it() {
        let answer = "\"Customer\"\nuid=4_13 textbox\n\"Notes\"\nuid=4_14 textbox";
        let notes = find(
            answer,
            &target("textbox", "Notes", None),
            Peer::Tabmux,
            false,
        );
        let notes = notes.unwrap();
        assert_eq!(notes.reference.as_deref(), Some("4_14"));
        assert!(!notes.by_name);
    }

    #[test]
    fn an_unnamed_element_is_counted_only_after_asking() {
        let answer = "uid=1 button\nuid=2 button\nuid=3 button\nuid=4 \"Report\"";
        let mut icon = target("button", "archive", Some("Report"));
        icon.unnamed = Some(Unnamed {
            nth: -2,
            css: None,
            ask: String::new(),
        });
        assert_eq!(find(answer, &icon, Peer::DevTools, false), None);
        assert_eq!(
            reference(answer, &icon, Peer::DevTools).as_deref(),
            Some("2")
        );
    }

    #[test]
    fn a_candidate_of_an_error_says_its_row() {
        let answer = "The closest are:\nuid=2_17 button \"Edit\" in row \"A-1 Open\"\n\
                      uid=2_20 button \"Edit\" in row \"A-2 Open\"";
        let edit = target("button", "Edit", Some("A-2"));
        assert_eq!(
            reference(answer, &edit, Peer::Tabmux).as_deref(),
            Some("2_20")
        );
    }

    #[test]
    fn what_changed_is_read_like_a_snapshot() {
        let answer = "Clicked.\nChanged on the page:\n+ uid=2_113 button \"Save\"";
        let save = find(answer, &target("button", "Save", None), Peer::Tabmux, false);
        assert_eq!(save.unwrap().reference.as_deref(), Some("2_113"));
    }

    #[test]
    fn hints_of_a_line_name_icons_and_swatches() {
        let answer = "uid=1 button <button.star>\nuid=2 button <button.archive>";
        let swatches =
            "uid=1 button \"swatch\" color=#000000\nuid=2 button \"swatch\" color=#d32f2f";
        let red = target("button", "#d32f2f", None);
        assert_eq!(
            reference(swatches, &red, Peer::Tabmux).as_deref(),
            Some("2")
        );
        let icon = target("button", "archive", None);
        assert_eq!(reference(answer, &icon, Peer::Tabmux).as_deref(), Some("2"));
    }
}
