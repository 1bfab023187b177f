//! Frames, shadow roots, pages that redraw themselves, and elements that are gone.

use super::harness::PageToolsHarness;
use serde_json::json;

#[tokio::test]
async fn frames_of_any_site_and_shadow_roots_are_read_and_acted_upon() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    harness.serve(
        "/near",
        "<button aria-pressed=false onclick=\"document.title = 'near'; this.ariaPressed = true\">Near</button>",
    );
    harness.serve(
        "/far",
        "<form onsubmit=\"document.body.dataset.got = this.name.value; return false\">\
        <label>Name <input name=name></label><button>Send far</button></form>",
    );
    let far = harness.server.cross_site_url("/far");
    let body = format!(
        "<iframe src=/near></iframe><iframe src='{far}' width=400 height=200></iframe><x-open></x-open><x-closed></x-closed>
        <iframe src=/near style='display:none'></iframe><script>
        for (const mode of ['open', 'closed']) customElements.define(`x-${{mode}}`, class extends HTMLElement {{
          constructor() {{
            super();
            this.attachShadow({{ mode }}).innerHTML = `<button aria-pressed=false onclick='this.ariaPressed = true'>Press ${{mode}}</button>`;
            this.onclick = () => heard.push(mode);
          }}
        }});
        var heard = [];</script>"
    );
    let tab = harness.page("/outer", &body).await;
    harness.read(&tab).await;
    let mut names = harness.names(&tab);
    names.sort();
    assert_eq!(
        names,
        ["send_far", "set_near", "set_press_closed", "set_press_open"]
    );
    let on = json!({"on": true});
    harness.does(&tab, "set_press_open", on.clone()).await;
    harness.does(&tab, "set_press_closed", on.clone()).await;
    assert_eq!(
        harness.page_value(&tab, "heard").await,
        json!(["open", "closed"])
    );
    harness.does(&tab, "set_near", on).await;
    assert_eq!(
        harness.page_value(&tab, "frames[0].document.title").await,
        "near"
    );
    let answer = harness
        .does(&tab, "send_far", json!({ "name": "Ada" }))
        .await;
    assert!(
        answer.starts_with("Filled \"Name\" with \"Ada\". Pressed \"Send far\"."),
        "{answer}"
    );
    let origin = format!("http://localhost:{}", harness.server.port());
    assert_eq!(&*harness.tool(&tab, "send_far").origin, origin);
}

#[tokio::test]
async fn redrawn_elements_are_found_again_and_missing_ones_reported() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let tab = harness
        .page("/app", "<div id=app><button>Save</button></div>")
        .await;
    harness.read(&tab).await;
    let draw = "app.innerHTML = '<button onclick=\"document.title = 1\">Save</button>'; 0";
    harness.page_value(&tab, draw).await;
    harness.does(&tab, "save", json!({})).await;
    assert_eq!(harness.page_value(&tab, "document.title").await, "1");
    harness.page_value(&tab, "app.innerHTML = ''; 0").await;
    let tool = harness.refuses(&tab, "save", json!({})).await;
    assert_eq!(
        tool,
        "The elements of save are no longer on the page. Call list_page_tools to see what is there now."
    );
}

#[tokio::test]
async fn reading_changes_nothing_and_names_stay() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let body = "<main id=main><button aria-pressed=false>Like</button><button aria-pressed=false>Share</button><label>A <input></label></main><script>
        var changes = 0;
        new MutationObserver((list) => changes += list.length).observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
        </script>";
    let tab = harness.page("/same", body).await;
    harness.read(&tab).await;
    let before = harness.tools(&tab);
    assert_eq!(harness.names(&tab), ["enter_a", "set_like", "set_share"]);
    harness.read(&tab).await;
    assert_eq!(
        harness.tools(&tab),
        before,
        "numbers, names and texts are the same"
    );
    assert_eq!(
        harness
            .page_value(
                &tab,
                "new Promise((done) => setTimeout(() => done(changes)))"
            )
            .await,
        0
    );
    // Another one is inserted before them: tools that have a name keep it, and there is no tool with a number.
    harness.page_value(&tab, "main.insertAdjacentHTML('afterbegin', '<button aria-pressed=false onclick=\"document.title = 9\">Like</button>'); 0").await;
    harness.read(&tab).await;
    assert_eq!(harness.names(&tab), ["enter_a", "set_like", "set_share"]);
    harness.refuses(&tab, "set_like", json!({"on": true})).await;
    assert_eq!(harness.page_value(&tab, "document.title").await, "A page");
    // What a user typed is neither a default nor a change.
    harness
        .page_value(&tab, "document.querySelector('input').value = 'typed'; 0")
        .await;
    let known = harness.tools(&tab);
    harness.read(&tab).await;
    assert_eq!(harness.tools(&tab), known);
}
