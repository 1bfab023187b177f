//! A proxy and sites that require a password, as an agent sees them.

use crate::harness::{McpHarness, page};
use serde_json::json;
use tabmux_testkit::{FixtureServer, OverExtension, ProxyServer, Response};

/// `me:p@ss` and `you:pw`, encoded.
const PROXY_LOGIN: &str = "bWU6cEBzcw==";
const SITE_LOGIN: &str = "Basic eW91OnB3";

fn site() -> FixtureServer {
    let site = FixtureServer::start();
    site.route(
        "/open",
        page("Open", "<p id=open>Anybody</p><img src=/dot.svg>"),
    );
    site.route_with("/guarded", |request| {
        match request.header("authorization") == Some(SITE_LOGIN) {
            true => page("Guarded", "<p>For you</p>"),
            false => Response::html("no")
                .with_status(401)
                .with_header("WWW-Authenticate", "Basic realm=\"site\""),
        }
    });
    site
}

#[tokio::test]
async fn a_proxy_with_a_password_is_used_and_its_refusals_are_distinguished() {
    if OverExtension::here().is_some() {
        return; // A person's browser has its own proxy.
    }
    let site = site();
    let proxy = ProxyServer::start(site.port(), PROXY_LOGIN);
    let flag = |password: &str| format!("--proxyServer=http://me:{password}@{}", proxy.authority());
    let Some(harness) = McpHarness::launched(&[&flag("p%40ss")]).await else {
        return;
    };
    let opened = harness
        .text("open_tab", json!({"url": "http://site.test/open"}))
        .await;
    assert!(opened.contains("\"Open\""), "{opened}");
    harness.client.take_notifications().await;
    assert!(proxy.passed() > 0);

    let refused = harness
        .client
        .call_tool("navigate_page", json!({"url": "http://site.test/guarded"}))
        .await
        .expect_error();
    assert!(
        refused.contains("the site asks for a user and a password"),
        "{refused}"
    );
    let guarded = json!({"url": "http://you:pw@site.test/guarded"});
    let shown = harness.text("navigate_page", guarded).await;
    assert!(shown.contains("Title: Guarded"), "{shown}");
    let refused = harness
        .client
        .call_tool("navigate_page", json!({"url": "https://site.test/open"}))
        .await
        .expect_error();
    assert!(refused.contains("the proxy answers, but"), "{refused}");
    drop(harness);

    let (passed, refusals) = (proxy.passed(), proxy.refused());
    let Some(harness) = McpHarness::launched(&[&flag("wrong")]).await else {
        return;
    };
    let refused = harness
        .client
        .call_tool("open_tab", json!({"url": "http://site.test/open"}))
        .await
        .expect_error();
    assert!(
        refused.contains("the proxy asks for a user and a password"),
        "{refused}"
    );
    assert!(!refused.contains("wrong@"), "{refused}");
    assert_eq!(proxy.passed(), passed);
    assert!(proxy.refused() > refusals);
}
