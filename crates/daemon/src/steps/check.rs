//! Checks all steps before the first one runs: whether the session has their tools, and whether the arguments fit.

use super::plan::{Plan, PlannedCall, ToolScope};
use super::run::Run;
use crate::incoming::ParsedArguments;
use crate::main_loop::StepTool;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use tabmux_core::{Mode, TabRef};
use tabmux_protocol::CallFailure;
use tabmux_text::one_line;

impl Run {
    /// What is wrong with the steps, if anything is. Runs none of them. Tools of the page are only looked up by name:
    /// which tab they belong to is known later.
    pub(super) async fn fault(&self, plan: &mut Plan) -> Result<Option<String>, CallFailure> {
        let calls = match plan.calls() {
            Ok(calls) => calls,
            Err(why) => return Ok(Some(why)),
        };
        let tools = self.tools(&calls, None).await?;
        for call in &calls {
            let why = match tools.get(call.tool) {
                Some(StepTool::Page(_)) => continue,
                Some(StepTool::Ours) => self.misread(call, false).await?,
                Some(StepTool::Missing) | None => Some(MISSING.to_owned()),
            };
            if let Some(why) = why {
                return Ok(Some(at_step(call, &why)));
            }
        }
        for step in &mut plan.steps {
            if matches!(tools.get(step.tool.as_str()), Some(StepTool::Page(_))) {
                step.scope = ToolScope::Page;
            }
        }
        Ok(None)
    }

    /// From now on all steps work in this tab, whichever tab the session uses meanwhile. Says what is wrong with the
    /// arguments of the tools of its page.
    pub(super) async fn stay_in(
        &self,
        plan: &mut Plan,
        tab: Option<u64>,
    ) -> Result<Option<String>, CallFailure> {
        let was_named = plan.named_tab().is_some();
        // In the other mode calls name no tab; there the steps stop when the session leaves it.
        if let (Mode::Static, Some(tab)) = (self.calls.options.mode, tab) {
            plan.tab.remove("pageId");
            plan.tab.insert("tabId".to_owned(), json!(tab));
        }
        let Ok(mut calls) = plan.calls() else {
            return Ok(None); // They were checked before.
        };
        calls.retain(PlannedCall::is_of_page);
        if calls.is_empty() {
            return Ok(None);
        }
        let mut tools = self.tools(&calls, plan.named_tab()).await?;
        let mut elsewhere = Vec::new();
        if !was_named {
            let anywhere = self.tools(&calls, None).await?;
            for (name, tool) in &mut tools {
                if tool.is_missing() || tool.declares_tab() {
                    elsewhere.push(name.clone());
                    *tool = anywhere.get(name).cloned().unwrap_or(StepTool::Missing);
                }
            }
        }
        for call in &calls {
            let arguments = call.arguments_for(elsewhere.contains(&call.tool.to_owned()));
            let why = match tools.get(call.tool) {
                Some(tool @ StepTool::Page(_)) => match self.misread(call, true).await? {
                    None => tool.fault(&arguments).await,
                    why => why,
                },
                _ => Some(MISSING.to_owned()),
            };
            if let Some(why) = why {
                return Ok(Some(at_step(call, &why)));
            }
        }
        for step in &mut plan.steps {
            if step.scope == ToolScope::Page && elsewhere.contains(&step.tool) {
                step.scope = ToolScope::Anywhere;
            }
        }
        Ok(None)
    }

    /// What the tools of these calls are to the session. Each name is looked up once.
    async fn tools(
        &self,
        calls: &[PlannedCall<'_>],
        tab: Option<&Value>,
    ) -> Result<HashMap<String, StepTool>, CallFailure> {
        let mut names: Vec<_> = calls.iter().map(|call| call.tool.to_owned()).collect();
        names.sort_unstable();
        names.dedup();
        let tab = tab.and_then(tab_ref);
        let tools = self.calls.step_tools(names.clone(), tab).await;
        let tools = tools.ok_or(CallFailure::Closed)?;
        Ok(names.into_iter().zip(tools).collect())
    }

    /// Why the arguments of a call cannot be read, if they cannot.
    async fn misread(
        &self,
        call: &PlannedCall<'_>,
        is_of_page: bool,
    ) -> Result<Option<String>, CallFailure> {
        let request = self.call(call.tool, &call.arguments, "check");
        let read = ParsedArguments::read(request, &self.calls.options).await;
        let (_, read, _) = read.ok_or(CallFailure::Closed)?;
        Ok(read.fault(is_of_page))
    }
}

impl PlannedCall<'_> {
    fn is_of_page(&self) -> bool {
        let scope = self.of.map(|step| step.scope);
        scope == Some(ToolScope::Page) && self.tool != "call_page_tool"
    }

    fn arguments_for(&self, is_elsewhere: bool) -> Map<String, Value> {
        let mut arguments = self.arguments.clone();
        if is_elsewhere {
            arguments.remove("tabId");
        }
        arguments
    }
}

/// The uids that the steps name.
pub(super) fn uids(plan: &Plan) -> Vec<String> {
    let mut uids = Vec::new();
    for PlannedCall { arguments, .. } in plan.calls().unwrap_or_default() {
        let fields = arguments.get("elements").and_then(Value::as_array);
        let fields = fields
            .into_iter()
            .flatten()
            .filter_map(|field| field.get("uid"));
        let own = UIDS.iter().filter_map(|name| arguments.get(*name));
        uids.extend(
            own.chain(fields)
                .filter_map(Value::as_str)
                .map(str::to_owned),
        );
    }
    uids.sort();
    uids.dedup();
    uids
}

fn at_step(call: &PlannedCall<'_>, why: &str) -> String {
    format!(
        "step {} ({}): {}",
        call.step,
        one_line(call.tool, 80),
        why.trim_end_matches('.')
    )
}

fn tab_ref(tab: &Value) -> Option<TabRef> {
    match tab {
        Value::String(text) => Some(TabRef::from(text.as_str())),
        Value::Number(number) => number.as_f64().map(TabRef::from),
        _ => None,
    }
}

const MISSING: &str = "this session has no such tool now";
const UIDS: [&str; 4] = ["uid", "from_uid", "to_uid", "frame_uid"];
