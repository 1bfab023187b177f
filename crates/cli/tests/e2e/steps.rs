//! Several steps in one call, end to end.

use crate::crowd::Crowd;
use crate::harness::{McpHarness, page};
use crate::policy::{bought, shop};
use serde_json::{Value, json};
use tabmux_testkit::Response;

/// Ten records with a form that edits one of them.
fn records() -> Response {
    page(
        "Records",
        "<h1>Customers</h1><table id=rows></table><p id=count>Saved 0 times</p>
         <form id=form hidden><label>City <input id=city></label><label>Status
         <select id=state><option>Open<option>Closed</select></label><button>Save</button></form>
         <script>
         const records = Array.from({ length: 12 }, (_, at) => ({ id: at + 1, city: 'None', status: 'Open' }));
         let edited, saved = 0;
         const draw = () => { rows.innerHTML = records.map(({ id, city, status }) =>
             `<tr><td>Customer ${id}<td>${city}<td>${status}<td><button onclick='edit(${id})'>Edit</button>`).join('') };
         edit = (id) => { edited = records[id - 1]; form.hidden = false; city.value = edited.city; state.value = edited.status };
         form.onsubmit = () => { Object.assign(edited, { city: city.value, status: state.value }); form.hidden = true; draw();
             count.textContent = `Saved ${++saved} times`; return false };
         draw();
         </script>",
    )
}

fn edit() -> Value {
    json!([
        {"tool": "click", "arguments": {"role": "button", "name": "Edit", "near": "Customer {{item.id}}"}},
        {"tool": "fill_form", "arguments": {"elements": [
            {"name": "City", "value": "{{item.city}}"}, {"name": "Status", "value": "Closed"}]}},
        {"tool": "click", "arguments": {"role": "button", "name": "Save"}},
    ])
}

pub(crate) async fn opened(flags: &[&str]) -> Option<McpHarness> {
    let harness = McpHarness::launched(flags).await?;
    harness.pages.route("/records", records());
    harness.open("/records").await;
    Some(harness)
}

async fn cities(harness: &McpHarness) -> Value {
    harness
        .evaluate("() => records.map(({ city, status }) => `${city} ${status}`).join()")
        .await
}

const UNTOUCHED: &str = "None Open,None Open,None Open,None Open,None Open,None Open,None Open,None Open,None Open,None Open,None Open,None Open";

#[tokio::test(flavor = "multi_thread")]
async fn ten_records_are_edited_in_one_call() {
    let Some(harness) = opened(&[]).await else {
        return;
    };
    let items: Vec<_> = (1..=10)
        .map(|id| json!({"id": id, "city": format!("City {id}")}))
        .collect();
    let told = harness
        .text("run_steps", json!({"steps": edit(), "forEach": items}))
        .await;
    assert!(
        told.starts_with(
            "Step 1: click button \"Edit\" near \"Customer 1\" and 9 more like it: Clicked.\n"
        ),
        "{told}"
    );
    assert!(told.contains("Saved 10 times"), "what changed: {told}");
    let edited: Vec<_> = (1..=10).map(|id| format!("City {id} Closed")).collect();
    assert_eq!(
        cities(&harness).await,
        format!("{},None Open,None Open", edited.join(","))
    );
}

