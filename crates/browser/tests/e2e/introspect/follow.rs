//! A page is read again when it changes, without using much of its time.

use super::harness::PageToolsHarness;
use serde_json::json;
use tabmux_testkit::patiently;

/// Spec: dynamic-tools 86.
#[tokio::test]
async fn a_page_that_navigates_or_changes_is_read_again() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let tab = harness.page("/one", "<button>First</button>").await;
    tab.introspect(Some(30));
    harness.until_names(&tab, &["first"]).await;
    harness
        .page_value(
            &tab,
            "document.body.insertAdjacentHTML('beforeend', '<button>Second</button>'); 0",
        )
        .await;
    harness.until_names(&tab, &["first", "second"]).await;
    harness
        .page_value(
            &tab,
            "document.body.attachShadow({mode: 'open'}).innerHTML = '<i></i><slot></slot>'; 0",
        )
        .await;
    harness
        .page_value(
            &tab,
            "document.body.shadowRoot.querySelector('i').innerHTML = '<button>Inside</button>'; 0",
        )
        .await;
    harness
        .until_names(&tab, &["inside", "first", "second"])
        .await;
    harness.serve("/two", "<button>Other</button>");
    let url = harness.server.url("/two");
    harness
        .text(&tab, "navigate_page", json!({ "url": url }))
        .await;
    harness.until_names(&tab, &["other"]).await;
    tab.introspect(None);
    harness.until_names(&tab, &[]).await;
}

#[tokio::test]
async fn reading_a_page_that_always_changes_takes_a_twentieth_of_its_time() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let body = "<ul></ul><script>
        const list = document.querySelector('ul');
        list.innerHTML = Array.from({length: 100}, (_, i) => `<li><a href='#${i}'>Item ${i}</a> <button>Drop</button></li>`).join('');
        let n = 0;
        setInterval(() => { list.children[n++ % 100].firstChild.textContent = `Item ${n}`; }, 4);
        </script>";
    let tab = harness.page("/busy", body).await;
    tab.introspect(Some(30));
    // The page itself measures how long each of our reads took.
    let world = tab.world().await.unwrap();
    let account = patiently(
        async {
            loop {
                let account: serde_json::Value =
                    world.call("tabmux.account", json!({})).await.unwrap();
                if account["looks"].as_u64().unwrap() >= 4 {
                    return account;
                }
                harness
                    .page_value(&tab, "new Promise((done) => setTimeout(done, 50))")
                    .await;
            }
        },
        || "the page was not read four times".into(),
    )
    .await;
    let (busy, span) = (
        account["busyMs"].as_f64().unwrap(),
        account["spanMs"].as_f64().unwrap(),
    );
    println!(
        "{} looks took {busy:.1} ms of {span:.1} ms: {:.2} %",
        account["looks"],
        100.0 * busy / span
    );
    assert!(busy <= 0.05 * span, "{account}");
}
