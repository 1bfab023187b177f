//! Tools exist as long as their documents.

use super::harness::PageToolsHarness;
use serde_json::json;
use tabmux_testkit::Response;

#[tokio::test(flavor = "multi_thread")]
async fn tools_come_and_go_while_the_page_stays() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let script = r#"
        window.gone = new AbortController();
        add({name: "first", execute: () => 1});
        add({name: "second", execute: () => 2}, {signal: gone.signal});"#;
    let tab = harness.page("", "<main></main>", script).await;
    harness.until_names(&tab, &["first", "second"]).await;
    let (first, second) = (harness.tool(&tab, "first"), harness.tool(&tab, "second"));
    harness.page_value(&tab, "gone.abort()").await;
    harness.until_names(&tab, &["first"]).await;
    harness.is_gone(&tab, &second).await;

    let form = r#"document.querySelector("main").innerHTML =
        '<form toolname="third" tooldescription="T" toolautosubmit><input name="a"><button>B</button></form>'"#;
    harness.page_value(&tab, form).await;
    harness.until_names(&tab, &["first", "third"]).await;
    harness
        .page_value(
            &tab,
            "document.forms[0].setAttribute('toolname', 'renamed')",
        )
        .await;
    harness.until_names(&tab, &["first", "renamed"]).await;
    harness
        .page_value(&tab, "history.pushState(null, '', '/elsewhere')")
        .await;
    harness.page_value(&tab, "document.forms[0].remove()").await;
    harness.until_names(&tab, &["first"]).await;
    assert_eq!(harness.tool(&tab, "first").number, first.number);
}

