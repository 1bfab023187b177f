//! Which resources a tab has, and which call reads each.

use super::Seen;
use super::address::TabAddress;
use serde_json::value::to_raw_value;
use serde_json::{Map, Value};
use tabmux_core::{Mode, ShownTab};
use tabmux_protocol::{Asking, CallRequest, ResourceRequest};

/// A kind of resource.
#[derive(Debug)]
pub(crate) struct Kind {
    /// Its name in addresses.
    pub(crate) name: &'static str,
    /// The argument that gets the number after its name, if there is one.
    number: Option<&'static str>,
    /// Its parameter in addresses that says where to begin, if it has parts.
    pub(crate) part: Option<&'static str>,
    /// The argument that gets this parameter.
    part_argument: &'static str,
    /// The tool that reads it.
    pub(crate) tool: &'static str,
    /// What else the tool is called with.
    arguments: &'static [(&'static str, u32)],
    pub(crate) mime_type: &'static str,
    pub(crate) title: &'static str,
    pub(crate) description: &'static str,
}

/// All kinds. Those without a number are listed for each tab, in this order.
pub(super) fn all() -> &'static [Kind] {
    &KINDS
}

/// The kind of this name, with a number or without.
pub(super) fn named(name: &str, has_number: bool) -> Option<&'static Kind> {
    let mut all = KINDS.iter();
    all.find(|kind| kind.name == name && kind.has_number() == has_number)
}

/// The call that reads a resource of this tab.
pub(super) fn call(
    request: &ResourceRequest,
    address: &TabAddress,
    tab: &ShownTab,
    seen: &Seen,
) -> CallRequest {
    let kind = address.kind;
    let mut arguments = Map::new();
    let given = kind.arguments.iter();
    arguments.extend(given.map(|(name, value)| ((*name).to_owned(), Value::from(*value))));
    if let Some(name) = kind.number {
        arguments.insert(name.to_owned(), address.number.into());
    }
    if let Some(start) = address.start {
        arguments.insert(kind.part_argument.to_owned(), start.into());
    }
    if seen.mode == Mode::Static {
        arguments.insert("tabId".to_owned(), address.tab.into());
        if seen.has_several {
            arguments.insert("browserIndex".to_owned(), tab.browser.into());
        }
    }
    CallRequest {
        request_id: request.request_id.clone(),
        tool: kind.tool.to_owned(),
        arguments: to_raw_value(&arguments).unwrap_or_default(),
        progress: request.progress,
        asking: Asking::default(),
    }
}

impl Kind {
    pub(super) fn has_number(&self) -> bool {
        self.number.is_some()
    }

    /// Whether its tool writes a file only for this read.
    pub(super) fn is_read_once(&self) -> bool {
        self.name != "download"
    }
}

static KINDS: [Kind; 9] = [
    Kind {
        tool: "read_page",
        part: Some("offset"),
        part_argument: "offset",
        arguments: &[("limit", 40_000)],
        mime_type: "text/markdown",
        ..Kind::plain(
            "text",
            "main content",
            "The page's main content as Markdown.",
        )
    },
    Kind {
        tool: "take_snapshot",
        ..Kind::plain(
            "snapshot",
            "snapshot",
            "The page as text, with the uid of each element that tools take.",
        )
    },
    Kind {
        tool: "take_screenshot",
        mime_type: "image/png",
        ..Kind::plain("screenshot", "screenshot", "The visible part of the page.")
    },
    Kind {
        tool: "list_console_messages",
        part: Some("page"),
        part_argument: "pageIdx",
        ..Kind::plain(
            "console",
            "console",
            "What the page wrote to its console, and its errors.",
        )
    },
    Kind {
        tool: "list_network_requests",
        part: Some("page"),
        part_argument: "pageIdx",
        ..Kind::plain(
            "network",
            "requests",
            "The page's requests, and the tab's downloads.",
        )
    },
    Kind {
        tool: "save_pdf",
        mime_type: "application/pdf",
        ..Kind::plain("pdf", "PDF", "The page as a PDF file.")
    },
    Kind {
        tool: "get_console_message",
        number: Some("msgid"),
        ..Kind::plain(
            "console",
            "console message",
            "One console message with its arguments and stack.",
        )
    },
    Kind {
        tool: "get_network_request",
        number: Some("reqid"),
        ..Kind::plain(
            "network",
            "request",
            "One request: headers, timing and bodies.",
        )
    },
    Kind {
        tool: "get_network_request",
        number: Some("download"),
        mime_type: "application/octet-stream",
        ..Kind::plain(
            "download",
            "download",
            "A file that the tab downloaded, counted from 1.",
        )
    },
];

impl Kind {
    const fn plain(name: &'static str, title: &'static str, description: &'static str) -> Self {
        Self {
            name,
            number: None,
            part: None,
            part_argument: "",
            tool: "",
            arguments: &[],
            mime_type: "text/plain",
            title,
            description,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_browser::tools;

    #[test]
    fn every_kind_is_read_by_a_page_action_that_takes_its_arguments() {
        for kind in all() {
            let spec = tools::find(kind.tool).unwrap();
            let mut arguments = Map::new();
            for (name, value) in kind.arguments {
                arguments.insert((*name).to_owned(), Value::from(*value));
            }
            let more = kind.number.into_iter();
            for name in more.chain(kind.part.map(|_| kind.part_argument)) {
                arguments.insert(name.to_owned(), 1.into());
            }
            let arguments = to_raw_value(&arguments).unwrap();
            assert!(spec.prepare(&arguments).is_ok(), "{}", kind.name);
        }
    }
}
