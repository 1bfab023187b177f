//! Merging into configs as users write them.

use super::*;

fn entry() -> Entry {
    Entry {
        name: "browser".into(),
        command: "/bin/tabmux".into(),
        more: vec![],
    }
}

fn added(text: &str) -> String {
    add(text, "mcpServers", JsonEntry::Plain, &entry())
        .unwrap()
        .unwrap()
}

fn removed(text: &str) -> Option<String> {
    remove(text, "mcpServers", "browser", "/bin/tabmux").unwrap()
}

/// Adding works, a second time changes nothing, and removing brings the first text back.
fn there_and_back(before: &str, after: &str) {
    assert_eq!(added(before), after);
    assert_eq!(
        add(after, "mcpServers", JsonEntry::Plain, &entry()),
        Ok(None)
    );
    assert_eq!(removed(after).unwrap(), before);
}

#[test]
fn an_empty_file_gets_everything() {
    let all = "{\n  \"mcpServers\": {\n    \"browser\": {\n      \"command\": \"/bin/tabmux\",\n      \
               \"args\": [\"mcp\"]\n    }\n  }\n}\n";
    assert_eq!(added(""), all);
    assert_eq!(added("{}\n"), all);
    assert_eq!(removed(all).unwrap(), "{\n  \"mcpServers\": {}\n}\n");
    assert_eq!(removed(""), None);
}

#[test]
fn other_entries_their_order_and_numbers_stay() {
    there_and_back(
        "{\n\t\"z\": 1.50,\n\t\"mcpServers\": {\n\t\t\"b\": {\"x\": [1,2]},\n\t\t\"a\": {}\n\t},\n\t\"c\": 12345678901234567890\n}",
        "{\n\t\"z\": 1.50,\n\t\"mcpServers\": {\n\t\t\"b\": {\"x\": [1,2]},\n\t\t\"a\": {},\n\t\t\"browser\": {\n\t\t\t\"command\": \"/bin/tabmux\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t}\n\t},\n\t\"c\": 12345678901234567890\n}",
    );
}

#[test]
fn one_line_stays_one_line() {
    there_and_back(
        r#"{"mcpServers": {"a": {}}}"#,
        r#"{"mcpServers": {"a": {}, "browser": {"command": "/bin/tabmux", "args": ["mcp"]}}}"#,
    );
}

#[test]
fn comments_trailing_commas_and_foreign_line_breaks_stay() {
    there_and_back(
        "{\r\n  // \"mcpServers\": {}, ü\r\n  \"mcpServers\": {\r\n    \"a\": {}, /* last */\r\n  },\r\n}\r\n",
        "{\r\n  // \"mcpServers\": {}, ü\r\n  \"mcpServers\": {\r\n    \"a\": {},\r\n    \"browser\": {\r\n      \"command\": \"/bin/tabmux\",\r\n      \"args\": [\"mcp\"]\r\n    }, /* last */\r\n  },\r\n}\r\n",
    );
}

#[test]
fn an_entry_in_the_middle_or_at_the_front_goes_with_its_comma() {
    let ours = r#""browser": {"command": "/x/tabmux", "args": ["mcp"]}"#;
    let middle = format!("{{\"mcpServers\": {{\n  \"a\": 1, // one\n  {ours},\n  \"b\": 2\n}}}}");
    assert_eq!(
        removed(&middle).unwrap(),
        "{\"mcpServers\": {\n  \"a\": 1, // one\n  \"b\": 2\n}}"
    );
    let front = format!("{{\"mcpServers\": {{\n  {ours},\n  \"b\": 2\n}}}}");
    assert_eq!(
        removed(&front).unwrap(),
        "{\"mcpServers\": {\n  \"b\": 2\n}}"
    );
    let last = format!("{{\"mcpServers\": {{\n  \"a\": 1, // one\n  {ours}\n}}}}");
    assert_eq!(
        removed(&last).unwrap(),
        "{\"mcpServers\": {\n  \"a\": 1 // one\n}}"
    );
}

#[test]
fn a_program_that_moved_is_found_again_and_flags_stay() {
    let text = r#"{"mcpServers": {"browser": {"args": ["mcp", "--headless"], "command": "/old/tabmux", "env": {"A": "b"}}}}"#;
    assert_eq!(added(text), text.replace("/old/tabmux", "/bin/tabmux"));
    let mut more = entry();
    more.more = vec!["--isolated".into()];
    let changed = add(text, "mcpServers", JsonEntry::Plain, &more)
        .unwrap()
        .unwrap();
    let expected = text
        .replace("/old/tabmux", "/bin/tabmux")
        .replace("--headless", "--isolated");
    assert_eq!(changed, expected);
}

#[test]
fn the_key_is_found_by_its_meaning_and_not_inside_other_things() {
    let text = r#"{"projects": {"/x": {"mcpServers": {"browser": 1}}}, "say": "\"mcpServers\": {}", "mcp\u0053ervers": {}}"#;
    let changed: Value = serde_json::from_str(&added(text)).unwrap();
    assert_eq!(changed["mcpServers"]["browser"]["command"], "/bin/tabmux");
    assert_eq!(changed["projects"]["/x"]["mcpServers"]["browser"], 1);
}

#[test]
fn a_typed_entry_says_how_it_is_spoken_to() {
    let text = add("{}", "servers", JsonEntry::Typed, &entry())
        .unwrap()
        .unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(json["servers"]["browser"]["type"], "stdio");
}

#[test]
fn what_is_not_ours_is_not_touched() {
    let other = r#"{"mcpServers": {"browser": {"command": "npx", "args": ["x"]}}}"#;
    assert_eq!(
        add(other, "mcpServers", JsonEntry::Plain, &entry()),
        Err(Refusal::Taken)
    );
    assert_eq!(removed(other), None);
}

#[test]
fn what_cannot_be_understood_is_refused() {
    let refused = |text: &str| add(text, "mcpServers", JsonEntry::Plain, &entry()).unwrap_err();
    for text in [
        "{",
        "{\"a\": }",
        "{,}",
        "{\"a\": 1,,}",
        "{\"a\": \"b",
        "/* {}",
    ] {
        assert!(
            matches!(refused(text), Refusal::Unreadable { .. }),
            "{text}"
        );
    }
    for text in ["[]", "1", "{\"mcpServers\": []}"] {
        assert!(
            matches!(refused(text), Refusal::WrongShape { .. }),
            "{text}"
        );
    }
}

#[test]
fn opencode_has_the_program_and_its_arguments_in_one_list() {
    let text = add("{}", "mcp", JsonEntry::OpenCode, &entry())
        .unwrap()
        .unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let (command, arguments) = run_by(&json["mcp"][&entry().name]).unwrap();
    assert_eq!(command, entry().command);
    assert_eq!(arguments, entry().arguments());
    assert_eq!(add(&text, "mcp", JsonEntry::OpenCode, &entry()), Ok(None));
    let old = r#"{"mcp": {"browser": {"type": "local", "command": ["/old/tabmux", "mcp", "--headless"]}}}"#;
    let mut moved = entry();
    moved.name = "browser".into();
    moved.more.clear();
    let new = add(old, "mcp", JsonEntry::OpenCode, &moved)
        .unwrap()
        .unwrap();
    assert_eq!(new, old.replace("/old/tabmux", &moved.command));
}
