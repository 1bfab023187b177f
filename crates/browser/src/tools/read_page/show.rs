//! What is shown of a text in Markdown: a range of it, its outline, or the sections with a text.

use super::joined::Line;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A range of the text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Range {
    start: usize,
    end: usize,
    of: usize,
    pub(super) body: String,
}

impl Range {
    /// "characters 0-300 of 900 of …; more with offset 300".
    pub(super) fn heading(&self, about: &str) -> String {
        let Self { start, end, of, .. } = self;
        if *of == 0 {
            return format!("{about} is empty. take_snapshot shows what can be used.");
        }
        if start >= of {
            return format!("{about} has {of} characters; offset {start} is beyond them.");
        }
        match end < of {
            true => format!("characters {start}-{end} of {of}, {about}; more with offset {end}"),
            false => format!("characters {start}-{end} of {of}, {about}"),
        }
    }
}

/// At most `limit` characters from `offset`. It ends at the end of a line if that does not cost much of the limit.
pub(super) fn range(lines: &[Line], offset: usize, limit: usize) -> Range {
    let text = whole(lines);
    let of = text.chars().count();
    let from_offset = skip(&text, offset);
    let mut body = &from_offset[..from_offset.len() - skip(from_offset, limit).len()];
    if body.len() < from_offset.len() {
        let line = body.rfind('\n').filter(|at| *at > body.len() / 2);
        body = &body[..line.map_or(body.len(), |at| at + 1)];
    }
    let end = offset + body.chars().count();
    Range {
        start: offset,
        end,
        of,
        body: body.to_owned(),
    }
}

/// The headings, each with the offset that reads on from there.
pub(super) fn outline(lines: &[Line], limit: usize) -> String {
    let mut outline = String::new();
    for (line, offset) in lines.iter().zip(offsets(lines)) {
        if !line.heading {
            continue;
        }
        if outline.len() + line.text.len() > limit {
            outline.push_str("[more headings]\n");
            break;
        }
        let _ = writeln!(outline, "{} (offset {offset})", line.text.trim());
    }
    match outline.is_empty() {
        true => "There are no headings.".into(),
        false => outline,
    }
}

/// Sections with a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) count: usize,
    shown: usize,
    pub(super) body: String,
}

impl Found {
    /// "3 lines match …".
    pub(super) fn heading(&self, what: &str) -> String {
        let Self { count, shown, .. } = self;
        match count {
            0 => format!("no match for {what}. read_page without find shows the text."),
            1 => format!("1 match for {what}"),
            _ if shown < count => format!("the first {shown} of {count} matches for {what}"),
            _ => format!("{count} matches for {what}"),
        }
    }
}

/// The lines with a text (in any case), with those around them and the headings above them.
pub(super) fn sections(lines: &[Line], wanted: &str, limit: usize) -> Found {
    let wanted = fold(wanted);
    let hits: Vec<usize> = (0..lines.len())
        .filter(|&at| fold(&lines[at].text).contains(&wanted))
        .collect();
    let mut kept = BTreeSet::new();
    let mut size = 0;
    let mut shown = 0;
    for &hit in &hits {
        let more: Vec<usize> = around(lines, hit)
            .into_iter()
            .filter(|at| !kept.contains(at))
            .collect();
        let bytes: usize = more.iter().map(|&at| lines[at].text.len() + 5).sum();
        if size + bytes > limit && shown > 0 {
            break;
        }
        size += bytes;
        shown += 1;
        kept.extend(more);
    }
    Found {
        count: hits.len(),
        shown,
        body: print(lines, &kept, limit),
    }
}

/// The lines to show for a match: the headings above, the first lines of its table, and its neighbours.
fn around(lines: &[Line], hit: usize) -> Vec<usize> {
    let mut shown = headings_above(lines, hit);
    if lines[hit].text.starts_with('|') {
        let row = |at: &usize| lines[*at].text.starts_with('|');
        let first = (0..hit).rev().take_while(row).last().unwrap_or(hit);
        shown.extend(first..(first + 2).min(hit));
    }
    shown.push(hit);
    let near = |at: &usize| !lines[*at].heading;
    shown.extend(
        (0..hit)
            .rev()
            .take_while(near)
            .filter(|&at| !is_blank(lines, at))
            .take(NEIGHBOURS),
    );
    shown.extend(
        (hit + 1..lines.len())
            .take_while(near)
            .filter(|&at| !is_blank(lines, at))
            .take(NEIGHBOURS),
    );
    shown
}

fn is_blank(lines: &[Line], at: usize) -> bool {
    lines[at].text.trim().is_empty()
}

/// The heading above a line, the one of a higher level above that, and so on.
fn headings_above(lines: &[Line], at: usize) -> Vec<usize> {
    let mut level = usize::MAX;
    let mut headings = Vec::new();
    for above in (0..at).rev().filter(|&above| lines[above].heading) {
        let own = lines[above].text.trim_start_matches([' ', '>', '-']);
        let own = own.chars().take_while(|c| *c == '#').count();
        if own < level {
            level = own;
            headings.push(above);
        }
    }
    headings
}

/// These lines, with a mark where others are missing, and the offset of each run.
fn print(lines: &[Line], kept: &BTreeSet<usize>, limit: usize) -> String {
    let offsets: Vec<usize> = offsets(lines).collect();
    let mut body = String::new();
    let mut last = None;
    for &at in kept {
        let skipped = last.is_none_or(|last| (last + 1..at).any(|at| !is_blank(lines, at)));
        if skipped {
            let _ = writeln!(body, "\n[offset {}]", offsets[at]);
        } else if last.is_some_and(|last| last + 1 < at) {
            body.push('\n');
        }
        let room = limit.saturating_sub(body.len()).max(SHORTEST);
        body.push_str(&tabmux_text::shorten(&lines[at].text, room));
        body.push('\n');
        last = Some(at);
    }
    body.trim_start().to_owned()
}

/// Where each line begins, in characters.
fn offsets(lines: &[Line]) -> impl Iterator<Item = usize> {
    lines.iter().scan(0, |at, line| {
        let start = *at;
        *at += line.text.chars().count() + 1;
        Some(start)
    })
}

fn whole(lines: &[Line]) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(&line.text);
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text
}

/// `text` without its first characters.
fn skip(text: &str, characters: usize) -> &str {
    text.char_indices()
        .nth(characters)
        .map_or("", |(at, _)| &text[at..])
}

fn fold(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ").to_lowercase()
}

/// How many lines are shown before and after a match.
const NEIGHBOURS: usize = 2;
/// Of a line at the limit, this much is shown.
const SHORTEST: usize = 200;
