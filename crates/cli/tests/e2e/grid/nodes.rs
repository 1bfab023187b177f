//! A hub with two nodes: more agents than browsers, and a node that dies under load.

use super::{REPLACED, flag, open, pages, setup};
use crate::crowd::Crowd;
use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream::FuturesUnordered;
use serde_json::json;
use tabmux_testkit::{McpClient, Response, SeleniumGrid};

/// One test, because hub and nodes take long to start.
#[tokio::test(flavor = "multi_thread")]
async fn ten_agents_share_six_browsers_of_two_nodes_and_outlive_one_node() {
    let Some(crowd) = Crowd::gather() else { return };
    let Some(setup) = setup(20, 3) else { return };
    let mut grid = SeleniumGrid::hub(setup);
    let mut first = grid.node(&[], None, 1);
    let _second = grid.node(&[], None, 2);
    let agents = six_of_ten(&crowd, &grid).await;

    let (mut harmed, unharmed) = loss_under_load(&crowd, agents, || first.kill()).await;
    assert_eq!((harmed.len(), unharmed.len()), (3, 3));
    // The other node is full: the next browsers come when its agents leave.
    drop(unharmed);
    for told in join_all(harmed.iter().map(pages)).await {
        assert!(told.contains(REPLACED), "{told}");
    }
    for (number, agent) in harmed.iter().enumerate() {
        open(&crowd, agent, &format!("new-{number}")).await;
    }

    // The node keeps what the hub has forgotten until it is idle for too long, so that one browser stays free.
    harmed.truncate(1);
    grid.wait_until("two are given back", |grid| grid.sessions().len() == 1);
    grid.restart("hub", 1);
    let agent = &harmed[0];
    let opened = async {
        let arguments = json!({"url": crowd.secret_of("restarted")});
        loop {
            let opened = agent.call_tool("new_page", arguments.clone()).await;
            if !opened.is_error() {
                return opened.text();
            }
        }
    };
    let told = tabmux_testkit::patiently(opened, || agent.transcript()).await;
    assert!(told.contains(REPLACED), "{told}");

    let _without = grid.node(&["--enable-cdp", "false"], Some("nocdp"), 2);
    let flag = format!("--browserUrl={}", grid.url("?browserVersion=nocdp"));
    let said = pages(&crowd.visitor(&[&flag]).await).await;
    assert!(
        said.contains("hands out browsers without CDP, which tabmux needs"),
        "{said}"
    );
}

/// Ten agents ask at once; four of the first leave, so that the others get theirs. Returns the last six.
async fn six_of_ten(crowd: &Crowd, grid: &SeleniumGrid) -> Vec<McpClient> {
    let flag = flag(grid);
    let flags = [flag.as_str()];
    let clients = join_all((0..10).map(|_| crowd.visitor(&flags))).await;
    let mut opening: FuturesUnordered<_> = clients
        .into_iter()
        .enumerate()
        .map(|(number, client)| async move {
            open(crowd, &client, &format!("agent-{number}")).await;
            client
        })
        .collect();
    let mut have = Vec::new();
    for _ in 0..6 {
        have.extend(opening.next().await);
    }
    grid.wait_until("four wait", |grid| grid.queue() == 4);
    assert_eq!(grid.sessions().len(), 6);
    have.drain(..4);
    while let Some(client) = opening.next().await {
        have.push(client);
    }
    have
}

/// Every agent has a call in flight when a node dies: those of the dead node fail, and the others' are answered.
async fn loss_under_load(
    crowd: &Crowd,
    agents: Vec<McpClient>,
    kill: impl FnOnce(),
) -> (Vec<McpClient>, Vec<McpClient>) {
    let gate = crowd.pages.hold("/held", Response::text("let go"));
    let ask = json!({"function": "() => fetch('/held').then((it) => it.text())"});
    let mut calls: FuturesUnordered<_> = agents
        .into_iter()
        .map(|agent| {
            let ask = ask.clone();
            async move {
                let reply = agent.call_tool("evaluate_script", ask).await;
                (agent, reply)
            }
        })
        .collect();
    let (mut harmed, mut unharmed) = (Vec::new(), Vec::new());
    let mut kill = Some(kill);
    let all_wait = crowd.pages.wait_for_nth_request("/held", 6);
    let mut all_wait = std::pin::pin!(all_wait);
    loop {
        tokio::select! {
            _ = &mut all_wait, if kill.is_some() => kill.take().into_iter().for_each(|kill| kill()),
            Some((agent, reply)) = calls.next() => match reply.is_error() {
                true => {
                    let said = reply.text();
                    assert!(said.contains("the grid that handed it out says \""), "{said}");
                    harmed.push(agent);
                    if harmed.len() == 3 {
                        gate.open();
                    }
                }
                false => {
                    assert!(reply.text().contains("let go"), "{}", reply.text());
                    unharmed.push(agent);
                }
            },
            else => return (harmed, unharmed),
        }
    }
}