/// The form gets a tool of its own between the steps; that stops nothing, and the note about it is not lost.
#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_appears_between_steps_is_named() {
    let Some(harness) = opened(&[]).await else {
        return;
    };
    harness
        .evaluate(
            "() => { form.addEventListener('focusin', () => setTimeout(() => count.textContent = 'Rested', 1000)); return 1 }",
        )
        .await;
    let steps = json!([
        {"tool": "click", "arguments": {"name": "Edit", "near": "Customer 2"}},
        {"tool": "fill", "arguments": {"name": "City", "value": "Rome"}},
        {"tool": "wait_for", "arguments": {"text": ["Rested"]}},
        {"tool": "click", "arguments": {"name": "Save"}},
    ]);
    let reply = harness
        .client
        .call_tool("run_steps", json!({"steps": steps}))
        .await;
    let mut told = reply.text();
    assert_eq!(reply.raw["structuredContent"]["done"], 4, "{told}");
    while !told.contains("New page tools") {
        let run = json!({"steps": [{"tool": "find", "arguments": {"text": "Edit"}}, {"tool": "click", "arguments":
            {"name": "Edit", "near": "Customer 3"}}]});
        told = harness.text("run_steps", run).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_step_stops_and_is_reported() {
    let Some(harness) = opened(&[]).await else {
        return;
    };
    let steps = json!([
        {"tool": "click", "arguments": {"name": "Edit", "near": "Customer 2"}},
        {"tool": "fill", "arguments": {"name": "Status", "value": "No such status"}},
        {"tool": "click", "arguments": {"name": "Save"}},
    ]);
    let told = harness.refusal("run_steps", json!({"steps": steps})).await;
    assert!(
        told.starts_with("1. click \"Edit\" near \"Customer 2\": Clicked.\nStopped at step 2: fill \"Status\" failed: "),
        "{told}"
    );
    assert!(
        told.contains("has no option \"No such status\"")
            && told.contains("1 of at most 3 calls were made"),
        "{told}"
    );
    assert_eq!(cities(&harness).await, UNTOUCHED);
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_done_if_a_later_step_is_wrong() {
    let Some(harness) = opened(&[]).await else {
        return;
    };
    let good = json!({"tool": "click", "arguments": {"name": "Edit", "near": "Customer 1"}});
    for (wrong, why) in [
        (
            json!({"tool": "fill", "arguments": {"name": "City"}}),
            "missing field `value`",
        ),
        (json!({"tool": "clck"}), "this session has no such tool now"),
        (json!({"tool": "evaluate_script"}), "cannot be a step"),
        (
            json!({"tool": "click", "arguments": {"uid": "1_99999"}}),
            "no element has the uid 1_99999",
        ),
        (
            json!({"tool": "click", "arguments": {"name": "{{item.x}}"}}),
            "needs a `forEach`",
        ),
    ] {
        let mut steps = vec![good.clone(); 6];
        steps.push(wrong);
        let told = harness.refusal("run_steps", json!({"steps": steps})).await;
        assert!(
            told.starts_with("Nothing was done: ") && told.contains(why),
            "{told}"
        );
        let hidden = harness.evaluate("() => form.hidden").await;
        assert_eq!(hidden, true, "no step was run: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn dialogs_and_unexpected_navigations_stop_steps() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness.pages.route(
        "/leads",
        page(
            "Leads",
            "<a href=/next>Next</a><button onclick=\"out.textContent = confirm('Sure?')\">Ask</button>
             <button onclick=\"clicks.textContent++\">Count</button><p id=clicks>0</p><output id=out></output>",
        ),
    );
    harness
        .pages
        .route("/next", page("Next", "<button>Count</button>"));
    harness.open("/leads").await;
    let count = json!({"tool": "click", "arguments": {"name": "Count"}});
    let ask = json!({"tool": "click", "arguments": {"name": "Ask"}});
    let told = harness
        .text("run_steps", json!({"steps": [ask, count]}))
        .await;
    assert!(
        told.contains("Stopped at step 2: ") && told.contains("Sure?"),
        "{told}"
    );
    // While it is open, only steps that begin with its answer run.
    let refused = harness
        .client
        .call_tool("run_steps", json!({"steps": [count]}))
        .await
        .expect_error();
    assert_eq!(
        refused,
        "Nothing was done: A confirm dialog is open: \"Sure?\". Call handle_dialog, or make it the first step."
    );
    let dismiss = json!({"tool": "handle_dialog", "arguments": {"action": "dismiss"}});
    let told = harness.text("run_steps", json!({"steps": [dismiss]})).await;
    assert!(told.starts_with("1. handle_dialog: "), "{told}");
    assert_eq!(harness.evaluate("() => out.textContent").await, "false");
    let accept = json!({"tool": "handle_dialog", "arguments": {"action": "accept"}});
    let told = harness
        .text("run_steps", json!({"steps": [ask, accept, count]}))
        .await;
    assert!(!told.contains("Stopped"), "{told}");
    let out = "() => [out.textContent, clicks.textContent].join()";
    assert_eq!(harness.evaluate(out).await, "true,1");
    let next = json!({"tool": "click", "arguments": {"role": "link", "name": "Next"}});
    let told = harness
        .text("run_steps", json!({"steps": [next, count]}))
        .await;
    assert!(
        told.contains("Stopped at step 1: it led to another page"),
        "{told}"
    );
    harness.text("navigate_page", json!({"type": "back"})).await;
    let meant =
        json!({"tool": "click", "arguments": {"role": "link", "name": "Next"}, "navigates": true});
    let told = harness
        .text("run_steps", json!({"steps": [meant, count]}))
        .await;
    assert!(!told.contains("Stopped") && told.contains("Next"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_repeat_until_something_is_shown() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    let body = "<button onclick=\"month.textContent = `Month ${++shown}`; location.hash = `m${shown}`\">Back</button>\
                <p id=month></p><script>shown = 0</script>";
    harness.pages.route("/calendar", page("Calendar", body));
    harness.open("/calendar").await;
    let back =
        json!({"tool": "click", "arguments": {"name": "Back"}, "until": {"text": "Month 7"}});
    let told = harness.text("run_steps", json!({"steps": [back]})).await;
    assert!(told.contains("7. click \"Back\": Clicked."), "{told}");
    assert_eq!(harness.evaluate("() => shown").await, 7);
    let far = json!({"tool": "click", "arguments": {"name": "Back"}, "until": {"text": "Month 99"}, "repeat": 2});
    let told = harness.text("run_steps", json!({"steps": [far]})).await;
    assert!(told.contains("did not come true"), "{told}");
    assert_eq!(harness.evaluate("() => shown").await, 9);
    for (until, last) in [
        (json!({"textGone": "Month 9"}), 10),
        (json!({"function": "() => shown >= 12"}), 12),
        (json!({"url": "#m14"}), 14),
    ] {
        let back = json!({"tool": "click", "arguments": {"name": "Back"}, "until": until});
        let told = harness.text("run_steps", json!({"steps": [back]})).await;
        assert_eq!(harness.evaluate("() => shown").await, last, "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_policy_holds_for_each_step() {
    let flags = ["--allowedOrigins=http://127.0.0.1:*"];
    let Some(harness) = opened(&flags).await else {
        return;
    };
    let elsewhere = harness.pages.cross_site_url("/secret");
    let steps = json!([
        {"tool": "click", "arguments": {"name": "Edit", "near": "Customer 1"}},
        {"tool": "navigate_page", "arguments": {"url": elsewhere}},
    ]);
    let told = harness.refusal("run_steps", json!({"steps": steps})).await;
    assert!(
        told.contains("Stopped at step 2: navigate_page failed: ")
            && told.contains("--allowedOrigins"),
        "{told}"
    );
    assert_eq!(harness.pages.count("/secret"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_ends_the_steps_in_the_middle() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    let body = "<button onclick=\"fetch('/pressed'); presses++\">Press</button><script>presses = 0</script>";
    harness.pages.route("/press", page("Press", body));
    harness.open("/press").await;
    let steps = json!([
        {"tool": "click", "arguments": {"name": "Press"}},
        {"tool": "wait_for", "arguments": {"text": ["never shown"], "timeout": 60_000}},
        {"tool": "click", "arguments": {"name": "Press"}},
    ]);
    let call = harness
        .client
        .begin_call("run_steps", json!({"steps": steps}));
    let call = call.await;
    harness.pages.wait_for_request("/pressed").await;
    call.cancel().await;
    assert_eq!(harness.evaluate("() => presses").await, 1);
    // The tab is free again, and nothing of the cancelled call goes on.
    harness.text("click", json!({"name": "Press"})).await;
    assert_eq!(harness.evaluate("() => presses").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_the_page_are_steps_too() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    let body = r#"<p id=stars>0</p><script>
        document.modelContext.registerTool({name: "star", description: "Adds a star",
          inputSchema: {type: "object", properties: {count: {type: "number"}}, required: ["count"]},
          execute: ({count}) => { stars.textContent = Number(stars.textContent) + count; return "starred"; }});
        </script>"#;
    harness.pages.route("/repo", page("Repo", body));
    harness.open("/repo").await;
    let star = json!({"tool": "star", "arguments": {"count": "{{item.count}}"}});
    let counts = json!([{"count": 1}, {"count": 2}]);
    let told = harness
        .text("run_steps", json!({"steps": [star], "forEach": counts}))
        .await;
    assert!(told.contains("2. star: starred"), "{told}");
    let wrong = json!({"steps": [star], "forEach": [{"count": 1}, {"count": "many"}]});
    let told = harness.refusal("run_steps", wrong).await;
    assert!(
        told.starts_with("Nothing was done: step 1 (star): "),
        "{told}"
    );
    let stars = "() => document.getElementById('stars').textContent";
    assert_eq!(harness.evaluate(stars).await, "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_fixed_list_has_steps_too() {
    let Some(crowd) = Crowd::gather() else { return };
    let client = crowd.client(&[]).await;
    crowd.pages.route("/records", records());
    let url = json!({"url": crowd.pages.url("/records")});
    client.call_tool("new_page", url).await.ok();
    let names = client.tool_names().await;
    assert!(names.contains(&"run_steps".to_owned()), "{names:?}");
    let item = json!([{"id": 3, "city": "Rome"}]);
    let told = client
        .call_tool("run_steps", json!({"steps": edit(), "forEach": item}))
        .await
        .ok();
    assert!(
        told.text().contains("3. click button \"Save\": Clicked."),
        "{}",
        told.text()
    );
    assert!(told.text().contains("Saved 1 times"), "{}", told.text());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_step_that_needs_a_person_asks_each_time() {
    let Some(mut harness) = McpHarness::silent(&[]) else {
        return;
    };
    harness.client.can(json!({"elicitation": {}}));
    harness.client.initialize().await;
    harness.pages.route("/shop", shop());
    harness
        .client
        .call_tool("connect_browser", json!({"launch": true}))
        .await
        .ok();
    harness.open("/shop").await;
    let buy = json!({"tool": "buy", "arguments": {"item": "{{item.what}}"}});
    let items = json!([{"what": "tea"}, {"what": "milk"}, {"what": "gold"}, {"what": "ink"}]);
    let steps = json!({"steps": [buy], "forEach": items});
    let pending = harness.client.begin_call("run_steps", steps).await;
    for (n, (item, action)) in [("tea", "accept"), ("milk", "accept"), ("gold", "decline")]
        .into_iter()
        .enumerate()
    {
        let asked = harness.client.nth_request(n).await;
        let message = asked["params"]["message"].as_str().unwrap();
        assert!(message.contains(item), "{message}");
        let answer = json!({"action": action, "content": {"run": true}});
        harness.client.answer(&asked, answer).await;
    }
    let told = pending.tool_reply().await.expect_error();
    assert!(
        told.starts_with(
            "1. buy: bought tea\n2. buy: bought milk\nStopped at step 1: buy failed: "
        ),
        "{told}"
    );
    assert_eq!(bought(&harness.client).await, "[\"tea\",\"milk\"]");
}

/// A page whose button asks before it counts.
const ASKING: &str =
    "<button onclick=\"if (confirm('Sure?')) out.textContent = `Done ${++done}`\">Ask</button>
    <output id=out></output><script>done = 0</script>";

#[tokio::test(flavor = "multi_thread")]
async fn a_step_with_until_may_open_a_dialog_that_the_next_one_answers() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness.pages.route("/asking", page("Asking", ASKING));
    harness.open("/asking").await;
    let ask = json!({"tool": "click", "arguments": {"name": "Ask"}, "until": {"text": "Done 1"}});
    let answer = |action: &str| json!({"tool": "handle_dialog", "arguments": {"action": action}});
    let run = async |steps: Value| harness.text("run_steps", steps).await;
    let told = run(json!({"steps": [ask, answer("dismiss"), answer("accept")]})).await;
    assert!(
        told.contains("Stopped at step 1: the condition of `until` did not come true"),
        "{told}"
    );
    let told = run(json!({"steps": [ask, answer("accept")]})).await;
    assert!(
        told.contains("2. handle_dialog: ") && !told.contains("Stopped"),
        "{told}"
    );
    // The same around all steps.
    let ask = json!({"tool": "click", "arguments": {"name": "Ask"}});
    let until = json!({"text": "Done 3"});
    let told = run(json!({"steps": [ask, answer("accept")], "until": until})).await;
    assert!(
        told.contains("4. handle_dialog: ") && !told.contains("Stopped"),
        "{told}"
    );
    assert_eq!(harness.evaluate("() => done").await, 3);
    let until = json!({"text": "Done 9"});
    let told = run(json!({"steps": [ask], "until": until, "repeat": 1})).await;
    assert!(
        told.contains("Stopped at step 1: ") && told.contains("Sure?"),
        "{told}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_stop_when_the_session_turns_to_another_tab() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    let first = "<button onclick=\"presses++\">Press</button><p id=out></p><script>presses = 0;
        new BroadcastChannel('tabs').onmessage = () => { out.textContent = 'Called' }; fetch('/ready')</script>";
    harness.pages.route("/first", page("First", first));
    let second = page("Second", "<button>Press</button>");
    harness.pages.route("/second", second);
    let first = harness.open("/first").await;
    let steps = json!([
        {"tool": "wait_for", "arguments": {"text": ["Called"]}},
        {"tool": "click", "arguments": {"name": "Press"}},
    ]);
    let running = harness
        .client
        .begin_call("run_steps", json!({"steps": steps}));
    let running = running.await;
    harness.open("/second").await;
    harness
        .evaluate("() => { new BroadcastChannel('tabs').postMessage(1); return 1 }")
        .await;
    let told = running.tool_reply().await.text();
    assert!(
        told.contains("Stopped at step 1: the session works in another tab now."),
        "{told}"
    );
    harness.focus(first).await;
    assert_eq!(harness.evaluate("() => presses").await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn steps_stop_when_their_time_is_over_and_leave_nothing_behind() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness.pages.route("/asking", page("Asking", ASKING));
    harness.open("/asking").await;
    let ask = json!({"tool": "click", "arguments": {"name": "Ask"}});
    let steps = json!([ask, {"tool": "handle_dialog", "arguments": {"action": "accept"}}]);
    harness.text("run_steps", json!({"steps": steps})).await;
    let never = json!({"text": ["never shown"], "timeout": 60_000});
    let steps = json!([{"tool": "wait_for", "arguments": never}, ask]);
    let run = json!({"steps": steps, "timeout": 2_000});
    let reply = harness.client.call_tool("run_steps", run).await;
    let told = reply.text();
    assert!(told.contains("the time for all steps is over."), "{told}");
    // What the steps waited for comes too late, and no later dialog is answered for the agent.
    harness
        .evaluate("() => { document.title = out.textContent = 'never shown'; return 1 }")
        .await;
    let told = harness.text("click", json!({"name": "Ask"})).await;
    assert!(told.contains("it opened a dialog"), "{told}");
    let dismiss = json!({"action": "dismiss"});
    harness.text("handle_dialog", dismiss).await;
    assert_eq!(harness.evaluate("() => done").await, 1);
}
