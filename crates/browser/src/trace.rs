//! Performance traces: read once, as a stream, into facts about how a page loads.
//!
//! Pure: a reader in, facts and sentences out. Memory is bounded, whatever the trace contains.

mod insights;
mod read;
#[cfg(test)]
mod tests;
mod vitals;

pub(crate) use insights::{NAMES, describe};
pub(crate) use vitals::summary;

use std::collections::HashMap;

/// Facts about one navigation. Times are microseconds on the trace's clock.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trace {
    pub(crate) url: String,
    /// Chrome's id of the main frame.
    pub(crate) frame: String,
    /// The renderer process of the page.
    pub(crate) process: u64,
    /// When the navigation began; without a navigation, when the trace began.
    pub(crate) start: f64,
    /// Whether the trace contains a navigation.
    pub(crate) navigated: bool,
    pub(crate) first_paint: Option<f64>,
    pub(crate) loaded: Option<f64>,
    pub(crate) largest: Option<Largest>,
    pub(crate) shifts: Vec<Shift>,
    pub(crate) interactions: Vec<Interaction>,
    /// Long tasks of the page's main thread, by start time.
    pub(crate) tasks: Vec<Task>,
    pub(crate) requests: Vec<Request>,
    /// Fonts that the page loads late, by URL.
    pub(crate) fonts: HashMap<String, String>,
    /// Images without width and height.
    pub(crate) unsized_images: usize,
    /// Events that can shift the layout, by time: images without a size, fonts, new content.
    pub(crate) causes: Vec<(f64, String)>,
    /// Names of DOM nodes, where they are known.
    pub(crate) names: HashMap<i64, String>,
    /// Whether data was dropped because of a limit.
    pub(crate) cut: bool,
}

/// The largest content that was painted.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Largest {
    pub(crate) at: f64,
    pub(crate) element: String,
    pub(crate) image: Option<String>,
    pub(crate) lazy: bool,
}

/// A shift of the layout.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Shift {
    pub(crate) at: f64,
    pub(crate) score: f64,
    /// Which nodes moved, and by how many pixels.
    pub(crate) moved: Vec<(i64, f64)>,
}

/// A user interaction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Interaction {
    pub(crate) kind: String,
    pub(crate) at: f64,
    /// In milliseconds: until it was handled, handling it, until the next frame was shown.
    pub(crate) wait: f64,
    pub(crate) handling: f64,
    pub(crate) showing: f64,
}

/// A task that blocked the main thread.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Task {
    pub(crate) at: f64,
    /// Milliseconds.
    pub(crate) long: f64,
    /// The calls in it that took longest, with their milliseconds.
    pub(crate) calls: Vec<(String, f64)>,
}

/// One request.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) kind: String,
    pub(crate) mime_type: String,
    pub(crate) priority: String,
    pub(crate) blocking: bool,
    /// The URL of what requested it.
    pub(crate) initiator: Option<String>,
    pub(crate) sent: f64,
    pub(crate) answered: Option<f64>,
    pub(crate) ended: Option<f64>,
    pub(crate) status: i64,
    pub(crate) bytes: f64,
    pub(crate) decoded: f64,
    pub(crate) compressed: bool,
    pub(crate) redirects: usize,
}

impl Trace {
    /// Reads a trace as Chrome writes it, which covers the whole browser. `frame` is the main frame of the tab to
    /// report on.
    pub(crate) fn read(reader: impl std::io::Read, frame: &str) -> Result<Self, String> {
        read::read(reader, frame)
    }

    /// The nodes that moved most and have no name yet.
    pub(crate) fn unnamed_nodes(&self) -> Vec<i64> {
        let mut shifts: Vec<_> = self.shifts.iter().collect();
        shifts.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut nodes = Vec::new();
        for (node, _) in shifts.into_iter().flat_map(|shift| &shift.moved) {
            if nodes.len() < 30 && !nodes.contains(node) {
                nodes.push(*node);
            }
        }
        nodes
    }

    /// A time as milliseconds after the navigation began.
    pub(crate) fn ms(&self, at: f64) -> f64 {
        ((at - self.start) / 1_000.0).max(0.0)
    }

    /// The request of the document itself.
    pub(crate) fn document(&self) -> Option<&Request> {
        let documents = self.requests.iter().filter(|it| it.kind == "Document");
        documents.min_by(|a, b| a.sent.total_cmp(&b.sent))
    }

    /// The sum of shifts in the worst five-second window, as CLS is defined.
    pub(crate) fn shift_score(&self) -> f64 {
        let mut worst = 0.0_f64;
        let (mut sum, mut first, mut last) = (0.0, f64::MIN, f64::MIN);
        for shift in &self.shifts {
            if shift.at - last > 1_000_000.0 || shift.at - first > 5_000_000.0 {
                (sum, first) = (0.0, shift.at);
            }
            sum += shift.score;
            last = shift.at;
            worst = worst.max(sum);
        }
        worst
    }

    /// The interaction that took longest.
    pub(crate) fn slowest_interaction(&self) -> Option<&Interaction> {
        let total = |it: &Interaction| it.wait + it.handling + it.showing;
        self.interactions
            .iter()
            .max_by(|a, b| total(a).total_cmp(&total(b)))
    }
}

impl Interaction {
    /// Milliseconds from the input to the next frame.
    pub(crate) fn long(&self) -> f64 {
        self.wait + self.handling + self.showing
    }
}
