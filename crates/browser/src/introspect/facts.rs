//! What the page script tells about the controls of one frame. Everything in it was chosen by the page.

use serde::Deserialize;
use serde_json::Value;

/// One look at one document.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Survey {
    pub(crate) controls: Vec<Control>,
    /// Controls beyond what is told.
    pub(crate) left: usize,
    pub(crate) groups: Vec<Group>,
    /// Elements that show other documents.
    pub(crate) frames: Vec<u32>,
    /// Elements that may hide a closed shadow root.
    pub(crate) hosts: Vec<u32>,
    /// What the look has cost the page.
    pub(crate) took_ms: f64,
}

/// Something that a person can operate.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Control {
    pub(crate) n: u32,
    pub(crate) role: String,
    pub(crate) name: String,
    /// What the author calls it in the markup, where nothing can be read.
    pub(crate) hint: String,
    /// The heading before it.
    pub(crate) heading: String,
    /// Its innermost group, or a negative number.
    pub(crate) group: i64,
    pub(crate) disabled: bool,
    /// Whether it is on, checked, pressed, selected or open, where it can be.
    pub(crate) on: Option<bool>,
    /// Links: whether it acts instead of leading elsewhere.
    pub(crate) acts: bool,
    pub(crate) popup: bool,
    /// Sends its form.
    pub(crate) submit: bool,
    pub(crate) pressable: bool,
    pub(crate) expandable: bool,
    #[serde(flatten)]
    pub(crate) field: Field,
}

/// What a field takes; `kind` is empty for what is no field.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Field {
    #[serde(rename = "field")]
    pub(crate) kind: String,
    /// The words just before a field without a name.
    pub(crate) before: String,
    pub(crate) placeholder: String,
    pub(crate) description: String,
    /// Its `name` or `id`.
    pub(crate) key: String,
    pub(crate) required: bool,
    /// Cannot be changed by hand.
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
    /// What it held when it was first met.
    pub(crate) value: Option<Value>,
}

/// An option of a list.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Choice {
    pub(crate) text: String,
    pub(crate) disabled: bool,
    /// Stands for having chosen nothing.
    pub(crate) empty: bool,
}

/// Something that controls belong to.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Group {
    pub(crate) kind: Kind,
    pub(crate) n: u32,
    /// The group around it, or a negative number.
    pub(crate) outer: i64,
    pub(crate) name: String,
    pub(crate) hint: String,
    /// The heading before it.
    pub(crate) heading: String,
    /// Items: what can be read in it.
    pub(crate) text: String,
    pub(crate) modal: bool,
    /// Forms: the page itself offers it as a tool.
    pub(crate) offered: bool,
    /// Lists: how many items there are, with or without controls.
    pub(crate) size: usize,
    /// Lists: known only by its children, which are alike.
    pub(crate) guessed: bool,
}

/// What a group is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Form,
    Search,
    /// Fields without a form and the button beside them.
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

    /// What a person would call it.
    pub(crate) fn called(&self) -> &str {
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
        // A page cannot make a circle of them, but nothing here may depend on that.
        (0..DEEPEST).map_while(move |_| {
            let at = usize::try_from(next).ok()?;
            let group = self.groups.get(at)?;
            next = group.outer;
            Some((at, group))
        })
    }
}

const DEEPEST: usize = 200;
