//! Requests about resources, between a client and a backend.

use crate::server_harness::ServerHarness;
use serde_json::{Value, json};
use tabmux_protocol::BackendEvent;
use tabmux_protocol::limits::MOST_WATCHED;
use tabmux_protocol::{CallFailure, CallReply, Content, ResourceBody, ResourceInfo, ResourceQuery};
use tabmux_testkit::{McpClient, RpcError};

/// The answer of the server to a request, when the backend answers like this.
async fn answer(
    (harness, client): &mut (ServerHarness, McpClient),
    (method, params): (&str, Value),
    outcome: Result<CallReply, CallFailure>,
) -> (ResourceQuery, Result<Value, RpcError>) {
    let pending = client.begin(method, params).await;
    let asked = harness.next_asked().await;
    let _ = asked.outcome.send(outcome);
    (asked.request.query, pending.answer().await)
}

fn link(number: usize) -> Content {
    Content::ResourceLink(ResourceInfo {
        uri: format!("x://{number}"),
        name: format!("the {number}"),
        mime_type: Some("text/plain".into()),
        ..ResourceInfo::default()
    })
}

fn body(text: Option<&str>, blob: Option<&str>) -> Content {
    Content::Resource(ResourceBody {
        uri: "x://1".into(),
        mime_type: "a/b".into(),
        text: text.map(str::to_owned),
        blob: blob.map(str::to_owned),
    })
}

fn reply(content: Vec<Content>) -> Result<CallReply, CallFailure> {
    Ok(CallReply {
        content,
        ..CallReply::default()
    })
}

#[tokio::test]
async fn resources_and_templates_are_listed_in_parts() {
    for is_new in [false, true] {
        let mut stage = match is_new {
            false => ServerHarness::set().await,
            true => ServerHarness::set_2026(),
        };
        let all = || reply((0..150).map(link).collect());
        let (query, first) = answer(&mut stage, ("resources/list", json!({})), all()).await;
        let first = first.unwrap();
        assert_eq!(query, ResourceQuery::List);
        let rows = first["resources"].as_array().unwrap();
        assert_eq!(
            (rows.len(), &rows[99]),
            (
                100,
                &json!({"uri": "x://99", "name": "the 99", "mimeType": "text/plain"})
            )
        );
        assert_eq!(first["ttlMs"].is_number(), is_new, "{first}");
        let next = json!({"cursor": first["nextCursor"]});
        let (_, rest) = answer(&mut stage, ("resources/list", next), all()).await;
        let rest = rest.unwrap();
        assert_eq!(rest["resources"][49]["uri"], "x://149");
        assert_eq!(rest["nextCursor"], Value::Null);
        for wrong in ["x", "150", "-1"] {
            let pending = stage.1.begin("resources/list", json!({"cursor": wrong}));
            let pending = pending.await;
            if wrong == "150" {
                let asked = stage.0.next_asked().await;
                let _ = asked.outcome.send(all());
            }
            assert_eq!(pending.answer().await.unwrap_err().code, -32602, "{wrong}");
        }
        let templates = ("resources/templates/list", json!({}));
        let (query, listed) = answer(&mut stage, templates, reply(vec![link(1)])).await;
        assert_eq!(query, ResourceQuery::Templates);
        let rows = listed.unwrap()["resourceTemplates"].clone();
        assert_eq!(
            rows,
            json!([{"uriTemplate": "x://1", "name": "the 1", "mimeType": "text/plain"}])
        );
    }
}

#[tokio::test]
async fn contents_are_texts_or_blobs_and_errors_have_their_codes() {
    for (is_new, not_found) in [(false, -32002), (true, -32602)] {
        let mut stage = match is_new {
            false => ServerHarness::set().await,
            true => ServerHarness::set_2026(),
        };
        let read = || ("resources/read", json!({"uri": "x://1"}));
        for (content, expected) in [
            (
                body(Some("hi"), None),
                json!({"uri": "x://1", "mimeType": "a/b", "text": "hi"}),
            ),
            (
                body(None, Some("AAAA")),
                json!({"uri": "x://1", "mimeType": "a/b", "blob": "AAAA"}),
            ),
        ] {
            let (query, result) = answer(&mut stage, read(), reply(vec![content])).await;
            let uri = "x://1".to_owned();
            assert_eq!(query, ResourceQuery::Read { uri });
            assert_eq!(result.unwrap()["contents"], json!([expected]));
        }
        let uri = "x://1".to_owned();
        let unknown = Err(CallFailure::UnknownResource { uri });
        let (_, refused) = answer(&mut stage, read(), unknown).await;
        let refused = refused.unwrap_err();
        assert_eq!(
            (refused.code, &refused.data),
            (not_found, &json!({"uri": "x://1"}))
        );
        let why = "The site is blocked.";
        let (_, refused) = answer(&mut stage, read(), Ok(CallReply::error(why))).await;
        let refused = refused.unwrap_err();
        assert_eq!((refused.code, &*refused.message), (-32603, why));
        let error = stage.1.request("resources/read", json!({})).await;
        assert_eq!(error.unwrap_err().code, -32602);
    }
}

