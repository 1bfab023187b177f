//! Real applications and component libraries: which tools they get, and that these work.

use super::harness::PageToolsHarness;
use serde_json::{Value, json};
use tabmux_browser::Tab;
use tabmux_testkit::Response;

const MODULES: &str = "demo-apps/node_modules";

/// Opens an application, waits until it is drawn, and compares its tools with the stored snapshot.
async fn open(harness: &PageToolsHarness, name: &str, path: &str, drawn: &str) -> Tab {
    let tab = harness.open(&format!("demo-apps/{path}")).await;
    harness.until(&tab, drawn).await;
    harness.read(&tab).await;
    keep(harness, name, &tab);
    tab
}

fn keep(harness: &PageToolsHarness, name: &str, tab: &Tab) {
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "apps" }, {
        insta::assert_snapshot!(name, harness.sheet(tab));
    });
}

async fn sees(harness: &PageToolsHarness, tab: &Tab, expression: &str, expected: Value) {
    assert_eq!(
        harness.page_value(tab, expression).await,
        expected,
        "{expression}"
    );
}

#[tokio::test]
async fn eleven_applications_get_tools_that_work() {
    let Some(harness) = PageToolsHarness::start().await else {
        return;
    };
    let modules = tabmux_testkit::workspace_root()
        .join("fixtures")
        .join(MODULES);
    assert!(
        modules.is_dir(),
        "the applications are missing: run `make demo-apps`"
    );
    todomvc(&harness).await;
    jquery_ui(&harness).await;
    awesomplete(&harness).await;
    tab_panel(&harness).await;
    medium_editor(&harness).await;
    datepicker(&harness).await;
    spectre(&harness).await;
    swagger(&harness).await;
    jstree(&harness).await;
    mdui(&harness).await;
    govuk(&harness).await;
}

async fn todomvc(harness: &PageToolsHarness) {
    // The build uses absolute paths for its files.
    for (path, kind) in [
        ("/todomvc.js", "text/javascript"),
        ("/todomvc.css", "text/css"),
    ] {
        let file = format!("fixtures/{MODULES}/todomvc-react/dist{path}");
        let body = std::fs::read(tabmux_testkit::workspace_root().join(file)).unwrap();
        harness.server.route(path, Response::new(200, kind, body));
    }
    let path = "node_modules/todomvc-react/dist/index.html";
    let tab = open(
        harness,
        "todomvc_empty",
        path,
        "document.querySelector('.new-todo')",
    )
    .await;
    for text in ["Buy milk", "Walk the dog", "Sleep"] {
        harness
            .does(&tab, "enter_what_needs_to_be_done", json!({ "text": text }))
            .await;
    }
    harness.read(&tab).await;
    keep(harness, "todomvc", &tab);
    let todos =
        "[...document.querySelectorAll('.todo-list label')].map((label) => label.textContent)";
    sees(
        harness,
        &tab,
        todos,
        json!(["Sleep", "Walk the dog", "Buy milk"]),
    )
    .await;
    harness
        .does(
            &tab,
            "set_toggle_of_todo",
            json!({ "index": 0, "on": true }),
        )
        .await;
    sees(
        harness,
        &tab,
        "document.querySelectorAll('.completed').length",
        json!(1),
    )
    .await;
    harness
        .does(&tab, "choose_filter", json!({ "option": "Completed" }))
        .await;
    sees(harness, &tab, todos, json!(["Sleep"])).await;
}

async fn jquery_ui(harness: &PageToolsHarness) {
    let path = "node_modules/jquery-ui-dist/index.html";
    let tab = open(
        harness,
        "jquery_ui",
        path,
        "document.querySelector('.ui-tabs-active')",
    )
    .await;
    harness
        .does(&tab, "select_tab", json!({ "tab": "Second" }))
        .await;
    sees(
        harness,
        &tab,
        "document.querySelector('.ui-accordion-header-active').textContent.trim()",
        json!("Second"),
    )
    .await;
}

async fn awesomplete(harness: &PageToolsHarness) {
    let path = "node_modules/awesomplete/index.html";
    let tab = open(
        harness,
        "awesomplete",
        path,
        "document.querySelector('nav a')",
    )
    .await;
    harness
        .does(
            &tab,
            "enter_pick_a_programming_language_type",
            json!({ "text": "Ada" }),
        )
        .await;
    sees(
        harness,
        &tab,
        "document.querySelector('input.awesomplete').value",
        json!("Ada"),
    )
    .await;
}

async fn tab_panel(harness: &PageToolsHarness) {
    let path = "node_modules/van11y-accessible-tab-panel-aria/demo/index.html";
    let tab = open(
        harness,
        "tab_panel",
        path,
        "document.querySelector('[role=tab]')",
    )
    .await;
    harness
        .does(&tab, "select_tab", json!({ "tab": "3rd tab" }))
        .await;
    sees(
        harness,
        &tab,
        "document.querySelector('[aria-selected=true]').textContent.trim()",
        json!("3rd tab"),
    )
    .await;
}

