//! Buttons, switches, tabs, menus, navigation and links.

use super::harness::PageToolsHarness;
use serde_json::json;

const PAGE: &str = r##"
    <nav aria-label="Main"><a href="/a">Home</a> <a href="/b">Pricing</a></nav>
    <main><h1>claude-code</h1>
    <button onclick="heard.push('star')">Star repo</button>
    <button aria-pressed="false" onclick="this.ariaPressed = this.ariaPressed !== 'true'">Watch</button>
    <button aria-haspopup="menu" onclick="heard.push('menu')">Fork</button>
    <button aria-expanded="false" onclick="heard.push('more')">Details</button>
    <a href="#" onclick="heard.push('link')">Archive selected</a>
    <button disabled>Delete</button>
    <button></button>
    <div role="tablist" aria-label="Views"><button role="tab" aria-selected="true">Code</button><button role="tab" onclick="heard.push('issues')">Issues</button></div>
    <ul role="menu" aria-label="Sort"><li role="menuitem" onclick="heard.push('new')" tabindex="0">Newest</li><li role="menuitem" tabindex="0">Oldest</li></ul>
    <div role="switch" aria-checked="false" aria-label="Public" tabindex="0" onclick="this.ariaChecked = 'true'">x</div>
    <nav aria-label="Pages"><a href="#1">1</a> <a href="#2">2</a> <a href="#3">Next</a></nav>
    <p>See the <a href="/docs">documentation</a>.</p>
    <button>検索</button>
    </main><script>var heard = []</script>"##;

/// Spec: dynamic-tools 52, 54.
#[tokio::test]
async fn what_acts_is_a_tool_that_a_person_would_name() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    harness.serve("/b", "<h1>Pricing</h1>");
    let tab = harness.page("/repo", PAGE).await;
    harness.read(&tab).await;
    let mut names = harness.names(&tab);
    names.sort();
    assert_eq!(
        names,
        [
            "choose_from_sort_menu",
            "go_to_main",
            "go_to_page",
            "select_views_tab",
            "set_public",
            "set_watch",
        ]
    );
    harness
        .does(&tab, "select_views_tab", json!({ "tab": "Issues" }))
        .await;
    harness
        .does(&tab, "choose_from_sort_menu", json!({ "item": "Newest" }))
        .await;
    assert_eq!(
        harness.page_value(&tab, "heard").await,
        json!(["issues", "new"])
    );
    let answer = harness.does(&tab, "set_watch", json!({ "on": true })).await;
    assert!(answer.starts_with("Switched \"Watch\" on."), "{answer}");
    let answer = harness.does(&tab, "set_watch", json!({ "on": true })).await;
    assert!(answer.starts_with("\"Watch\" was on already."), "{answer}");
    harness
        .does(&tab, "set_public", json!({ "on": true }))
        .await;
    let on = harness
        .page_value(&tab, "document.querySelector('[role=switch]').ariaChecked")
        .await;
    assert_eq!(on, "true");
    let answer = harness
        .does(&tab, "go_to_page", json!({ "page": "Next" }))
        .await;
    assert!(
        answer.contains("The address is now http://HOST/repo#3"),
        "{answer}"
    );
    let error = harness
        .refuses(&tab, "go_to_main", json!({ "page": "Nowhere" }))
        .await;
    assert_eq!(
        error,
        "There is no \"Nowhere\". The choices are \"Home\", \"Pricing\"."
    );
    let answer = harness
        .does(&tab, "go_to_main", json!({ "page": "Pricing" }))
        .await;
    assert!(
        answer.ends_with("The page navigated to http://HOST/b"),
        "{answer}"
    );
}

/// Spec: dynamic-tools 54.
#[tokio::test]
async fn a_page_of_few_buttons_has_tools_for_them() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let body = "<h1>claude-code</h1><button onclick='got = 1'>Star repo</button><button>検索</button>
        <button aria-haspopup=menu>Fork</button><p>See the <a href=/docs>documentation</a>.</p><script>var got</script>";
    let tab = harness.page("/repo", body).await;
    harness.read(&tab).await;
    assert_eq!(harness.names(&tab), ["star_repo", "open_fork_menu"]);
    let answer = harness.does(&tab, "star_repo", json!({})).await;
    assert_eq!(
        answer,
        "Pressed \"Star repo\".\nThe page is still at http://HOST/repo"
    );
    assert_eq!(harness.page_value(&tab, "got").await, 1);
}

/// A heading in one box of a kind says nothing about the next box.
#[tokio::test]
async fn the_title_of_a_neighbour_is_not_taken() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let block = |title: &str, field: &str| {
        format!(
            "<div class='block x'>{title}<form><input aria-label='{field}'><button>Edit</button></form></div>"
        )
    };
    let body = format!(
        "<h1>Issue</h1>{}{}",
        block("<h3>Time tracking</h3>", "Hours"),
        block("<div>Labels</div>", "Label")
    );
    let tab = harness.page("/issue", &body).await;
    harness.read(&tab).await;
    assert_eq!(harness.names(&tab), ["edit_time_tracking", "edit_issue"]);
}

#[tokio::test]
async fn a_modal_dialog_leaves_only_its_own_tools() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let body = "<button>Behind</button><dialog><p>Sure?</p><button>Yes</button><button>No</button></dialog>\
                <script>document.querySelector('dialog').showModal()</script>";
    let tab = harness.page("/modal", body).await;
    harness.read(&tab).await;
    assert_eq!(harness.names(&tab), ["yes", "no"]);
}

#[tokio::test]
async fn the_covering_element_is_named() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let body = "<button>Save</button><div id=cover style='position:fixed;inset:0'></div>";
    let tab = harness.page("/cover", body).await;
    harness.read(&tab).await;
    let error = harness.refuses(&tab, "save", json!({})).await;
    assert_eq!(
        error,
        "The element \"Save\" is covered by <div#cover>. Close or scroll away what covers it, then try again."
    );
}

#[tokio::test]
async fn the_list_of_tools_is_ranked_bounded_and_valid_whatever_a_page_says() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let body = "<main></main><script>
        for (let i = 0; i < 3000; i++) {
          const button = document.createElement('button');
          button.textContent = `Button ${i} \u{202e}${'x'.repeat(500)}`;
          button.ariaPressed = 'false';
          document.body.append(button);
        }
        document.body.insertAdjacentHTML('beforeend', `<form><input name=q aria-label='Search'><select aria-label=Big>${
          Array.from({length: 5000}, (_, i) => `<option>${i} ${'y'.repeat(200)}`).join('')}</select></form>`);
        </script>";
    let tab = harness.page("/many", body).await;
    let reading = harness.read(&tab).await;
    assert_eq!(reading.tools, 12);
    assert!(reading.left_out > 500, "{}", reading.left_out);
    let tools = harness.tools(&tab);
    let bytes: usize = tools
        .iter()
        .map(|tool| tool.schema.len() + tool.description.len())
        .sum();
    assert!(bytes <= 48_000, "{bytes}");
    for tool in tools {
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        assert!(
            tool.name.len() <= 64 && tool.name.chars().all(fits),
            "{}",
            tool.name
        );
        assert!(!tool.description.contains('\u{202e}') && tool.description.len() < 300);
    }
}
