//! Keys of the keyboard: chords such as `Control+Shift+R`, and text typed key by key.

mod layout;

use crate::disallowed_frames;
use crate::error::ToolError;
use crate::tab::Tab;
use layout::Key;
use schemars::JsonSchema;
use serde::Deserialize;
use tabmux_cdp::types::input::{DispatchKeyEvent, DispatchKeyEventType};

/// A key with its modifiers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::tools) struct Chord {
    modifiers: Vec<Modifier>,
    key: Key,
}

impl Chord {
    /// Parses `Enter`, `a`, `Control+A`, `Control+Shift+R` or `Control++`. The error is a sentence.
    pub(in crate::tools) fn parse(text: &str) -> Result<Self, String> {
        let text = if text.trim().is_empty() {
            text
        } else {
            text.trim()
        };
        let (held, name) = match text.strip_suffix('+') {
            // The plus key itself, alone or after modifiers.
            Some("") => ("", "+"),
            Some(rest) => (rest.strip_suffix('+').ok_or_else(|| unknown(text))?, "+"),
            None => text.rsplit_once('+').unwrap_or(("", text)),
        };
        let mut modifiers = Vec::new();
        for name in held.split('+').filter(|_| !held.is_empty()) {
            let modifier = Modifier::named(name.trim()).ok_or_else(|| unknown(name))?;
            if !modifiers.contains(&modifier) {
                modifiers.push(modifier);
            }
        }
        let shifted = modifiers.contains(&Modifier::Shift);
        // Control+A means the key, not the capital letter.
        let shortcut = modifiers
            .iter()
            .any(|&modifier| modifier != Modifier::Shift);
        let name = name.trim_matches(|c: char| c == '\t' || c == '\n');
        let name = if name.len() > 1 { name.trim() } else { name };
        let key = match Key::named(name).ok_or_else(|| unknown(name))? {
            key if shifted => key.shifted(),
            key if shortcut && key.is_capital() => key.unshifted(),
            key => key,
        };
        Ok(Self { modifiers, key })
    }

    /// Presses and releases all keys. Returns when the page has handled them.
    pub(in crate::tools) async fn press(&self, tab: &Tab) -> Result<(), ToolError> {
        tab.send_keys(self.events()).await
    }

    fn events(&self) -> Vec<DispatchKeyEvent> {
        let mut events = Vec::new();
        let mut held = 0;
        for modifier in &self.modifiers {
            held |= modifier.bit();
            events.push(raw(
                DispatchKeyEventType::RAW_KEY_DOWN,
                &modifier.key(),
                held,
            ));
        }
        let types_text = held & !Modifier::Shift.bit() == 0;
        let implied = if self.key.needs_shift() {
            Modifier::Shift.bit()
        } else {
            0
        };
        let text = self.key.text().filter(|_| types_text);
        let down = match text {
            Some(_) => DispatchKeyEventType::KEY_DOWN,
            None => DispatchKeyEventType::RAW_KEY_DOWN,
        };
        events.push(DispatchKeyEvent {
            text: text.clone(),
            unmodified_text: text,
            ..raw(down, &self.key, held | implied)
        });
        events.push(raw(DispatchKeyEventType::KEY_UP, &self.key, held | implied));
        for modifier in self.modifiers.iter().rev() {
            held &= !modifier.bit();
            events.push(raw(DispatchKeyEventType::KEY_UP, &modifier.key(), held));
        }
        events
    }
}

/// Types a text: key by key where the keyboard has the characters, so that pages receive key events; other characters
/// as an input method would. A long text is inserted at once.
pub(in crate::tools) async fn type_characters(tab: &Tab, text: &str) -> Result<(), ToolError> {
    let text = text.replace("\r\n", "\n");
    if text.chars().count() > MAX_KEYS {
        return tab.insert_text(text).await;
    }
    // The page can move the focus after any key.
    let at_once = if disallowed_frames::is_there(tab) {
        1
    } else {
        AT_ONCE
    };
    let mut events = Vec::new();
    for character in text.chars() {
        match Key::of(character) {
            Some(key) => events.extend(
                Chord {
                    modifiers: Vec::new(),
                    key,
                }
                .events(),
            ),
            None => {
                tab.send_keys(std::mem::take(&mut events)).await?;
                tab.insert_text(character.to_string()).await?;
            }
        }
        if events.len() >= at_once {
            tab.send_keys(std::mem::take(&mut events)).await?;
        }
    }
    tab.send_keys(events).await
}

fn raw(kind: DispatchKeyEventType, key: &Key, modifiers: i64) -> DispatchKeyEvent {
    DispatchKeyEvent {
        r#type: kind,
        modifiers: Some(modifiers),
        key: Some(key.name()),
        code: Some(key.code().to_owned()),
        windows_virtual_key_code: Some(key.number()),
        location: Some(key.location()),
        is_keypad: Some(key.location() == layout::ON_KEYPAD),
        ..Default::default()
    }
}

fn unknown(name: &str) -> String {
    let name = tabmux_text::one_line(name, 40);
    format!(
        "`{name}` is not a key; use a character or a name such as Enter, Tab, Escape, Backspace, ArrowDown, \
         PageDown, Home, F5, after modifiers such as Control+Shift+"
    )
}

/// A key that changes the meaning of others while it is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
pub(in crate::tools) enum Modifier {
    Alt,
    Control,
    Meta,
    Shift,
}

