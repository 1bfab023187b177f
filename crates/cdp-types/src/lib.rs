//! Chrome DevTools Protocol types for the domains we use, generated and lenient.
//!
//! # Layout
//!
//! [`protocol`] is generated: a module per domain, flattened into this crate, so that `page::Navigate` is the command
//! `Page.navigate`, `page::NavigateResponse` its response and `page::FrameNavigated` an event. The other files are
//! the small runtime that the generated code uses.
//!
//! Everything from a browser is decoded leniently, because other versions omit fields, add fields, and send numbers
//! as strings. A missing or null field is the default, unknown fields are ignored, and enumerations are open: any
//! text is a value.

mod json;
mod lenient;
mod newtypes;
pub mod protocol;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

pub use json::Json;
pub use protocol::*;

/// A command of the protocol: its parameters are the fields, its response is [`Command::Response`].
pub trait Command: Serialize + Send {
    /// The full name, such as `Page.navigate`.
    const METHOD: &'static str;
    /// The browser's response.
    type Response: DeserializeOwned + Default + Send;
}

/// An event of the protocol: its parameters are the fields.
pub trait Event: DeserializeOwned {
    /// The full name, such as `Page.frameNavigated`.
    const METHOD: &'static str;
}

/// An empty response.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Empty {}
