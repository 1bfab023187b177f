//! Reading that takes what browsers send: fields that are missing or null, numbers as text, text as numbers.
//!
//! Generated types use this instead of serde's derive, which would have to be told of all this field by field, and which
//! takes three times as long to compile.

pub(crate) mod object;
mod scalar;

use serde::{Deserialize, Deserializer, de::MapAccess};

use crate::Json;

/// A type with a lenient reading. Null is the default of every such type.
pub(crate) trait Lenient: Sized {
    /// Reads whatever comes, as far as it can be understood.
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

/// Gives a lenient type the ordinary trait.
struct Wrapper<T>(T);

impl<'de, T: Lenient> Deserialize<'de> for Wrapper<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::lenient(deserializer).map(Self)
    }
}
