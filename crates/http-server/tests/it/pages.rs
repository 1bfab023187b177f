//! Pages that may use the server: browsers ask before they let them.

use crate::client::Request;
use crate::server::{APP, Server};
use serde_json::json;

#[tokio::test]
async fn pages_of_an_allowed_origin_may_ask_read_and_see_their_session() {
    let server = Server::start().await;
    let token = server.token("app");
    let preflight = |origin: &str| {
        Request::new("OPTIONS")
            .header("Origin", origin)
            .header("Access-Control-Request-Method", "POST")
            .header(
                "Access-Control-Request-Headers",
                "authorization,content-type,mcp-protocol-version",
            )
    };
    let allowed = server.send(&preflight(APP)).await;
    assert_eq!(allowed.status, 204, "{allowed:?}");
    let header = |name| allowed.header(name).unwrap_or_default().to_owned();
    assert_eq!(header("access-control-allow-origin"), APP);
    let methods = header("access-control-allow-methods");
    for method in ["GET", "POST", "DELETE"] {
        assert!(methods.contains(method), "{methods}");
    }
    let headers = header("access-control-allow-headers").to_ascii_lowercase();
    assert!(headers.contains("authorization") && headers.contains("mcp-protocol-version"));
    assert!(allowed.header("vary").is_some(), "{allowed:?}");

    let page = Request::initialize(&token).header("Origin", APP);
    let answer = server.send(&page).await;
    assert_eq!(answer.header("access-control-allow-origin"), Some(APP));
    let exposed = answer.header("access-control-expose-headers");
    let exposed = exposed.unwrap_or_default().to_ascii_lowercase();
    assert!(exposed.contains("mcp-session-id"), "{answer:?}");
    // A page can also read why it is refused.
    let wrong = Request::post("wrong", "{}").header("Origin", APP);
    let refused = server.send(&wrong).await;
    assert_eq!(refused.status, 401);
    assert_eq!(refused.header("access-control-allow-origin"), Some(APP));

    for stranger in ["http://evil.com", "null"] {
        let refused = server.send(&preflight(stranger)).await;
        assert_eq!(refused.status, 403, "{refused:?}");
        assert_eq!(refused.header("access-control-allow-origin"), None);
    }
    // Clients that are no pages get none of it.
    let call = Request::call_alone(&token, "repeat", json!({}));
    let plain = server.send(&call).await;
    assert_eq!(plain.header("access-control-allow-origin"), None);
}
