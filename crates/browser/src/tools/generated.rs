//! Generated tools: each does what a user would do, with the same trusted input as other tools, and reports it. Secrets
//! are not repeated.

mod slider;

use super::act::{self, Before, Chord, Drawing, Element};
use super::fill::{Echo, fill};
use super::input::press;
use super::{Block, ToolOutput, ToolResult};
use crate::error::ToolError;
use crate::introspect::{self, AfterFill, Argument, Fills, Item, SUBMIT, ToolAction};
use crate::run::Page;
use crate::secrets;
use crate::tab::Clicks;
use crate::world::World;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tabmux_text::{one_line, shorten};

/// Calls the tool with this name. If the page has changed since it was read, it is read again first.
pub(crate) async fn call(page: &Page, name: &str, arguments: &Map<String, Value>) -> ToolResult {
    let _drawing = Drawing::of(&page.tab);
    let (world, action) = find(page, name).await?;
    let job = Call {
        page,
        world: &world,
        arguments,
    };
    match &*action {
        ToolAction::List { items } => return Ok(ToolOutput::text(listed(items))),
        ToolAction::Fill { arguments, then } => job.fill_form(arguments, then).await,
        ToolAction::Press { label, n } => job.press(label, *n).await,
        ToolAction::Switch { label, n } => job.switch(label, *n).await,
        ToolAction::Choose { argument, choices } => job.choose(argument, choices).await,
        ToolAction::Item { items, switch } => job.act_on_item(items, *switch).await,
    }
    .map(|output| with_address(page, output))
}

/// The tool's action, with all its elements present.
async fn find(page: &Page, name: &str) -> Result<(World, Arc<ToolAction>), ToolError> {
    let tab = &page.tab;
    let introspection = tab.introspection();
    for fresh in [false, true] {
        if fresh {
            introspect::read_again(tab).await?;
        }
        let Some(tool) = introspection.tool(name) else {
            continue;
        };
        if tool.action.wants_fresh_reading() && !fresh {
            continue;
        }
        let frame = tab.state().frames.showing(tool.document).cloned();
        let Some(frame) = frame else {
            continue;
        };
        let world = tab.world_of(&frame).await?;
        let ask = json!({ "elements": tool.action.elements() });
        if world.call("tabmux.stillHere", ask).await? {
            return Ok((world, Arc::new(tool.action.clone())));
        }
    }
    Err(ToolError::PageTool(format!(
        "The elements of {name} are no longer on the page. Call list_page_tools to see what is there now."
    )))
}

/// One call in progress.
struct Call<'a> {
    page: &'a Page,
    world: &'a World,
    arguments: &'a Map<String, Value>,
}

