//! The lists of resources and of templates.

use super::Seen;
use super::address::{self, SCHEME};
use super::kinds::{self, Kind};
use super::reading::mime_of;
use tabmux_core::{Mode, ShownTab};
use tabmux_protocol::{CallReply, Content, ResourceInfo};
use tabmux_text::one_line;

/// The resources that a session has now: those of its tabs, and the files that it wrote. A progressive session has those
/// of its focused tab only, like its page actions.
pub(super) fn list(seen: &Seen) -> CallReply {
    let is_listed = |tab: &&ShownTab| {
        let within_reach = seen.mode == Mode::Static || tab.row.focused;
        within_reach && !tab.is_hidden
    };
    let tabs = seen.tabs.iter().filter(is_listed).take(MOST_TABS);
    let kinds = || {
        let kinds = kinds::all().iter();
        kinds.filter(|kind| !kind.has_number() && seen.tools.contains(&kind.tool))
    };
    let of_tabs = tabs.flat_map(|tab| kinds().map(|kind| of_tab(tab, kind)));
    let saved = seen.output.saved().into_iter().map(|file| {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        of_file(file.number, &name)
    });
    links(of_tabs.chain(saved))
}

/// The addresses that resources can have.
pub(super) fn templates() -> CallReply {
    let tabs = kinds::all().iter().map(|kind| {
        let number = if kind.has_number() { "/{n}" } else { "" };
        let part = kind.part.map(|part| format!("{{?{part}}}"));
        let part = part.unwrap_or_default();
        let name = kind.name;
        ResourceInfo {
            uri: format!("{SCHEME}tab/{{id}}/{name}{number}{part}"),
            name: format!("tab {}", kind.title),
            title: None,
            description: Some(kind.description.to_owned()),
            mime_type: Some(kind.mime_type.to_owned()),
        }
    });
    let file = ResourceInfo {
        uri: format!("{SCHEME}file/{{n}}{{?offset}}"),
        name: "file".to_owned(),
        title: None,
        description: Some("A file that a tool saved or a page downloaded.".to_owned()),
        mime_type: None,
    };
    links(tabs.chain([file]))
}

/// A file of the session.
pub(crate) fn of_file(number: u64, name: &str) -> ResourceInfo {
    ResourceInfo {
        uri: address::of_file(number),
        name: one_line(name, LONGEST_TITLE),
        title: None,
        description: None,
        mime_type: Some(mime_of(name).to_owned()),
    }
}

fn of_tab(tab: &ShownTab, kind: &Kind) -> ResourceInfo {
    let number = tab.row.id.0;
    let title = one_line(&tab.row.title, LONGEST_TITLE);
    ResourceInfo {
        uri: address::of_tab(number, kind.name),
        name: format!("tab {number} {}", kind.title),
        title: Some(format!("{title}: {}", kind.title)),
        description: None,
        mime_type: Some(kind.mime_type.to_owned()),
    }
}

fn links(resources: impl Iterator<Item = ResourceInfo>) -> CallReply {
    CallReply {
        content: resources.map(Content::ResourceLink).collect(),
        ..CallReply::default()
    }
}

/// The rest can be read by its address, as the templates say.
const MOST_TABS: usize = 200;
const LONGEST_TITLE: usize = 100;
