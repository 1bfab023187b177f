//! What the side panel shows and changes: questions, rules about sites, following, private windows. The test plays
//! the extension.

use crate::confirm::offer;
use crate::fake_extension::{Daemon, Extension, through_extension};
use crate::page_harness::{Worker, changed, request, text, worker_at};
use serde_json::{Value, json};
use std::sync::Arc;
use tabmux_daemon::policy::{PolicyChange, change_file};
use tabmux_daemon::{Client, Handle, SessionOptions};
use tabmux_protocol::session::{self as wire, Confirm};
use tabmux_protocol::{Backend, CallReply};
use tabmux_testkit::patiently;

const SESSION: &str = "sess_one";

/// An agent in the browser of the extension, with a misleading name.
async fn agent(daemon: &Daemon, confirm: Confirm) -> Arc<Handle> {
    let options = wire::SessionOptions {
        confirm,
        ..through_extension()
    };
    let client = Client {
        session: SESSION.to_owned(),
        name: "Your\u{202e} bank\n".to_owned(),
        ..Client::default()
    };
    let options = SessionOptions::from_wire(options).unwrap();
    Arc::new(daemon.hub.open(options, client).await)
}

/// An extension with an open tab, a page that extensions cannot access, and a private tab if requested.
async fn extension(daemon: &Daemon) -> Extension {
    let mut extension = daemon.extension("0123456789").await;
    introduce(&mut extension, false).await;
    extension
}

async fn introduce(extension: &mut Extension, private: bool) {
    let tab = |id: u32, url: &str| json!({"id": id, "title": "T", "url": url, "windowId": 1});
    let mut tabs = vec![tab(7, "http://a.test/"), tab(8, "https://b.test/x")];
    if private {
        let mut secret = tab(9, "https://secret.test/");
        secret["private"] = true.into();
        tabs.push(secret);
    }
    let browser = json!({"name": "Chrome", "version": "156.0.1"});
    extension
        .say(json!({"type": "connected", "browser": browser, "tabs": tabs}))
        .await;
    extension.say(json!({"type": "canAsk"})).await;
}

/// A page with a tool that buys, and one without annotations.
async fn shop(daemon: &Daemon, agent: &Handle) -> Worker {
    let mut worker = worker_at(daemon.port).await;
    worker.tab("tab-1").await;
    offer(&mut worker, "buy", json!({"destructiveHint": true})).await;
    offer(&mut worker, "turn", json!({})).await;
    while agent
        .tools()
        .await
        .unwrap()
        .iter()
        .all(|it| it.name != "turn")
    {
        changed(agent).await;
    }
    worker
}

fn begin(
    agent: &Arc<Handle>,
    tool: &'static str,
    item: &str,
) -> tokio::task::JoinHandle<CallReply> {
    let (agent, item) = (Arc::clone(agent), json!({"item": item}));
    tokio::spawn(async move { agent.call(request(tool, &item)).await.unwrap() })
}

async fn call(agent: &Handle, tool: &str) -> String {
    text(&agent.call(request(tool, &json!({}))).await.unwrap())
}

fn has_question(shown: &Value) -> bool {
    shown["questions"][0] != Value::Null
}

/// Spec: security 24.
#[tokio::test]
async fn a_person_is_asked_in_the_panel_and_answers_there() {
    let daemon = Daemon::start().await;
    let mut extension = extension(&daemon).await;
    let agent = agent(&daemon, Confirm::Always).await;
    let mut worker = shop(&daemon, &agent).await;
    for (tool, because) in [("buy", "hardToUndo"), ("turn", "always")] {
        for allowed in [true, false] {
            let call = begin(&agent, tool, "tea\n\u{202e}gold");
            let shown = extension.shown(has_question).await;
            let question = &shown["questions"][0];
            assert_eq!(question["name"], "Your bank");
            assert_eq!(
                (&question["tool"], &question["origin"], &question["because"]),
                (
                    &json!(tool),
                    &json!("http://localhost:5173"),
                    &json!(because)
                )
            );
            let arguments = question["arguments"].as_str().unwrap();
            assert!(!arguments.contains('\u{202e}'), "{arguments}");
            let answer = json!({"type": "answer", "question": question["id"], "allowed": allowed});
            extension.say(answer.clone()).await;
            if allowed {
                worker.answers().await;
            }
            assert_eq!(call.await.unwrap().is_error, !allowed);
            extension.shown(|shown| !has_question(shown)).await;
            // It can be answered once.
            extension.say(answer).await;
            let denied = extension.hear().await.unwrap();
            assert_eq!(denied["type"], "denied", "{denied}");
        }
    }
}

