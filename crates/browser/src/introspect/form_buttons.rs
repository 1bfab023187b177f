//! Which button sends a form.

use super::facts::{Control, Group, Kind, Survey};

/// The button that submits the form: one that is marked so, else the only one that does not leave the form.
pub(super) fn submit_button(survey: &Survey, members: &[usize], group: &Group) -> Option<usize> {
    let is_button = |control: &Control| {
        control.role == "button"
            && !control.name.is_empty()
            && !control.popup
            && !control.expandable
    };
    let in_item = |control: &Control| {
        let mut around = survey
            .around(control)
            .take_while(|(_, inner)| inner.n != group.n);
        around.any(|(_, inner)| inner.kind == Kind::Item)
    };
    let buttons = members.iter().copied().filter(|at| {
        let control = survey.controls.get(*at);
        control.is_some_and(|control| is_button(control) && !in_item(control))
    });
    let buttons: Vec<usize> = buttons.collect();
    let submits = |at: &usize| {
        survey
            .controls
            .get(*at)
            .is_some_and(|control| control.submit)
    };
    let first = buttons.iter().copied().find(submits);
    let leads_on = |at: &usize| {
        let control = survey.controls.get(*at);
        control.is_some_and(|control| !leaves(&control.name))
    };
    let buttons: Vec<usize> = buttons.into_iter().filter(leads_on).collect();
    first.or(match (buttons.as_slice(), group.kind) {
        ([only], _) => Some(*only),
        ([.., last], Kind::Panel) => Some(*last),
        _ => None,
    })
}

/// Whether a button with this name leaves a form without sending it.
fn leaves(name: &str) -> bool {
    let first = name.split_whitespace().next().unwrap_or_default();
    LEAVING.contains(&first.to_lowercase().as_str())
}

/// The first words of such buttons.
const LEAVING: [&str; 14] = [
    "abbrechen",
    "annuler",
    "annulla",
    "back",
    "cancel",
    "cancelar",
    "clear",
    "close",
    "discard",
    "dismiss",
    "reset",
    "schließen",
    "zurück",
    "×",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buttons_that_leave_a_form_do_not_send_it() {
        for name in ["Cancel", "close dialog", "Abbrechen", "×"] {
            assert!(leaves(name), "{name}");
        }
        for name in ["Save", "Send and close", ""] {
            assert!(!leaves(name), "{name}");
        }
    }
}
