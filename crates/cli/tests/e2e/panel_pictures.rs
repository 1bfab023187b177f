//! The pictures of the side panel in the documentation: screenshots of the real one, written with
//! `TABMUX_PICTURES=1`.

use crate::inside::Inside;
use crate::own_browser::OwnBrowser;
use crate::user::User;
use base64::Engine;
use serde_json::json;
use std::path::Path;
use tabmux_testkit::Response;

#[tokio::test]
async fn the_panel_looks_like_its_pictures() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let pages = [
        ("/orders", "Orders – Acme Store"),
        (
            "/ticket",
            "Ticket 4711: The printer is on fire again – Helpdesk",
        ),
        ("/docs", "Quarterly report – Docs"),
    ];
    for (path, title) in pages {
        own.pages
            .route(path, Response::html(format!("<title>{title}</title><p>x")));
    }
    let mut user = User::at(own.chromium.websocket_url()).await;
    let docs = own.pages.url("docs");
    user.opens(&docs).await;
    user.switches_to(&docs).await;
    let panel = Inside::panel(&mut user).await;
    panel.reads("No agent is connected.").await;
    panel.reads("Agents may act on this site.").await;
    picture(&panel, "empty", 360, 520, "light").await;
    let one = own.agent_named("Claude Code", &[]).await;
    let two = own.agent_named("Cursor", &[]).await;
    for (agent, page) in [(&one, "orders"), (&two, "ticket")] {
        let url = own.pages.url(page);
        agent.call_tool("new_page", json!({"url": url})).await.ok();
    }
    panel.presses("Give it to Cursor").await;
    panel.reads("Cursor works in this tab.").await;
    // It is told once, and begins then.
    let slow = json!({"function": "() => new Promise(() => {})"});
    two.call_tool("evaluate_script", slow.clone()).await;
    let working = two.begin_call("evaluate_script", slow).await;
    panel.reads("Cursor is acting in this tab right now.").await;
    let blocked = own.tabmux(&["policy", "block", "*.bank.example"]);
    assert!({ blocked }.output().unwrap().status.success());
    panel.reads("*.bank.example").await;
    picture(&panel, "light", 360, 860, "light").await;
    picture(&panel, "dark", 360, 860, "dark").await;
    picture(&panel, "narrow", 280, 820, "light").await;
    drop(working);
    let tea = r#"<title>Tea – Acme Store</title><script>
        document.modelContext.registerTool({name: "place_order", description: "Buys", annotations: {consequentialHint: true},
          inputSchema: {type: "object", properties: {item: {type: "string"}, grams: {type: "number"}}}, execute: () => "bought"});
        </script>"#;
    own.pages.route("/tea", Response::html(tea));
    let url = own.pages.url("tea");
    one.call_tool("new_page", json!({"url": url})).await.ok();
    let order = json!({"item": "Darjeeling", "grams": 500});
    let order = json!({"name": "place_order", "arguments": order});
    let asking = one.begin_call("call_page_tool", order).await;
    panel
        .until("document.querySelector('.question button')?.disabled === false")
        .await;
    picture(&panel, "question", 360, 420, "light").await;
    drop(asking);
}

async fn picture(panel: &Inside, name: &str, width: u32, height: u32, scheme: &str) {
    let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
    panel
        .command("Emulation.setDeviceMetricsOverride", size)
        .await;
    let media = json!({"features": [
        {"name": "prefers-color-scheme", "value": scheme},
        {"name": "prefers-reduced-motion", "value": "reduce"},
    ]});
    panel.command("Emulation.setEmulatedMedia", media).await;
    panel.eval("document.activeElement?.blur()").await;
    panel
        .until("document.documentElement.scrollWidth <= document.documentElement.clientWidth")
        .await;
    let shot = panel
        .command("Page.captureScreenshot", json!({"format": "png"}))
        .await;
    let bytes = base64::prelude::BASE64_STANDARD.decode(shot["data"].as_str().unwrap());
    let bytes = bytes.unwrap();
    assert!(bytes.len() < 80_000, "{name}: {}", bytes.len());
    if std::env::var_os("TABMUX_PICTURES").is_some() {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        std::fs::write(docs.join(format!("panel-{name}.png")), bytes).unwrap();
    }
}
