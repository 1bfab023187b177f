//! Flags of Playwright MCP for the initial state of a session: storage and device.

use crate::crowd::Crowd;
use serde_json::{Value, json};
use tabmux_testkit::{McpClient, Response};

/// A page whose title shows its cookies and its token.
const WHO: &str = "<!doctype html><title>?</title><script>\
                   document.title = `${document.cookie} ${localStorage.token}`</script>";

#[tokio::test(flavor = "multi_thread")]
async fn a_storage_state_is_loaded_before_the_first_page() {
    let Some(crowd) = Crowd::gather() else { return };
    crowd.pages.route("/who", Response::html(WHO));
    let cookie = |name: &str, domain: &str, http_only: bool| {
        json!({"name": name, "value": "1", "domain": domain, "path": "/", "expires": -1,
               "httpOnly": http_only, "secure": false, "sameSite": "Lax"})
    };
    let origin = |host: &str, token: &str| {
        let origin = crowd.pages.url_at(host, "");
        json!({"origin": origin.trim_end_matches('/'),
               "localStorage": [{"name": "token", "value": token}]})
    };
    let state = json!({
        "cookies": [cookie("seen", "127.0.0.1", false), cookie("hidden", "127.0.0.1", true)],
        "origins": [origin("127.0.0.1", "here"), origin("localhost", "there")],
    });
    let file = crowd.home().join("state.json");
    std::fs::write(&file, state.to_string()).unwrap();
    let file = format!("--storage-state={}", file.display());
    let title = async |client: &McpClient, url: &str| {
        let go = json!({"url": url});
        client.call_tool("navigate_page", go).await.ok();
        let ask = json!({"function": "() => document.title"});
        client.call_tool("evaluate_script", ask).await.ok().text()
    };
    let (here, there) = (
        crowd.pages.url("who"),
        crowd.pages.url_at("localhost", "who"),
    );
    for daemon in [true, false] {
        let before = crowd.pages.requests().len();
        let flags = ["--isolated", &file];
        let client = match daemon {
            true => crowd.client_in(&flags).await,
            false => crowd.client_without_daemon(&flags).await,
        };
        assert_eq!(title(&client, &here).await, r#""seen=1 here""#);
        let mut asked = crowd.pages.requests().split_off(before);
        asked.retain(|request| request.path != "/favicon.ico");
        let paths: Vec<_> = asked.iter().map(|request| &*request.path).collect();
        assert_eq!(
            paths,
            ["/who"],
            "no server is asked while the file is loaded"
        );
        let sent = asked[0].header("cookie").unwrap_or_default();
        assert_eq!(sent, "seen=1; hidden=1");
        let pages = client.call_tool("list_pages", json!({})).await.ok().text();
        assert_eq!(pages.lines().count(), 1, "{pages}");
        assert_eq!(title(&client, &there).await, r#""there""#);
        // It is loaded only once, so entries that a page deletes do not return.
        let take = json!({"function": "() => { localStorage.clear(); }"});
        client.call_tool("evaluate_script", take).await.ok();
        assert_eq!(title(&client, &there).await, r#""undefined""#);
        let new = json!({"url": here});
        client.call_tool("new_page", new).await.ok();
        assert_eq!(title(&client, &here).await, r#""seen=1 here""#);
    }
    // Other sessions do not have it.
    let other = crowd.client_in(&["--isolated"]).await;
    assert_eq!(title(&other, &here).await, r#""undefined""#);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unusable_storage_state_is_an_error_and_has_no_effect() {
    let Some(crowd) = Crowd::gather() else { return };
    crowd.pages.route("/who", Response::html(WHO));
    let go = json!({"url": crowd.pages.url("who")});
    let file = crowd.home().join("state.json");
    let flag = format!("--storage-state={}", file.display());
    let client = crowd.client_in(&["--isolated", &flag]).await;
    let cookie = json!({"name": "a", "value": "1", "domain": "127.0.0.1", "path": "/"});
    let nowhere = json!([{"origin": "about:blank", "localStorage": [{"name": "a", "value": "1"}]}]);
    for (text, told) in [
        (None, "cannot be read"),
        (Some("{]".to_owned()), "is not a file of save_storage"),
        (
            Some(json!({"cookies": [cookie], "origins": nowhere}).to_string()),
            "has the local storage of about:blank, which is not the origin of a website. Nothing was loaded.",
        ),
    ] {
        if let Some(text) = text {
            std::fs::write(&file, text).unwrap();
        }
        let refused = client.call_tool("navigate_page", go.clone()).await;
        let refused = refused.expect_error();
        assert!(refused.contains(told), "{refused}");
        assert_eq!(refused.lines().count(), 1, "{refused}");
        assert_eq!(crowd.pages.count("/who"), 0);
    }
    // The next call reads the file again.
    std::fs::write(&file, json!({"cookies": [cookie]}).to_string()).unwrap();
    client.call_tool("navigate_page", go).await.ok();
    let ask = json!({"function": "() => document.title"});
    let title = client.call_tool("evaluate_script", ask).await.ok().text();
    assert_eq!(title, r#""a=1 undefined""#);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_sees_the_device_of_the_flag() {
    let Some(crowd) = Crowd::gather() else { return };
    let page = "<!doctype html><meta name=viewport content=width=device-width><title>Page</title>\
                <script>window.early = innerWidth</script>";
    crowd.pages.route("/page", Response::html(page));
    let facts = "() => [early, innerHeight, devicePixelRatio, navigator.maxTouchPoints > 0, \
                 /iPhone|Pixel 7/.exec(navigator.userAgent)?.[0] ?? null]";
    let facts = async |client: &McpClient| -> Value {
        let reload = json!({"type": "reload"});
        client.call_tool("navigate_page", reload).await.ok();
        let ask = json!({"function": facts});
        let told = client.call_tool("evaluate_script", ask).await.ok().text();
        serde_json::from_str(&told).unwrap()
    };
    let go = json!({"url": crowd.pages.url("page")});
    let (phone, pixel) = (
        json!([393, 659, 3, true, "iPhone"]),
        json!([412, 839, 2.625, true, "Pixel 7"]),
    );
    let client = crowd
        .client_in(&["--isolated", "--device", "iPhone 15"])
        .await;
    client.call_tool("navigate_page", go.clone()).await.ok();
    assert_eq!(facts(&client).await, phone);
    let asked = crowd.pages.wait_for_request("/page").await;
    let agent = asked.header("user-agent").unwrap_or_default();
    assert!(agent.contains("iPhone"), "{agent}");
    // Also a page that a page opens.
    let popup = json!({"function": "() => { window.open('/page'); }"});
    client.call_tool("evaluate_script", popup).await.ok();
    let second = json!({"pageId": 2});
    client.call_tool("select_page", second).await.ok();
    assert_eq!(facts(&client).await, phone);
    // An agent may choose another device, and reset it.
    for (device, expected) in [("Pixel 7", &pixel), ("", &phone)] {
        let other = json!({"device": device});
        client.call_tool("emulate", other).await.ok();
        assert_eq!(facts(&client).await, *expected);
    }

    // The more specific flags win.
    let closer = crowd.client_in(&[
        "--isolated",
        "--device=iPhone 15",
        "--viewport-size=500x400",
        "--user-agent=Mine",
    ]);
    let closer = closer.await;
    closer.call_tool("navigate_page", go.clone()).await.ok();
    assert_eq!(facts(&closer).await, json!([500, 400, 3, true, null]));

    let none = crowd.client_in(&["--device=iPhone 51"]).await;
    let told = none.call_tool("navigate_page", go).await.expect_error();
    let near = "There is no device iPhone 51. Similar names: iPhone";
    assert!(told.contains(near), "{told}");
}
