//! Entries in a TOML config. Comments and order are kept.

use super::entry::{Entry, Found, Refusal, is_ours};
use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

/// The text with the entry below `key`, or `None` if the entry exists already.
pub(super) fn add(text: &str, key: &str, entry: &Entry) -> Result<Option<String>, Refusal> {
    let mut document = parse(text)?;
    let is_inline = document.get(key).is_some_and(Item::is_inline_table);
    let servers = document.entry(key).or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or_else(|| wrong(key))?;
    match servers.get_mut(&entry.name) {
        None => {
            servers.insert(&entry.name, new_item(entry, is_inline));
        }
        Some(existing) => {
            let table = existing.as_table_like_mut().ok_or(Refusal::Taken)?;
            let (command, arguments) = run_by(table).ok_or(Refusal::Taken)?;
            if !is_ours(&command, &arguments, &entry.command) {
                return Err(Refusal::Taken);
            }
            let Some(change) = entry.change(&command, &arguments) else {
                return Ok(None);
            };
            if change.command {
                set(table, "command", value(&entry.command));
            }
            if let Some(arguments) = change.arguments {
                set(table, "args", value(Array::from_iter(arguments)));
            }
        }
    }
    Ok(Some(document.to_string()))
}

/// The text without our entry, or `None` if it has none.
pub(super) fn remove(
    text: &str,
    key: &str,
    name: &str,
    own_path: &str,
) -> Result<Option<String>, Refusal> {
    let mut document = parse(text)?;
    let Some(servers) = document.get_mut(key) else {
        return Ok(None);
    };
    let servers = servers.as_table_like_mut().ok_or_else(|| wrong(key))?;
    let existing = servers.get(name).and_then(Item::as_table_like);
    let is_there = existing
        .and_then(run_by)
        .is_some_and(|(command, arguments)| is_ours(&command, &arguments, own_path));
    if !is_there {
        return Ok(None);
    }
    servers.remove(name);
    Ok(Some(document.to_string()))
}

/// All our entries.
pub(super) fn ours(text: &str, key: &str, own_path: &str) -> Result<Vec<Found>, Refusal> {
    let document = parse(text)?;
    let Some(servers) = document.get(key) else {
        return Ok(Vec::new());
    };
    let servers = servers.as_table_like().ok_or_else(|| wrong(key))?;
    let ours = servers.iter().filter_map(|(name, entry)| {
        let (program, arguments) = run_by(entry.as_table_like()?)?;
        let name = name.to_owned();
        is_ours(&program, &arguments, own_path).then_some(Found { name, program })
    });
    Ok(ours.collect())
}

fn parse(text: &str) -> Result<DocumentMut, Refusal> {
    text.parse::<DocumentMut>()
        .map_err(|error| Refusal::Unreadable {
            format: "TOML",
            why: error.message().lines().collect::<Vec<_>>().join(" "),
        })
}

fn wrong(key: &str) -> Refusal {
    Refusal::WrongShape {
        what: format!("`{key}`"),
    }
}

fn run_by(table: &(impl TableLike + ?Sized)) -> Option<(String, Vec<String>)> {
    let command = table.get("command")?.as_str()?.to_owned();
    let arguments = table.get("args")?.as_array()?;
    let arguments = arguments.iter().filter_map(|value| value.as_str());
    Some((command, arguments.map(str::to_owned).collect()))
}

/// Replaces a value in place and keeps the comments around it.
fn set(table: &mut (impl TableLike + ?Sized), key: &str, mut new: Item) {
    let Some(old) = table.get_mut(key) else {
        return;
    };
    if let (Some(old), Some(new)) = (old.as_value(), new.as_value_mut()) {
        *new.decor_mut() = old.decor().clone();
    }
    *old = new;
}

fn new_item(entry: &Entry, inline: bool) -> Item {
    let mut table = Table::new();
    table.insert("command", value(&entry.command));
    table.insert("args", value(Array::from_iter(entry.arguments())));
    if inline {
        value(table.into_inline_table())
    } else {
        Item::Table(table)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Entry {
        Entry {
            name: "browser".into(),
            command: "/bin/tabmux".into(),
            more: vec![],
        }
    }

    fn added(text: &str) -> String {
        add(text, "mcp_servers", &entry()).unwrap().unwrap()
    }

    fn removed(text: &str) -> Option<String> {
        remove(text, "mcp_servers", "browser", "/bin/tabmux").unwrap()
    }

    const THEIRS: &str = "# mine\nmodel = \"x\" # best\n\n[mcp_servers.docs]\ncommand = \"docs\"\nargs = []\n\n[z]\na = 1\n";

    #[test]
    fn an_empty_file_gets_one_table() {
        let text = added("");
        assert_eq!(
            text,
            "[mcp_servers.browser]\ncommand = \"/bin/tabmux\"\nargs = [\"mcp\"]\n"
        );
        assert_eq!(add(&text, "mcp_servers", &entry()), Ok(None));
        assert_eq!(removed(&text).unwrap(), "");
    }

    #[test]
    fn comments_order_and_other_servers_survive_both_ways() {
        let text = added(THEIRS);
        let ours = "[mcp_servers.browser]\ncommand = \"/bin/tabmux\"\nargs = [\"mcp\"]\n";
        assert!(text.contains(ours), "{text}");
        assert_eq!(text.replace(&format!("\n{ours}"), ""), THEIRS);
        assert_eq!(removed(&text).unwrap(), THEIRS);
    }

    #[test]
    fn inline_servers_stay_inline() {
        let text = added("mcp_servers = { docs = { command = \"docs\" } }\n");
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            text.contains("browser = { command = \"/bin/tabmux\", args = [\"mcp\"] }"),
            "{text}"
        );
    }

    #[test]
    fn a_program_that_moved_is_found_again_and_flags_stay() {
        let text = added(
            "[mcp_servers.browser]\ncommand = \"/old/tabmux\" # here\nargs = [\"mcp\", \"--headless\"]\n",
        );
        assert_eq!(
            text,
            "[mcp_servers.browser]\ncommand = \"/bin/tabmux\" # here\nargs = [\"mcp\", \"--headless\"]\n"
        );
    }

    #[test]
    fn what_is_not_ours_is_not_touched() {
        let other = "[mcp_servers.browser]\ncommand = \"npx\"\nargs = [\"x\"]\n";
        assert_eq!(add(other, "mcp_servers", &entry()), Err(Refusal::Taken));
        assert_eq!(removed(other), None);
        assert!(matches!(
            add("mcp_servers = 1", "mcp_servers", &entry()),
            Err(Refusal::WrongShape { .. })
        ));
        assert!(matches!(
            add("a = = 1", "mcp_servers", &entry()),
            Err(Refusal::Unreadable { .. })
        ));
    }
}
