//! Makes the calls of all steps in their order, as often as they repeat.

use super::plan::{Plan, Rounds, Step, UNTIL_MILLIS};
use super::report::{Report, text_of};
use super::run::{Between, End, Run};
use serde_json::Value;
use tabmux_browser::ToolError;
use tabmux_protocol::CallReply;
use tabmux_text::one_line;

/// How far the steps are.
struct Progress {
    between: Between,
    /// The item of the round of all steps.
    item: Option<Value>,
    /// Whether it is the last round of all steps, if that is known.
    is_last: Option<bool>,
    /// A step that opened a dialog: its `until` is checked when the dialog is closed.
    unchecked: Option<usize>,
}

impl Run {
    /// Makes the calls, until one fails or something stops them.
    pub(super) async fn make(
        &mut self,
        plan: &Plan,
        between: Between,
        report: &mut Report,
    ) -> Result<(), End> {
        let last = plan.steps.len();
        let mut progress = Progress {
            between,
            item: None,
            is_last: None,
            unchecked: None,
        };
        let mut is_over = self
            .is_over(plan, &plan.rounds, last, &progress.between, report)
            .await?;
        let most = plan.rounds.all().count();
        for (round, item) in plan.rounds.all().enumerate() {
            if is_over {
                break;
            }
            progress.item = item.cloned();
            progress.is_last = (round + 1 == most).then_some(true);
            for at in 0..last {
                self.make_step(plan, at, &mut progress, report).await?;
                self.check_later(plan, &mut progress, report).await?;
            }
            is_over = match (&plan.rounds.until, progress.is_last) {
                // The last step led to another page, so this was checked.
                (Some(_), Some(true)) if round + 1 < most => true,
                _ => {
                    self.is_over(plan, &plan.rounds, last, &progress.between, report)
                        .await?
                }
            };
        }
        if let Some(dialog) = progress.between.dialog {
            report.stop(last, format!("{dialog} Call handle_dialog to go on."));
            return Ok(());
        }
        must_be_over(&plan.rounds, is_over, last, report)
    }

    /// Makes the calls of one step, in one round of all steps.
    async fn make_step(
        &mut self,
        plan: &Plan,
        at: usize,
        progress: &mut Progress,
        report: &mut Report,
    ) -> Result<(), End> {
        let Some(step) = plan.steps.get(at) else {
            return Ok(());
        };
        let place = at + 1;
        let mut is_over = self
            .is_over(plan, &step.rounds, place, &progress.between, report)
            .await?;
        let most = step.rounds.all().count();
        for (round, inner) in step.rounds.all().enumerate() {
            if is_over {
                break;
            }
            let item = inner.or(progress.item.as_ref()).cloned();
            let left = self
                .make_call(
                    plan,
                    step,
                    place,
                    item.as_ref(),
                    &mut progress.between,
                    report,
                )
                .await?;
            is_over = self
                .is_over(plan, &step.rounds, place, &progress.between, report)
                .await?;
            let is_last_here = place == plan.steps.len() && (is_over || round + 1 == most);
            if left && !(is_last_here && self.is_last_round(plan, progress, report).await?) {
                let url = one_line(&progress.between.url, 200);
                report.stop(
                    place,
                    format!("it led to another page, {url}, and did not say `navigates: true`."),
                );
                return Err(End::Stopped);
            }
            let next = plan.steps.get(place).map(|step| step.tool.as_str());
            if step.rounds.until.is_some()
                && progress.between.dialog.is_some()
                && next == Some("handle_dialog")
            {
                progress.unchecked = Some(at);
                return Ok(());
            }
        }
        must_be_over(&step.rounds, is_over, place, report)
    }

    /// Checks the `until` of a step that opened a dialog, once that is closed.
    async fn check_later(
        &mut self,
        plan: &Plan,
        progress: &mut Progress,
        report: &mut Report,
    ) -> Result<(), End> {
        let between = &progress.between;
        let step = progress.unchecked.filter(|_| between.dialog.is_none());
        let Some((at, step)) = step.and_then(|at| Some((at, plan.steps.get(at)?))) else {
            return Ok(());
        };
        let is_over = self.is_over(plan, &step.rounds, at + 1, between, report);
        let is_over = is_over.await?;
        progress.unchecked = None;
        must_be_over(&step.rounds, is_over, at + 1, report)
    }

