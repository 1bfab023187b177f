//! Private windows of an attached browser: hidden, unless the person allows them.

use crate::inside::{Inside, allow_in_private_windows};
use crate::own_browser::OwnBrowser;
use crate::panel_sites::policy;
use crate::user::User;
use serde_json::json;
use tabmux_cdp::types::target::{CreateBrowserContext, CreateTarget};
use tabmux_testkit::{McpClient, patiently};

/// Opens a page in a separate browser context, as other programs do; tabmux cannot distinguish it from a private
/// window.
async fn opens_apart(user: &User, url: &str) {
    let context = user.browser().send(CreateBrowserContext::default()).await;
    let create = CreateTarget {
        url: url.to_owned(),
        browser_context_id: Some(context.unwrap().browser_context_id),
        ..Default::default()
    };
    user.browser().send(create).await.unwrap();
}

async fn pages_of(agent: &McpClient) -> String {
    agent.call_tool("list_pages", json!({})).await.ok().text()
}

/// Waits until these pages are listed.
async fn until_listed(agent: &McpClient, wanted: &[&str]) -> String {
    let listed = async {
        loop {
            let pages = pages_of(agent).await;
            if wanted.iter().all(|page| pages.contains(page)) {
                return pages;
            }
        }
    };
    patiently(listed, || format!("{wanted:?} in a list")).await
}

#[tokio::test]
async fn private_windows_of_an_attached_browser_are_hidden_until_the_person_allows_them() {
    let Some(own) = OwnBrowser::open().await else {
        return;
    };
    let mut user = User::at(own.chromium.websocket_url()).await;
    allow_in_private_windows(&mut user).await;
    let worker =
        Inside::worker_that(&mut user, "chrome.extension.isAllowedIncognitoAccess()").await;
    let url = |page: &str| own.pages.url(&format!("form?{page}"));
    user.opens(&url("mine")).await;
    let private = format!(
        "chrome.windows.create({{incognito: true, url: '{}'}}).then((it) => it.incognito)",
        url("secret")
    );
    assert_eq!(worker.eval(&private).await, true);
    opens_apart(&user, &url("foreign")).await;

    let there = format!("--browserUrl={}", own.chromium.http_url());
    let agent = own.agent(&[&there, "--tools=static"]).await;
    until_listed(&agent, &["?mine"]).await;
    opens_apart(&user, &url("later")).await;
    // Our own tabs stay usable, in a separate context or not.
    let apart = json!({"url": url("ours"), "isolatedContext": "apart"});
    agent.call_tool("new_page", apart).await.ok();
    agent
        .call_tool("new_page", json!({"url": url("beside")}))
        .await
        .ok();
    let pages = until_listed(&agent, &["?mine", "?ours", "?beside"]).await;
    for hidden in ["?secret", "?foreign", "?later"] {
        assert!(!pages.contains(hidden), "{pages}");
    }
    // Nor can an agent guess their numbers.
    for number in (1..20).flat_map(|number| [number.to_string(), format!("#{number}")]) {
        let look = json!({"tabId": number, "function": "() => location.search"});
        let looked = agent.call_tool("evaluate_script", look).await.text();
        for hidden in ["secret", "foreign", "later"] {
            assert!(!looked.contains(hidden), "tab {number}: {looked}");
        }
    }

    policy(&own, &["private-windows", "allow"]);
    let pages = until_listed(&agent, &["?secret", "?foreign", "?later", "?ours"]).await;
    let line = pages.lines().find(|line| line.contains("?secret")).unwrap();
    let tab = line.split(':').next().unwrap().trim();
    let look = json!({"tabId": tab, "function": "() => location.search"});
    let looked = agent.call_tool("evaluate_script", look.clone()).await.ok();
    assert!(looked.text().contains("?secret"));

    policy(&own, &["private-windows", "block"]);
    let refused = agent.call_tool("evaluate_script", look).await;
    let refused = refused.expect_error();
    assert!(refused.contains("There is no tab"), "{refused}");
    let here = json!({"function": "() => location.search"});
    let told = agent.call_tool("evaluate_script", here).await;
    let told = told.expect_error();
    assert!(told.contains("was taken back by the person"), "{told}");
    let pages = pages_of(&agent).await;
    assert!(
        pages.contains("?ours") && pages.contains("?mine") && !pages.contains("?secret"),
        "{pages}"
    );
    let urls = user.urls().await;
    assert!(urls.contains(&url("secret")), "it is still there: {urls:?}");
}
