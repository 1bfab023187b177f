//! Reports the page tools of a browser's tabs.

use super::BrowserEvent;
use super::actor::Actor;
use super::actor_requests::ActorRequest;
use crate::page_tools::{Findings, Report, Reporter, ToolSource};
use crate::tab::{Tab, TargetId};
use tokio::sync::mpsc;

/// Forwards what is found in a tab, as long as the tab exists.
pub(super) fn watch(tab: &Tab, requests: mpsc::WeakSender<ActorRequest>) {
    let Some(mut reporter) = Reporter::new(tab.found()) else {
        return;
    };
    let target = tab.target().clone();
    tokio::spawn(async move {
        while let Some(Report { findings, done }) = reporter.next().await {
            let Some(requests) = requests.upgrade() else {
                return;
            };
            let target = target.clone();
            let findings = Box::new(findings);
            let request = ActorRequest::ReportTools {
                target,
                findings,
                done,
            };
            if requests.send(request).await.is_err() {
                return;
            }
        }
    });
}

impl<E: From<(u32, BrowserEvent)> + Send + 'static> Actor<E> {
    /// Reports the tools of a tab's page if they changed.
    pub(super) async fn report_tools(&mut self, target: &TargetId) {
        if self.unannounced.contains(target) {
            return;
        }
        let Some(entry) = self.tabs.get_mut(target) else {
            return;
        };
        if entry.tab.is_none() {
            return;
        }
        let now = entry.tools.clone();
        let before = std::mem::replace(&mut entry.told_tools, now.clone());
        for event in news(target, &before, &now) {
            self.tell(event).await;
        }
    }
}

/// The events for the difference between two states.
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
