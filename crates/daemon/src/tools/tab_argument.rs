//! The number of a tab, as agents write it.

use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::fmt;
use tabmux_core::TabRef;

/// The schema of `pageId`.
pub(super) fn page_id_schema() -> Value {
    json!({"type": "number", "description": "From list_pages."})
}

/// A tab number, written as a number or as a string.
pub(crate) struct TabArgument(pub(crate) TabRef);

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
