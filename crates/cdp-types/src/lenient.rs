//! Lenient deserialization of what browsers send: missing or null fields, numbers as text, text as numbers.
//!
//! Generated types use this instead of serde's derive, which would need attributes on every field and takes three
//! times as long to compile.

pub(crate) mod object;
mod scalar;

use serde::{Deserialize, Deserializer, de::MapAccess};

use crate::Json;

/// A type that can be read leniently. Null is the default of every such type.
pub(crate) trait Lenient: Sized {
    /// Reads any value, as far as it makes sense.
    fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

/// Reads the value of a field leniently.
pub(crate) fn next_value<'de, T: Lenient, A: MapAccess<'de>>(map: &mut A) -> Result<T, A::Error> {
    map.next_value().map(|Wrapper(value)| value)
}

impl<T: Lenient> Lenient for Option<T> {
    fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Option::deserialize(deserializer)?;
        Ok(value.map(|Wrapper(value)| value))
    }
}

impl<T: Lenient> Lenient for Vec<T> {
    fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list: Option<Vec<Wrapper<T>>> = Option::deserialize(deserializer)?;
        Ok(list
            .unwrap_or_default()
            .into_iter()
            .map(|Wrapper(item)| item)
            .collect())
    }
}

impl<T: Lenient> Lenient for Box<T> {
    fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::lenient(deserializer).map(Self::new)
    }
}

impl Lenient for Json {
    fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::deserialize(deserializer)
    }
}

/// Implements `Deserialize` for a lenient type.
struct Wrapper<T>(T);

impl<'de, T: Lenient> Deserialize<'de> for Wrapper<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::lenient(deserializer).map(Self)
    }
}
