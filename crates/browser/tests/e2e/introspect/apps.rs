//! Applications and component libraries that nobody here wrote: what tools they get, and that these work.

use super::stand::Stand;
use serde_json::{Value, json};
use tabmux_browser::Tab;
use tabmux_testkit::Response;

const MODULES: &str = "demo-apps/node_modules";

/// Opens an application once it is drawn, and keeps its tools as they are now.
async fn open(stand: &Stand, name: &str, path: &str, drawn: &str) -> Tab {
    let tab = stand.open(&format!("demo-apps/{path}")).await;
    stand.until(&tab, drawn).await;
    stand.read(&tab).await;
    keep(stand, name, &tab);
    tab
}

fn keep(stand: &Stand, name: &str, tab: &Tab) {
    insta::with_settings!({ prepend_module_to_snapshot => false, snapshot_path => "apps" }, {
        insta::assert_snapshot!(name, stand.sheet(tab));
    });
}

async fn sees(stand: &Stand, tab: &Tab, expression: &str, expected: Value) {
    assert_eq!(
        stand.page_value(tab, expression).await,
        expected,
        "{expression}"
    );
}

#[tokio::test]
async fn eleven_applications_get_tools_that_work() {
    let Some(stand) = Stand::start().await else {
        return;
    };
    let modules = tabmux_testkit::workspace_root()
        .join("fixtures")
        .join(MODULES);
    assert!(
        modules.is_dir(),
        "the applications are missing: run `make demo-apps`"
    );
    todomvc(&stand).await;
    jquery_ui(&stand).await;
    awesomplete(&stand).await;
    tab_panel(&stand).await;
    medium_editor(&stand).await;
    datepicker(&stand).await;
    spectre(&stand).await;
    swagger(&stand).await;
    jstree(&stand).await;
    mdui(&stand).await;
    govuk(&stand).await;
}

async fn todomvc(stand: &Stand) {
    // The build names its files from the root of its own server.
    for (path, kind) in [
        ("/todomvc.js", "text/javascript"),
        ("/todomvc.css", "text/css"),
    ] {
        let file = format!("fixtures/{MODULES}/todomvc-react/dist{path}");
        let body = std::fs::read(tabmux_testkit::workspace_root().join(file)).unwrap();
        stand.server.route(path, Response::new(200, kind, body));
    }
    let path = "node_modules/todomvc-react/dist/index.html";
    let tab = open(
        stand,
        "todomvc_empty",
        path,
        "document.querySelector('.new-todo')",
    )
    .await;
    for text in ["Buy milk", "Walk the dog", "Sleep"] {
        stand
            .does(&tab, "enter_what_needs_to_be_done", json!({ "text": text }))
            .await;
    }
    stand.read(&tab).await;
    keep(stand, "todomvc", &tab);
    let todos =
        "[...document.querySelectorAll('.todo-list label')].map((label) => label.textContent)";
    sees(
        stand,
        &tab,
        todos,
        json!(["Sleep", "Walk the dog", "Buy milk"]),
    )
    .await;
    stand
        .does(
            &tab,
            "set_toggle_of_todo",
            json!({ "index": 0, "on": true }),
        )
        .await;
    sees(
        stand,
        &tab,
        "document.querySelectorAll('.completed').length",
        json!(1),
    )
    .await;
    stand
        .does(&tab, "choose_filter", json!({ "option": "Completed" }))
        .await;
    sees(stand, &tab, todos, json!(["Sleep"])).await;
}

async fn jquery_ui(stand: &Stand) {
    let path = "node_modules/jquery-ui-dist/index.html";
    let tab = open(
        stand,
        "jquery_ui",
        path,
        "document.querySelector('.ui-tabs-active')",
    )
    .await;
    stand
        .does(&tab, "select_tab", json!({ "tab": "Second" }))
        .await;
    sees(
        stand,
        &tab,
        "document.querySelector('.ui-accordion-header-active').textContent.trim()",
        json!("Second"),
    )
    .await;
}

async fn awesomplete(stand: &Stand) {
    let path = "node_modules/awesomplete/index.html";
    let tab = open(
        stand,
        "awesomplete",
        path,
        "document.querySelector('nav a')",
    )
    .await;
    stand
        .does(
            &tab,
            "enter_pick_a_programming_language_type",
            json!({ "text": "Ada" }),
        )
        .await;
    sees(
        stand,
        &tab,
        "document.querySelector('input.awesomplete').value",
        json!("Ada"),
    )
    .await;
}

async fn tab_panel(stand: &Stand) {
    let path = "node_modules/van11y-accessible-tab-panel-aria/demo/index.html";
    let tab = open(
        stand,
        "tab_panel",
        path,
        "document.querySelector('[role=tab]')",
    )
    .await;
    stand
        .does(&tab, "select_tab", json!({ "tab": "3rd tab" }))
        .await;
    sees(
        stand,
        &tab,
        "document.querySelector('[aria-selected=true]').textContent.trim()",
        json!("3rd tab"),
    )
    .await;
}

