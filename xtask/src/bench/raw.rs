//! The same work without tabmux: CDP commands over a separate connection to the browser.

use anyhow::{Context, Result};
use tabmux_cdp::types::runtime::Evaluate;
use tabmux_cdp::types::target::{AttachToTarget, GetTargets};
use tabmux_cdp::{Connection, Events, Session, WebSocketTransport};
use tabmux_testkit::Chromium;

/// A tab, controlled directly over CDP.
pub(super) struct RawTab {
    session: Session,
    _browser: Session,
    _events: (Events, Events),
}

impl RawTab {
    /// Attaches to the tab that shows `url`.
    pub(super) async fn at(chromium: &Chromium, url: &str) -> Result<Self> {
        let transport = WebSocketTransport::connect(chromium.websocket_url(), &[]).await?;
        let (browser, mut events) = Connection::start(transport);
        let targets = browser.send(GetTargets::default()).await?.target_infos;
        let target = targets.into_iter().find(|target| target.url == url);
        let target_id = target.context("no tab shows the page")?.target_id;
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
        Ok(Self {
            session,
            _browser: browser,
            _events: (events, tab_events),
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

/// The minimum that any walk of a page must do: visit every element, find out whether and where it is
/// shown, and record its role and text.
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
