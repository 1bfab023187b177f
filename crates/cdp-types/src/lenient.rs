//! Scalars as browsers send them: numbers as text, text as numbers, integers with a fraction, null for nothing.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{Error, SeqAccess, Unexpected, Visitor},
};

/// For `#[serde(deserialize_with)]`: reads a scalar, or an optional one, or a list of them, in any form it may have.
pub(crate) fn lenient<'de, D: Deserializer<'de>, T: Lenient<'de>>(
    deserializer: D,
) -> Result<T, D::Error> {
    T::lenient(deserializer)
}

/// For `#[serde(deserialize_with)]`: reads null as the default.
pub(crate) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A type with a lenient reading.
pub(crate) trait Lenient<'de>: Sized {
    /// Reads whatever comes, as far as it can be understood.
    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error>;
}

impl<'de, T: Scalar> Lenient<'de> for T {
    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::lenient(deserializer).map(Option::unwrap_or_default)
    }
}

impl<'de, T: Scalar> Lenient<'de> for Option<T> {
    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ScalarVisitor(None))
    }
}

impl<'de, T: Scalar> Lenient<'de> for Vec<T> {
    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Option::lenient(deserializer).map(Option::unwrap_or_default)
    }
}

impl<'de, T: Scalar> Lenient<'de> for Option<Vec<T>> {
    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ListVisitor(Vec::new()))
    }
}

impl<'de, T: Scalar> Lenient<'de> for Vec<Vec<T>> {
    fn lenient<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let lists = Option::<Vec<Wrapper<Vec<T>>>>::deserialize(deserializer)?;
        Ok(lists
            .unwrap_or_default()
            .into_iter()
            .map(|list| list.0)
            .collect())
    }
}

/// A number, a truth value or a text, made from any of the three.
pub(crate) trait Scalar: Default {
    /// What the type expects, for the error.
    const EXPECTED: &'static str;

    /// Makes it from a number.
    fn from_number(number: f64) -> Option<Self>;

    /// Makes it from an integer, which may be too large to be exact as an `f64`.
    fn from_integer(integer: i64) -> Option<Self> {
        Self::from_number(integer as f64)
    }

    /// Makes it from a text.
    fn from_text(text: &str) -> Option<Self>;

    /// Makes it from a truth value.
    fn from_bool(value: bool) -> Option<Self>;
}

impl Scalar for i64 {
    const EXPECTED: &'static str = "an integer";

    fn from_number(number: f64) -> Option<Self> {
        // The cast saturates, and makes zero of not-a-number.
        Some(number as Self)
    }

    fn from_integer(integer: i64) -> Option<Self> {
        Some(integer)
    }

    fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        text.parse()
            .ok()
            .or_else(|| text.parse().ok().and_then(Self::from_number))
    }

    fn from_bool(value: bool) -> Option<Self> {
        Some(Self::from(value))
    }
}

impl Scalar for f64 {
    const EXPECTED: &'static str = "a number";

    fn from_number(number: f64) -> Option<Self> {
        Some(number)
    }

    fn from_text(text: &str) -> Option<Self> {
        text.trim().parse().ok()
    }

    fn from_bool(value: bool) -> Option<Self> {
        Some(Self::from(value))
    }
}

impl Scalar for bool {
    const EXPECTED: &'static str = "true or false";

    fn from_number(number: f64) -> Option<Self> {
        Some(number != 0.0)
    }

    fn from_text(text: &str) -> Option<Self> {
        match text.trim() {
            "true" | "1" => Some(true),
            "false" | "0" | "" => Some(false),
            _ => None,
        }
    }

    fn from_bool(value: bool) -> Option<Self> {
        Some(value)
    }
}

impl Scalar for String {
    const EXPECTED: &'static str = "a text";

    fn from_number(number: f64) -> Option<Self> {
        Some(number.to_string())
    }

    fn from_integer(integer: i64) -> Option<Self> {
        Some(integer.to_string())
    }

    fn from_text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    fn from_bool(value: bool) -> Option<Self> {
        Some(value.to_string())
    }
}

struct ScalarVisitor<T>(Option<T>);

impl<'de, T: Scalar> Visitor<'de> for ScalarVisitor<T> {
    type Value = Option<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Self::Value, E> {
        understood(T::from_bool(value), Unexpected::Bool(value), &self)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Self::Value, E> {
        understood(T::from_integer(value), Unexpected::Signed(value), &self)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Self::Value, E> {
        let made = match i64::try_from(value) {
            Ok(integer) => T::from_integer(integer),
            Err(_) => T::from_number(value as f64),
        };
        understood(made, Unexpected::Unsigned(value), &self)
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Self::Value, E> {
        understood(T::from_number(value), Unexpected::Float(value), &self)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Self::Value, E> {
        understood(T::from_text(value), Unexpected::Str(value), &self)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

fn understood<T, E: Error>(
    made: Option<T>,
    unexpected: Unexpected<'_>,
    expected: &dyn serde::de::Expected,
) -> Result<Option<T>, E> {
    match made {
        Some(value) => Ok(Some(value)),
        None => Err(E::invalid_value(unexpected, expected)),
    }
}

struct ListVisitor<T>(Vec<T>);

impl<'de, T: Scalar> Visitor<'de> for ListVisitor<T> {
    type Value = Option<Vec<T>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of which each is {}", T::EXPECTED)
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<Self::Value, A::Error> {
        while let Some(Wrapper(item)) = items.next_element()? {
            self.0.push(item);
        }
        Ok(Some(self.0))
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }
}

/// Gives a lenient type the ordinary trait.
struct Wrapper<T>(T);

impl<'de, T: Lenient<'de>> Deserialize<'de> for Wrapper<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::lenient(deserializer).map(Self)
    }
}
