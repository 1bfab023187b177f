//! Tests of places, with a double of a grid whose websockets never open.

use super::*;
use serde_json::{Value, json};
use tabmux_testkit::{FixtureServer, Response};

const STATE: &str = "/session/one/timeouts";

/// A grid, and a place that has one of its browsers.
async fn grid_with_browser(server: &FixtureServer) -> Grid {
    let ok =
        |value: Value| Response::new(200, "application/json", json!({"value": value}).to_string());
    let cdp = server.url("session/one/se/cdp").replace("http:", "ws:");
    server.route("/status", ok(json!({"ready": true, "nodes": []})));
    let capabilities = json!({"se:cdp": cdp});
    let made = json!({"sessionId": "one", "capabilities": capabilities});
    server.route("/session", ok(made));
    server.route("/session/one", ok(Value::Null));
    server.route(STATE, ok(json!({})));
    let grid = Grid {
        address: RemoteAddress::from(format!("grid+{}", server.url(""))),
        place: GridPlace::default(),
    };
    let hub = Hub::of(&grid.address).unwrap();
    let lease = GridLease::ask_for(&hub, &grid).await.unwrap();
    grid.place.put(Box::new(lease));
    grid
}

fn was_given_back(server: &FixtureServer) -> bool {
    server.requests().iter().any(|it| it.method == "DELETE")
}

#[tokio::test]
async fn a_browser_stays_in_its_place_if_nobody_waits_for_it_any_more() {
    let server = FixtureServer::start();
    let grid = grid_with_browser(&server).await;
    tokio::select! {
        connected = again(&grid) => panic!("connected: {connected:?}"),
        _ = server.wait_for_nth_request(STATE, 2) => {}
    }
    let lease = grid.place.take();
    assert!(lease.is_some() && !was_given_back(&server));
}

#[tokio::test]
async fn a_browser_stays_in_its_place_while_its_grid_does_not_answer() {
    let server = FixtureServer::start();
    let grid = grid_with_browser(&server).await;
    server.route(STATE, Response::new(502, "text/plain", "no hub"));
    tokio::time::pause();
    let error = again(&grid).await.unwrap_err();
    tokio::time::resume();
    assert!(
        error.to_string().contains("it is not known whether"),
        "{error}"
    );
    let lease = grid.place.take();
    assert!(lease.is_some() && !was_given_back(&server));
}

#[tokio::test]
async fn a_browser_that_its_grid_has_ended_is_given_up() {
    let server = FixtureServer::start();
    let grid = grid_with_browser(&server).await;
    let gone = json!({"value": {"error": "invalid session id", "message": "no"}}).to_string();
    server.route(STATE, Response::new(404, "application/json", gone));
    assert!(again(&grid).await.unwrap().is_none());
    assert!(grid.place.take().is_none() && was_given_back(&server));
}
