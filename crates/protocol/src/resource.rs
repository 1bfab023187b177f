//! Resources: what a client can read by its address, without calling a tool.

use crate::RequestId;
use serde::{Deserialize, Serialize};

/// A request about resources. It is answered like a call, and cancelled by its id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceRequest {
    /// The caller's id, unique among the session's unanswered calls and requests.
    pub request_id: RequestId,
    /// What is asked.
    pub query: ResourceQuery,
    /// Whether the client wants progress.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub progress: bool,
}

/// What a client asks about resources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum ResourceQuery {
    /// Which there are now. The answer has a [`Content::ResourceLink`](crate::Content::ResourceLink) for each.
    List,
    /// Which there can be. The addresses in the answer are templates (RFC 6570).
    Templates,
    /// What one of them contains. The answer has [`Content::Resource`](crate::Content::Resource) only, or is an error.
    Read {
        /// Its address.
        uri: String,
    },
}

/// A resource that can be read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceInfo {
    /// Its address.
    pub uri: String,
    /// Its name for programs.
    pub name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `text/markdown` and the like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
}

/// The content of a resource: either text or bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceBody {
    /// Its address.
    pub uri: String,
    /// `text/markdown` and the like.
    pub mime_type: String,
    /// The text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Base64 of the bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}
