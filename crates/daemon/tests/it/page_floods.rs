//! Workers that send too much: others are served meanwhile, memory is bounded, and the last state counts.

use crate::page_harness::{Daemon, Worker, listed, request, text};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tabmux_protocol::Backend;
use tabmux_protocol::session::ToolMode;
use tabmux_testkit::patiently;
use tokio_tungstenite::tungstenite::Message;

const FLOODS: usize = 4;
/// 7 MB each, which is more than the burst limit.
const REGISTRATIONS: usize = 120;

fn registration(tab: &str, name: &str, said: usize, bytes: usize) -> Value {
    json!({
        "type": "REGISTER_TOOL", "tabId": tab, "name": name, "description": format!("Says {said}."),
        "inputSchema": {"type": "object", "$comment": "x".repeat(bytes)}
    })
}

/// How many events of a kind the main loop has handled.
async fn handled(daemon: &Daemon, kind: &str) -> u64 {
    let overview = daemon.hub.overview().await.unwrap();
    let mut costs = overview.loop_costs.into_iter();
    costs
        .find(|cost| cost.event == kind)
        .map_or(0, |cost| cost.events)
}

async fn rejection(worker: &mut Worker) -> (String, String) {
    let said = worker.hear().await;
    assert_eq!(said["type"], "TOOL_REJECTED", "{said}");
    let part = |name: &str| said[name].as_str().unwrap().to_owned();
    (part("name"), part("reason"))
}

#[tokio::test(flavor = "multi_thread")]
async fn others_are_served_while_workers_flood_and_the_last_state_counts() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut quiet = daemon.worker().await;
    quiet.tab("quiet").await;
    quiet.tool("quiet", "greet").await;
    quiet.is_heard().await;
    let mut floods = Vec::new();
    for number in 0..FLOODS {
        // Each has its own origin, so that each has the full quota of an origin.
        let (host, origin) = (
            format!("127.0.0.1:{}", daemon.port),
            format!("http://localhost:{}", 6_000 + number),
        );
        let mut worker = daemon.dial(&host, Some(&origin)).await.ok().unwrap();
        assert_eq!(worker.greet().await["type"], "WELCOME");
        floods.push(tokio::spawn(async move {
            let tab = format!("loud-{number}");
            worker.tab(&tab).await;
            let name = format!("shout_{number}");
            for turn in 1..REGISTRATIONS {
                worker.say(registration(&tab, &name, turn, 58_000)).await;
            }
            worker.say(registration(&tab, &name, 0, 10)).await;
            worker.is_heard().await;
            worker
        }));
    }
    // Each of these calls passes through the same queue.
    for _ in 0..20 {
        let call = session.call(request("greet", &json!({})));
        let (reply, _) = tokio::join!(
            patiently(call, || "an answer in the flood".to_owned()),
            quiet.answers()
        );
        assert_eq!(text(&reply.unwrap()), "I am quiet");
    }
    assert!(
        floods.iter().all(|flood| !flood.is_finished()),
        "the flood was over before"
    );
    for (number, flood) in floods.into_iter().enumerate() {
        let ended = patiently(flood, || "the end of a flood".to_owned());
        let _worker = ended.await.unwrap();
        let tool = listed(&session, &format!("shout_{number}")).await;
        let described = tool.unwrap()["description"].as_str().unwrap().to_owned();
        assert!(described.starts_with("Says 0."), "{described}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_are_registered_again_unchanged_are_no_event() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab").await;
    for _ in 0..200 {
        worker.say(registration("tab", "same", 1, 2_000)).await;
    }
    worker.is_heard().await;
    assert!(listed(&session, "same").await.is_some());
    assert_eq!(handled(&daemon, "tool_offered").await, 1);
    worker.say(registration("tab", "same", 2, 2_000)).await;
    worker.is_heard().await;
    assert_eq!(handled(&daemon, "tool_offered").await, 2);
    let tool = listed(&session, "same").await.unwrap();
    assert!(tool["description"].as_str().unwrap().starts_with("Says 2."));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_of_one_tab_have_a_bound_and_an_update_beyond_it_takes_the_old_one_along() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab").await;
    for number in 0..17 {
        let name = format!("tool_{number}");
        worker.say(registration("tab", &name, number, 60_000)).await;
    }
    worker.say(registration("tab", "small", 1, 10)).await;
    worker.say(registration("tab", "tool_17", 17, 60_000)).await;
    let (name, reason) = rejection(&mut worker).await;
    assert_eq!(name, "tool_17");
    assert!(reason.contains("1024 kB"), "{reason}");
    assert!(listed(&session, "small").await.is_some());
    // The changed tool is rejected, and the old one is removed.
    worker.say(registration("tab", "small", 2, 60_000)).await;
    assert_eq!(rejection(&mut worker).await.0, "small");
    assert!(listed(&session, "small").await.is_none());
    // It is accepted when the quota allows it again.
    worker
        .say(json!({"type": "UNREGISTER_TOOL", "tabId": "tab", "name": "tool_3"}))
        .await;
    worker.say(registration("tab", "small", 2, 50_000)).await;
    worker.is_heard().await;
    assert!(listed(&session, "small").await.is_some());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_worker_may_have_in_all_is_bounded_and_comes_back_when_it_goes() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    for _ in 0..2 {
        let mut worker = daemon.worker().await;
        let mut taken = 0;
        'tabs: for turn in 0..10 {
            let tab = format!("tab-{turn}");
            worker.tab(&tab).await;
            for number in 0..10 {
                let name = format!("tool_{number}_of_{tab}");
                // Texts that tabs share count once, so these differ.
                let said = 10 * turn + number;
                worker.say(registration(&tab, &name, said, 60_000)).await;
                worker.say(json!({"type": "PING"})).await;
                if worker.hear().await["type"] == "TOOL_REJECTED" {
                    break 'tabs;
                }
                taken += 1;
            }
        }
        // 4 MiB of names, descriptions and schemas.
        assert_eq!(taken, 68);
        assert!(listed(&session, "tool_0_of_tab-0").await.is_some());
        worker.0.close(None).await.unwrap();
        while worker.0.next().await.is_some() {}
        while listed(&session, "tool_0_of_tab-0").await.is_some() {
            tokio::task::yield_now().await;
        }
    }
}

/// Spec: security 18.
#[tokio::test(flavor = "multi_thread")]
async fn unrequested_answers_do_not_reach_the_main_loop() {
    let daemon = Daemon::start().await;
    let session = daemon.session(ToolMode::Static).await;
    let mut worker = daemon.worker().await;
    worker.tab("tab").await;
    worker.tool("tab", "greet").await;
    let answer = |call: &Value, text: &str| {
        json!({
            "type": "TOOL_CALL_RESULT", "callId": call, "success": true,
            "result": {"content": [{"type": "text", "text": text}]}
        })
    };
    for number in 0..100 {
        worker
            .say(answer(&json!(number.to_string()), "I guess"))
            .await;
    }
    worker.is_heard().await;
    let calling = session.call(request("greet", &json!({})));
    let answering = async {
        let call = worker.hear().await;
        assert_eq!(call["type"], "CALL_TOOL", "{call}");
        for _ in 0..10 {
            let said = answer(&call["callId"], "I am asked").to_string();
            worker.0.send(Message::text(said)).await.unwrap();
        }
        worker.is_heard().await;
    };
    let (reply, ()) = tokio::join!(patiently(calling, || "an answer".to_owned()), answering);
    assert_eq!(text(&reply.unwrap()), "I am asked");
    assert_eq!(handled(&daemon, "tool_answered").await, 1);
}
