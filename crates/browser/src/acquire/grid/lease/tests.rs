//! Tests of leases, with a double of Selenoid's API.

use super::*;
use crate::acquire::grid::{GridPlace, lease_files};
use serde_json::json;
use tabmux_testkit::{FixtureServer, Request, Response};

#[test]
fn a_websocket_is_below_the_address_that_was_reached() {
    let socket = |hub: &str, told: &str| {
        let hub = Hub::of(&hub.to_owned().into()).unwrap();
        reached(&hub, told).url
    };
    let told = "/session/1/se/cdp";
    for (hub, expected) in [
        ("grid+http://hub:4444?a=b", "ws://hub:4444/session/1/se/cdp"),
        ("grid+https://me:pw@hub", "wss://me:pw@hub/session/1/se/cdp"),
        ("grid+http://hub/team/", "ws://hub/team/session/1/se/cdp"),
        ("grid+http://hub/wd/hub", "ws://hub/session/1/se/cdp"),
        (
            "grid+http://hub/team/wd/hub",
            "ws://hub/team/session/1/se/cdp",
        ),
    ] {
        assert_eq!(socket(hub, told), expected);
    }
    assert_eq!(
        socket("grid+http://hub/team", "/team/session/1/se/cdp"),
        "ws://hub/team/session/1/se/cdp"
    );
}

/// Selenoid ends sessions that get no HTTP request, whatever comes over their websockets.
#[tokio::test]
async fn selenoid_is_asked_over_http_and_its_websocket_is_beside_its_folder() {
    let server = FixtureServer::start();
    let ok =
        |value: Value| Response::new(200, "application/json", json!({"value": value}).to_string());
    let message = "Selenoid 1.11.3 built at 2024-05-25";
    server.route(
        "/wd/hub/status",
        ok(json!({"message": message, "ready": true})),
    );
    server.route(
        "/wd/hub/session",
        ok(json!({"sessionId": "one", "capabilities": {}})),
    );
    server.route("/wd/hub/session/one/timeouts", ok(json!({})));
    server.route("/wd/hub/session/one", ok(Value::Null));
    let address = RemoteAddress::from(format!("grid+{}", server.url("wd/hub")));
    let grid = Grid {
        address: address.clone(),
        place: GridPlace::default(),
    };
    let hub = Hub::of(&address).unwrap();
    let lease = GridLease::ask_for(&hub, &grid).await.unwrap();
    let socket = server.url("devtools/one/").replace("http:", "ws:");
    assert_eq!(lease.socket().url, socket);

    for nth in 1..=2 {
        let path = "/wd/hub/session/one/timeouts";
        loop {
            tokio::time::pause();
            tokio::time::advance(KEEP_EVERY).await;
            tokio::time::resume();
            // It may not have begun to wait before the time passed.
            let asked = server.wait_for_nth_request(path, nth);
            let soon = tokio::time::timeout(Duration::from_millis(100), asked);
            if soon.await.is_ok() {
                break;
            }
        }
    }
    lease.release().await;
    let is_end = |it: &Request| it.method == "DELETE" && it.path == "/wd/hub/session/one";
    assert!(server.requests().iter().any(is_end));
}

#[tokio::test]
async fn a_browser_without_cdp_is_given_back_and_leaves_no_file() {
    let server = FixtureServer::start();
    let ok =
        |value: Value| Response::new(200, "application/json", json!({"value": value}).to_string());
    server.route("/status", ok(json!({"ready": true})));
    let id = format!("cdpless-{}", std::process::id());
    server.route("/session", ok(json!({"sessionId": id, "capabilities": {}})));
    server.route(&format!("/session/{id}"), ok(Value::Null));
    let address = RemoteAddress::from(format!("grid+{}", server.url("")));
    let grid = Grid {
        address: address.clone(),
        place: GridPlace::default(),
    };
    let hub = Hub::of(&address).unwrap();
    let said = GridLease::ask_for(&hub, &grid).await.unwrap_err();
    assert!(said.to_string().contains("does not speak CDP"), "{said}");
    let is_end = |it: &Request| it.method == "DELETE";
    assert!(server.requests().iter().any(is_end));
    let file = lease_files::folder().join(format!("{id}.json"));
    assert!(!file.exists());
}
