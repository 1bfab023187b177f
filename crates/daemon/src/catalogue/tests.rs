//! The tool lists: their contents in each mode, and their size.

use super::*;
use crate::tools::more_tools::categories as more_categories;

fn bytes(infos: &[ToolInfo]) -> usize {
    infos
        .iter()
        .map(|info| serde_json::to_string(info).unwrap().len())
        .sum()
}

#[test]
fn the_lists_stay_within_their_budget() {
    let start = bytes(&[info(ToolName::CONNECT_BROWSER, Mode::Progressive, false).unwrap()]);
    assert!(start <= 400, "{start} bytes when disconnected");
    let focused: Vec<_> = all().iter().skip(1).cloned().collect();
    assert!(
        bytes(&focused) <= 12_000,
        "{} bytes when focused",
        bytes(&focused)
    );
}

#[test]
fn the_fixed_list_stays_within_its_budget() {
    let on_request = on_request(None).into_iter();
    let mut unlisted: Vec<_> = on_request.map(|(name, _)| name).collect();
    unlisted.push(ToolName::SELECT_DEFAULT_BROWSER); // Only with a flag of its own.
    let default: Vec<_> = STATIC_INFOS
        .iter()
        .filter(|info| unlisted.iter().all(|name| name.as_str() != info.name))
        .cloned()
        .collect();
    assert!(bytes(&default) <= 16_000, "{} bytes", bytes(&default));
}

fn with(name: &str, several: bool) -> Value {
    let info = info(ToolName::new(name), Mode::Static, several).unwrap();
    serde_json::to_value(info).unwrap()
}

/// Spec: multi-browser 41, 42, 43, 106.
#[test]
fn with_several_browsers_every_tool_takes_browser_index_first() {
    for info in STATIC_INFOS.iter().filter(|info| takes_index(&info.name)) {
        let tool = with(&info.name, true);
        let schema = &tool["inputSchema"];
        let (first, index) = schema["properties"]
            .as_object()
            .unwrap()
            .iter()
            .next()
            .unwrap();
        assert_eq!(first, "browserIndex", "{tool}");
        assert_eq!(
            index,
            &json!({
                "type": "integer",
                "exclusiveMinimum": 0,
                "description": "Index of the browser to use (1-based). When multiple browsers are configured via --browserUrl or --wsEndpoint, this parameter is REQUIRED to specify which browser to target. When only one browser is configured, this parameter can be omitted. Use list_browsers to see available browser indices."
            })
        );
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let names_it = required.contains(&json!("browserIndex"));
        assert_eq!(names_it, info.name == "select_default_browser", "{tool}");
    }
}

/// Spec: multi-browser 61, 62, 63, 64, 65, 66, 67, 68, 69.
#[test]
fn every_family_takes_a_browser_index() {
    for (family, tools) in [
        (
            "pages",
            &[
                "list_pages",
                "new_page",
                "select_page",
                "close_page",
                "navigate_page",
            ][..],
        ),
        ("screenshot", &["take_screenshot"]),
        (
            "input",
            &[
                "click",
                "fill",
                "fill_form",
                "hover",
                "drag",
                "press_key",
                "upload_file",
            ],
        ),
        ("snapshot", &["take_snapshot", "wait_for"]),
        ("emulation", &["emulate", "resize_page"]),
        ("console", &["list_console_messages", "get_console_message"]),
        ("network", &["list_network_requests", "get_network_request"]),
        ("script", &["evaluate_script"]),
        (
            "performance",
            &["performance_start_trace", "performance_stop_trace"],
        ),
    ] {
        for tool in tools {
            let index =
                |several| with(tool, several)["inputSchema"]["properties"]["browserIndex"].clone();
            assert!(index(true).is_object(), "{family}: {tool}");
            assert!(index(false).is_null(), "{family}: {tool} with one browser");
        }
    }
}

