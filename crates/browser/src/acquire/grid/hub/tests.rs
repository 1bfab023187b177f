//! Tests of the requests to a grid, against small doubles of its API.

use super::*;
use tabmux_testkit::{FixtureServer, Request, Response};

fn hub(url: &str) -> Hub {
    Hub::of(&url.to_owned().into()).unwrap()
}

/// A server, and its address as that of a grid.
fn double(path: &str) -> (FixtureServer, Hub) {
    let server = FixtureServer::start();
    let hub = hub(&format!("grid+{}", server.url(path)));
    (server, hub)
}

fn json_of(status: u16, body: &Value) -> Response {
    Response::new(status, "application/json", body.to_string())
}

fn ended(server: &FixtureServer, id: &str) -> bool {
    let path = format!("/session/{id}");
    let is_end = |it: &Request| it.method == "DELETE" && it.path == path;
    server.requests().iter().any(is_end)
}

#[test]
fn the_query_has_the_capabilities_and_the_rest_is_the_address() {
    let hub = hub(
        "grid+https://me:pw@hub.test:4444/wd/hub/?platformName=linux&browserVersion=156\
         &acceptInsecureCerts=true&goog:chromeOptions=%7B%22args%22%3A%5B%22--headless%22%5D%7D",
    );
    assert_eq!(
        Value::Object(hub.capabilities.clone()),
        json!({
            "platformName": "linux",
            "browserVersion": "156",
            "acceptInsecureCerts": true,
            "goog:chromeOptions": {"args": ["--headless"]},
            "browserName": "chrome",
        })
    );
    assert_eq!(
        hub.at("/session").url,
        "https://me:pw@hub.test:4444/wd/hub/session"
    );
    assert_eq!(hub.bare("/x"), "https://hub.test:4444/wd/hub/x");
    assert!(hub.needs_login());
    assert!(!self::hub("grid+http://hub.test:4444").needs_login());
}

#[test]
fn what_is_no_grid_is_refused() {
    for url in ["grid+ftp://hub", "grid+hub:4444", "grid+", "grid+http://"] {
        let error = Hub::of(&url.to_owned().into()).unwrap_err().to_string();
        assert!(error.contains("is not the address of a grid"), "{error}");
    }
}

