//! The same work without tabmux: CDP commands over a separate connection to the browser.

use anyhow::{Context, Result};
use tabmux_cdp::types::runtime::Evaluate;
use tabmux_cdp::types::target::{AttachToTarget, CreateTarget, GetTargets, TargetId};
use tabmux_cdp::types::{network, page, runtime, web_mcp};
use tabmux_cdp::{Connection, Events, Session, WebSocketTransport};
use tabmux_testkit::Chromium;

/// A tab, controlled directly over CDP.
pub(super) struct RawTab {
    session: Session,
    _browser: Session,
}

impl RawTab {
    /// Attaches to the tab that shows `url`.
    pub(super) async fn at(chromium: &Chromium, url: &str) -> Result<Self> {
        let transport = WebSocketTransport::connect(chromium.websocket_url(), &[]).await?;
        let (browser, events) = Connection::start(transport);
        let targets = browser.send(GetTargets::default()).await?.target_infos;
        let target = targets.into_iter().find(|target| target.url == url);
        let target_id = target.context("no tab shows the page")?.target_id;
        Self::attach(browser, events, target_id).await
    }

    /// Opens a tab, with the events on that every DevTools client wants, and sends it to `url`.
    pub(super) async fn open(chromium: &Chromium, url: &str) -> Result<Self> {
        let transport = WebSocketTransport::connect(chromium.websocket_url(), &[]).await?;
        let (browser, events) = Connection::start(transport);
        let create = CreateTarget {
            url: "about:blank".to_owned(),
            ..Default::default()
        };
        let target_id = browser.send(create).await?.target_id;
        let tab = Self::attach(browser, events, target_id).await?;
        tab.session.send(page::Enable::default()).await?;
        tab.session.send(network::Enable::default()).await?;
        tab.session.send(runtime::Enable::default()).await?;
        // Fails in a browser without WebMCP, which has no such events.
        let _ = tab.session.send(web_mcp::Enable::default()).await;
        let navigate = page::Navigate {
            url: url.to_owned(),
            ..Default::default()
        };
        tab.session.send(navigate).await?;
        Ok(tab)
    }

    async fn attach(browser: Session, mut events: Events, target_id: TargetId) -> Result<Self> {
        let attach = AttachToTarget {
            target_id,
            flatten: Some(true),
        };
        browser.send(attach).await?;
        let (session, tab_events) = loop {
            let event = events.next().await.context("the browser is gone")?;
            if let Some(child) = event.child {
                break child;
            }
        };
        for events in [events, tab_events] {
            tokio::spawn(discard(events));
        }
        Ok(Self {
            session,
            _browser: browser,
        })
    }

    /// Evaluates an expression; returns the length of its text.
    pub(super) async fn evaluate(&self, expression: &str) -> usize {
        let command = Evaluate {
            expression: expression.to_owned(),
            return_by_value: Some(true),
            ..Default::default()
        };
        let answer = self.session.send(command).await;
        let value = answer.ok().and_then(|answer| answer.result.value);
        value.map_or(0, |value| value.as_str().len())
    }
}

async fn discard(mut events: Events) {
    while events.next().await.is_some() {}
}

/// What any walk of a page has to do at least: visit every element, ask whether and where it is
/// shown, and write down what it is and what it says itself.
pub(super) const WALK: &str = r#"(() => {
  const lines = [];
  const visit = (element, depth) => {
    if (!element.checkVisibility({ visibilityProperty: true })) return;
    const box = element.getBoundingClientRect();
    if (box.width && box.height) {
      const role = element.getAttribute("role") ?? element.localName;
      const text = element.firstElementChild ? "" : element.textContent;
      const label = element.getAttribute("aria-label") ?? text;
      lines.push(" ".repeat(depth) + role + " " + JSON.stringify(label));
    }
    for (const child of element.children) visit(child, depth + 1);
  };
  visit(document.body, 0);
  return lines.join("\n");
})()"#;
