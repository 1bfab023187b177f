//! The arguments of the core's tools, as agents write them.

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use std::fmt;
use tabmux_core::TabRef;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConnectBrowser {
    pub(super) launch: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ListTabs {}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MoreTools {
    pub(super) category: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct NewPage {
    pub(super) url: String,
    #[serde(default, rename = "background")]
    _background: bool, // Accepted and ignored: new pages always open in the background.
    pub(super) isolated_context: Option<String>,
    pub(super) timeout: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct SelectPage {
    #[serde(alias = "tabId")]
    pub(super) page_id: TabArgument,
    #[serde(default)]
    pub(super) bring_to_front: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ListPageTools {
    pub(super) tab_id: Option<TabArgument>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CallPageTool {
    pub(super) name: String,
    pub(super) arguments: Option<Map<String, Value>>,
    pub(super) tab_id: Option<TabArgument>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct OnePage {
    #[serde(alias = "tabId")]
    pub(super) page_id: TabArgument,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OpenTab {
    pub(super) url: String,
    pub(super) focus: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct FocusTab {
    pub(super) tab_id: TabArgument,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct CloseTab {
    pub(super) tab_id: Option<TabArgument>,
}

/// A tab number, written as a number or as a string.
pub(super) struct TabArgument(pub(super) TabRef);

impl<'de> Deserialize<'de> for TabArgument {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Form;
        impl Visitor<'_> for Form {
            type Value = TabRef;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the number of a tab")
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<TabRef, E> {
                Ok(TabRef::from(number.to_string().as_str()))
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<TabRef, E> {
                Ok(TabRef::from(number.to_string().as_str()))
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<TabRef, E> {
                Ok(TabRef::from(number))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<TabRef, E> {
                Ok(TabRef::from(text))
            }
        }
        deserializer.deserialize_any(Form).map(Self)
    }
}
