//! The steps of a call of `run_steps`: read and bounded before anything is done.

use super::NAME;
use super::placeholders::{Room, filled};
use crate::tools;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::time::Duration;
use tabmux_protocol::limits::STEPS_TAKE;
use tabmux_text::one_line;

/// All steps, and how often they run.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) steps: Vec<Step>,
    pub(super) rounds: Rounds,
    pub(super) limit: Duration,
    /// Whether the answer says what changed on the page.
    pub(super) changes: bool,
    /// The arguments that name the tab.
    pub(super) tab: Map<String, Value>,
}

/// One step, and how often it runs in each round of the plan.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) tool: String,
    arguments: Map<String, Value>,
    /// Which tools its name may refer to.
    pub(super) scope: ToolScope,
    /// Whether it may navigate: without that, the steps end when the page changes.
    pub(super) navigates: bool,
    pub(super) rounds: Rounds,
}

/// Which tools the name of a step may refer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ToolScope {
    /// It is one of ours, which take every argument that names a tab.
    Tab,
    /// It is a tool of the tab's page: these take `tabId` only.
    Page,
    /// It is a tool of another page of the session, which its name finds.
    Anywhere,
}

/// How often something runs.
#[derive(Debug)]
pub(super) struct Rounds {
    items: Option<Vec<Value>>,
    most: usize,
    /// The arguments of `wait_for` that end it.
    pub(super) until: Option<Map<String, Value>>,
}

/// A call that a step makes.
pub(super) struct PlannedCall<'a> {
    /// The number of its step.
    pub(super) step: usize,
    /// The step, unless it is a condition that ends rounds.
    pub(super) of: Option<&'a Step>,
    pub(super) tool: &'a str,
    pub(super) arguments: Map<String, Value>,
}

impl Plan {
    /// Reads the arguments of a call. The error says what is wrong, and where.
    pub(super) fn read(arguments: &str) -> Result<Self, String> {
        let given: Given = serde_json::from_str(arguments).map_err(|error| shortened(&error))?;
        let limit = given.timeout.map_or(STEPS_TAKE, Duration::from_millis);
        if limit.is_zero() || limit > Duration::from_millis(LONGEST_LIMIT) {
            return Err(format!(
                "`timeout` must be 1 to {LONGEST_LIMIT} milliseconds"
            ));
        }
        if !(1..=MOST_STEPS).contains(&given.steps.len()) {
            return Err(format!("`steps` must have 1 to {MOST_STEPS} steps"));
        }
        let rounds = Rounds::of(given.for_each, given.repeat, given.until)?;
        let tab: Map<_, _> = [
            ("tabId", given.tab_id),
            ("pageId", given.page_id),
            ("browserIndex", given.browser_index),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect();
        let steps = given.steps.into_iter().enumerate();
        let steps = steps.map(|(at, step)| {
            step.read(rounds.items.is_some())
                .map_err(|why| format!("step {}: {why}", at + 1))
        });
        let plan = Self {
            steps: steps.collect::<Result<_, _>>()?,
            rounds,
            limit,
            changes: given.changes.unwrap_or(true),
            tab,
        };
        match plan.most_calls() {
            calls if calls > MOST_CALLS => Err(format!(
                "these steps would make {calls} calls; at most {MOST_CALLS} are allowed. Repeat them less often"
            )),
            _ => Ok(plan),
        }
    }

    /// How many calls the steps make at most.
    pub(super) fn most_calls(&self) -> usize {
        let once: usize = self.steps.iter().map(|step| step.rounds.most).sum();
        once.saturating_mul(self.rounds.most)
    }

    /// Every different call. Together they are bounded, because an item can be used in many places.
    pub(super) fn calls(&self) -> Result<Vec<PlannedCall<'_>>, String> {
        let mut calls = Vec::new();
        let mut room = Room::default();
        for outer in self.rounds.different() {
            for (at, step) in self.steps.iter().enumerate() {
                for inner in step.rounds.different() {
                    let arguments = step.arguments_within(inner.or(outer), &mut room);
                    let arguments = arguments.map_err(|why| format!("step {}: {why}", at + 1))?;
                    let arguments = self.in_tab(step, arguments);
                    calls.push(PlannedCall {
                        step: at + 1,
                        of: Some(step),
                        tool: &step.tool,
                        arguments,
                    });
                }
            }
        }
        let ends = self.steps.iter().map(|step| &step.rounds);
        for (at, rounds) in ends.chain([&self.rounds]).enumerate() {
            if let Some(arguments) = rounds.condition(&self.tab) {
                calls.push(PlannedCall {
                    step: at.min(self.steps.len() - 1) + 1,
                    of: None,
                    tool: "wait_for",
                    arguments,
                });
            }
        }
        Ok(calls)
    }

    /// The arguments of a step's call for this item.
    pub(super) fn arguments(
        &self,
        step: &Step,
        item: Option<&Value>,
    ) -> Result<Map<String, Value>, String> {
        let arguments = step.arguments_within(item, &mut Room::default())?;
        Ok(self.in_tab(step, arguments))
    }

