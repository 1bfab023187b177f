//! A page that registers large tools again and again, while another session works.

use crate::crowd::Crowd;
use crate::harness::page;
use serde_json::json;
use tabmux_testkit::{McpClient, patiently};

/// Sixty tools of 46 kB, eight times a second, each time with another text; `calm` ends it with one small tool.
const LOUD: &str = r#"<script>
    const schema = (turn) => ({type: "object", properties: {}, $comment: turn + "x".repeat(46_000)});
    const add = (name, turn, inputSchema, signal) => document.modelContext.registerTool(
      {name, description: "Turn " + turn, inputSchema, execute: () => turn}, {signal});
    let turn = 0;
    let before;
    const round = () => {
      before?.abort();
      before = new AbortController();
      turn += 1;
      for (let n = 0; n < 60; n++) add("tool_" + n, turn, schema(turn), before.signal);
      document.title = "Loud " + turn;
    };
    const timer = setInterval(round, 120);
    window.calm = () => {
      clearInterval(timer);
      before?.abort();
      add("last_word", turn, {type: "object", properties: {}});
      return turn;
    };
    </script>"#;

/// The same tools, once.
const LARGE: &str = r#"<script>
    const inputSchema = {type: "object", properties: {}, $comment: "x".repeat(46_000)};
    for (let n = 0; n < 60; n++)
      document.modelContext.registerTool({name: "tool_" + n, description: "Large", inputSchema, execute: () => n});
    </script>"#;

async fn open(client: &McpClient, url: String) {
    client.call_tool("new_page", json!({"url": url})).await.ok();
}

async fn names(client: &McpClient) -> Vec<String> {
    let tools = client.list_tools().await.into_iter();
    let names = tools.map(|tool| tool["name"].as_str().unwrap().to_owned());
    names
        .filter(|name| name.starts_with("tool_") || name == "last_word")
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_registers_large_tools_all_the_time_harms_no_other() {
    let Some(crowd) = Crowd::gather() else {
        return;
    };
    crowd.pages.route("/loud", page("Loud", LOUD));
    let (loud, quiet) = (crowd.client(&[]).await, crowd.client(&[]).await);
    open(&quiet, crowd.pages.url("/secret?of=quiet")).await;
    open(&loud, crowd.pages.url("/loud")).await;
    let some = async {
        while names(&loud).await.is_empty() {
            tokio::task::yield_now().await;
        }
    };
    patiently(some, || "some of the loud page's tools".to_owned()).await;
    for _ in 0..20 {
        let snapshot = quiet
            .call_tool("take_snapshot", json!({}))
            .await
            .ok()
            .text();
        assert!(snapshot.contains("quiet"), "{snapshot}");
    }
    // When the page stops, its current tools are listed.
    let calm = json!({"function": "() => calm()"});
    let turns = loud.call_tool("evaluate_script", calm).await.ok().text();
    let last = async {
        while names(&loud).await != ["last_word"] {
            tokio::task::yield_now().await;
        }
    };
    patiently(last, || "the loud page's last word".to_owned()).await;
    let called = loud.call_tool("last_word", json!({})).await.ok().text();
    assert!(turns.contains(&called), "{called} is not in {turns}");
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_are_too_much_for_a_tab_are_counted() {
    let Some(crowd) = Crowd::gather() else {
        return;
    };
    crowd.pages.route("/large", page("Large", LARGE));
    let client = crowd.client(&[]).await;
    open(&client, crowd.pages.url("/large")).await;
    let told = async {
        loop {
            let list = client.call_tool("list_page_tools", json!({}));
            let told = list.await.ok().text();
            if told.contains("more tools of these pages are left out") {
                return told;
            }
        }
    };
    let told = patiently(told, || "tools that are left out".to_owned()).await;
    assert!(told.contains("1 MB for all tools of a tab"), "{told}");
}
