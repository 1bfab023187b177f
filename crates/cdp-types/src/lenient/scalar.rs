//! Numbers, booleans and strings, each read from any of the three.

use std::{fmt, marker::PhantomData};

use serde::{
    Deserializer,
    de::{Error, Unexpected, Visitor},
};

use super::Lenient;

macro_rules! read_scalars {
    ($($scalar:ty)*) => {$(
        impl Lenient for $scalar {
            fn lenient<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                deserializer.deserialize_any(ScalarVisitor::default())
            }
        }
    )*};
}

read_scalars!(i64 f64 bool String);

/// A number, a boolean or a string, read from any of the three.
trait Scalar: Default {
    /// The expected type, for the error.
    const EXPECTED: &'static str;

    /// From a number.
    fn from_number(number: f64) -> Self;

    /// From an integer, which may be too large for an exact `f64`.
    fn from_integer(integer: i64) -> Self {
        Self::from_number(integer as f64)
    }

    /// From a string, if it contains such a value.
    fn from_text(text: &str) -> Option<Self>;

    /// From a boolean.
    fn from_bool(value: bool) -> Self;
}

impl Scalar for i64 {
    const EXPECTED: &'static str = "an integer";

    fn from_number(number: f64) -> Self {
        // The cast saturates, and turns NaN into zero.
        number as Self
    }

    fn from_integer(integer: i64) -> Self {
        integer
    }

    fn from_text(text: &str) -> Option<Self> {
        let text = text.trim();
        text.parse()
            .ok()
            .or_else(|| text.parse().ok().map(Self::from_number))
    }

    fn from_bool(value: bool) -> Self {
        Self::from(value)
    }
}

impl Scalar for f64 {
    const EXPECTED: &'static str = "a number";

    fn from_number(number: f64) -> Self {
        number
    }

    fn from_text(text: &str) -> Option<Self> {
        text.trim().parse().ok()
    }

    fn from_bool(value: bool) -> Self {
        Self::from(value)
    }
}

impl Scalar for bool {
    const EXPECTED: &'static str = "true or false";

    fn from_number(number: f64) -> Self {
        number != 0.0
    }

    fn from_text(text: &str) -> Option<Self> {
        match text.trim() {
            "true" | "1" => Some(true),
            "false" | "0" | "" => Some(false),
            _ => None,
        }
    }

    fn from_bool(value: bool) -> Self {
        value
    }
}

impl Scalar for String {
    const EXPECTED: &'static str = "a text";

    fn from_number(number: f64) -> Self {
        number.to_string()
    }

    fn from_integer(integer: i64) -> Self {
        integer.to_string()
    }

    fn from_text(text: &str) -> Option<Self> {
        Some(text.to_owned())
    }

    fn from_bool(value: bool) -> Self {
        value.to_string()
    }
}

/// Reads a scalar.
struct ScalarVisitor<T>(PhantomData<T>);

impl<T> Default for ScalarVisitor<T> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T: Scalar> Visitor<'_> for ScalarVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(T::EXPECTED)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<T, E> {
        Ok(T::from_bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<T, E> {
        Ok(T::from_integer(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<T, E> {
        match i64::try_from(value) {
            Ok(integer) => self.visit_i64(integer),
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<T, E> {
        Ok(T::from_number(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<T, E> {
        T::from_text(value).ok_or_else(|| E::invalid_value(Unexpected::Str(value), &self))
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(T::default())
    }
}
