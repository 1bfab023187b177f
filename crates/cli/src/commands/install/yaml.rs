//! Entries in a YAML config, line by line: only our own lines change, so comments and order stay. YAML that is not
//! written as blocks of keys is refused.

use super::entry::{Change, Entry, Found, Refusal, is_ours};
use serde_json::Value;
use std::ops::Range;

/// The text with the entry below `key`, or `None` if the entry exists already.
pub(super) fn add(text: &str, key: &str, entry: &Entry) -> Result<Option<String>, Refusal> {
    let lines = Lines::parse(text)?;
    let Some(servers) = lines.servers(key)? else {
        let new = block(entry, "  ");
        return Ok(Some(format!("{}{key}:\n{new}", ended(text))));
    };
    let Some(existing) = lines.find(&servers.body, servers.indent, &entry.name) else {
        let mut all = lines.owned();
        // `extensions: {}` becomes a block, and keeps its comment.
        all[servers.line] = with_value(&all[servers.line], key, "");
        if let Some(last) = all.get_mut(servers.body.end - 1) {
            *last = ended(last);
        }
        let new = block(entry, &" ".repeat(servers.indent));
        all.insert(servers.body.end, new);
        return Ok(Some(all.concat()));
    };
    let server = lines.server(existing, servers.indent);
    let (command, arguments) = lines.run_by(&server).ok_or(Refusal::Taken)?;
    if !is_ours(&command, &arguments, &entry.command) {
        return Err(Refusal::Taken);
    }
    let change = entry.change(&command, &arguments);
    Ok(change.map(|change| lines.changed(&server, entry, &change)))
}

/// The text without our entry, or `None` if it has none.
pub(super) fn remove(
    text: &str,
    key: &str,
    name: &str,
    own_path: &str,
) -> Result<Option<String>, Refusal> {
    let lines = Lines::parse(text)?;
    let Some(servers) = lines.servers(key)? else {
        return Ok(None);
    };
    let Some(existing) = lines.find(&servers.body, servers.indent, name) else {
        return Ok(None);
    };
    let server = lines.server(existing, servers.indent);
    let run_by = lines.run_by(&server);
    let is_there =
        run_by.is_some_and(|(command, arguments)| is_ours(&command, &arguments, own_path));
    if !is_there {
        return Ok(None);
    }
    let mut all = lines.owned();
    let is_last = server.len() == servers.body.len();
    all.drain(server.clone());
    if is_last {
        all[servers.line] = with_value(&all[servers.line], key, " {}");
    }
    Ok(Some(all.concat()))
}

/// All our entries.
pub(super) fn ours(text: &str, key: &str, own_path: &str) -> Result<Vec<Found>, Refusal> {
    let lines = Lines::parse(text)?;
    let Some(servers) = lines.servers(key)? else {
        return Ok(Vec::new());
    };
    let names = servers.body.clone().filter_map(|line| {
        let (name, _) = lines.member(line, servers.indent)?;
        let (program, arguments) = lines.run_by(&lines.server(line, servers.indent))?;
        is_ours(&program, &arguments, own_path).then_some(Found { name, program })
    });
    Ok(names.collect())
}

/// The lines of a file, each with its line break.
struct Lines<'a>(Vec<&'a str>);

/// The block that holds the servers.
struct Servers {
    /// Its key.
    line: usize,
    body: Range<usize>,
    /// The indentation of each server's name.
    indent: usize,
}

impl<'a> Lines<'a> {
    fn parse(text: &'a str) -> Result<Self, Refusal> {
        let lines = Self(text.split_inclusive('\n').collect());
        let fail = |why: &str| Refusal::Unreadable {
            format: "YAML",
            why: why.to_owned(),
        };
        let is_indented_by_tab = |line: &&str| line.trim_start_matches(' ').starts_with('\t');
        if lines.0.iter().any(is_indented_by_tab) {
            return Err(fail("a line is indented with a tab"));
        }
        let documents = lines
            .0
            .iter()
            .skip(1)
            .filter(|line| line.starts_with("---"));
        if documents.count() > 0 || lines.0.iter().any(|line| line.starts_with("...")) {
            return Err(fail("it has several documents"));
        }
        let content = lines.0.iter().map(|line| line.trim_start_matches("---"));
        let first = content.map(str::trim_start).find(|line| !is_empty(line));
        if first.is_some_and(|line| line.starts_with(['{', '['])) {
            return Err(fail("it is not a block of keys"));
        }
        Ok(lines)
    }

    fn owned(&self) -> Vec<String> {
        self.0.iter().map(|line| (*line).to_owned()).collect()
    }

