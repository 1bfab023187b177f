//! The three kinds of named scalars in the protocol: identifiers, open enumerations and numbers.

/// An identifier: cheap to clone, created from any text.
macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(std::sync::Arc<str>);

        $crate::newtypes::text_like!($name);
    };
}

/// An enumeration that a browser may extend: the known values are constants.
macro_rules! open_enum {
    ($(#[$doc:meta])* $name:ident { $($value:ident = $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(std::borrow::Cow<'static, str>);

        impl $name {
            $(pub const $value: Self = Self(std::borrow::Cow::Borrowed($text));)*
        }

        $crate::newtypes::text_like!($name);
    };
}

/// What identifiers and enumerations share.
macro_rules! text_like {
    ($name:ident) => {
        impl $name {
            /// The text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<String> for $name {
            fn from(text: String) -> Self {
                Self(text.into())
            }
        }

        impl From<&str> for $name {
            fn from(text: &str) -> Self {
                Self(text.to_owned().into())
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl PartialEq<str> for $name {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $name {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self.as_str(), f)
            }
        }

        $crate::newtypes::read_as!($name(String));
    };
}

/// An identifier that is an integer.
macro_rules! integer_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        $crate::newtypes::number_like!($name(i64));
    };
}

/// A quantity.
macro_rules! number {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, Default, PartialEq, PartialOrd, serde::Serialize)]
        #[serde(transparent)]
        pub struct $name(pub f64);

        $crate::newtypes::number_like!($name(f64));
    };
}

/// What integers and quantities share.
macro_rules! number_like {
    ($name:ident($inner:ty)) => {
        impl From<$inner> for $name {
            fn from(value: $inner) -> Self {
                Self(value)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.0, f)
            }
        }

        $crate::newtypes::read_as!($name($inner));
    };
}

/// A named scalar is read as leniently as the scalar in it.
macro_rules! read_as {
    ($name:ident($inner:ty)) => {
        impl $crate::lenient::Lenient for $name {
            fn lenient<'de, D: serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                <$inner as $crate::lenient::Lenient>::lenient(deserializer).map(Self::from)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <Self as $crate::lenient::Lenient>::lenient(deserializer)
            }
        }
    };
}

pub(crate) use {integer_id, number, number_like, open_enum, read_as, text_id, text_like};
