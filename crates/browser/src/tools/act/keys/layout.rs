//! The keys of a US keyboard, with the names that web pages use.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    /// A key that types one of two characters.
    Printable(&'static PrintableKey, Face),
    /// A named key: name, code, key code, location.
    Named(&'static str, &'static str, i64, i64),
    /// A key of the number pad that types a character.
    Pad(char, &'static str, i64),
    /// A character that is not on the keyboard.
    Foreign(char),
}

/// A key that types: code, key code, plain and shifted character.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PrintableKey(&'static str, i64, char, char);

/// Which of its two characters a key types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Face {
    Plain,
    Shifted,
}

impl Key {
    /// The key with this name: a character, a name such as `Enter`, or a code such as `KeyA`.
    pub(super) fn named(name: &str) -> Option<Self> {
        let mut characters = name.chars();
        if let (Some(only), None) = (characters.next(), characters.next()) {
            return Some(Self::of(only).unwrap_or(Self::Foreign(only)))
                .filter(|_| !only.is_control());
        }
        let name = alias(name);
        let same = |other: &str| other.eq_ignore_ascii_case(name);
        PRINTABLE
            .iter()
            .find(|key| same(key.0))
            .map(|key| Self::Printable(key, Face::Plain))
            .or_else(|| {
                let key = NAMED.iter().find(|key| same(key.0) || same(key.1))?;
                Some(Self::Named(key.0, key.1, key.2, key.3))
            })
            .or_else(|| {
                let key = PAD.iter().find(|key| same(key.1))?;
                Some(Self::Pad(key.0, key.1, key.2))
            })
            .or_else(|| function_key(name))
    }

    /// The key that types a character, if the keyboard has one.
    pub(super) fn of(character: char) -> Option<Self> {
        match character {
            '\n' | '\r' => return Self::named("Enter"),
            '\t' => return Self::named("Tab"),
            _ => {}
        }
        PRINTABLE.iter().find_map(|key| match character {
            c if c == key.2 => Some(Self::Printable(key, Face::Plain)),
            c if c == key.3 => Some(Self::Printable(key, Face::Shifted)),
            _ => None,
        })
    }

    /// The same key with Shift.
    pub(super) fn shifted(self) -> Self {
        match self {
            Self::Printable(key, _) => Self::Printable(key, Face::Shifted),
            other => other,
        }
    }

    /// The same key without Shift.
    pub(super) fn unshifted(self) -> Self {
        match self {
            Self::Printable(key, _) => Self::Printable(key, Face::Plain),
            other => other,
        }
    }

    pub(super) fn is_capital(self) -> bool {
        matches!(self, Self::Printable(key, Face::Shifted) if key.3.is_ascii_uppercase())
    }

    pub(super) fn needs_shift(self) -> bool {
        matches!(self, Self::Printable(_, Face::Shifted))
    }

    /// `KeyboardEvent.key`.
    pub(super) fn name(self) -> String {
        match self {
            Self::Named(name, ..) => name.to_owned(),
            Self::Printable(key, Face::Plain) => key.2.to_string(),
            Self::Printable(key, Face::Shifted) => key.3.to_string(),
            Self::Pad(character, ..) | Self::Foreign(character) => character.to_string(),
        }
    }

    /// `KeyboardEvent.code`.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::Printable(key, _) => key.0,
            Self::Named(_, code, ..) | Self::Pad(_, code, _) => code,
            Self::Foreign(_) => "",
        }
    }

    /// `KeyboardEvent.keyCode`.
    pub(super) fn number(self) -> i64 {
        match self {
            Self::Printable(key, _) => key.1,
            Self::Named(_, _, number, _) | Self::Pad(_, _, number) => number,
            Self::Foreign(_) => 0,
        }
    }

    /// `KeyboardEvent.location`.
    pub(super) fn location(self) -> i64 {
        match self {
            Self::Named(.., location) => location,
            Self::Pad(..) => ON_KEYPAD,
            Self::Printable(..) | Self::Foreign(_) => 0,
        }
    }

    /// The text it types.
    pub(super) fn text(self) -> Option<String> {
        match self {
            Self::Named("Enter", ..) => Some("\r".into()),
            Self::Named(..) => None,
            typed => Some(typed.name()),
        }
    }
}

/// Other common names of keys.
fn alias(name: &str) -> &str {
    match name.to_ascii_lowercase().as_str() {
        "esc" => "Escape",
        "return" => "Enter",
        "del" => "Delete",
        "ins" => "Insert",
        "spacebar" => "Space",
        "plus" => "NumpadAdd",
        "up" => "ArrowUp",
        "down" => "ArrowDown",
        "left" => "ArrowLeft",
        "right" => "ArrowRight",
        "pgup" => "PageUp",
        "pgdn" | "pgdown" => "PageDown",
        "ctrl" => "Control",
        "cmd" | "command" | "super" | "win" => "Meta",
        "option" => "Alt",
        _ => name,
    }
}

fn function_key(name: &str) -> Option<Key> {
    let number: usize = name.strip_prefix(['F', 'f'])?.parse().ok()?;
    let proper = FUNCTION_KEYS.get(number.checked_sub(1)?)?;
    Some(Key::Named(
        proper,
        proper,
        111 + i64::try_from(number).ok()?,
        0,
    ))
}

pub(super) const ON_THE_LEFT: i64 = 1;
const ON_THE_RIGHT: i64 = 2;
pub(super) const ON_KEYPAD: i64 = 3;