    /// The block below a key of the outermost level.
    fn servers(&self, key: &str) -> Result<Option<Servers>, Refusal> {
        let Some(line) = self.find(&(0..self.0.len()), 0, key) else {
            return Ok(None);
        };
        let value = self.member(line, 0).map(|(_, value)| value);
        if !matches!(value.as_deref(), Some("" | "{}" | "null" | "~")) {
            return Err(Refusal::WrongShape {
                what: format!("`{key}`"),
            });
        }
        let body = self.block(line, 0);
        let first = body.clone().find(|line| !is_empty(self.0[*line]));
        let indent = first.map_or(2, |line| indent(self.0[line]));
        if first.is_some_and(|line| self.0[line].trim_start().starts_with('-')) {
            return Err(Refusal::WrongShape {
                what: format!("`{key}`"),
            });
        }
        Ok(Some(Servers { line, body, indent }))
    }

    /// The lines of the server whose name is in that line, with the name.
    fn server(&self, line: usize, indent: usize) -> Range<usize> {
        line..self.block(line, indent).end
    }

    /// The lines below a key, without empty ones and comments at the end.
    fn block(&self, line: usize, outer: usize) -> Range<usize> {
        let start = line + 1;
        let is_inside = |line: &&&str| is_empty(line) || indent(line) > outer;
        let end = start + self.0[start..].iter().take_while(is_inside).count();
        let used = (start..end).rev().find(|line| !is_empty(self.0[*line]));
        start..used.map_or(start, |last| last + 1)
    }

    fn find(&self, lines: &Range<usize>, indent: usize, key: &str) -> Option<usize> {
        let is_it = |line: &usize| {
            self.member(*line, indent)
                .is_some_and(|(name, _)| name == key)
        };
        lines.clone().find(is_it)
    }

    /// The key and the value of a line, if it has that indentation.
    fn member(&self, line: usize, wanted: usize) -> Option<(String, String)> {
        let text = self.0.get(line)?;
        if is_empty(text) || indent(text) != wanted {
            return None;
        }
        let (key, value) = text.trim().split_once(':')?;
        Some((scalar(key), without_comment(value).to_owned()))
    }

    fn run_by(&self, server: &Range<usize>) -> Option<(String, Vec<String>)> {
        let (body, inner) = self.inside(server)?;
        let command = self.find(&body, inner, "cmd")?;
        let (_, command) = self.member(command, inner)?;
        Some((scalar(&command), self.arguments(&body, inner)?))
    }

    fn inside(&self, server: &Range<usize>) -> Option<(Range<usize>, usize)> {
        let body = server.start + 1..server.end;
        let first = body.clone().find(|line| !is_empty(self.0[*line]))?;
        Some((body, indent(self.0[first])))
    }

    fn arguments(&self, body: &Range<usize>, inner: usize) -> Option<Vec<String>> {
        let line = self.find(body, inner, "args")?;
        let (_, value) = self.member(line, inner)?;
        if let Some(list) = value.strip_prefix('[') {
            let list = list.strip_suffix(']')?.trim();
            let items = list.split(',').map(scalar);
            return Some(items.filter(|item| !item.is_empty()).collect());
        }
        let items = self.items(line, body.end);
        let items = items.filter_map(|line| self.0[line].trim().strip_prefix('-'));
        Some(items.map(|item| scalar(without_comment(item))).collect())
    }

    /// The lines of a list below its key. They may be as little indented as the key.
    fn items(&self, key: usize, end: usize) -> Range<usize> {
        let is_item = |line: &&&str| is_empty(line) || line.trim_start().starts_with('-');
        let count = self.0[key + 1..end].iter().take_while(is_item).count();
        key + 1..key + 1 + count
    }

    /// The text with the other command and the other arguments.
    fn changed(&self, server: &Range<usize>, entry: &Entry, change: &Change) -> String {
        let mut all = self.owned();
        let Some((body, inner)) = self.inside(server) else {
            return all.concat();
        };
        let space = " ".repeat(inner);
        if let Some(arguments) = &change.arguments
            && let Some(line) = self.find(&body, inner, "args")
        {
            let items = self.items(line, body.end);
            all[line] = format!("{space}args:\n{}", list(arguments, &space));
            all[items].iter_mut().for_each(String::clear);
        }
        if change.command
            && let Some(line) = self.find(&body, inner, "cmd")
        {
            all[line] = format!("{space}cmd: {}\n", quoted(&entry.command));
        }
        all.concat()
    }
}

/// The lines of a new server.
fn block(entry: &Entry, outer: &str) -> String {
    let inner = format!("{outer}{outer}");
    let (name, command) = (quoted(&entry.name), quoted(&entry.command));
    let arguments = list(&entry.arguments(), &inner);
    format!(
        "{outer}{name}:\n{inner}enabled: true\n{inner}type: stdio\n{inner}name: {name}\n{inner}cmd: {command}\n\
         {inner}args:\n{arguments}{inner}envs: {{}}\n{inner}timeout: 300\n"
    )
}

fn list(items: &[impl AsRef<str>], indent: &str) -> String {
    let items = items.iter().map(AsRef::as_ref);
    items
        .map(|item| format!("{indent}- {}\n", quoted(item)))
        .collect()
}