#[tokio::test(flavor = "multi_thread")]
async fn navigation_reload_and_the_way_back_each_give_a_new_set() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let tool = |name: &str| format!(r#"add({{name: "{name}", execute: () => "{name}"}});"#);
    harness.serve("/b", "", &tool("of_b"));
    harness.serve("/bare", "", "");
    let tab = harness.page("", "", &tool("of_a")).await;
    let of_a = harness.tool(&tab, "of_a");
    let go = async |url: &str| {
        let url = harness.server.url(url);
        harness
            .text(&tab, "navigate_page", json!({"type": "url", "url": url}))
            .await;
    };
    go("/b").await;
    harness.until_names(&tab, &["of_b"]).await;
    harness.is_gone(&tab, &of_a).await;

    harness
        .text(&tab, "navigate_page", json!({"type": "back"}))
        .await;
    harness.until_names(&tab, &["of_a"]).await;
    assert_ne!(harness.tool(&tab, "of_a").number, of_a.number);
    assert_eq!(harness.value(&tab, "of_a", json!({})).await, "of_a");
    harness
        .text(&tab, "navigate_page", json!({"type": "forward"}))
        .await;
    harness.until_names(&tab, &["of_b"]).await;
    let before = harness.tool(&tab, "of_b");
    harness
        .text(&tab, "navigate_page", json!({"type": "reload"}))
        .await;
    harness.until_names(&tab, &["of_b"]).await;
    assert_ne!(harness.tool(&tab, "of_b").number, before.number);
    assert_eq!(harness.value(&tab, "of_b", json!({})).await, "of_b");
    go("/bare").await;
    harness.until_names(&tab, &[]).await;
    // To another site, which runs in another process.
    let url = harness.server.cross_site_url("/b");
    harness
        .text(&tab, "navigate_page", json!({"type": "url", "url": url}))
        .await;
    harness.until_names(&tab, &["of_b"]).await;
    assert_eq!(harness.value(&tab, "of_b", json!({})).await, "of_b");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_chrome_kept_comes_back_with_its_tools() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    for name in ["a", "b"] {
        let script = format!(
            r#"window.calls = 0;
            add({{name: "of_{name}", execute: () => "{name}" + ++calls}});"#
        );
        let page = Response::html(super::harness::html("", &script));
        // Chrome does not keep pages with `no-store` for back and forward.
        let page = page.with_header("Cache-Control", "no-cache");
        harness.server.route(&format!("/{name}"), page);
    }
    let tab = harness.open("/a").await;
    harness.until_names(&tab, &["of_a"]).await;
    let before = harness.tool(&tab, "of_a");
    assert_eq!(harness.value(&tab, "of_a", json!({})).await, "a1");
    let url = harness.server.url("/b");
    let there = json!({"type": "url", "url": url});
    harness.text(&tab, "navigate_page", there).await;
    harness.until_names(&tab, &["of_b"]).await;
    assert_eq!(harness.value(&tab, "of_b", json!({})).await, "b1");
    // Back and forward restore the document with its counter: it was not loaded again.
    for (way, name, count) in [("back", "a", 2), ("forward", "b", 2), ("back", "a", 3)] {
        let way = json!({"type": way});
        harness.text(&tab, "navigate_page", way).await;
        let tool = format!("of_{name}");
        harness.until_names(&tab, &[&tool]).await;
        let answer = harness.value(&tab, &tool, json!({})).await;
        assert_eq!(answer, format!("{name}{count}"));
    }
    harness.is_gone(&tab, &before).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_page_is_left_by_the_user_ends_with_a_clear_word() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    harness.serve("/next", "", "");
    let script = r#"add({name: "never", execute: () => { window.busy = 1; return new Promise(() => {}); }});"#;
    let tab = harness.page("", "", script).await;
    for leave in ["location.reload()", "location.href = '/next'"] {
        harness.until_names(&tab, &["never"]).await;
        let failure = harness.left_during(&tab, "never", leave).await;
        assert!(
            failure.starts_with("The page went to http://127"),
            "{failure}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_leads_to_another_page_says_where() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let data = r#"<script type="application/ld+json">{"@type": "Car", "name": "Saab"}</script>"#;
    harness.serve("/with-data", data, "");
    harness.serve("/without", "", "");
    let form = |action: &str| {
        format!(
            r#"<form action="{action}" toolname="go" tooldescription="Go" toolautosubmit>
               <input name="q"><button>Go</button></form>"#
        )
    };
    let tab = harness.page("1", &form("/with-data"), "").await;
    let answer = harness.words(&tab, "go", json!({"q": "x"})).await;
    assert!(answer.contains("/with-data?q=x"), "{answer}");
    assert!(answer.contains("Saab"), "{answer}");
    let tab = harness.page("2", &form("/without"), "").await;
    let answer = harness.words(&tab, "go", json!({"q": "x"})).await;
    assert!(answer.ends_with("/without?q=x."), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn chrome_refuses_a_form_tool_that_leads_to_another_site() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    harness.serve("/elsewhere", "", "");
    let elsewhere = harness.server.cross_site_url("/elsewhere");
    let form = format!(
        r#"<form action="{elsewhere}" toolname="go" tooldescription="Go" toolautosubmit><button>Go</button></form>"#
    );
    let tab = harness.page("", &form, "").await;
    let answer = harness.failure(&tab, "go", json!({})).await;
    assert!(answer.contains("cross-origin navigation"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn frames_of_the_same_site_and_of_another_have_their_tools() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let tool = |name: &str| format!(r#"add({{name: "{name}", execute: () => "{name}"}});"#);
    harness.serve("/near", "", &tool("near"));
    harness.serve("/far", "", &tool("far"));
    harness.serve("/far2", "", &tool("far_two"));
    let far = harness.server.cross_site_url("/far");
    let body = format!(
        r#"<iframe id="a" src="/near"></iframe><iframe id="b" src="{far}" allow="tools"></iframe>
           <iframe src="{far}"></iframe>"#
    );
    let tab = harness.page("", &body, &tool("top")).await;
    harness.until_names(&tab, &["top", "near", "far"]).await;
    for name in ["top", "near", "far"] {
        assert_eq!(harness.value(&tab, name, json!({})).await, name);
    }
    assert_eq!(&*harness.tool(&tab, "near").origin, harness.origin());
    let origin = harness.server.cross_site_url("");
    assert_eq!(
        &*harness.tool(&tab, "far").origin,
        origin.trim_end_matches('/')
    );
    let url = harness.server.cross_site_url("/far2");
    harness.page_value(&tab, &format!("b.src = {url:?}")).await;
    harness.until_names(&tab, &["top", "near", "far_two"]).await;
    harness.page_value(&tab, "a.remove()").await;
    harness.until_names(&tab, &["top", "far_two"]).await;
    harness.page_value(&tab, "b.remove()").await;
    harness.until_names(&tab, &["top"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_ends_when_its_frame_is_removed() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let script = r#"add({name: "never", execute: () => { parent.busy = 1; return new Promise(() => {}); }});"#;
    harness.serve("/near", "", script);
    let tab = harness
        .page("", r#"<iframe id="a" src="/near"></iframe>"#, "")
        .await;
    harness.until_names(&tab, &["never"]).await;
    let remove = async {
        while harness.page_value(&tab, "window.busy").await != json!(1) {}
        harness.page_value(&tab, "a.remove()").await;
    };
    let (failure, ()) = tokio::join!(harness.failure(&tab, "never", json!({})), remove);
    assert!(
        failure.starts_with("The frame with the tool was removed"),
        "{failure}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_hostile_page_registers_is_bounded() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let script = r#"
        add({name: "fine", description: "d".repeat(100_000), execute: () => 1});
        add({name: "huge_schema", inputSchema: {type: "object", description: "s".repeat(100_000)}, execute: () => 1});
        add({name: "debugger", annotations: {debugging: true}, execute: () => 1});
        for (let i = 0; i < 1000; i++) add({name: "many_" + i, execute: () => i});"#;
    let tab = harness.page("", "", script).await;
    let mut found = tab.findings();
    let full = found.wait_for(|found| found.web_mcp.len() >= 200);
    tabmux_testkit::patiently(full, || "too few tools".into())
        .await
        .unwrap();
    assert_eq!(harness.value(&tab, "many_1", json!({})).await, 1);
    let names = harness.names(&tab);
    assert_eq!(names.len(), 200);
    assert!(!names.contains(&"huge_schema".to_owned()));
    assert!(!names.contains(&"debugger".to_owned()));
    assert!(harness.tool(&tab, "fine").description.chars().count() <= 4_001);
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_change_constantly_do_not_affect_other_tabs() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let tab = harness.page("", "", "").await;
    let churn = r#"window.n = 0; setInterval(() => { for (let i = 0; i < 50; i++) {
        const c = new AbortController();
        document.modelContext.registerTool({name: "churn" + n++, description: "d",
          execute: () => 1}, {signal: c.signal});
        c.abort(); } }, 1), 0"#;
    harness.page_value(&tab, churn).await;
    // Another site, because tabs of one site may share a process.
    let calm = r#"add({name: "calm", execute: () => "calm"});"#;
    harness.serve("/calm", "", calm);
    let other = harness
        .open_url(&harness.server.cross_site_url("/calm"))
        .await;
    assert_eq!(harness.value(&other, "calm", json!({})).await, "calm");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_policy_of_a_page_that_forbids_tools_is_kept() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let page = super::harness::html("", r#"add({name: "x", execute: () => 1}).catch(() => {});"#);
    let page = Response::html(page).with_header("Permissions-Policy", "tools=()");
    harness.server.route("/forbids", page);
    let tab = harness.open("/forbids").await;
    assert_eq!(harness.names(&tab), [""; 0]);
}