impl Call<'_> {
    async fn press(&self, label: &str, n: u32) -> ToolResult {
        let before = Before::look(&self.page.tab);
        let done = format!("Pressed \"{}\".", one_line(label, 80));
        press(
            self.page,
            &self.element(n, label),
            Clicks::left(1),
            &before,
            &done,
        )
        .await
    }

    async fn switch(&self, label: &str, n: u32) -> ToolResult {
        let wanted = self.arguments.get("on").and_then(Value::as_bool);
        let wanted = wanted.ok_or_else(|| missing("on", "true or false"))?;
        let state = |on: bool| if on { "on" } else { "off" };
        let label = one_line(label, 80);
        if self.is_on(n).await? == wanted {
            return Ok(ToolOutput::text(format!(
                "\"{label}\" was {} already.",
                state(wanted)
            )));
        }
        let before = Before::look(&self.page.tab);
        let done = format!("Switched \"{label}\" {}.", state(wanted));
        let output = press(
            self.page,
            &self.element(n, &label),
            Clicks::left(1),
            &before,
            &done,
        )
        .await?;
        match self.is_on(n).await {
            Ok(now) if now != wanted => Err(ToolError::NotActionable {
                why: format!(
                    "\"{label}\" was pressed, and is still {}. Call take_snapshot to see what happened.",
                    state(now)
                ),
            }),
            _ => Ok(output),
        }
    }

    async fn is_on(&self, n: u32) -> Result<bool, ToolError> {
        #[derive(Deserialize)]
        struct State {
            on: Option<bool>,
        }
        let state: State = self.world.call("tabmux.isOn", json!({ "n": n })).await?;
        Ok(state.on.unwrap_or_default())
    }

    async fn choose(&self, argument: &str, choices: &[(String, u32)]) -> ToolResult {
        let wanted = self.arguments.get(argument).and_then(Value::as_str);
        let wanted = wanted.ok_or_else(|| missing(argument, "the text of one of them"))?;
        let (label, n) = pick(choices, wanted)
            .ok_or_else(|| ToolError::Arguments(no_such_choice(wanted, choices)))?;
        self.press(label, *n).await
    }

    async fn act_on_item(&self, items: &[Item], switch: bool) -> ToolResult {
        let index = self.arguments.get("index").and_then(Value::as_f64);
        let index = index.ok_or_else(|| missing("index", "a number from 0 on"))?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "what is no index finds no item"
        )]
        let item = (index >= 0.0 && index.fract() == 0.0).then(|| items.get(index as usize));
        let Some(item) = item.flatten() else {
            return Err(ToolError::Arguments(format!(
                "There is no item {index}: there are {} items now, and 0 is the first.",
                items.len()
            )));
        };
        if item.n == 0 {
            return Err(ToolError::NotActionable {
                why: format!("Item {index} has no such control. Choose another one."),
            });
        }
        let label = match item.text.is_empty() {
            true => format!("item {index}"),
            false => shorten(&item.text, 80),
        };
        match switch {
            true => self.switch(&label, item.n).await,
            false => self.press(&label, item.n).await,
        }
    }

    async fn fill_form(&self, fields: &[Argument], then: &AfterFill) -> ToolResult {
        let is_field = |name: &str| fields.iter().any(|field| field.name == name);
        let stays = !is_field(SUBMIT)
            && *then != AfterFill::Nothing
            && self.arguments.get(SUBMIT) == Some(&json!(false));
        for name in self.arguments.keys() {
            if !is_field(name) && (name != SUBMIT || *then == AfterFill::Nothing) {
                let name = one_line(name, 60);
                return Err(ToolError::Arguments(format!(
                    "There is no argument `{name}`. Call list_page_tools to see its arguments."
                )));
            }
        }
        for value in self.arguments.values() {
            // A secret that may not be used here changes nothing.
            secrets::named_by(&text_of(value), &self.world.origin)?;
        }
        let before = Before::look(&self.page.tab);
        let mut done = Vec::new();
        for field in fields {
            let Some(value) = self.arguments.get(&field.name) else {
                continue;
            };
            let told = self
                .fill(field, value)
                .await
                .map_err(|error| after(error, &done))?;
            done.push(told);
        }
        let words = match done.is_empty() {
            true => String::new(),
            false => format!("Filled {}.", done.join(", ")),
        };
        let tab = &self.page.tab;
        match then {
            _ if stays => {
                let words = format!("{words} It was not submitted.");
                act::settle(tab, &before, None, words.trim_start()).await
            }
            AfterFill::Nothing => {
                let words = if words.is_empty() {
                    "No values were given, so nothing was filled.".into()
                } else {
                    words
                };
                act::settle(tab, &before, None, &words).await
            }
            AfterFill::Press { label, n } => {
                self.check_form(*n, &words).await?;
                let done = format!("{words} Pressed \"{}\".", one_line(label, 80));
                press(
                    self.page,
                    &self.element(*n, label),
                    Clicks::left(1),
                    &before,
                    done.trim_start(),
                )
                .await
            }
            AfterFill::Enter { n } => {
                self.check_form(*n, &words).await?;
                let focused: bool = self
                    .world
                    .call("tabmux.focusField", json!({ "n": n }))
                    .await?;
                if !focused {
                    return Err(ToolError::NotActionable {
                        why: format!(
                            "{words} The field cannot be focused, so Enter was not pressed. Use press_key."
                        ),
                    });
                }
                self.page.acting();
                let enter = Chord::parse("Enter").map_err(ToolError::Arguments)?;
                enter.press(tab).await?;
                let done = format!("{words} Pressed Enter.");
                act::settle(tab, &before, None, done.trim_start()).await
            }
        }
    }

    /// Fills one field, and describes what was filled.
    async fn fill(&self, field: &Argument, value: &Value) -> Result<String, ToolError> {
        let label = match field.label.is_empty() {
            true => &field.name,
            false => &field.label,
        };
        let echo = if field.secret {
            Echo::Never
        } else {
            Echo::Allowed
        };
        let text = text_of(value);
        let mut note = String::new();
        match &field.fills {
            Fills::Field(n) => {
                note = fill(self.page, &self.element(*n, label), &text, echo).await?;
            }
            Fills::Picker(n) => self.pick_option(*n, label, &text).await?,
            Fills::Slider(n) => self.slide(*n, label, value).await?,
            Fills::Radios(radios) => {
                let (name, n) = pick(radios, &text)
                    .ok_or_else(|| ToolError::Arguments(no_such_choice(&text, radios)))?;
                fill(self.page, &self.element(*n, name), "true", echo).await?;
            }
            Fills::Boxes(boxes) => {
                let wanted: Vec<String> = match value {
                    Value::Array(wanted) => wanted.iter().map(text_of).collect(),
                    _ => vec![text.clone()],
                };
                for one in &wanted {
                    pick(boxes, one)
                        .ok_or_else(|| ToolError::Arguments(no_such_choice(one, boxes)))?;
                }
                for (name, n) in boxes {
                    let on = wanted.iter().any(|one| one == name).to_string();
                    fill(self.page, &self.element(*n, name), &on, echo).await?;
                }
            }
        }
        let label = one_line(label, 60);
        Ok(match field.secret {
            true => format!("\"{label}\" (not repeated)"),
            false => format!(
                "\"{label}\" with \"{}\"{}",
                one_line(&text, 80),
                note.trim_end_matches('.')
            ),
        })
    }

    /// Opens a custom list of the page, and presses the option.
    async fn pick_option(&self, n: u32, label: &str, wanted: &str) -> Result<(), ToolError> {
        #[derive(Deserialize)]
        struct Offered {
            options: Vec<Offer>,
        }
        #[derive(Deserialize)]
        struct Offer {
            n: u32,
            text: String,
        }
        let tab = &self.page.tab;
        let ask = json!({ "n": n });
        let mut offered: Offered = self.world.call("tabmux.offeredOptions", &ask).await?;
        if offered.options.is_empty() {
            let before = Before::look(tab);
            let list = self.element(n, label);
            let press = act::click(self.page, &list, Clicks::left(1)).await?;
            let press = press.ok_or_else(|| ToolError::NotActionable {
                why: format!(
                    "The list \"{}\" cannot be opened. Use click and take_snapshot.",
                    one_line(label, 60)
                ),
            })?;
            act::settle(tab, &before, Some(&press), "").await?;
            // Some lists are drawn in another part of the page; only their appearance now shows that they belong to
            // this one.
            let ask = json!({ "n": n, "anywhere": true });
            offered = self.world.call("tabmux.offeredOptions", &ask).await?;
        }
        if offered.options.is_empty() {
            return Err(ToolError::NotActionable {
                why: format!(
                    "The list \"{}\" was pressed, but shows no options. Call take_snapshot to see what happened.",
                    one_line(label, 60)
                ),
            });
        }
        let choices: Vec<(String, u32)> = offered
            .options
            .into_iter()
            .map(|option| (one_line(&option.text, 100), option.n))
            .collect();
        let (name, option) = pick(&choices, wanted)
            .ok_or_else(|| ToolError::Arguments(no_such_choice(wanted, &choices)))?;
        let before = Before::look(tab);
        press(
            self.page,
            &self.element(*option, name),
            Clicks::left(1),
            &before,
            "",
        )
        .await?;
        Ok(())
    }

    /// Fails if the form's own validation would block it from being submitted.
    async fn check_form(&self, n: u32, filled: &str) -> Result<(), ToolError> {
        #[derive(Deserialize)]
        struct Complaints {
            told: Vec<Complaint>,
        }
        #[derive(Deserialize)]
        struct Complaint {
            name: String,
            message: String,
        }
        let complaints: Complaints = self
            .world
            .call("tabmux.complaints", json!({ "n": n }))
            .await?;
        if complaints.told.is_empty() {
            return Ok(());
        }
        let told = complaints.told.iter().map(|complaint| {
            let (name, message) = (
                one_line(&complaint.name, 60),
                one_line(&complaint.message, 200),
            );
            format!("\"{name}\": \"{message}\"")
        });
        let told = told.collect::<Vec<_>>().join(", ");
        let why = format!(
            "{filled} It was not submitted, because the page's form rejects it: {told}. Call the tool again with valid values."
        );
        Err(ToolError::NotActionable {
            why: why.trim_start().to_owned(),
        })
    }

    fn element(&self, n: u32, label: &str) -> Element {
        Element::called(&self.page.tab, self.world, n, label)
    }
}