    /// The tab that the call names.
    pub(super) fn named_tab(&self) -> Option<&Value> {
        self.tab.get("tabId").or_else(|| self.tab.get("pageId"))
    }

    fn in_tab(&self, step: &Step, mut arguments: Map<String, Value>) -> Map<String, Value> {
        match step.scope {
            ToolScope::Tab => arguments.extend(self.tab.clone()),
            ToolScope::Page => {
                let tab = self
                    .named_tab()
                    .map(|tab| ("tabId".to_owned(), tab.clone()));
                arguments.extend(tab);
            }
            ToolScope::Anywhere => {}
        }
        arguments
    }
}

impl Step {
    fn arguments_within(
        &self,
        item: Option<&Value>,
        room: &mut Room,
    ) -> Result<Map<String, Value>, String> {
        let arguments = self.arguments.iter();
        let arguments = arguments.map(|(key, value)| {
            room.take(key.len())?;
            Ok((key.clone(), filled(value, item, room)?))
        });
        arguments.collect()
    }
}

impl Rounds {
    fn of(
        items: Option<Vec<Value>>,
        repeat: Option<usize>,
        until: Option<Map<String, Value>>,
    ) -> Result<Self, String> {
        if items.is_some() && (repeat.is_some() || until.is_some()) {
            return Err("`forEach` cannot be combined with `repeat` or `until`".into());
        }
        let most = match (&items, repeat, &until) {
            (Some(items), _, _) => items.len(),
            (None, Some(repeat), _) => repeat,
            (None, None, Some(_)) => DEFAULT_ROUNDS,
            (None, None, None) => 1,
        };
        if !(1..=MOST_CALLS).contains(&most) {
            return Err(format!(
                "`forEach` and `repeat` must be 1 to {MOST_CALLS} rounds"
            ));
        }
        let until = until.map(condition).transpose()?;
        Ok(Self { items, most, until })
    }

    /// The items, or as many times nothing as there are rounds.
    pub(super) fn all(&self) -> impl Iterator<Item = Option<&Value>> {
        (0..self.most).map(|at| self.items.as_ref().and_then(|items| items.get(at)))
    }

    /// The rounds that differ from each other.
    fn different(&self) -> impl Iterator<Item = Option<&Value>> {
        let most = if self.items.is_some() { self.most } else { 1 };
        self.all().take(most)
    }

    /// The arguments of the `wait_for` that says whether it ends.
    pub(super) fn condition(&self, tab: &Map<String, Value>) -> Option<Map<String, Value>> {
        let mut until = self.until.clone()?;
        until.extend(tab.clone());
        Some(until)
    }
}