#[test]
fn words_of_a_grid_do_not_repeat_secret_capabilities() {
    let hub = hub(
        "grid+http://me:pass%40word@hub.test?cloud:key=hushhush&platformName=linux&cloud:note=\
         &cloud:options=%7B%22key%22%3A%22in%5C%22side%22%2C%22pin%22%3A4711%7D",
    );
    let said =
        |message: &str| hub.words(&json!({"error": "session not created", "message": message}));
    assert_eq!(
        said("no slot for linux with hushhush.\nBuild info: …"),
        "session not created: no slot for linux with …"
    );
    assert_eq!(
        said(r#"{"key": "in\"side", "pin": 4711} of me:pass@word"#),
        r#"session not created: {"key": "…", "pin": …} of me:…"#
    );
    // A secret that the limit would cut is not shown in part.
    let long = format!("{}hushhush", "x".repeat(LONGEST - 25));
    assert!(!said(&long).contains("hu"), "{}", said(&long));
    assert_eq!(
        self::hub("grid+http://hub.test?cloud:key=hushhush&platformName=linux").wanted(),
        "cloud:key=…, platformName=linux, browserName=chrome"
    );
}

#[test]
fn a_grid_is_written_without_secrets() {
    let address = RemoteAddress {
        headers: vec![("Authorization".into(), "Bearer hushhush".into())],
        ..RemoteAddress::from("grid+http://me:hushhush@hub.test?cloud:key=hushhush".to_owned())
    };
    let grid = crate::Grid {
        address: address.clone(),
        place: crate::GridPlace::default(),
    };
    let hub = Hub::of(&address).unwrap();
    let written = format!("{address:?} {hub:?} {:?}", crate::Source::Grid(grid));
    assert!(!written.contains("hushhush"), "{written}");
}

#[test]
fn an_id_is_part_of_a_path() {
    assert!(is_id("8a0b2c-11_D"));
    assert!(!is_id("") && !is_id("a/../b") && !is_id("a b"));
}

#[tokio::test]
async fn a_large_answer_is_read_and_a_cut_one_gives_its_session_back() {
    let (server, hub) = double("");
    let padding = "x".repeat(200 * 1024);
    let slots = json!({"value": {"nodes": [{"slots": padding}]}});
    server.route("/status", json_of(200, &slots));
    assert_eq!(hub.engine().await.unwrap(), Engine::Selenium);

    let made = |padding: &str| {
        let value = json!({"sessionId": "one", "capabilities": {"padding": padding}});
        json_of(200, &json!({"value": value}))
    };
    server.route("/session", made(&padding));
    assert_eq!(hub.make_session(Engine::Selenium).await.unwrap().id, "one");
    assert!(!ended(&server, "one"));

    // The id may come before the rest or after it.
    let long = "x".repeat(http::MOST_BYTES);
    let cut = format!(r#"{{"value":{{"sessionId" : "one","capabilities":{{"padding":"{long}"#);
    server.route("/session", Response::new(200, "application/json", cut));
    let said = hub.make_session(Engine::Selenium).await.unwrap_err();
    assert!(
        said.to_string().contains("was cut off after 4194304 bytes"),
        "{said}"
    );
    assert!(ended(&server, "one"));
}

#[tokio::test]
async fn a_status_that_cannot_be_read_is_no_plain_driver() {
    let (server, hub) = double("");
    let long = " ".repeat(http::MOST_BYTES + 1);
    for (status, body) in [(502, "<p>Bad gateway"), (200, "<p>Hello"), (200, &long)] {
        server.route(
            "/status",
            Response::new(status, "text/html", body.to_owned()),
        );
        let said = hub.engine().await.unwrap_err().to_string();
        assert!(said.contains("is no grid, or a proxy"), "{said}");
    }
    server.route("/status", json_of(200, &json!({"value": {"ready": true}})));
    assert_eq!(hub.engine().await.unwrap(), Engine::Driver);
}

#[tokio::test]
async fn only_an_answer_about_the_session_is_its_end() {
    let (server, hub) = double("");
    let gone = json!({"value": {"error": "invalid session id", "message": "gone"}});
    let failed = json!({"value": {"error": "unknown error", "message": "busy"}});
    for (status, body, is_end) in [
        (200, json!({"value": null}), true),
        (404, json!("no such page"), true),
        (500, gone, true),
        (500, failed, false),
        (502, json!("<p>"), false),
        (504, json!("<p>"), false),
        (503, json!("<p>"), false),
        (401, json!("<p>"), false),
    ] {
        server.route("/session/one", json_of(status, &body));
        assert_eq!(hub.end_session("one").await, is_end, "{status} {body}");
    }
}

#[tokio::test]
async fn only_what_is_said_of_the_browser_ends_a_living_one() {
    let (server, hub) = double("");
    let error = |error: &str, message: &str| json!({"value": {"error": error, "message": message}});
    let lives = || State::Lives;
    let gone = |why: &str| State::Gone(why.to_owned());
    for (status, body, expected) in [
        (200, json!({"value": {"script": 30000}}), lives()),
        (
            404,
            error("invalid session id", "was removed"),
            gone("invalid session id: was removed"),
        ),
        (404, json!("no such page"), gone("it answered 404")),
        (500, error("timeout", "the node is slow"), State::Unknown),
        (500, error("unknown error", "out of memory"), State::Unknown),
        (
            500,
            error(
                "unknown error",
                "java.net.ConnectException: Connection refused",
            ),
            gone("unknown error: java.net.ConnectException: Connection refused"),
        ),
        (502, json!("<p>"), State::Unknown),
    ] {
        server.route("/session/one/timeouts", json_of(status, &body));
        assert_eq!(hub.state_of("one").await, expected, "{status} {body}");
    }
}

#[tokio::test]
async fn selenoid_is_recognized_at_both_of_its_addresses() {
    for path in ["", "wd/hub"] {
        let (server, hub) = double(path);
        server.route(
            "/status",
            json_of(
                200,
                &json!({"total": 5, "used": 0, "queued": 0, "pending": 0, "browsers": {}}),
            ),
        );
        let message = "Selenoid 1.11.3 built at 2024-05-25";
        let status = json!({"value": {"message": message, "ready": true}});
        server.route("/wd/hub/status", json_of(200, &status));
        let engine = hub.engine().await.unwrap();
        assert_eq!(engine, Engine::Selenoid, "{path}");
        let serving = hub.serving(engine);
        assert_eq!(serving.at("/session").url, server.url("wd/hub/session"));
        let lease = hub.of_lease(&serving.bare("")).unwrap();
        assert_eq!(lease.bare(""), serving.bare(""));
    }
}