async fn medium_editor(stand: &Stand) {
    let path = "node_modules/medium-editor/demo/index.html";
    let tab = open(
        stand,
        "medium_editor",
        path,
        "document.querySelector('[contenteditable=true]')",
    )
    .await;
    stand
        .does(&tab, "choose_theme", json!({ "option": "flat" }))
        .await;
    sees(
        stand,
        &tab,
        "document.querySelector('#medium-editor-theme').href.endsWith('flat.css')",
        json!(true),
    )
    .await;
}

async fn datepicker(stand: &Stand) {
    let path = "node_modules/vanillajs-datepicker/demo/index.html";
    let tab = open(stand, "datepicker", path, "document.forms.length === 3").await;
    stand
        .does(&tab, "fill_text_direction", json!({ "direction": "RTL" }))
        .await;
    let chosen = "document.querySelector('form#direction').direction.value";
    sees(stand, &tab, chosen, json!("rtl")).await;
}

async fn spectre(stand: &Stand) {
    let path = "node_modules/spectre.css/docs/elements/forms.html";
    let tab = open(stand, "spectre_forms", path, "true").await;
    let arguments =
        json!({ "name": "Ada", "gender": "Male", "source": ["Skype"], "message": "Hello" });
    stand.does(&tab, "fill_horizontal_forms", arguments).await;
    let form = "document.querySelector('form.form-horizontal')";
    sees(
        stand,
        &tab,
        &format!(
            "[...{form}.querySelectorAll('input[type=text], textarea')].map((field) => field.value)"
        ),
        json!(["Ada", "Hello"]),
    )
    .await;
    let path = "node_modules/spectre.css/docs/components/pagination.html";
    let tab = open(stand, "spectre_pagination", path, "true").await;
    stand.does(&tab, "go_to_page", json!({ "page": "4" })).await;
    sees(stand, &tab, "location.hash", json!("#pagination")).await;
}

async fn swagger(stand: &Stand) {
    let tab = open(
        stand,
        "swagger",
        "swagger.html",
        "document.querySelectorAll('.opblock').length === 3",
    )
    .await;
    stand
        .does(&tab, "toggle_get_pets_list_pets", json!({}))
        .await;
    sees(
        stand,
        &tab,
        "document.querySelectorAll('.opblock.is-open').length",
        json!(1),
    )
    .await;
    // What belongs to it is fetched and drawn after that.
    let drawn = "document.querySelector('.is-open .try-out__btn')?.checkVisibility() \
                 && document.querySelector('.is-open .responses-wrapper h4')?.checkVisibility()";
    stand.until(&tab, drawn).await;
    stand.read(&tab).await;
    keep(stand, "swagger_open", &tab);
}

async fn jstree(stand: &Stand) {
    let tab = open(
        stand,
        "jstree",
        "jstree.html",
        "document.querySelectorAll('.jstree-anchor').length === 4",
    )
    .await;
    stand.does(&tab, "open_folder", json!({ "index": 2 })).await;
    sees(
        stand,
        &tab,
        "$('#tree').jstree().get_selected(true).map((node) => node.text)",
        json!(["Sent"]),
    )
    .await;
}

async fn mdui(stand: &Stand) {
    let drawn = "document.querySelector('mdui-switch')?.shadowRoot?.querySelector('input') && document.querySelector('mdui-text-field[name=bio]').shadowRoot.querySelector('textarea')";
    let tab = open(stand, "mdui", "mdui.html", drawn).await;
    let arguments = json!({ "email": "a@b.c", "aboutYou": "Me", "sendMeNews": true });
    stand.does(&tab, "save_account", arguments).await;
    sees(
        stand,
        &tab,
        "out.textContent",
        json!(r#"[["email","a@b.c"],["bio","Me"],["news","yes"]]"#),
    )
    .await;
}

async fn govuk(stand: &Stand) {
    let tab = open(stand, "govuk", "govuk.html", "document.body.dataset.ready").await;
    let arguments = json!({
        "nationalInsuranceNumber": "QQ123456C", "password": "hunter2!", "day": "1", "month": "2", "year": "2003",
        "haveYouChangedYourName": "No", "whatIsYourNationality": ["Irish"],
    });
    let answer = stand.does(&tab, "save_and_continue", arguments).await;
    assert!(!answer.contains("hunter2"), "{answer}");
    let sent = stand
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
    stand
        .does(&tab, "select_tab", json!({ "tab": "Past month" }))
        .await;
    sees(
        stand,
        &tab,
        "document.querySelector('[role=tab][aria-selected=true]').textContent.trim()",
        json!("Past month"),
    )
    .await;
}
