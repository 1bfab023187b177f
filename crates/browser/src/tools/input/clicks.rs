//! The arguments of `click` and `click_at` that say how to click.

use super::super::act::Modifier;
use crate::tab::{Button, Clicks};
use schemars::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

/// Which button, how often, for how long, and with which keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClickArguments<'a> {
    pub(super) dbl_click: Option<bool>,
    pub(super) button: Option<ButtonName>,
    pub(super) modifiers: &'a [Modifier],
    pub(super) click_count: Option<u8>,
    pub(super) hold_ms: Option<u32>,
}

/// A button of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum ButtonName {
    Left,
    Middle,
    Right,
}

impl ClickArguments<'_> {
    pub(super) fn check(&self) -> Result<(), String> {
        if self.dbl_click.is_some() && self.click_count.is_some() {
            return Err("give either `dblClick` or `clickCount`".into());
        }
        if self
            .click_count
            .is_some_and(|count| !(1..=MAX_CLICKS).contains(&count))
        {
            return Err(format!("`clickCount` must be between 1 and {MAX_CLICKS}"));
        }
        if self.hold_ms.is_some_and(|hold| hold > MAX_HOLD_MS) {
            return Err(format!("`holdMs` must be at most {MAX_HOLD_MS}"));
        }
        let all = u32::from(self.times()) * self.hold_ms.unwrap_or(0);
        match all > MAX_HOLD_MS {
            true => Err(format!(
                "`holdMs` times `clickCount` must be at most {MAX_HOLD_MS}"
            )),
            false => Ok(()),
        }
    }

    pub(super) fn clicks(&self) -> Clicks {
        Clicks {
            button: match self.button {
                None | Some(ButtonName::Left) => Button::Left,
                Some(ButtonName::Middle) => Button::Middle,
                Some(ButtonName::Right) => Button::Right,
            },
            times: self.times(),
            modifiers: self.modifiers.iter().fold(0, |all, one| all | one.bit()),
            hold: Duration::from_millis(self.hold_ms.unwrap_or(0).into()),
        }
    }

    fn times(&self) -> u8 {
        let double = self.dbl_click == Some(true);
        self.click_count.unwrap_or(if double { 2 } else { 1 })
    }

    /// What was done, without a full stop.
    pub(super) fn describe(&self) -> String {
        let mut words = match (self.button, self.times()) {
            (None | Some(ButtonName::Left), 2) => "Double-clicked".to_owned(),
            (None | Some(ButtonName::Left), _) => "Clicked".to_owned(),
            (Some(ButtonName::Middle), _) => "Middle-clicked".to_owned(),
            (Some(ButtonName::Right), _) => "Right-clicked".to_owned(),
        };
        if self.times() > 1 && words != "Double-clicked" {
            words.push_str(&format!(" {} times", self.times()));
        }
        if !self.modifiers.is_empty() {
            let keys: Vec<_> = self
                .modifiers
                .iter()
                .take(4)
                .map(|key| format!("{key:?}"))
                .collect();
            words.push_str(&format!(" with {}", keys.join("+")));
        }
        if let Some(hold) = self.hold_ms.filter(|hold| *hold > 0) {
            words.push_str(&format!(", holding the button for {hold} ms"));
        }
        words
    }
}

const MAX_CLICKS: u8 = 10;
/// In all, so that a call ends well before its deadline.
const MAX_HOLD_MS: u32 = 10_000;
