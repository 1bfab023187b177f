//! A grid behind gateways: its connections are cut, it is behind TLS, agents add it, and a session ends in its queue.

use super::{REPLACED, open, pages, setup};
use crate::crowd::Crowd;
use serde_json::{Value, json};
use tabmux_testkit::{CuttableProxy, McpClient, SeleniumGrid, TlsProxy, certificate, patiently};

/// One test, because a grid takes long to start.
#[tokio::test(flavor = "multi_thread")]
async fn browsers_of_a_grid_are_found_again_behind_gateways_and_replaced_ones_are_told() {
    let Some(crowd) = Crowd::gather() else { return };
    let Some(setup) = setup(60, 2) else { return };
    let grid = SeleniumGrid::standalone(setup);
    let gateway = CuttableProxy::start(grid.port());
    let flag = format!("--browserUrl=lab=grid+http://127.0.0.1:{}", gateway.port());
    let fixed = crowd.visitor(&[&flag]).await;
    open(&crowd, &fixed, "kept").await;
    let progressive = crowd.visitor(&[&flag, "--tools=progressive"]).await;
    progressive
        .call_tool("connect_browser", json!({}))
        .await
        .ok();
    let url = json!({"url": crowd.secret_of("kept-too")});
    progressive.call_tool("open_tab", url).await.ok();

    ended_in_the_queue(&crowd, &grid, &flag).await;
    let before = grid.sessions();
    gateway.close();
    gateway.open();
    for (client, tool) in [(&fixed, "list_pages"), (&progressive, "list_tabs")] {
        let told = works_again(client, tool).await;
        assert!(
            told.contains("of=kept") && !told.contains(REPLACED),
            "{told}"
        );
    }
    assert_eq!(grid.sessions(), before);

    // The grid does not answer when the connections end, and has ended the browsers when it does again.
    gateway.close();
    before.iter().for_each(|(id, _)| grid.end_session(id));
    let noticed = async {
        let list = async || fixed.call_tool("list_browsers", json!({})).await.text();
        while list().await.contains(" - connected") {}
    };
    patiently(noticed, || fixed.transcript()).await;
    gateway.open();
    for (client, tool) in [(&fixed, "list_pages"), (&progressive, "connect_browser")] {
        let told = works_again(client, tool).await;
        assert!(told.contains(REPLACED), "{told}");
        let told = client.call_tool(tool, json!({})).await.text();
        assert!(!told.contains(REPLACED), "it is told once: {told}");
    }
    drop((fixed, progressive));
    grid.wait_until("all are given back", |grid| grid.sessions().is_empty());
    behind_tls(&crowd, &grid).await;
    added_by_an_agent(&crowd, &grid).await;
}

/// Calls a tool until its browser is connected again.
async fn works_again(client: &McpClient, tool: &str) -> String {
    let works = async {
        loop {
            let reply = client.call_tool(tool, json!({})).await;
            let text = reply.text();
            if !reply.is_error() && !text.contains("could not") {
                return text;
            }
        }
    };
    patiently(works, || client.transcript()).await
}

/// No call waits for a browser that is asked for in the background, and it would be of no use to anybody.
async fn ended_in_the_queue(crowd: &Crowd, grid: &SeleniumGrid, flag: &str) {
    let eager = crowd.visitor(&[flag, "--connectAtStart"]).await;
    grid.wait_until("it is queued", |grid| grid.queue() == 1);
    drop(eager);
    grid.wait_until("its place is given back", |grid| grid.queue() == 0);
}

async fn behind_tls(crowd: &Crowd, grid: &SeleniumGrid) {
    let gateway = TlsProxy::start(grid.port(), "server");
    let flag = format!("--browserUrl=grid+https://127.0.0.1:{}", gateway.port());
    let said = pages(&crowd.visitor(&[&flag]).await).await;
    assert!(said.contains("--caFile FILE"), "{said}");
    let authority = format!("--caFile={}", certificate("authority.pem").display());
    let client = crowd.visitor(&[&flag, &authority]).await;
    open(crowd, &client, "secure").await;
    drop(client);
    grid.wait_until("it is given back", |grid| grid.sessions().is_empty());
}

async fn added_by_an_agent(crowd: &Crowd, grid: &SeleniumGrid) {
    let chromium = crowd.running_browser();
    let client = crowd.guest(&chromium).await;
    let added: Value = json!({"url": grid.url("?platformName=linux"), "name": "more"});
    client.call_tool("add_browser", added).await.ok();
    let page = json!({"browserIndex": 2, "url": crowd.secret_of("added")});
    client.call_tool("new_page", page).await.ok();
    assert_eq!(grid.sessions().len(), 1);
    let end = json!({"browserIndex": 2});
    client.call_tool("disconnect_browser", end).await.ok();
    grid.wait_until("it is given back", |grid| grid.sessions().is_empty());
}
