//! Tools that pages register with Chrome: found, updated, called, and the pitfalls.

mod attached;
mod calls;
mod harness;
mod lifetimes;
mod polyfill;
mod servers;

pub(crate) use harness::{WITH_WEB_MCP, WITHOUT_WEB_MCP};

use harness::PageToolsHarness;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_a_page_are_found_before_it_counts_as_open_and_can_be_called() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let tab = harness
        .page(
            "",
            r#"<form toolname="find_car" tooldescription="Find a car" toolautosubmit>
                 <input name="make" required toolparamdescription="The brand">
                 <button>Go</button></form>"#,
            r#"add({name: "sum", description: "Adds", annotations: {readOnlyHint: true},
                    inputSchema: {type: "object", properties: {a: {type: "number"}, b: {type: "number"}}},
                    execute: ({a, b}) => a + b});
               document.querySelector("form").addEventListener("submit", (event) => {
                 event.preventDefault();
                 event.respondWith(Promise.resolve({found: new FormData(event.target).get("make")}));
               });"#,
        )
        .await;
    let found = harness.tools(&tab);
    let mut names: Vec<_> = found.web_mcp.iter().map(|tool| &*tool.name).collect();
    names.sort_unstable();
    assert_eq!(names, ["find_car", "sum"]);
    let sum = harness.tool(&tab, "sum");
    assert!(sum.read_only && !sum.consequential);
    assert_eq!(&*sum.description, "Adds");
    assert_eq!(sum.read_schema()["properties"]["a"]["type"], "number");
    assert_eq!(&*sum.origin, harness.origin());
    let form = harness.tool(&tab, "find_car");
    assert!(!form.read_only);
    assert_eq!(form.read_schema()["required"], json!(["make"]));

    assert_eq!(
        harness.value(&tab, "sum", json!({"a": 2, "b": 40})).await,
        json!(42)
    );
    assert_eq!(
        harness
            .value(&tab, "find_car", json!({"make": "Saab"}))
            .await,
        json!({"found": "Saab"})
    );
}