#[tokio::test]
async fn a_cancelled_read_is_cancelled_in_the_backend_and_never_answered() {
    let (mut harness, client) = ServerHarness::set().await;
    let read = json!({"uri": "x://1"});
    let pending = client.begin("resources/read", read.clone()).await;
    let asked = harness.next_asked().await;
    pending.cancel().await;
    assert_eq!(harness.next_cancelled().await, asked.request.request_id);
    client.take_notifications().await;
    assert!(!pending.is_answered());
    let again = client.begin("resources/read", read).await;
    let asked = harness.next_asked().await;
    let _ = asked.outcome.send(reply(vec![body(Some("hi"), None)]));
    assert!(again.answer().await.is_ok());
}

#[tokio::test]
async fn watched_resources_are_told_of_and_too_many_are_refused() {
    let (harness, client) = ServerHarness::set().await;
    let changed = |uri: &str| harness.emit(BackendEvent::ResourceChanged(uri.into()));
    for n in 0..MOST_WATCHED {
        let uri = format!("x://{n}");
        let watched = client
            .request("resources/subscribe", json!({"uri": uri}))
            .await;
        assert_eq!(watched, Ok(json!({})));
    }
    let more = client.request("resources/subscribe", json!({"uri": "x://more"}));
    assert_eq!(more.await.unwrap_err().code, -32602);
    let long = json!({"uri": "x".repeat(300)});
    let long = client.request("resources/subscribe", long).await;
    assert_eq!(long.unwrap_err().code, -32602);
    changed("x://7");
    let updated = |uri: &str| {
        json!({
            "jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri},
        })
    };
    assert_eq!(client.next_notification().await, updated("x://7"));
    let gone = client.request("resources/unsubscribe", json!({"uri": "x://7"}));
    gone.await.unwrap();
    for uri in ["x://7", "x://more", "x://8"] {
        changed(uri);
    }
    assert_eq!(client.next_notification().await, updated("x://8"));

    let (harness, client) = ServerHarness::set_2026();
    let filter = json!({"notifications": {"resourceSubscriptions": ["x://1"]}});
    let listening = client.begin("subscriptions/listen", filter).await;
    client.next_notification().await;
    client.list_tools().await;
    for uri in ["x://2", "x://1"] {
        harness.emit(BackendEvent::ResourceChanged(uri.into()));
    }
    let told = client.next_notification().await;
    assert_eq!(told["params"]["uri"], "x://1", "{told}");
    let meta = &told["params"]["_meta"];
    assert_eq!(
        meta["io.modelcontextprotocol/subscriptionId"],
        *listening.id()
    );
}

#[tokio::test]
async fn a_client_without_a_handshake_watches_no_more_than_the_limit_in_all_its_subscriptions() {
    let (harness, client) = ServerHarness::set_2026();
    let filter = |from: usize, to: usize| {
        let uris: Vec<_> = (from..to).map(|n| format!("x://{n}")).collect();
        json!({"notifications": {"resourceSubscriptions": uris}})
    };
    let most = MOST_WATCHED;
    let first = client.begin("subscriptions/listen", filter(0, most));
    let _first = first.await;
    client.next_notification().await;
    // These are watched already.
    let same = client.begin("subscriptions/listen", filter(0, 2)).await;
    client.next_notification().await;
    let more = client.begin("subscriptions/listen", filter(most - 1, most + 1));
    let refused = more.await.answer().await.unwrap_err();
    assert_eq!(refused.code, -32602);
    assert!(
        refused.message.contains("100 resources"),
        "{}",
        refused.message
    );
    harness.emit(BackendEvent::ResourceChanged("x://1".into()));
    let told = client.next_notification().await;
    assert!(!same.is_answered(), "{told}");
}
