//! What is known about a tab without attaching to it, as it is reported.

use crate::tab::{Load, Tab, TargetId};
use tabmux_cdp::types::browser::BrowserContextId as ContextId;
use tabmux_cdp::types::target::TargetInfo;
use tabmux_text::{one_line, shorten};

/// What is known about a tab without attaching to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TabFacts {
    /// Chrome's id of it.
    pub target: TargetId,
    /// Its address.
    pub url: String,
    /// Its title, shortened and on one line. Empty while its page has none yet.
    pub title: String,
    /// The context it is in: tabs of one context share cookies and storage.
    pub context: Option<ContextId>,
}

impl TabFacts {
    /// The facts to report for a tab that is navigating to `destination`.
    pub(super) fn to_report(&self, tab: Option<&Tab>, destination: Option<&str>) -> Self {
        let mut facts = self.clone();
        if let Some(destination) = destination.filter(|_| self.is_blank()) {
            facts.url = shorten(destination, MOST_URL);
            facts.title.clear();
        }
        let loading = tab.is_some_and(|tab| tab.state().load != Load::Complete);
        if loading && facts.has_no_title() {
            facts.title.clear();
        }
        facts
    }

    /// Whether its page has no title: then Chrome reports its address as the title.
    pub(super) fn has_no_title(&self) -> bool {
        self.title.is_empty() || is_placeholder(&self.title, &self.url)
    }

    /// Whether the tab is blank.
    pub(super) fn is_blank(&self) -> bool {
        matches!(self.url.as_str(), "" | "about:blank")
    }
}

impl From<&TargetInfo> for TabFacts {
    fn from(info: &TargetInfo) -> Self {
        Self {
            target: info.target_id.clone(),
            url: shorten(&info.url, MOST_URL),
            title: one_line(&info.title, MOST_TITLE),
            context: info.browser_context_id.clone(),
        }
    }
}

fn is_placeholder(title: &str, url: &str) -> bool {
    let bare = |text: &str| {
        text.trim_start_matches("http://")
            .trim_end_matches('/')
            .to_owned()
    };
    bare(title) == bare(&one_line(url, MOST_TITLE))
}

const MOST_URL: usize = 4_000;
const MOST_TITLE: usize = 300;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_used_as_title_is_recognised() {
        assert!(is_placeholder("127.0.0.1:80/a", "http://127.0.0.1:80/a"));
        assert!(is_placeholder(
            "https://example.com",
            "https://example.com/"
        ));
        assert!(is_placeholder("about:blank", "about:blank"));
        assert!(!is_placeholder("Example", "https://example.com/"));
        assert!(!is_placeholder("", "https://example.com/"));
    }

    #[test]
    fn a_navigating_tab_shows_its_destination() {
        let blank = TabFacts {
            target: TargetId::from("T"),
            url: "about:blank".into(),
            title: "about:blank".into(),
            context: None,
        };
        let told = blank.to_report(None, Some("http://a/"));
        assert_eq!((told.url.as_str(), told.title.as_str()), ("http://a/", ""));
        assert_eq!(blank.to_report(None, None), blank);
        let there = TabFacts {
            url: "http://b/".into(),
            ..blank
        };
        assert_eq!(there.to_report(None, Some("http://a/")), there);
    }
}
