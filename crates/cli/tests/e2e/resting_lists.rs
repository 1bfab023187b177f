//! A long walk through one application: its tool list rests.

use crate::harness::{McpHarness, page};
use serde_json::{Value, json};

/// An application that draws everything again after every action: ten records, a form to edit one, a filter, messages.
const APPLICATION: &str = r##"<h1>Contacts</h1><main id=app></main><script>
    const people = Array.from({length: 10}, (_, n) => ({name: `Person ${n}`, email: `p${n}@example.com`, note: ""}));
    let [view, filter, message] = [-1, "", ""];
    const row = (one, n) => `<tr><td><a href="#${n}">${one.name}</a></td><td>${one.email}</td>
        <td><button onclick="open_(${n})">Edit</button> <button onclick="star(${n})">${one.star ? "★" : "☆"}</button></td></tr>`;
    const list = () => `<search><input type=search aria-label="Search contacts" value="${filter}"></search>
        <table aria-label=Contacts><tbody>${people.map((one, n) => one.name.includes(filter) ? row(one, n) : "").join("")}</tbody></table>`;
    const edit = (one) => `<h2>${one.name}</h2><form aria-label="Edit contact" onsubmit="save(this); return false">
        <label>Name <input name=name value="${one.name}"></label><label>Email <input name=email value="${one.email}"></label>
        <label>Note <textarea name=note>${one.note}</textarea></label>
        <label>Group <select name=group><option>Friends<option>Work<option>Family</select></label>
        <button>Save</button></form><button onclick="open_(-1)">Back</button>`;
    const draw = () => app.innerHTML = `${message && `<p role=status>${message}</p>`}${view < 0 ? list() : edit(people[view])}`;
    const open_ = (n) => { view = n; message = ""; draw(); };
    const star = (n) => { people[n].star = !people[n].star; message = `${people[n].name} has changed`; draw(); };
    const save = (form) => {
        Object.assign(people[view], Object.fromEntries(new FormData(form)));
        [message, view] = ["Saved", -1];
        draw();
    };
    app.onkeydown = (event) => { if (event.key === "Enter" && event.target.type === "search") { filter = event.target.value; draw(); } };
    draw();</script>"##;

/// The sizes of all lists that a client fetches: the first one, and one after each notification.
#[derive(Default)]
struct Fetched {
    lists: usize,
    bytes: usize,
    changes: usize,
}

impl Fetched {
    async fn fetch(&mut self, harness: &McpHarness) {
        let tools = harness.client.list_tools().await;
        self.lists += 1;
        self.bytes += serde_json::to_string(&tools).unwrap().len();
    }

    /// Calls a tool, then fetches the list if it has changed.
    async fn call(&mut self, harness: &McpHarness, tool: &str, arguments: Value) -> String {
        let reply = harness.client.call_tool(tool, arguments).await.ok().text();
        let notices = harness.client.take_notifications().await.len();
        if notices > 0 {
            self.changes += notices;
            self.fetch(harness).await;
        }
        reply
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn fifty_calls_in_one_application_change_the_list_rarely() {
    let Some(harness) = McpHarness::disconnected(&[]).await else {
        return;
    };
    harness
        .pages
        .route("/contacts", page("Contacts", APPLICATION));
    let mut fetched = Fetched::default();
    fetched.fetch(&harness).await;
    let url = harness.pages.url("/contacts");
    for (tool, arguments) in [
        ("connect_browser", json!({"launch": true})),
        ("open_tab", json!({"url": url})),
    ] {
        fetched.call(&harness, tool, arguments).await;
    }
    let mut told = String::new();
    for n in 0..10 {
        for step in 0..5 {
            let press = |name: &str| json!({"role": "button", "name": name});
            let in_row = |name: &str| {
                let mut target = press(name);
                target["near"] = format!("Person {n}").into();
                target
            };
            let note = format!("Note {n}");
            let (tool, arguments) = match step {
                0 if n == 1 => ("take_snapshot", json!({})),
                0 => ("find", json!({"text": "Edit"})),
                1 => ("click", in_row("Edit")),
                // The page is read for this, so the tool of its form is known then.
                2 => ("list_page_tools", json!({})),
                3 if n == 0 => ("fill", json!({"name": "Note", "value": note})),
                3 => ("save_edit_contact", json!({"note": note, "group": "Work"})),
                _ if n == 0 => ("click", press("Save")),
                _ => ("click", in_row("☆")),
            };
            told.push_str(&fetched.call(&harness, tool, arguments).await);
        }
    }
    let done = "() => [people.filter((one, n) => one.note === `Note ${n}`).length, people.filter((one) => one.star).length]";
    assert_eq!(harness.evaluate(done).await, json!([10, 9]), "{told}");
    assert!(
        told.contains("\nsave_edit_contact(name?, email?, note?, group?, submit?: boolean)"),
        "{told}"
    );
    let Fetched {
        lists,
        bytes,
        changes,
    } = fetched;
    println!("{changes} changes; {lists} lists of {bytes} bytes in all");
    assert!(changes <= 5, "{changes} changes");
    assert!(bytes <= 12_000, "{bytes} bytes");
}