/// `until` as arguments of `wait_for`.
fn condition(mut until: Map<String, Value>) -> Result<Map<String, Value>, String> {
    let [key] = until.keys().map(String::as_str).collect::<Vec<_>>()[..] else {
        return Err(UNTIL.into());
    };
    let key = key.to_owned();
    if !["text", "textGone", "url", "function"].contains(&key.as_str()) {
        return Err(UNTIL.into());
    }
    if key.starts_with("text")
        && let Some(text @ Value::String(_)) = until.get_mut(&key)
    {
        *text = json!([text.take()]);
    }
    until.insert("timeout".into(), UNTIL_MILLIS.into());
    Ok(until)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Given {
    steps: Vec<GivenStep>,
    for_each: Option<Vec<Value>>,
    repeat: Option<usize>,
    until: Option<Map<String, Value>>,
    timeout: Option<u64>,
    changes: Option<bool>,
    tab_id: Option<Value>,
    page_id: Option<Value>,
    browser_index: Option<Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GivenStep {
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    navigates: Option<bool>,
    for_each: Option<Vec<Value>>,
    repeat: Option<usize>,
    until: Option<Map<String, Value>>,
}

impl GivenStep {
    fn read(self, in_for_each: bool) -> Result<Step, String> {
        let is_ours = tools::find(&self.tool).is_some() && self.tool != "call_page_tool";
        if is_ours || self.tool == NAME || self.tool == "evaluate_script" {
            return Err(format!(
                "{} cannot be a step; call it alone",
                one_line(&self.tool, 80)
            ));
        }
        if in_for_each && self.for_each.is_some() {
            return Err("`forEach` is given for all steps already".into());
        }
        let arguments = self.arguments;
        if let Some(name) = TAB_ARGUMENTS
            .iter()
            .find(|name| arguments.contains_key(**name))
        {
            return Err(format!(
                "give `{name}` beside `steps`: all steps work in one tab"
            ));
        }
        let calls_page = self.tool == "call_page_tool";
        Ok(Step {
            scope: if calls_page {
                ToolScope::Page
            } else {
                ToolScope::Tab
            },
            navigates: self.navigates == Some(true) || self.tool == "navigate_page",
            tool: self.tool,
            arguments,
            rounds: Rounds::of(self.for_each, self.repeat, self.until)?,
        })
    }
}

fn shortened(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let text = text
        .rsplit_once(" at line ")
        .map_or(text.as_str(), |(text, _)| text);
    one_line(text, 200)
}

const TAB_ARGUMENTS: [&str; 3] = ["tabId", "pageId", "browserIndex"];
pub(super) const MOST_STEPS: usize = 50;
pub(super) const MOST_CALLS: usize = 200;
/// For `until` without `repeat`.
const DEFAULT_ROUNDS: usize = 20;
const LONGEST_LIMIT: u64 = 600_000;
/// The page has settled after the step, so this is not waited for long.
pub(super) const UNTIL_MILLIS: u64 = 250;
const UNTIL: &str = "`until` must have one of `text`, `textGone`, `url` and `function`";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_cannot_multiply_without_end() {
        let placeholders = "{{item.x}}".repeat(1_000);
        let step = json!({"tool": "fill", "arguments": {"name": "A", "value": placeholders}});
        let whole = json!({"tool": "fill", "arguments": {"name": "A", "value": "{{item.x}}"}});
        for (step, text) in [(step, "x".repeat(10_000)), (whole, "x".repeat(30_000))] {
            let items = vec![json!({ "x": text }); 150];
            let plan = json!({"steps": [step], "forEach": items}).to_string();
            let why = Plan::read(&plan).unwrap().calls().err();
            let why = why.unwrap_or_default();
            assert!(
                why.starts_with("step 1: ") && why.contains("more than 4 MB"),
                "{why}"
            );
        }
    }

    #[test]
    fn tools_of_pages_get_the_tab_as_tab_id_only() {
        let given = json!({"steps": [{"tool": "click"}], "pageId": 3, "browserIndex": 2});
        let mut plan = Plan::read(&given.to_string()).unwrap();
        for (scope, arguments) in [
            (ToolScope::Tab, json!({"pageId": 3, "browserIndex": 2})),
            (ToolScope::Page, json!({"tabId": 3})),
            (ToolScope::Anywhere, json!({})),
        ] {
            plan.steps[0].scope = scope;
            let step = &plan.steps[0];
            assert_eq!(
                Value::Object(plan.arguments(step, None).unwrap()),
                arguments
            );
            let calls = plan.calls().unwrap();
            assert_eq!(Value::Object(calls[0].arguments.clone()), arguments);
        }
    }

    #[test]
    fn wrong_steps_are_refused_with_their_place() {
        let many = vec![json!({"tool": "click"}); 51];
        for (arguments, why) in [
            (json!({"steps": []}), "`steps` must have 1 to 50 steps"),
            (json!({"steps": many}), "`steps` must have 1 to 50 steps"),
            (
                json!({"steps": [{"tool": "click"}, {"tool": "run_steps"}]}),
                "step 2: run_steps cannot be a step; call it alone",
            ),
            (
                json!({"steps": [{"tool": "close_tab"}]}),
                "step 1: close_tab cannot be a step; call it alone",
            ),
            (
                json!({"steps": [{"tool": "click", "arguments": {"tabId": 3}}]}),
                "step 1: give `tabId` beside `steps`: all steps work in one tab",
            ),
            (
                json!({"steps": [{"tool": "click", "repeat": 101}, {"tool": "hover", "repeat": 100}]}),
                "these steps would make 201 calls; at most 200 are allowed. Repeat them less often",
            ),
            (
                json!({"steps": [{"tool": "click", "until": {"colour": "red"}}]}),
                "step 1: `until` must have one of `text`, `textGone`, `url` and `function`",
            ),
            (
                json!({"steps": [{"tool": "click", "arguments": {"name": "{{item.x}}"}}]}),
                "step 1: {{item.x}} needs a `forEach`",
            ),
            (
                json!({"steps": [{"tool": "click", "arguments": {"name": "{{item.x}}"}}], "forEach": [{"x": 1}, {}]}),
                "step 1: an item has nothing for {{item.x}}",
            ),
            (json!({"stepz": []}), "unknown field `stepz`"),
        ] {
            let plan = Plan::read(&arguments.to_string());
            let told = plan.and_then(|plan| plan.calls().map(drop)).unwrap_err();
            assert!(told.starts_with(why), "{told}");
        }
    }

    #[test]
    fn every_item_has_its_calls() {
        let arguments = json!({
            "steps": [{"tool": "click", "arguments": {"near": "{{item.id}}"}}, {"tool": "press_key", "repeat": 3}],
            "forEach": [{"id": "a"}, {"id": "b"}], "tabId": 4
        });
        let plan = Plan::read(&arguments.to_string()).unwrap();
        let calls = plan.calls().unwrap();
        let calls: Vec<_> = calls
            .iter()
            .map(|call| format!("{} {} {}", call.step, call.tool, json!(call.arguments)))
            .collect();
        assert_eq!(
            calls,
            [
                r#"1 click {"near":"a","tabId":4}"#,
                r#"2 press_key {"tabId":4}"#,
                r#"1 click {"near":"b","tabId":4}"#,
                r#"2 press_key {"tabId":4}"#,
            ]
        );
        assert_eq!(plan.most_calls(), 8);
    }
}
