//! Snapshots show everything that can be used, under names that a reader understands.

use crate::harness::BrowserHarness;
use crate::snapshot::without_numbers;
use serde_json::json;
use tabmux_browser::Tab;
use tabmux_testkit::Response;

async fn serve(harness: &BrowserHarness, page: &str) -> Tab {
    let page = format!("<!doctype html><title>T</title>{page}");
    harness.server.route("/usable", Response::html(page));
    harness.open("usable").await
}

/// The lines of a snapshot without uids and heading.
async fn shown(harness: &BrowserHarness, page: &str) -> String {
    let tab = serve(harness, page).await;
    lines(harness, &tab).await
}

async fn lines(harness: &BrowserHarness, tab: &Tab) -> String {
    let snapshot = harness.text(tab, "take_snapshot", json!({})).await;
    let lines = without_numbers(&snapshot).replace("uid=… ", "");
    lines.split_once('\n').map_or("", |(_, lines)| lines).into()
}

#[tokio::test]
async fn words_that_begin_to_listen_are_seen_at_once() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    // All listeners come from one line, as those of frameworks do.
    let page = "<style>#menu { cursor: pointer }</style><div id=list></div><div id=menu style='display: none'><em>Mon</em> <em>Tue</em></div>\
                <script>const listen = (one) => one.addEventListener('click', () => {});\
                for (let i = 0; i < 200; i++) { const button = document.createElement('button'); button.textContent = i; list.append(button); listen(button) }\
                listen(menu); </script>";
    let tab = serve(&harness, page).await;
    lines(&harness, &tab).await;
    harness
        .page_value(
            &tab,
            "menu.style.display = '', document.querySelectorAll('em').forEach(listen)",
        )
        .await;
    let shown = lines(&harness, &tab).await;
    for word in ["Mon", "Tue"] {
        assert!(
            shown.contains(&format!("  clickable \"{word}\"")),
            "{shown}"
        );
    }
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn controls_in_a_clickable_row_have_their_own_lines() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<table><tr onclick=''><td>Anna</td><td><a href='/t'>Edit</a></td><td><button>Delete</button></td></tr></table>\
                <div onclick='' style='cursor: pointer'>Bert <a href='/b'>Open</a> <span role=button tabindex=0>Star</span></div>";
    let shown = shown(&harness, page).await;
    let expected = "table\n  row \"Anna\" clickable\n    link \"Edit\" url=\"/t\"\n    button \"Delete\"\n\
                    clickable \"Bert\"\n  link \"Open\" url=\"/b\"\n  button \"Star\"";
    assert_eq!(shown, expected);
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_hint_is_the_elements_own() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<button id=own><img src=cart.svg alt=''></button><button><span class=x1></span></button><input class=field>";
    let shown = shown(&harness, page).await;
    assert_eq!(
        shown,
        "button <button#own> picture=\"cart.svg\"\nbutton\ntextbox <input.field>"
    );
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_field_of_several_lines_says_so() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<textarea aria-label=Note></textarea><input aria-label=Name>\
                <div role=textbox tabindex=0 aria-multiline=true aria-label=Body></div>";
    let shown = shown(&harness, page).await;
    assert_eq!(
        shown,
        "textbox \"Note\" multiline\ntextbox \"Name\"\ntextbox \"Body\" multiline"
    );
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn text_beside_or_above_a_field_names_it() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<p><span>Amount:</span> <input></p>\
                <table role=presentation><tr><td>City</td><td><input></td><td><input placeholder='Zip code'></td></tr></table>\
                <div style='display: flex'><div style='width: 150px'>Street *</div><div><select><option>A</select></div></div>\
                <div>Notes</div><textarea></textarea>\
                <p>This is a sentence. <input id=none></p><h2>Heading</h2><input id=below>\
                <div style='display: flex; flex-direction: row-reverse'><span>Behind</span><input id=before></div>\
                <div style='height: 90px'>Far above</div><input id=far>";
    let shown = shown(&harness, page).await;
    for line in [
        "textbox \"Amount\"",
        "textbox \"City\"",
        "textbox \"Zip code\"",
        "combobox \"Street\"",
        "textbox \"Notes\" multiline",
        "textbox <input#none>",
        "textbox <input#below>",
        "textbox <input#before>",
        "textbox <input#far>",
    ] {
        assert!(shown.contains(line), "{line}\n{shown}");
    }
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn buttons_are_named_by_their_icons() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<button title=Title data-tooltip=no data-testid=no><svg><title>no</title></svg></button>\
                <button data-tooltip=no><img src=a.png alt=Picture></button>\
                <button data-tooltip=Tooltip data-testid=no><svg><title>no</title></svg></button>\
                <button data-testid=save-row><svg><title>no</title></svg></button>\
                <button><svg><title>Drawing</title><use href='#no'></use></svg></button>\
                <button class=no><svg><use href='icons.svg#icon-trash'></use></svg></button>\
                <button class='btn px-4 no'><i class='fa fa-pencil-alt'></i></button>\
                <button class='btn btn-icon rounded-full close-dialog'><svg></svg></button>\
                <button><svg class='css-1x2y3z w-5 h-5'></svg></button>";
    let shown = shown(&harness, page).await;
    let expected = "Title Picture Tooltip save-row Drawing trash pencil-alt close-dialog";
    let mut expected: Vec<_> = expected
        .split(' ')
        .map(|name| format!("button {:?}", name.replace('-', " ")))
        .collect();
    expected.push("button".into());
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected);
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_cell_that_only_holds_a_button_is_that_button() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<style>td { cursor: pointer; background: #f6f6f6; width: 30px }</style>\
                <table><tr><td class=week-end><a href='#'>1</a></td><td><button>2</button></td><td><a href='/three'>3</a></td>\
                <td class=delete></td><td><input type=checkbox></td><td>6</td><td><ul><li><b>7</b></li></ul></td></tr></table>";
    let shown = shown(&harness, page).await;
    let expected = "table\n  row\n    link \"1\" url=\"#\"\n    button \"2\"\n    cell clickable\n      link \"3\" url=\"/three\"\n    \
                    cell \"delete\" color=#f6f6f6 clickable\n    cell clickable\n      checkbox\n    cell \"6\" clickable";
    assert!(shown.starts_with(expected), "{shown}");
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn a_swatch_says_its_colour() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<style>.s { display: inline-block; width: 20px; height: 20px; padding: 0; border: 0 }</style>\
                <span class=s style='background: red' onclick=''></span><button class=s style='background: #008000'></button>\
                <button class=s style='background: none'><i class=s style='background: rgb(0 0 255)'></i></button>\
                <button class=s style='background: yellow' aria-label=Sun></button><button class=s><svg><path d='M0 0h9'/></svg></button>";
    let shown = shown(&harness, page).await;
    let colours: Vec<_> = shown
        .lines()
        .map(|line| line.split_once("color=").map_or("", |(_, colour)| colour))
        .collect();
    assert_eq!(
        colours,
        ["#ff0000", "#008000", "#0000ff", "", ""],
        "{shown}"
    );
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn equal_matches_say_where_they_are() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<table><tr><td>Anna</td><td><button>Delete</button></td></tr><tr><td>Bert</td><td><button>Delete</button></td></tr></table>\
                <h2>Invoices</h2><button>Delete</button><button>Save</button>";
    let tab = serve(&harness, page).await;
    let found = harness.text(&tab, "find", json!({"role": "button"})).await;
    let found = without_numbers(&found).replace("uid=… ", "");
    assert_eq!(
        found,
        "4 matches for role button:\nbutton \"Delete\" in row \"Anna\"\nbutton \"Delete\" in row \"Bert\"\n\
         button \"Delete\" under \"Invoices\"\nbutton \"Save\""
    );
    harness.browser.shut_down().await;
}

#[tokio::test]
async fn icons_do_not_hide_the_text_beside_them() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let page = "<button>📋 Quotes</button><a href='/d'><i class=material-icons>description</i><span>Docs</span></a>\
                <div onclick=''><div>📁</div><div>Files</div></div><button>👍 5</button><button>⏰</button><button>Save \u{e8ac}</button>\
                <button><span class=material-icons>delete</span></button><label>📧 Mail <input></label>";
    let tab = serve(&harness, page).await;
    let shown = lines(&harness, &tab).await;
    let expected = "button \"Quotes\"\nlink \"Docs\" url=\"/d\"\nclickable \"Files\"\nbutton \"👍 5\"\nbutton \"⏰\"\n\
                    button \"Save\"\nbutton \"delete\"\ntextbox \"Mail\"";
    assert_eq!(shown, expected);
    // What is read off the page or a picture of it is still found.
    let found = harness
        .text(&tab, "find", json!({"text": "📋 Quotes"}))
        .await;
    assert!(found.starts_with("1 match"), "{found}");
    harness.browser.shut_down().await;
}