/// Spec: security 24.
#[tokio::test]
async fn a_question_leaves_the_panel_when_it_is_settled() {
    let daemon = Daemon::start().await;
    let mut extension = extension(&daemon).await;
    let agent = agent(&daemon, Confirm::Ask).await;
    let _worker = shop(&daemon, &agent).await;
    // Another component answers.
    let call = begin(&agent, "buy", "tea");
    let shown = extension.shown(has_question).await;
    let id = shown["questions"][0]["id"].as_str().unwrap().to_owned();
    assert!(daemon.hub.answer_question(id, false).await);
    assert!(call.await.unwrap().is_error);
    extension.shown(|shown| !has_question(shown)).await;
    // The person pauses everything.
    let call = begin(&agent, "buy", "tea");
    extension.shown(has_question).await;
    extension.say(json!({"type": "pause"})).await;
    let paused = call.await.unwrap();
    assert!(
        text(&paused).starts_with("The person paused all agents"),
        "{paused:?}"
    );
    extension
        .shown(|shown| shown["paused"] == true && !has_question(shown))
        .await;
    let refused = begin(&agent, "buy", "tea").await.unwrap();
    assert!(text(&refused).starts_with("The person paused all agents"));
    assert!(daemon.hub.overview().await.unwrap().paused);
    extension.say(json!({"type": "resume"})).await;
    extension.shown(|shown| shown["paused"] == false).await;
    // No person can be asked when the extension is gone.
    drop(extension);
    let refused = async {
        // A question that was shown just before waits for the extension to reconnect.
        loop {
            let status = request("browser_get_connection_status", &json!({}));
            let status = agent.call(status).await.unwrap();
            if text(&status).contains("\"extensionConnected\":false") {
                break;
            }
        }
        loop {
            let refused = begin(&agent, "buy", "tea").await.unwrap();
            if text(&refused).contains("no way to ask") {
                return;
            }
        }
    };
    patiently(refused, || "a refusal".to_owned()).await;
}

#[tokio::test]
async fn an_extension_that_shows_no_questions_is_not_waited_for() {
    let daemon = Daemon::start().await;
    let _extension = daemon.extension("0123456789").await;
    let agent = agent(&daemon, Confirm::Ask).await;
    let _worker = shop(&daemon, &agent).await;
    let refused = begin(&agent, "buy", "tea").await.unwrap();
    assert!(
        text(&refused).contains("this client has no way to ask"),
        "{refused:?}"
    );
}

#[tokio::test]
async fn rules_of_the_panel_are_those_of_tabmux_policy_and_hold_at_once() {
    let daemon = Daemon::start().await;
    let mut extension = extension(&daemon).await;
    let agent = agent(&daemon, Confirm::Ask).await;
    let pages = call(&agent, "list_pages").await;
    assert!(pages.contains("https://b.test/x"), "{pages}");
    let block = json!({"type": "rule", "origin": "https://b.test", "rule": "block"});
    extension.say(block).await;
    extension
        .shown(|it| it["rules"]["blocked"] == json!(["https://b.test"]))
        .await;
    let pages = call(&agent, "list_pages").await;
    assert!(pages.contains("(blocked) (https://b.test)"), "{pages}");
    let rules = tabmux_daemon::policy::read(&daemon.policy).unwrap();
    assert_eq!(rules.blocked[0].to_string(), "https://b.test");
    // A change from another program is shown here, even if no agent does anything.
    let change = PolicyChange::Allow("*.a.test".parse().unwrap());
    change_file(&daemon.policy, &change).unwrap();
    let shown = extension
        .shown(|it| it["rules"]["allowed"] == json!(["*.a.test"]))
        .await;
    assert_eq!(shown["rules"]["more"], 0);
    for (origin, allowed, rule, alone) in [
        ("https://b.test", false, Some("https://b.test"), true),
        ("https://x.a.test", true, Some("*.a.test"), false),
        ("http://c.test:81", false, None, false),
    ] {
        extension
            .say(json!({"type": "site", "origin": origin}))
            .await;
        let mut expected =
            json!({"type": "site", "origin": origin, "allowed": allowed, "alone": alone});
        if let Some(rule) = rule {
            expected["rule"] = rule.into();
        }
        assert_eq!(extension.hear().await, Some(expected));
    }
    for pattern in ["*.a.test", "https://b.test"] {
        extension
            .say(json!({"type": "rule", "origin": pattern, "rule": "none"}))
            .await;
    }
    extension
        .shown(|it| it["rules"]["allowed"] == json!([]) && it["rules"]["blocked"] == json!([]))
        .await;
    // Invalid rules are refused with a sentence, and change nothing.
    for (origin, rule, why) in [
        ("https://b.test", "none", "There is no rule about"),
        ("javascript:alert(1)", "allow", "is not an origin"),
        ("https://b.test/path", "block", "is not an origin"),
    ] {
        extension
            .say(json!({"type": "rule", "origin": origin, "rule": rule}))
            .await;
        let denied = extension.hear().await.unwrap();
        assert!(denied["reason"].as_str().unwrap().contains(why), "{denied}");
    }
    // A damaged file blocks everything, and the panel shows that.
    std::fs::write(&daemon.policy, "{").unwrap();
    let shown = extension
        .shown(|it| it["rules"]["problem"] != Value::Null)
        .await;
    let problem = shown["rules"]["problem"].as_str().unwrap();
    assert!(problem.contains("is damaged"), "{problem}");
}

