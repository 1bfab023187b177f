//! The steps of the demo: an agent with a task, one tool call after the other.

use super::Args;
use super::printer::{Look, Printer};
use super::runner::Runner;
use super::site::Site;
use super::snapshot::uid_of;
use anyhow::{Context, ensure};
use serde_json::json;
use tabmux_browser::find::{self, Wanted};

/// Runs the whole demo. An error says at which step it stopped, and what to do.
pub(super) fn play(args: &Args, printer: &mut Printer) -> anyhow::Result<()> {
    find::find(&Wanted {
        executable: args.browser.executable_path.clone(),
        channel: None,
    })?;
    let site = Site::open()?;
    printer.space()?;
    printer.paragraph(Look::Strong, "tabmux demo: an agent books a bed")?;
    printer.space()?;
    printer.paragraph(Look::Plain, PREFACE)?;
    printer.space()?;
    printer.paragraph(Look::Agent, TASK)?;

    let mut runner = Runner::open(args, printer)?;
    let result = perform(&mut runner, args, &site);
    runner.close(result)
}

fn perform(runner: &mut Runner<'_>, args: &Args, site: &Site) -> anyhow::Result<()> {
    runner.step(
        "Hello",
        "A client starts tabmux mcp and does the MCP handshake.",
    )?;
    runner.handshake()?;

    runner.step("Connect", "There is one tool, so the choice is easy.")?;
    runner.call_into("connected", "connect_browser", &json!({"launch": true}))?;

    runner.step(
        "Open a page",
        "The tab gets the focus, and tools for it appear. The page offers beds_left; tabmux generates \
         book_now from its form.",
    )?;
    runner.call_into("tab focused", "open_tab", &json!({"url": site.url()}))?;

    runner.step(
        "Ask the page",
        "The agent gets the answer without reading the page.",
    )?;
    let beds = runner.call("beds_left", &json!({"night": "Saturday"}))?;
    ensure!(beds.contains("5 beds"), "there should be 5 beds");

    runner.step(
        "Read it",
        "Everything that a person could read or use, each element with a uid.",
    )?;
    let page = runner.call("take_snapshot", &json!({}))?;

    runner.step(
        "Fill in the form",
        "Five fields in one call; tabmux checks the value of each.",
    )?;
    let mut fields = Vec::new();
    for (role, name, value) in FIELDS {
        fields.push(json!({"uid": uid(&page, role, name)?, "value": value}));
    }
    runner.call("fill_form", &json!({"elements": fields}))?;

    runner.step(
        "Book",
        "A click waits for the button, and reports what it caused. The next page does not have these tools.",
    )?;
    let button = json!({"uid": uid(&page, "button", "Book now")?});
    runner.call_into("booked", "click", &button)?;

    runner.step("Make sure", "Does the ticket show the booking?")?;
    let seen = runner.call("find", &json!({"text": "See you on"}))?;
    ensure!(
        seen.contains(EXPECTED),
        "the ticket should say \"{EXPECTED}\""
    );

    runner.step(
        "A mistake",
        "The same button again. Its page is gone, so nothing is clicked.",
    )?;
    runner.call_that_fails("click", &button)?;

    runner.step(
        "Take a picture",
        "A screenshot of the tab, scaled to a size that a model can use.",
    )?;
    runner.take_picture(&args.out)?;

    runner.step("Close", "The tab closes, and its tools are removed.")?;
    runner.call_into("tab closed", "close_tab", &json!({}))
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
