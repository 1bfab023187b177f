//! JSON that is kept as text until it is needed.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::DeserializeOwned};
use serde_json::value::{RawValue, to_raw_value};

use tabmux_text::decode;

/// A JSON value of any shape, such as headers, a schema or the result of a script. The caller decodes it.
#[derive(Clone)]
pub struct Json(Box<RawValue>);

impl Json {
    /// Encodes `value`.
    ///
    /// # Errors
    ///
    /// If `value` has no JSON form, such as a map whose keys are not strings.
    pub fn encode(value: &(impl Serialize + ?Sized)) -> Result<Self, serde_json::Error> {
        to_raw_value(value).map(Self)
    }

    /// Decodes the value as a `T`.
    ///
    /// # Errors
    ///
    /// If the value does not have the shape of a `T`.
    pub fn decode<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        decode(self.as_str())
    }

    /// The JSON text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Whether this is `null`, which is also the default.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.as_str() == "null"
    }
}

impl Default for Json {
    fn default() -> Self {
        Self(RawValue::NULL.to_owned())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Box<RawValue>> for Json {
    fn from(raw: Box<RawValue>) -> Self {
        Self(raw)
    }
}

impl From<Json> for Box<RawValue> {
    fn from(json: Json) -> Self {
        json.0
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self)
    }
}