#[tokio::test]
async fn a_session_that_opens_does_not_swallow_a_rule_for_the_others() {
    let daemon = Daemon::start().await;
    let _extension = extension(&daemon).await;
    let first = agent(&daemon, Confirm::Ask).await;
    let pages = call(&first, "list_pages").await;
    assert!(pages.contains("https://b.test/x"), "{pages}");
    let change = PolicyChange::Block("b.test".parse().unwrap());
    change_file(&daemon.policy, &change).unwrap();
    let _second = agent(&daemon, Confirm::Ask).await;
    let pages = call(&first, "list_pages").await;
    assert!(!pages.contains("https://b.test/x"), "{pages}");
}

#[tokio::test]
async fn an_agent_follows_the_person_while_the_switch_is_on() {
    let daemon = Daemon::start().await;
    let mut extension = extension(&daemon).await;
    let agent = agent(&daemon, Confirm::Ask).await;
    call(&agent, "list_pages").await;
    let follow = |follows: bool| json!({"type": "follow", "session": SESSION, "follows": follows, "tabId": 7});
    let selected = |pages: &str, url: &str| {
        let mut lines = pages.lines();
        lines.any(|line| line.contains(url) && line.contains("[selected]"))
    };
    extension
        .shown(|it| it["agents"][0]["follows"] == false)
        .await;
    extension.say(follow(true)).await;
    extension
        .shown(|it| it["agents"][0]["follows"] == true)
        .await;
    let pages = call(&agent, "list_pages").await;
    assert!(selected(&pages, "http://a.test/"), "{pages}");
    let turn = |tab: u32| json!({"type": "tabFocused", "tabId": tab, "tools": []});
    extension.say(turn(8)).await;
    let shown = extension
        .shown(|it| it["agents"][0]["tabs"][0]["tabId"] == 8)
        .await;
    assert_eq!(shown["agents"][0]["tabs"][0]["own"], false);
    extension.say(follow(false)).await;
    extension
        .shown(|it| it["agents"][0]["follows"] == false)
        .await;
    extension.say(turn(7)).await;
    extension.say(json!({"type": "ping"})).await;
    assert_eq!(extension.hear().await, Some(json!({"type": "pong"})));
    let pages = call(&agent, "list_pages").await;
    assert!(selected(&pages, "https://b.test/x"), "{pages}");
    extension
        .say(json!({"type": "follow", "session": "sess_gone", "follows": true}))
        .await;
    let denied = json!({"type": "denied", "reason": "This agent is gone."});
    assert_eq!(extension.hear().await, Some(denied));
}

#[tokio::test]
async fn private_windows_are_hidden_until_the_person_allows_them() {
    let daemon = Daemon::start().await;
    let mut extension = daemon.extension("0123456789").await;
    // The extension is not asked for them, and its messages about them are ignored.
    introduce(&mut extension, true).await;
    let agent = agent(&daemon, Confirm::Ask).await;
    let pages = call(&agent, "list_pages").await;
    assert!(
        pages.contains("a.test") && !pages.contains("secret"),
        "{pages}"
    );
    extension
        .say(json!({"type": "privateWindows", "allowed": true}))
        .await;
    let asked = json!({"type": "connect", "private": true});
    assert_eq!(extension.hear().await, Some(asked));
    introduce(&mut extension, true).await;
    let listed = async {
        loop {
            let pages = call(&agent, "list_pages").await;
            if pages.contains("secret.test") {
                return pages;
            }
        }
    };
    patiently(listed, || "the private tab".to_owned()).await;
    extension
        .say(json!({"type": "follow", "session": SESSION, "follows": true, "tabId": 9}))
        .await;
    extension
        .shown(|it| it["agents"][0]["tabs"][0]["tabId"] == 9)
        .await;
    // The person hides them again, in a terminal.
    change_file(&daemon.policy, &PolicyChange::PrivateWindows(false)).unwrap();
    extension
        .shown(|it| it["rules"]["privateWindows"] == false && it["agents"][0]["tabs"] == json!([]))
        .await;
    let pages = call(&agent, "list_pages").await;
    assert!(!pages.contains("secret"), "{pages}");
}
