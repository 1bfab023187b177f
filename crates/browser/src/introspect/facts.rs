//! What the page script reports about the controls of one frame. All of it is untrusted page content.

use serde::Deserialize;
use serde_json::Value;

/// The result of reading one document.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Survey {
    pub(crate) controls: Vec<Control>,
    /// How many controls were left out.
    pub(crate) left: usize,
    pub(crate) groups: Vec<Group>,
    /// Elements that show other documents.
    pub(crate) frames: Vec<u32>,
    /// Elements that may hide a closed shadow root.
    pub(crate) hosts: Vec<u32>,
    /// How long the page was busy with it.
    pub(crate) took_ms: f64,
}

/// An element that a user can operate.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Control {
    pub(crate) n: u32,
    pub(crate) role: String,
    pub(crate) name: String,
    /// Its name in the markup, if it has no readable one.
    pub(crate) hint: String,
    /// The heading before it.
    pub(crate) heading: String,
    /// Its innermost group; negative if it has none.
    pub(crate) group: i64,
    pub(crate) disabled: bool,
    /// Whether it is on, checked, pressed, selected or open; none if that does not apply.
    pub(crate) on: Option<bool>,
    /// Links: whether it runs a script instead of navigating.
    pub(crate) acts: bool,
    pub(crate) popup: bool,
    /// Submits its form.
    pub(crate) submit: bool,
    pub(crate) pressable: bool,
    pub(crate) expandable: bool,
    #[serde(flatten)]
    pub(crate) field: Field,
}

/// What a field accepts; `kind` is empty if the control is not a field.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Field {
    #[serde(rename = "field")]
    pub(crate) kind: String,
    /// The text just before a field without a name.
    pub(crate) before: String,
    pub(crate) placeholder: String,
    pub(crate) description: String,
    /// Its `name` or `id`.
    pub(crate) key: String,
    pub(crate) required: bool,
    /// The user cannot edit it.
    pub(crate) fixed: bool,
    pub(crate) secret: bool,
    pub(crate) min: String,
    pub(crate) max: String,
    pub(crate) step: String,
    pub(crate) pattern: String,
    pub(crate) min_length: String,
    pub(crate) max_length: String,
    pub(crate) options: Option<Vec<Choice>>,
    pub(crate) more_options: usize,
    /// Its value when it was first read.
    pub(crate) value: Option<Value>,
}

/// An option of a select list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Choice {
    pub(crate) text: String,
    pub(crate) disabled: bool,
    /// Means that nothing is chosen.
    pub(crate) empty: bool,
}

/// A group of controls.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Group {
    pub(crate) kind: Kind,
    pub(crate) n: u32,
    /// The group around it; negative if it has none.
    pub(crate) outer: i64,
    pub(crate) name: String,
    pub(crate) hint: String,
    /// The heading before it.
    pub(crate) heading: String,
    /// Items: its readable text.
    pub(crate) text: String,
    pub(crate) modal: bool,
    /// Forms: the page itself offers it as a tool.
    pub(crate) offered: bool,
    /// Lists: how many items there are, with or without controls.
    pub(crate) size: usize,
    /// Lists: recognised only because its children look alike.
    pub(crate) guessed: bool,
}

/// What a group is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Form,
    Search,
    /// Fields without a form, and the button next to them.
    Panel,
    Nav,
    Tabs,
    Menu,
    Choice,
    Toolbar,
    Dialog,
    Fieldset,
    List,
    Item,
    Header,
    Footer,
    #[default]
    #[serde(other)]
    Other,
}

impl Control {
    pub(crate) fn is_field(&self) -> bool {
        !self.field.kind.is_empty()
    }

    /// Its name for users.
    pub(crate) fn display_name(&self) -> &str {
        let words = [&self.name, &self.field.before, &self.field.placeholder];
        let first = words.into_iter().find(|words| !words.is_empty());
        first.map_or("", String::as_str)
    }
}

impl Survey {
    /// The groups around a control, from the inside out.
    pub(crate) fn around(&self, control: &Control) -> impl Iterator<Item = (usize, &Group)> {
        self.outward(control.group)
    }

    /// The groups around a group, from the inside out, itself first.
    pub(crate) fn outward(&self, group: i64) -> impl Iterator<Item = (usize, &Group)> {
        let mut next = group;
        // The script reports no cycles, but this must not depend on it.
        (0..MAX_DEPTH).map_while(move |_| {
            let at = usize::try_from(next).ok()?;
            let group = self.groups.get(at)?;
            next = group.outer;
            Some((at, group))
        })
    }
}

const MAX_DEPTH: usize = 200;
