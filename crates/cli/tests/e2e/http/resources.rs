//! Resources for clients over HTTP: what tools save is read by its address, and no path of the server is shown.

use super::server::{HttpClient, HttpServer};
use crate::crowd::Crowd;
use serde_json::{Value, json};
use tabmux_testkit::{Response, patiently};

impl HttpClient<'_> {
    /// The whole result of a call.
    async fn result(&self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        let result = self.request("tools/call", params).await["result"].clone();
        assert_ne!(result["isError"], true, "{result}");
        result
    }

    async fn read(&self, uri: &Value) -> Value {
        self.request("resources/read", json!({"uri": uri})).await
    }
}

fn links(result: &Value) -> Vec<&Value> {
    let blocks = result["content"].as_array().unwrap().iter();
    blocks
        .filter(|block| block["type"] == "resource_link")
        .collect()
}

#[tokio::test]
async fn files_that_tools_save_are_links_and_no_path_is_shown() {
    let Some(crowd) = Crowd::gather() else { return };
    let server = HttpServer::start(&crowd).await;
    let token = server.token("ci");
    let client = server.handshake(&token, "a-client").await;
    let page = "<title>Page</title><p>Text</p><a href=/get>Get</a><input type=file>";
    crowd.pages.route("/page", Response::html(page));
    crowd
        .pages
        .route("/get", Response::download("data.csv", "a,b\n1,2\n"));
    let url = crowd.pages.url("page");
    client.result("new_page", json!({"url": url})).await;
    let home = crowd.home().to_string_lossy().into_owned();
    let mut told = Vec::new();
    for (tool, arguments, kind) in [
        (
            "take_screenshot",
            json!({"filePath": "shot.png"}),
            "image/png",
        ),
        (
            "take_snapshot",
            json!({"filePath": "page.txt"}),
            "text/plain",
        ),
        ("save_pdf", json!({}), "application/pdf"),
        ("take_heapsnapshot", json!({}), "application/octet-stream"),
        (
            "get_network_request",
            json!({"reqid": 1, "responseFilePath": "page.html"}),
            "text/html",
        ),
        (
            "performance_start_trace",
            json!({"autoStop": true, "reload": false, "filePath": "trace.json"}),
            "application/json",
        ),
    ] {
        let result = client.result(tool, arguments).await;
        let found = links(&result);
        assert_eq!(found.len(), 1, "{tool}: {result}");
        assert_eq!(found[0]["mimeType"], kind, "{tool}");
        let uri = found[0]["uri"].clone();
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(uri.as_str().unwrap()), "{tool}: {text}");
        let read = client.read(&uri).await;
        let contents = &read["result"]["contents"][0];
        assert!(
            contents["text"].is_string() || contents["blob"].is_string(),
            "{read}"
        );
        told.push(result.to_string());
    }
    let click = json!({"function": "() => document.querySelector('a').click()"});
    told.push(client.result("evaluate_script", click).await.to_string());
    let complete = async {
        loop {
            let list = client.result("list_network_requests", json!({})).await;
            if !links(&list).is_empty() {
                break list;
            }
        }
    };
    let list = patiently(complete, || "no download".to_owned()).await;
    let read = client.read(&links(&list)[0]["uri"]).await;
    assert_eq!(read["result"]["contents"][0]["text"], "a,b\n1,2\n");
    told.push(list.to_string());

    // Names are those of files of the session. Paths, and what is said about them, lead nowhere else.
    for path in ["/etc/x.png", "../x.png", "no/folder.png"] {
        let refused = client
            .call("take_screenshot", json!({"filePath": path}))
            .await;
        assert!(refused.is_error, "{}", refused.text);
        told.push(refused.text);
    }
    let again = client
        .call("take_screenshot", json!({"filePath": "shot.png"}))
        .await;
    assert!(
        again.is_error && again.text.contains("overwrite"),
        "{}",
        again.text
    );
    told.push(again.text);
    told.push(
        client
            .request("resources/list", json!({}))
            .await
            .to_string(),
    );
    for text in told {
        assert!(!text.contains(&home), "{text}");
    }
}

#[tokio::test]
async fn clients_without_a_handshake_read_the_sessions_of_their_token() {
    let Some(crowd) = Crowd::gather() else { return };
    let server = HttpServer::start(&crowd).await;
    let (mine, other) = (server.token("mine"), server.token("other"));
    for session in ["default", "one"] {
        let arguments = json!({"url": crowd.secret_of(session), "session": session});
        let opened = server.call_alone(&mine, "new_page", arguments).await;
        assert!(!opened.is_error, "{}", opened.text);
    }
    let params = json!({"name": "save_pdf", "arguments": {"session": "one"}});
    let saved = server.alone(&mine, "tools/call", params).await.json();
    let link = links(&saved["result"])[0]["uri"].clone();
    let text = saved["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains(link.as_str().unwrap()), "{text}");

    let mut uris = Vec::new();
    let mut cursor = json!({});
    loop {
        let listed = server.alone(&mine, "resources/list", cursor).await.json();
        let rows = listed["result"]["resources"].as_array().unwrap();
        uris.extend(
            rows.iter()
                .map(|row| row["uri"].as_str().unwrap().to_owned()),
        );
        match &listed["result"]["nextCursor"] {
            Value::String(next) => cursor = json!({"cursor": next}),
            _ => break,
        }
    }
    assert!(
        uris.contains(&link.as_str().unwrap().to_owned()),
        "{uris:?}"
    );
    for (session, prefix) in [("default", "tabmux://tab/"), ("one", "tabmux://one@tab/")] {
        let mut found = uris.iter().filter(|uri| uri.starts_with(prefix));
        let uri = found.rfind(|uri| uri.ends_with("/text")).unwrap();
        let read = server
            .alone(&mine, "resources/read", json!({"uri": uri}))
            .await;
        let contents = read.json()["result"]["contents"][0].clone();
        assert_eq!(contents["uri"], **uri);
        assert!(
            contents["text"].as_str().unwrap().contains(session),
            "{contents}"
        );
    }
    let read = server
        .alone(&mine, "resources/read", json!({"uri": link}))
        .await;
    assert!(read.json()["result"]["contents"][0]["blob"].is_string());
    let strange = [
        "tabmux://two@tab/1/text".to_owned(),
        "file:///etc/passwd".to_owned(),
    ];
    let theirs = uris.iter().chain(&strange).map(|uri| (&other, uri));
    for (token, uri) in theirs.chain(strange.iter().map(|uri| (&mine, uri))) {
        let read = server
            .alone(token, "resources/read", json!({"uri": uri}))
            .await;
        let error = read.json()["error"].clone();
        assert_eq!(
            (&error["code"], &error["data"]["uri"]),
            (&json!(-32602), &json!(uri)),
            "{error}"
        );
    }
    let templates = server
        .alone(&other, "resources/templates/list", json!({}))
        .await;
    let count = templates.json()["result"]["resourceTemplates"]
        .as_array()
        .map(Vec::len);
    assert_eq!(count, Some(10));
}
