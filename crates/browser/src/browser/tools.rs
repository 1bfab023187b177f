//! What a browser tells about the tools that its pages have of their own.

use super::BrowserEvent;
use super::orders::Order;
use crate::page_tools::{Findings, ToolSource};
use crate::tab::{Tab, TargetId};
use std::time::Duration;
use tokio::sync::mpsc;

/// Gives notice whenever other tools are found in a tab, as long as it is there. A page that changes
/// its tools all the time is not listened to all the time.
pub(super) fn watch(tab: &Tab, orders: mpsc::WeakSender<Order>) {
    let mut found = tab.found().watch();
    found.mark_changed();
    let target = tab.target().clone();
    tokio::spawn(async move {
        let mut told = (None, false);
        while found.changed().await.is_ok() {
            // A page that comes again with the same tools is no news; it takes a moment until it has them.
            let (document, had_tools) = told;
            if had_tools && found.borrow().document != document {
                let has_tools = found.wait_for(|now| !now.is_empty());
                let _ = tokio::time::timeout(MOMENT, has_tools).await;
                tokio::time::sleep(PAUSE).await;
            }
            told = {
                let now = found.borrow_and_update();
                (now.document, !now.is_empty())
            };
            let Some(orders) = orders.upgrade() else {
                return;
            };
            let (target, done) = (target.clone(), None);
            if orders
                .send(Order::TellTools { target, done })
                .await
                .is_err()
            {
                return;
            }
            drop(orders);
            tokio::time::sleep(PAUSE).await;
        }
    });
}

/// What is new.
pub(super) fn news(target: &TargetId, before: &Findings, now: &Findings) -> Vec<BrowserEvent> {
    let Some(document) = now.document else {
        return Vec::new();
    };
    let moved = before.document != now.document;
    let mut news = Vec::new();
    if moved {
        news.push(BrowserEvent::DocumentChanged {
            target: target.clone(),
            document,
        });
    }
    for source in [ToolSource::WebMcp, ToolSource::Generated] {
        let (tools, left_out) = (now.of(source), now.left_out(source));
        let (known, more) = match moved {
            true => (&[][..], 0),
            false => (before.of(source), before.left_out(source)),
        };
        if tools != known || left_out != more {
            news.push(BrowserEvent::ToolsFound {
                target: target.clone(),
                document,
                source,
                tools: tools.to_vec(),
                left_out,
            });
        }
    }
    if let Some(mark) = &now.mark
        && (moved || before.mark != now.mark)
    {
        news.push(BrowserEvent::LibraryFound {
            target: target.clone(),
            document,
            mark: mark.clone(),
        });
    }
    news
}

const PAUSE: Duration = Duration::from_millis(50);
const MOMENT: Duration = Duration::from_millis(500);