impl Modifier {
    fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "alt" | "option" => Self::Alt,
            "control" | "ctrl" => Self::Control,
            "meta" | "cmd" | "command" | "super" | "win" => Self::Meta,
            "shift" => Self::Shift,
            "controlormeta" if cfg!(target_os = "macos") => Self::Meta,
            "controlormeta" => Self::Control,
            _ => return None,
        })
    }

    /// Its bit in the events of keys and of the mouse.
    pub(in crate::tools) fn bit(self) -> i64 {
        match self {
            Self::Alt => 1,
            Self::Control => 2,
            Self::Meta => 4,
            Self::Shift => 8,
        }
    }

    fn key(self) -> Key {
        match self {
            Self::Alt => Key::Named("Alt", "AltLeft", 18, layout::ON_THE_LEFT),
            Self::Control => Key::Named("Control", "ControlLeft", 17, layout::ON_THE_LEFT),
            Self::Meta => Key::Named("Meta", "MetaLeft", 91, layout::ON_THE_LEFT),
            Self::Shift => Key::Named("Shift", "ShiftLeft", 16, layout::ON_THE_LEFT),
        }
    }
}

/// For longer texts, typing key by key only costs time.
const MAX_KEYS: usize = 1_000;
/// How many events are sent without waiting. They keep their order up to 30.
const AT_ONCE: usize = 24;

#[cfg(test)]
mod tests {
    use super::*;

    /// The events as `kind key code number modifiers text`.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let events = Chord::parse(text).unwrap().events();
        let lines: Vec<_> = events.iter().map(line).collect();
        assert_eq!(lines, expected, "for {text:?}");
    }

    fn line(event: &DispatchKeyEvent) -> String {
        let words = [
            event.r#type.as_str().to_owned(),
            event.key.clone().unwrap(),
            event.code.clone().unwrap(),
            event.windows_virtual_key_code.unwrap().to_string(),
            event.modifiers.unwrap().to_string(),
            format!("{:?}", event.text.clone().unwrap_or_default()),
        ];
        words.join(" ")
    }

    #[test]
    fn single_keys() {
        check(
            "a",
            &["keyDown a KeyA 65 0 \"a\"", "keyUp a KeyA 65 0 \"\""],
        );
        check(
            "A",
            &["keyDown A KeyA 65 8 \"A\"", "keyUp A KeyA 65 8 \"\""],
        );
        check(
            "KeyA",
            &["keyDown a KeyA 65 0 \"a\"", "keyUp a KeyA 65 0 \"\""],
        );
        check(
            "?",
            &["keyDown ? Slash 191 8 \"?\"", "keyUp ? Slash 191 8 \"\""],
        );
        check(
            "+",
            &["keyDown + Equal 187 8 \"+\"", "keyUp + Equal 187 8 \"\""],
        );
        check(
            "Enter",
            &[
                "keyDown Enter Enter 13 0 \"\\r\"",
                "keyUp Enter Enter 13 0 \"\"",
            ],
        );
        check(
            "esc",
            &[
                "rawKeyDown Escape Escape 27 0 \"\"",
                "keyUp Escape Escape 27 0 \"\"",
            ],
        );
        check(
            " ",
            &["keyDown   Space 32 0 \" \"", "keyUp   Space 32 0 \"\""],
        );
        check(
            "Space",
            &["keyDown   Space 32 0 \" \"", "keyUp   Space 32 0 \"\""],
        );
        check(
            "Numpad5",
            &[
                "keyDown 5 Numpad5 101 0 \"5\"",
                "keyUp 5 Numpad5 101 0 \"\"",
            ],
        );
        check(
            "F12",
            &["rawKeyDown F12 F12 123 0 \"\"", "keyUp F12 F12 123 0 \"\""],
        );
        check("é", &["keyDown é  0 0 \"é\"", "keyUp é  0 0 \"\""]);
    }

    #[test]
    fn chords_hold_their_modifiers() {
        check(
            "Control+A",
            &[
                "rawKeyDown Control ControlLeft 17 2 \"\"",
                "rawKeyDown a KeyA 65 2 \"\"",
                "keyUp a KeyA 65 2 \"\"",
                "keyUp Control ControlLeft 17 0 \"\"",
            ],
        );
        check(
            "ctrl+Shift+r",
            &[
                "rawKeyDown Control ControlLeft 17 2 \"\"",
                "rawKeyDown Shift ShiftLeft 16 10 \"\"",
                "rawKeyDown R KeyR 82 10 \"\"",
                "keyUp R KeyR 82 10 \"\"",
                "keyUp Shift ShiftLeft 16 2 \"\"",
                "keyUp Control ControlLeft 17 0 \"\"",
            ],
        );
        check(
            "Control++",
            &[
                "rawKeyDown Control ControlLeft 17 2 \"\"",
                "rawKeyDown + Equal 187 10 \"\"",
                "keyUp + Equal 187 10 \"\"",
                "keyUp Control ControlLeft 17 0 \"\"",
            ],
        );
        check(
            "Shift+1",
            &[
                "rawKeyDown Shift ShiftLeft 16 8 \"\"",
                "keyDown ! Digit1 49 8 \"!\"",
                "keyUp ! Digit1 49 8 \"\"",
                "keyUp Shift ShiftLeft 16 0 \"\"",
            ],
        );
    }

    #[test]
    fn a_bad_key_gets_a_short_sentence() {
        for bad in ["", "Entr", "Control+", "Hyper+A", "Control+Entr", "abc"] {
            let error = Chord::parse(bad).unwrap_err();
            assert!(error.len() < 200, "{error}");
            assert!(error.contains("is not a key"), "{error}");
        }
    }

    #[test]
    fn every_character_of_the_keyboard_has_its_key() {
        for character in (' '..='~').chain(['\n', '\t']) {
            assert!(Key::of(character).is_some(), "{character:?}");
        }
        assert_eq!(Key::of('é'), None);
    }
}