static PRINTABLE: [PrintableKey; 48] = [
    PrintableKey("Space", 32, ' ', ' '),
    PrintableKey("Backquote", 192, '`', '~'),
    PrintableKey("Digit1", 49, '1', '!'),
    PrintableKey("Digit2", 50, '2', '@'),
    PrintableKey("Digit3", 51, '3', '#'),
    PrintableKey("Digit4", 52, '4', '$'),
    PrintableKey("Digit5", 53, '5', '%'),
    PrintableKey("Digit6", 54, '6', '^'),
    PrintableKey("Digit7", 55, '7', '&'),
    PrintableKey("Digit8", 56, '8', '*'),
    PrintableKey("Digit9", 57, '9', '('),
    PrintableKey("Digit0", 48, '0', ')'),
    PrintableKey("Minus", 189, '-', '_'),
    PrintableKey("Equal", 187, '=', '+'),
    PrintableKey("KeyA", 65, 'a', 'A'),
    PrintableKey("KeyB", 66, 'b', 'B'),
    PrintableKey("KeyC", 67, 'c', 'C'),
    PrintableKey("KeyD", 68, 'd', 'D'),
    PrintableKey("KeyE", 69, 'e', 'E'),
    PrintableKey("KeyF", 70, 'f', 'F'),
    PrintableKey("KeyG", 71, 'g', 'G'),
    PrintableKey("KeyH", 72, 'h', 'H'),
    PrintableKey("KeyI", 73, 'i', 'I'),
    PrintableKey("KeyJ", 74, 'j', 'J'),
    PrintableKey("KeyK", 75, 'k', 'K'),
    PrintableKey("KeyL", 76, 'l', 'L'),
    PrintableKey("KeyM", 77, 'm', 'M'),
    PrintableKey("KeyN", 78, 'n', 'N'),
    PrintableKey("KeyO", 79, 'o', 'O'),
    PrintableKey("KeyP", 80, 'p', 'P'),
    PrintableKey("KeyQ", 81, 'q', 'Q'),
    PrintableKey("KeyR", 82, 'r', 'R'),
    PrintableKey("KeyS", 83, 's', 'S'),
    PrintableKey("KeyT", 84, 't', 'T'),
    PrintableKey("KeyU", 85, 'u', 'U'),
    PrintableKey("KeyV", 86, 'v', 'V'),
    PrintableKey("KeyW", 87, 'w', 'W'),
    PrintableKey("KeyX", 88, 'x', 'X'),
    PrintableKey("KeyY", 89, 'y', 'Y'),
    PrintableKey("KeyZ", 90, 'z', 'Z'),
    PrintableKey("BracketLeft", 219, '[', '{'),
    PrintableKey("BracketRight", 221, ']', '}'),
    PrintableKey("Backslash", 220, '\\', '|'),
    PrintableKey("Semicolon", 186, ';', ':'),
    PrintableKey("Quote", 222, '\'', '"'),
    PrintableKey("Comma", 188, ',', '<'),
    PrintableKey("Period", 190, '.', '>'),
    PrintableKey("Slash", 191, '/', '?'),
];

/// Name, code, key code, location.
const NAMED: &[(&str, &str, i64, i64)] = &[
    ("Enter", "Enter", 13, 0),
    ("Enter", "NumpadEnter", 13, ON_KEYPAD),
    ("Tab", "Tab", 9, 0),
    ("Backspace", "Backspace", 8, 0),
    ("Delete", "Delete", 46, 0),
    ("Escape", "Escape", 27, 0),
    ("Insert", "Insert", 45, 0),
    ("Home", "Home", 36, 0),
    ("End", "End", 35, 0),
    ("PageUp", "PageUp", 33, 0),
    ("PageDown", "PageDown", 34, 0),
    ("ArrowLeft", "ArrowLeft", 37, 0),
    ("ArrowUp", "ArrowUp", 38, 0),
    ("ArrowRight", "ArrowRight", 39, 0),
    ("ArrowDown", "ArrowDown", 40, 0),
    ("CapsLock", "CapsLock", 20, 0),
    ("NumLock", "NumLock", 144, 0),
    ("ScrollLock", "ScrollLock", 145, 0),
    ("Pause", "Pause", 19, 0),
    ("PrintScreen", "PrintScreen", 44, 0),
    ("ContextMenu", "ContextMenu", 93, 0),
    ("Shift", "ShiftLeft", 16, ON_THE_LEFT),
    ("Shift", "ShiftRight", 16, ON_THE_RIGHT),
    ("Control", "ControlLeft", 17, ON_THE_LEFT),
    ("Control", "ControlRight", 17, ON_THE_RIGHT),
    ("Alt", "AltLeft", 18, ON_THE_LEFT),
    ("Alt", "AltRight", 18, ON_THE_RIGHT),
    ("Meta", "MetaLeft", 91, ON_THE_LEFT),
    ("Meta", "MetaRight", 92, ON_THE_RIGHT),
];

/// Character, code, key code.
const PAD: &[(char, &str, i64)] = &[
    ('0', "Numpad0", 96),
    ('1', "Numpad1", 97),
    ('2', "Numpad2", 98),
    ('3', "Numpad3", 99),
    ('4', "Numpad4", 100),
    ('5', "Numpad5", 101),
    ('6', "Numpad6", 102),
    ('7', "Numpad7", 103),
    ('8', "Numpad8", 104),
    ('9', "Numpad9", 105),
    ('*', "NumpadMultiply", 106),
    ('+', "NumpadAdd", 107),
    ('-', "NumpadSubtract", 109),
    ('.', "NumpadDecimal", 110),
    ('/', "NumpadDivide", 111),
];

const FUNCTION_KEYS: [&str; 24] = [
    "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10", "F11", "F12", "F13", "F14", "F15",
    "F16", "F17", "F18", "F19", "F20", "F21", "F22", "F23", "F24",
];