/// A JSON string is one in YAML, too. Plain words need no quotes.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    let begins_plain =
        text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '/');
    match begins_plain && text.chars().all(is_plain) && !is_keyword(text) {
        true => text.to_owned(),
        false => Value::from(text).to_string(),
    }
}

/// Words that YAML reads as a value of another type.
fn is_keyword(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    ["true", "false", "yes", "no", "on", "off", "null", "y", "n"].contains(&text.as_str())
}

/// The text of a value, without its quotes.
fn scalar(text: &str) -> String {
    let text = text.trim();
    if text.starts_with('"') {
        return serde_json::from_str(text).unwrap_or_else(|_| text.to_owned());
    }
    let single = text
        .strip_prefix('\'')
        .and_then(|text| text.strip_suffix('\''));
    single.map_or_else(|| text.to_owned(), |text| text.replace("''", "'"))
}

fn without_comment(text: &str) -> &str {
    let text = text.trim();
    match text.starts_with(['"', '\'']) {
        true => text,
        false if text.starts_with('#') => "",
        false => text.split(" #").next().unwrap_or_default().trim(),
    }
}

/// The line of a key with another value and the same comment.
fn with_value(line: &str, key: &str, value: &str) -> String {
    let comment = line.find(" #").map_or("", |at| line[at..].trim_end());
    format!("{key}:{value}{comment}\n")
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

fn is_empty(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// The text with a line break at its end, if it has any line.
fn ended(text: &str) -> String {
    match text.is_empty() || text.ends_with('\n') {
        true => text.to_owned(),
        false => format!("{text}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: &str = "/bin/tabmux";

    fn entry(more: &[&str]) -> Entry {
        Entry {
            name: "browser".into(),
            command: OWN.into(),
            more: more.iter().map(|&more| more.to_owned()).collect(),
        }
    }

    const NEW: &str = "  browser:\n    enabled: true\n    type: stdio\n    name: browser\n    cmd: /bin/tabmux\n    \
                       args:\n    - mcp\n    envs: {}\n    timeout: 300\n";

    #[test]
    fn the_entry_is_added_below_its_key_and_removed_again() {
        let developer = "  developer: # theirs\n    enabled: true\n    type: builtin\n";
        for (before, after) in [
            (String::new(), format!("extensions:\n{NEW}")),
            ("A: 1".into(), format!("A: 1\nextensions:\n{NEW}")),
            (
                "extensions: {}\nB: 2\n".into(),
                format!("extensions:\n{NEW}B: 2\n"),
            ),
            (
                "extensions: # mine\nB: 2\n".into(),
                format!("extensions: # mine\n{NEW}B: 2\n"),
            ),
            (
                "extensions: {} # note\n".into(),
                format!("extensions: # note\n{NEW}"),
            ),
            (
                format!("extensions:\n{developer}\n# end\nB: 2\n"),
                format!("extensions:\n{developer}{NEW}\n# end\nB: 2\n"),
            ),
        ] {
            let added = add(&before, "extensions", &entry(&[])).unwrap().unwrap();
            assert_eq!(added, after);
            assert_eq!(add(&added, "extensions", &entry(&[])), Ok(None));
            let found = ours(&added, "extensions", OWN).unwrap();
            assert_eq!(found[0].program, OWN);
            let removed = remove(&added, "extensions", "browser", OWN)
                .unwrap()
                .unwrap();
            assert_eq!(ours(&removed, "extensions", OWN), Ok(vec![]));
            assert_eq!(removed.contains("developer"), before.contains("developer"));
            assert_eq!(removed.contains('#'), before.contains('#'), "{removed}");
        }
    }

    #[test]
    fn an_entry_of_another_place_is_updated_and_its_arguments_stay() {
        for args in [
            "args: [mcp, '--headless']",
            "args:\n    - mcp\n    - --headless # window",
        ] {
            let before = format!(
                "extensions:\n  browser:\n    cmd: '/old/tabmux'\n    {args}\n    timeout: 9\n"
            );
            let after = before.replace("'/old/tabmux'", OWN);
            assert_eq!(add(&before, "extensions", &entry(&[])), Ok(Some(after)));
            let other = add(&before, "extensions", &entry(&["--isolated"]))
                .unwrap()
                .unwrap();
            assert!(
                other.contains("    args:\n    - mcp\n    - \"--isolated\"\n    timeout: 9\n"),
                "{other}"
            );
        }
    }

    #[test]
    fn what_is_not_blocks_of_keys_is_refused() {
        let taken = "extensions:\n  browser:\n    cmd: npx\n    args: []\n";
        assert_eq!(add(taken, "extensions", &entry(&[])), Err(Refusal::Taken));
        for bad in [
            "extensions: [a]\n",
            "extensions:\n  - name: a\n",
            "extensions:\n\tbrowser:\n",
            "a: 1\n---\nb: 2\n",
            "{extensions: {}}\n",
            "# c\n{extensions: {}}\n",
            "---\n{extensions: {}}\n",
        ] {
            assert!(add(bad, "extensions", &entry(&[])).is_err(), "{bad}");
        }
    }
}
