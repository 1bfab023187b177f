//! A proposed tool: its wanted name, what it does, and its rank.

use super::schema::Argument;
use serde_json::Value;

/// A proposed tool. Its name may still change if another tool has it.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// The element it acts on, and how. The same tool has the same key when the page is read again.
    pub(crate) key: (u32, &'static str),
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
    pub(crate) action: ToolAction,
    /// Tools with a higher rank come first in the list.
    pub(crate) rank: i32,
}

/// What a generated tool does. Elements are numbers within one document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ToolAction {
    /// Fills fields, then submits them.
    Fill {
        arguments: Vec<Argument>,
        then: AfterFill,
    },
    /// Presses one element.
    Press { label: String, n: u32 },
    /// Switches one element on or off.
    Switch { label: String, n: u32 },
    /// Presses the element that the argument names.
    Choose {
        argument: &'static str,
        choices: Vec<(String, u32)>,
    },
    /// Presses an element in the item with this index.
    Item { items: Vec<Item>, switch: bool },
    /// Lists the items.
    List { items: Vec<String> },
}

/// One item of a list, and the element in it to press.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) text: String,
    pub(crate) n: u32,
}

/// What happens after filling.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AfterFill {
    /// Presses the button.
    Press {
        label: String,
        n: u32,
    },
    /// Presses Enter in the field.
    Enter {
        n: u32,
    },
    Nothing,
}

impl ToolAction {
    /// The elements that must exist for it.
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
                    AfterFill::Press { n, .. } | AfterFill::Enter { n } => elements.push(*n),
                    AfterFill::Nothing => {}
                }
                elements
            }
            Self::Press { n, .. } | Self::Switch { n, .. } => vec![*n],
            Self::Choose { choices, .. } => choices.iter().map(|(_, n)| *n).collect(),
            Self::Item { .. } | Self::List { .. } => Vec::new(),
        }
    }

    /// Whether its data may be stale although all its elements still exist.
    pub(crate) fn wants_fresh_reading(&self) -> bool {
        matches!(self, Self::Item { .. } | Self::List { .. })
    }

    pub(crate) fn is_read_only(&self) -> bool {
        matches!(self, Self::List { .. })
    }
}