/// Adds the page's address, if nothing else in the output names it.
fn with_address(page: &Page, mut output: ToolOutput) -> ToolOutput {
    let url = {
        let state = page.tab.state();
        state
            .frames
            .main()
            .map(|main| shorten(&main.url, 300))
            .unwrap_or_default()
    };
    if let Some(Block::Text(text)) = output.blocks.first_mut()
        && !text.contains('\n')
    {
        text.push_str(&format!("\nThe page is still at {url}"));
    }
    output
}

fn listed(items: &[String]) -> String {
    if items.is_empty() {
        return "There are none.".into();
    }
    let mut lines: Vec<String> = Vec::new();
    let mut budget = MAX_BYTES;
    for (index, item) in items.iter().enumerate() {
        let line = format!("{index}: {item}");
        if line.len() + 1 > budget {
            break;
        }
        budget -= line.len() + 1;
        lines.push(line);
    }
    if lines.len() < items.len() {
        let left = items.len() - lines.len();
        lines.push(format!(
            "[Not shown: {left} more. Use find or take_snapshot to see them.]"
        ));
    }
    lines.join("\n")
}

fn pick<'a>(choices: &'a [(String, u32)], wanted: &str) -> Option<&'a (String, u32)> {
    let wanted = one_line(wanted, 100);
    let exact = choices.iter().find(|(text, _)| *text == wanted);
    exact.or_else(|| {
        choices
            .iter()
            .find(|(text, _)| text.to_lowercase() == wanted.to_lowercase())
    })
}

fn no_such_choice(wanted: &str, choices: &[(String, u32)]) -> String {
    let offered = choices
        .iter()
        .take(20)
        .map(|(text, _)| format!("\"{text}\""));
    let offered = offered.collect::<Vec<_>>().join(", ");
    let more = match choices.len() {
        0..=20 => String::new(),
        many => format!(" and {} more", many - 20),
    };
    format!(
        "There is no \"{}\". The choices are {offered}{more}.",
        one_line(wanted, 60)
    )
}

fn missing(name: &str, what: &str) -> ToolError {
    ToolError::Arguments(format!("`{name}` is missing. Give {what}."))
}

/// A value as a user would type it.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(text_of).collect::<Vec<_>>().join(", "),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Adds what was filled before the error.
fn after(error: ToolError, done: &[String]) -> ToolError {
    match (done.is_empty(), error) {
        (false, ToolError::NotActionable { why } | ToolError::Arguments(why)) => {
            ToolError::NotActionable {
                why: format!("{why} Filled before that: {}.", done.join(", ")),
            }
        }
        (_, error) => error,
    }
}

const MAX_BYTES: usize = 20_000;
