//! Steps that read, and steps that are tools of the page, end to end.

use crate::harness::{McpHarness, page};
use crate::steps::opened;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn what_steps_read_is_in_the_answer() {
    let Some(harness) = opened(&[]).await else {
        return;
    };
    let offer = r#"() => (document.modelContext.registerTool({name: "balance", description: "Says the balance",
        inputSchema: {type: "object", properties: {}},
        execute: () => ({account: "x".repeat(100), lines: ["a", "b"], total: 1234})}), 0)"#;
    harness.evaluate(offer).await;
    let steps = json!([
        {"tool": "click", "arguments": {"name": "Edit", "near": "Customer 2"}},
        {"tool": "find", "arguments": {"text": "Customer 1"}},
        {"tool": "balance"},
    ]);
    let run = json!({"steps": steps});
    let reply = harness.client.call_tool("run_steps", run).await.ok();
    let told = reply.text();
    assert!(told.contains("\"total\":1234"), "{told}");
    assert!(told.contains("Customer 10"), "several lines: {told}");
    let results = &reply.raw["structuredContent"]["results"];
    assert_eq!(results[0]["text"], "Clicked.", "{results}");
    assert_eq!(results[2]["tool"], "balance");
    let balance = results[2]["text"].as_str().unwrap();
    assert!(balance.contains("\"total\":1234"), "{balance}");
}

/// A form whose generated tool adds a row for each record.
const NEW_CUSTOMER: &str = "<h1>Customers</h1><form id=form><label>Name <input name=name></label>
    <label>PIN <input name=pin type=password></label><button>Add customer</button></form><ul id=added></ul>
    <script>
    form.onsubmit = () => {
        const [name, pin] = new FormData(form).values();
        added.insertAdjacentHTML('beforeend', `<li>${name} ${pin.length}</li>`);
        form.reset();
        return false;
    };
    </script>";

#[tokio::test(flavor = "multi_thread")]
async fn a_generated_form_tool_runs_for_each_item() {
    let Some(harness) = McpHarness::launched(&[]).await else {
        return;
    };
    harness.pages.route("/new", page("New", NEW_CUSTOMER));
    harness.open("/new").await;
    let names = harness.names().await;
    assert!(names.contains(&"add_customer".to_owned()), "{names:?}");
    let add = json!({"tool": "add_customer", "arguments": {"name": "{{item.who}}", "pin": "1234"}});
    let who = json!([{"who": "Ada"}, {"who": "Grace"}, {"who": "Edith"}]);
    let run = json!({"steps": [add], "forEach": who});
    let told = harness.text("run_steps", run).await;
    assert!(
        told.contains("3. add_customer: Filled \"Name\" with \"Edith\""),
        "{told}"
    );
    assert!(
        told.contains("Grace 4") && !told.contains("Stopped"),
        "{told}"
    );
    let added = "() => [...document.querySelectorAll('li')].map((it) => it.textContent).join()";
    assert_eq!(harness.evaluate(added).await, "Ada 4,Grace 4,Edith 4");
    let wrong = json!({"tool": "add_customer", "arguments": {"name": ["{{item.who}}"]}});
    let run = json!({"steps": [wrong], "forEach": who});
    let told = harness.refusal("run_steps", run).await;
    assert!(
        told.starts_with("Nothing was done: step 1 (add_customer): "),
        "{told}"
    );
}

/// The secret stays out of the answers; `secrets.rs` looks for it everywhere.
#[tokio::test(flavor = "multi_thread")]
async fn a_generated_form_tool_types_a_secret_in_steps() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("secrets.env");
    std::fs::write(&file, "# origins: http://127.0.0.1:*\nPIN=hush-hush-27\n").unwrap();
    private(&file);
    let flag = format!("--secrets={}", file.display());
    let Some(harness) = McpHarness::launched(&[&flag]).await else {
        return;
    };
    harness.pages.route("/new", page("New", NEW_CUSTOMER));
    harness.open("/new").await;
    let add = json!({"tool": "add_customer",
        "arguments": {"name": "{{item.who}}", "pin": "{{secret:PIN}}"}});
    let who = json!([{"who": "Ada"}, {"who": "Grace"}]);
    let run = json!({"steps": [add], "forEach": who});
    let told = harness.text("run_steps", run).await;
    assert!(
        told.contains("Ada 12") && told.contains("Grace 12"),
        "{told}"
    );
    assert!(!harness.client.transcript().contains("hush-hush"));
    let unknown = json!({"tool": "add_customer", "arguments": {"pin": "{{secret:NONE}}"}});
    let told = harness
        .refusal("run_steps", json!({"steps": [unknown]}))
        .await;
    assert!(told.contains("There is no secret NONE"), "{told}");
}

fn private(file: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt;
    let own = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(file, own).unwrap();
}