    /// Makes one call. Returns whether it led to another page, although it was not meant to.
    async fn make_call(
        &mut self,
        plan: &Plan,
        step: &Step,
        place: usize,
        item: Option<&Value>,
        between: &mut Between,
        report: &mut Report,
    ) -> Result<bool, End> {
        if let Some(dialog) = &between.dialog
            && step.tool != "handle_dialog"
        {
            report.stop(place, format!("{dialog} Call handle_dialog, then go on."));
            return Err(End::Stopped);
        }
        // Placeholders were checked before.
        let arguments = plan.arguments(step, item).unwrap_or_default();
        let reply = self.step(place, &step.tool, &arguments, report).await?;
        report.done(place, &step.tool, &arguments, &reply);
        let now = self.look(plan, place, report).await?;
        if now.tab != between.tab {
            report.stop(place, ANOTHER_TAB);
            return Err(End::Stopped);
        }
        let left = now.document != between.document && !step.navigates;
        *between = now;
        Ok(left)
    }

    /// Whether no round of all steps follows.
    async fn is_last_round(
        &mut self,
        plan: &Plan,
        progress: &mut Progress,
        report: &mut Report,
    ) -> Result<bool, End> {
        if let Some(is_last) = progress.is_last {
            return Ok(is_last);
        }
        let place = plan.steps.len();
        let is_last = self
            .is_over(plan, &plan.rounds, place, &progress.between, report)
            .await?;
        progress.is_last = Some(is_last);
        Ok(is_last)
    }

    /// Whether the condition that ends these rounds is known to hold.
    async fn is_over(
        &mut self,
        plan: &Plan,
        rounds: &Rounds,
        place: usize,
        between: &Between,
        report: &mut Report,
    ) -> Result<bool, End> {
        // While a dialog is open, the page cannot be asked.
        let condition = rounds.condition(&plan.tab);
        let Some(condition) = condition.filter(|_| between.dialog.is_none()) else {
            return Ok(false);
        };
        let reply = self
            .call_within(place, "wait_for", &condition, report)
            .await?;
        holds(&reply).map_err(|why| {
            let why = one_line(&why, 500);
            report.stop(place, format!("`until` cannot be checked: {why}"));
            End::Stopped
        })
    }
}

/// Whether a condition holds, by the answer of `wait_for`. An error if that is not known: then no step is repeated.
fn holds(reply: &CallReply) -> Result<bool, String> {
    let not_yet = ToolError::TimedOut {
        what: String::new(),
        millis: UNTIL_MILLIS.into(),
        next: String::new(),
    };
    match reply.is_error {
        false => Ok(true),
        true if text_of(reply).contains(not_yet.to_string().trim_end()) => Ok(false),
        true => Err(text_of(reply)),
    }
}

/// Stops if the rounds are over and their condition does not hold.
fn must_be_over(
    rounds: &Rounds,
    is_over: bool,
    place: usize,
    report: &mut Report,
) -> Result<(), End> {
    if rounds.until.is_none() || is_over {
        return Ok(());
    }
    report.stop(
        place,
        "the condition of `until` did not come true in all rounds.",
    );
    Err(End::Stopped)
}

const ANOTHER_TAB: &str =
    "the session works in another tab now. Focus the tab again, then run what is left.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_condition_that_does_not_hold_yet_is_repeated() {
        assert_eq!(holds(&CallReply::text("\"Done\" is there.")), Ok(true));
        let late = "The appearance of \"Done\" did not happen within 250 ms. Call take_snapshot.";
        assert_eq!(holds(&CallReply::error(late)), Ok(false));
        for why in [
            "The function threw: x is not defined.",
            "The page did not respond within 250 ms.",
            "A confirm dialog is open.",
        ] {
            assert_eq!(holds(&CallReply::error(why)), Err(why.to_owned()));
        }
    }
}
