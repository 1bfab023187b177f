//! Objects with named fields.

use std::{borrow::Cow, fmt};

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};

/// An object whose fields are read one by one, in any order.
pub(crate) trait Object: Default {
    /// Reads the value of the field `name`, or skips it if there is no such field.
    fn read_field<'de, A: MapAccess<'de>>(
        &mut self,
        name: &str,
        map: &mut A,
    ) -> Result<(), A::Error>;
}

/// Implements reading for a struct: `readable!(Frame { id: "id", parent_id: "parentId" })`.
macro_rules! readable {
    ($name:ident { $($field:ident: $wire:literal),* $(,)? }) => {
        impl $crate::lenient::object::Object for $name {
            fn read_field<'de, A: serde::de::MapAccess<'de>>(
                &mut self,
                name: &str,
                map: &mut A,
            ) -> Result<(), A::Error> {
                match name {
                    $($wire => self.$field = $crate::lenient::next_value(map)?,)*
                    _ => $crate::lenient::object::skip_value(map)?,
                }
                Ok(())
            }
        }

        impl $crate::lenient::Lenient for $name {
            fn lenient<'de, D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                let visitor = $crate::lenient::object::ObjectVisitor(Self::default());
                deserializer.deserialize_any(visitor)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <Self as $crate::lenient::Lenient>::lenient(deserializer)
            }
        }
    };
}

pub(crate) use readable;

/// Skips the value of an unknown field.
pub(crate) fn skip_value<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    map.next_value().map(|IgnoredAny| ())
}

/// Fills the object that it holds.
pub(crate) struct ObjectVisitor<T>(pub(crate) T);

impl<'de, T: Object> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<T, A::Error> {
        while let Some(name) = map.next_key::<Cow<'de, str>>()? {
            self.0.read_field(&name, &mut map)?;
        }
        Ok(self.0)
    }

    fn visit_unit<E: Error>(self) -> Result<T, E> {
        Ok(self.0)
    }
}