async fn medium_editor(harness: &PageToolsHarness) {
    let path = "node_modules/medium-editor/demo/index.html";
    let tab = open(
        harness,
        "medium_editor",
        path,
        "document.querySelector('[contenteditable=true]')",
    )
    .await;
    harness
        .does(&tab, "choose_theme", json!({ "option": "flat" }))
        .await;
    sees(
        harness,
        &tab,
        "document.querySelector('#medium-editor-theme').href.endsWith('flat.css')",
        json!(true),
    )
    .await;
}

async fn datepicker(harness: &PageToolsHarness) {
    let path = "node_modules/vanillajs-datepicker/demo/index.html";
    let tab = open(harness, "datepicker", path, "document.forms.length === 3").await;
    harness
        .does(&tab, "fill_text_direction", json!({ "direction": "RTL" }))
        .await;
    let chosen = "document.querySelector('form#direction').direction.value";
    sees(harness, &tab, chosen, json!("rtl")).await;
}

async fn spectre(harness: &PageToolsHarness) {
    let path = "node_modules/spectre.css/docs/elements/forms.html";
    let tab = open(harness, "spectre_forms", path, "true").await;
    let arguments =
        json!({ "name": "Ada", "gender": "Male", "source": ["Skype"], "message": "Hello" });
    harness.does(&tab, "fill_horizontal_forms", arguments).await;
    let form = "document.querySelector('form.form-horizontal')";
    sees(
        harness,
        &tab,
        &format!(
            "[...{form}.querySelectorAll('input[type=text], textarea')].map((field) => field.value)"
        ),
        json!(["Ada", "Hello"]),
    )
    .await;
    let path = "node_modules/spectre.css/docs/components/pagination.html";
    let tab = open(harness, "spectre_pagination", path, "true").await;
    harness
        .does(&tab, "go_to_page", json!({ "page": "4" }))
        .await;
    sees(harness, &tab, "location.hash", json!("#pagination")).await;
}

async fn swagger(harness: &PageToolsHarness) {
    let tab = open(
        harness,
        "swagger",
        "swagger.html",
        "document.querySelectorAll('.opblock').length === 3",
    )
    .await;
    let open = "document.querySelector('.opblock-summary-control').click()";
    harness.page_value(&tab, open).await;
    sees(
        harness,
        &tab,
        "document.querySelectorAll('.opblock.is-open').length",
        json!(1),
    )
    .await;
    // Its content is fetched and drawn after that.
    let drawn = "document.querySelector('.is-open .try-out__btn')?.checkVisibility() \
                 && document.querySelector('.is-open .responses-wrapper h4')?.checkVisibility()";
    harness.until(&tab, drawn).await;
    harness.read(&tab).await;
    keep(harness, "swagger_open", &tab);
}

async fn jstree(harness: &PageToolsHarness) {
    let tab = open(
        harness,
        "jstree",
        "jstree.html",
        "document.querySelectorAll('.jstree-anchor').length === 4",
    )
    .await;
    harness
        .does(&tab, "open_folder", json!({ "index": 2 }))
        .await;
    sees(
        harness,
        &tab,
        "$('#tree').jstree().get_selected(true).map((node) => node.text)",
        json!(["Sent"]),
    )
    .await;
}

async fn mdui(harness: &PageToolsHarness) {
    let drawn = "document.querySelector('mdui-switch')?.shadowRoot?.querySelector('input') && document.querySelector('mdui-text-field[name=bio]').shadowRoot.querySelector('textarea')";
    let tab = open(harness, "mdui", "mdui.html", drawn).await;
    let arguments = json!({ "email": "a@b.c", "aboutYou": "Me", "sendMeNews": true });
    harness.does(&tab, "save_account", arguments).await;
    sees(
        harness,
        &tab,
        "out.textContent",
        json!(r#"[["email","a@b.c"],["bio","Me"],["news","yes"]]"#),
    )
    .await;
}

async fn govuk(harness: &PageToolsHarness) {
    let tab = open(
        harness,
        "govuk",
        "govuk.html",
        "document.body.dataset.ready",
    )
    .await;
    let arguments = json!({
        "nationalInsuranceNumber": "QQ123456C", "password": "hunter2!", "day": "1", "month": "2", "year": "2003",
        "haveYouChangedYourName": "No", "whatIsYourNationality": ["Irish"],
    });
    let answer = harness.does(&tab, "save_and_continue", arguments).await;
    assert!(!answer.contains("hunter2"), "{answer}");
    let sent = harness
        .page_value(&tab, "JSON.parse(document.body.dataset.sent)")
        .await;
    let has = |value: &str| {
        sent.as_object()
            .unwrap()
            .values()
            .any(|known| known == value)
    };
    assert!(
        has("QQ123456C") && has("hunter2!") && has("irish") && has("2003"),
        "{sent}"
    );
    harness
        .does(&tab, "select_tab", json!({ "tab": "Past month" }))
        .await;
    sees(
        harness,
        &tab,
        "document.querySelector('[role=tab][aria-selected=true]').textContent.trim()",
        json!("Past month"),
    )
    .await;
}