/// Spec: multi-browser 44, 45.
#[test]
fn the_lists_of_pages_and_browsers_match_the_specification() {
    let pages = with("list_pages", false);
    assert_eq!(
        pages["description"],
        "Get a list of pages open in the browser."
    );
    assert_eq!(category("list_pages"), Some(Category::Navigation));
    let browsers = with("list_browsers", true);
    for tool in [&pages, &browsers] {
        assert_eq!(tool["hints"], json!({"readOnly": true}), "{tool}");
        assert_eq!(
            tool["inputSchema"],
            json!({"type": "object", "properties": {}})
        );
    }
}

/// Spec: multi-browser 44.
#[test]
fn page_management_tools_belong_to_the_navigation_category() {
    let names = |categories: Option<&[String]>| -> Vec<String> {
        let withheld = withheld(categories).into_iter();
        withheld.map(|name| name.as_str().to_owned()).collect()
    };
    let of_navigation = [
        "list_pages",
        "new_page",
        "select_page",
        "close_page",
        "navigate_page",
        "wait_for",
    ];
    let (input, both) = (
        ["input".to_owned()],
        ["input".to_owned(), "navigation".to_owned()],
    );
    for tool in of_navigation {
        assert_eq!(category(tool), Some(Category::Navigation), "{tool}");
        assert!(names(Some(&input)).contains(&tool.into()), "{tool}");
        assert!(!names(Some(&both)).contains(&tool.into()), "{tool}");
        assert!(!names(None).contains(&tool.into()), "{tool}");
    }
    // A session with several browsers always needs this tool.
    assert_eq!(category("list_browsers"), None);
}

#[test]
fn names_are_unique_and_portable() {
    let mut names: Vec<_> = all().iter().map(|info| info.name.as_str()).collect();
    for name in &names {
        assert!(name.len() <= 64 && name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'));
    }
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), all().len());
}

#[test]
fn more_tools_leads_to_every_page_action() {
    let usual = page_actions();
    let rest = page_tools()
        .into_iter()
        .filter(|name| !usual.contains(name))
        // Sessions with secrets have it from the start, and others never.
        .filter(|name| name.as_str() != "list_secrets");
    for name in rest {
        let category = category(name.as_str()).unwrap().name();
        assert!(more_categories().any(|more| more == category), "{name}");
        assert!(of_categories(&[category.to_owned()]).contains(&name));
        assert!(info(name, Mode::Progressive, false).is_some(), "{name}");
    }
    for category in more_categories() {
        let tools = of_categories(&[category.to_owned()]);
        let adds = tools.iter().any(|name| !usual.contains(name));
        assert!(adds, "{category}");
    }
}

/// A page may offer `navigate`, and no list but that of `--slim` has it.
#[test]
fn the_tools_of_slim_are_in_no_other_list() {
    let others = [page_tools(), page_actions(), static_tools()].concat();
    for tool in slim_tools() {
        assert!(!others.contains(&tool), "{tool}");
        assert!(slim_info(tool, false).is_some());
    }
}

/// For any mode and categories.
#[test]
fn instructions_name_only_tools_of_the_session() {
    use tabmux_protocol::session::{SessionOptions, ToolMode};
    let every = [
        "input",
        "navigation",
        "emulation",
        "performance",
        "network",
        "debugging",
    ];
    for (mode, tools) in [
        (Mode::Progressive, ToolMode::Progressive),
        (Mode::Static, ToolMode::Static),
    ] {
        for left_out in every {
            let categories = every.iter().filter(|category| **category != left_out);
            let categories: Vec<_> = categories.map(|category| (*category).to_owned()).collect();
            let withheld = withheld(Some(&categories));
            let options = SessionOptions {
                tools,
                page_actions: true,
                categories: Some(categories),
                ..SessionOptions::default()
            };
            let text = tabmux_daemon_client::instructions(&options, None).unwrap();
            let words = text.split(|c: char| !(c.is_ascii_lowercase() || c == '_'));
            let words = words.filter(|word| word.contains('_'));
            for tool in words.map(ToolName::new) {
                let exists = category(tool.as_str()).is_some()
                    || session_tools::find(tool.as_str()).is_some();
                assert!(exists && tool.exists_in(mode), "{tool} in {mode:?}");
                assert!(!withheld.contains(&tool), "{tool} without {left_out}");
            }
        }
    }
}
