//! Answers as data, and files that clients send: what clients on other machines get beyond texts.

use super::server::HttpServer;
use crate::crowd::Crowd;
use serde_json::{Value, json};
use tabmux_testkit::{Response, patiently};

#[tokio::test]
async fn answers_that_are_data_match_the_schemas_in_the_list() {
    let Some(crowd) = Crowd::gather() else { return };
    let server = HttpServer::start(&crowd).await;
    let client = server.handshake(&server.token("ci"), "a-client").await;
    crowd
        .pages
        .route("/get", Response::download("data.csv", "a,b\n"));
    let page = "<title>Page</title><a href=/get>Get</a>\
                <script>console.log('said'); console.error('two\\nlines'); fetch('/none')</script>";
    crowd.pages.route("/page", Response::html(page));
    let opened = client
        .call("new_page", json!({"url": crowd.pages.url("page")}))
        .await;
    assert!(!opened.is_error, "{}", opened.text);
    let click = json!({"function": "() => document.querySelector('a').click()"});
    client.call("evaluate_script", click).await;
    let complete = async {
        while !client
            .call("list_network_requests", json!({}))
            .await
            .text
            .contains("It is saved as")
        {}
    };
    patiently(complete, || "no download".to_owned()).await;
    let list = client.request("tools/list", json!({})).await;
    let tools = list["result"]["tools"].as_array().unwrap();
    let schemas = tools
        .iter()
        .filter(|tool| tool.get("outputSchema").is_some());
    let mut found = Vec::new();
    for tool in schemas {
        let name = tool["name"].as_str().unwrap();
        let schema = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
        let params = json!({"name": name, "arguments": {}});
        let answer = client.request("tools/call", params).await;
        let data = &answer["result"]["structuredContent"];
        assert!(data.is_object(), "{answer}");
        let wrong = schema.iter_errors(data).map(|error| error.to_string());
        assert_eq!(
            wrong.collect::<Vec<_>>(),
            Vec::<String>::new(),
            "{name}: {data}"
        );
        found.push((name, data.clone()));
    }
    let of = |name: &str| {
        let mut found = found.iter();
        found.find(|(known, _)| *known == name).unwrap().1.clone()
    };
    assert_eq!(found.len(), 5, "{found:?}");
    let pages = of("list_pages");
    let mut rows = pages["pages"].as_array().unwrap().iter();
    let row = rows.find(|row| row["title"] == "Page").unwrap();
    assert_eq!(row["selected"], true, "{pages}");
    assert_eq!(of("list_browsers")["browsers"][0]["state"], "connected");
    assert_eq!(of("browser_get_connection_status")["connected"], true);
    let messages = of("list_console_messages");
    let rows = messages["messages"].as_array().unwrap();
    assert_eq!(messages["total"], rows.len(), "{messages}");
    assert!(
        rows.iter()
            .any(|row| row["text"] == "said" && row["type"] == "log"),
        "{messages}"
    );
    let network = of("list_network_requests");
    let mut rows = network["requests"].as_array().unwrap().iter();
    let missing = rows.find(|row| row["url"].as_str().unwrap().ends_with("/none"));
    assert_eq!(missing.unwrap()["status"], 404, "{network}");
    assert_eq!(
        network["downloads"],
        json!([{"number": 1, "name": "data.csv", "state": "complete"}])
    );
    assert!(
        !network
            .to_string()
            .contains(&*crowd.home().to_string_lossy())
    );
}

#[tokio::test]
async fn clients_of_this_machine_get_the_text_alone() {
    let Some(crowd) = Crowd::gather() else { return };
    let client = crowd.client(&[]).await;
    client
        .call_tool("new_page", json!({"url": crowd.secret_of("a")}))
        .await
        .ok();
    let tools = client.list_tools().await;
    assert!(tools.iter().all(|tool| tool.get("outputSchema").is_none()));
    for tool in [
        "list_pages",
        "list_browsers",
        "list_network_requests",
        "list_console_messages",
    ] {
        let answer = client.call_tool(tool, json!({})).await.ok();
        assert_eq!(answer.structured(), &Value::Null, "{tool}");
    }
}

#[tokio::test]
async fn files_are_uploaded_in_the_call_or_by_the_name_of_a_saved_one() {
    let Some(crowd) = Crowd::gather() else { return };
    let server = HttpServer::start(&crowd).await;
    let client = server.handshake(&server.token("ci"), "a-client").await;
    let page = "<title>Upload</title><label>File <input type=file></label>";
    crowd.pages.route("/upload", Response::html(page));
    let url = crowd.pages.url("upload");
    client.call("new_page", json!({"url": url})).await;
    let read = json!({"function": "async () => {
        const [file] = document.querySelector('input').files;
        return file.name + '=' + await file.text();
    }"});
    let saved = client
        .call("take_snapshot", json!({"filePath": "page.txt"}))
        .await;
    assert!(!saved.is_error, "{}", saved.text);
    for (upload, expected) in [
        (
            json!({"filePath": "a.csv", "content": "MSwyCg=="}),
            "a.csv=1,2",
        ),
        (
            json!({"filePath": "a.csv", "content": "Myw0Cg=="}),
            "a.csv=3,4",
        ),
        (json!({"filePath": "page.txt"}), "page.txt=page"),
    ] {
        let mut upload = upload;
        let snapshot = client.call("take_snapshot", json!({})).await.text;
        let mut lines = snapshot.lines().filter(|line| line.contains("File"));
        let uid = lines.next_back().and_then(|line| line.split("uid=").nth(1));
        let uid = uid.unwrap_or_else(|| panic!("{snapshot}"));
        upload["uid"] = json!(uid.split(' ').next().unwrap());
        let given = client.call("upload_file", upload).await;
        assert!(!given.is_error, "{}", given.text);
        let told = client.call("evaluate_script", read.clone()).await.text;
        assert!(told.contains(expected), "{told}");
    }
    for wrong in [
        json!({"uid": "1_1", "filePath": "a.csv", "content": "no base64!"}),
        json!({"uid": "1_1", "filePath": "../a.csv", "content": "MSwyCg=="}),
        json!({"uid": "1_1", "content": "MSwyCg=="}),
    ] {
        let refused = client.call("upload_file", wrong).await;
        assert!(refused.is_error, "{}", refused.text);
    }
}
