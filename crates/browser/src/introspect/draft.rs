//! A tool on its way: what it would be called, what it does, and how much it is worth.

use super::schema::Argument;
use serde_json::Value;

/// A proposed tool. Its name may still have to make room for another one's.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// What it acts on, and how: the same tool has the same key when the page is read again.
    pub(crate) key: (u32, &'static str),
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
    pub(crate) deed: ToolAction,
    /// The higher, the sooner it is worth a place in the list.
    pub(crate) rank: i32,
}

/// What a generated tool does. Elements are numbers of one document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ToolAction {
    /// Fills fields, then sends them.
    Fill {
        arguments: Vec<Argument>,
        then: Then,
    },
    /// Presses one thing.
    Press { label: String, n: u32 },
    /// Switches one thing on or off.
    Switch { label: String, n: u32 },
    /// Presses the one of these that the argument names.
    Choose {
        argument: &'static str,
        choices: Vec<(String, u32)>,
    },
    /// Presses something in the item of that index.
    Item { items: Vec<Item>, switch: bool },
    /// Tells the items.
    List { items: Vec<String> },
}

/// One item of a list, and what in it is to be pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) text: String,
    pub(crate) n: u32,
}

/// What follows the filling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Then {
    /// Pressing the button.
    Press {
        label: String,
        n: u32,
    },
    /// Pressing Enter in the field; where the last argument says so, if `asked`.
    Enter {
        n: u32,
    },
    Nothing,
}

impl ToolAction {
    /// The elements that must be there for it.
    pub(crate) fn elements(&self) -> Vec<u32> {
        use super::schema::Fills;
        match self {
            Self::Fill { arguments, then } => {
                let mut elements = Vec::new();
                for argument in arguments {
                    match &argument.fills {
                        Fills::Field(n) | Fills::Picker(n) | Fills::Slider(n) => elements.push(*n),
                        Fills::Boxes(boxes) | Fills::Radios(boxes) => {
                            elements.extend(boxes.iter().map(|(_, n)| *n));
                        }
                    }
                }
                match then {
                    Then::Press { n, .. } | Then::Enter { n } => elements.push(*n),
                    Then::Nothing => {}
                }
                elements
            }
            Self::Press { n, .. } | Self::Switch { n, .. } => vec![*n],
            Self::Choose { choices, .. } => choices.iter().map(|(_, n)| *n).collect(),
            Self::Item { .. } | Self::List { .. } => Vec::new(),
        }
    }

    /// Whether it speaks of what may have changed since the page was read, though nothing is gone.
    pub(crate) fn wants_fresh_reading(&self) -> bool {
        matches!(self, Self::Item { .. } | Self::List { .. })
    }

    /// Whether it changes nothing.
    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Self::List { .. })
    }
}
