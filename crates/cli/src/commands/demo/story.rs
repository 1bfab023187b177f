//! The story itself: an agent with a task, one tool call after the other.

use super::Args;
use super::paper::{Look, Paper};
use super::site::Site;
use super::snapshot::uid_of;
use super::stage::Stage;
use anyhow::{Context, ensure};
use serde_json::json;
use tabmux_browser::find::{self, Wanted};

/// Plays the whole story. An error says at which step it ended, and what to do.
pub(super) fn play(args: &Args, paper: &mut Paper) -> anyhow::Result<()> {
    find::find(&Wanted {
        executable: args.browser.executable_path.clone(),
        channel: None,
    })?;
    let site = Site::open()?;
    paper.space()?;
    paper.paragraph(Look::Strong, "tabmux demo: an agent books a bed")?;
    paper.space()?;
    paper.paragraph(Look::Plain, PREFACE)?;
    paper.space()?;
    paper.paragraph(Look::Agent, TASK)?;

    let mut stage = Stage::open(args, paper)?;
    let played = perform(&mut stage, args, &site);
    stage.close(played)
}

fn perform(stage: &mut Stage<'_>, args: &Args, site: &Site) -> anyhow::Result<()> {
    stage.step("Hello", "A client starts tabmux mcp and shakes hands.")?;
    stage.shake_hands()?;

    stage.step("Connect", "There is one tool, so the choice is easy.")?;
    stage.call_into("connected", "connect_browser", &json!({"launch": true}))?;

    stage.step(
        "Open a page",
        "The tab gets the focus, and tools to work on it appear. beds_left is the page's own; book_now \
         is made from its form.",
    )?;
    stage.call_into("tab focused", "open_tab", &json!({"url": site.url()}))?;

    stage.step("Ask the page", "Nobody had to read anything for this.")?;
    let beds = stage.call("beds_left", &json!({"night": "Saturday"}))?;
    ensure!(beds.contains("5 beds"), "there should be 5 beds");

    stage.step(
        "Read it",
        "Whatever a person could read or use, with a uid to name it by.",
    )?;
    let page = stage.call("take_snapshot", &json!({}))?;

    stage.step(
        "Fill in the form",
        "Five fields in one call, and each must hold what it was given.",
    )?;
    let mut fields = Vec::new();
    for (role, name, value) in FIELDS {
        fields.push(json!({"uid": uid(&page, role, name)?, "value": value}));
    }
    stage.call("fill_form", &json!({"elements": fields}))?;

    stage.step(
        "Book",
        "A click waits for the button, and tells what it caused. The next page has no such tools.",
    )?;
    let button = json!({"uid": uid(&page, "button", "Book now")?});
    stage.call_into("booked", "click", &button)?;

    stage.step("Make sure", "Did the hut understand?")?;
    let seen = stage.call("find", &json!({"text": "See you on"}))?;
    ensure!(
        seen.contains(EXPECTED),
        "the ticket should say \"{EXPECTED}\""
    );

    stage.step(
        "A mistake",
        "The same button again. Its page is gone, so nothing is clicked.",
    )?;
    stage.call_in_vain("click", &button)?;

    stage.step(
        "Take a picture",
        "As the tab looks now, scaled to what a model can use.",
    )?;
    stage.take_picture(&args.out)?;

    stage.step("Close", "The tab goes, and its tools go with it.")?;
    stage.call_into("tab closed", "close_tab", &json!({}))
}

fn uid<'a>(page: &'a str, role: &str, name: &str) -> anyhow::Result<&'a str> {
    uid_of(page, role, name).with_context(|| format!("the snapshot shows no {role} \"{name}\""))
}

const PREFACE: &str = "All of this is happening now: a tabmux mcp process, JSON-RPC over its standard input and \
                       output, a headless browser, and the web site of a mountain hut on 127.0.0.1.";
const TASK: &str = "The task: \"Book two beds at the Lantern Hut for Ada Lovelace, Saturday night, with breakfast. \
                    She brings her own lantern. Send a picture of the ticket.\"";
const FIELDS: [(&str, &str, &str); 5] = [
    ("textbox", "Your name", "Ada Lovelace"),
    ("combobox", "Night", "Saturday"),
    ("spinbutton", "Beds", "2"),
    (
        "textbox",
        "A note for the warden",
        "We bring our own lantern",
    ),
    ("checkbox", "Breakfast at six", "true"),
];
const EXPECTED: &str = "See you on Saturday, Ada Lovelace";
