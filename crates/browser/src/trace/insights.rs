//! The insights of a trace, each with its numbers.

use super::{Request, Shift, Trace, vitals};
use std::collections::HashMap;
use tabmux_text::one_line;
use url::Url;

/// The names of all insights; those of DevTools where it has the same one.
pub(crate) const NAMES: [&str; 10] = [
    "LCPBreakdown",
    "CLSCulprits",
    "INPBreakdown",
    "LongTasks",
    "RenderBlocking",
    "NetworkDependencyTree",
    "ThirdParties",
    "DocumentLatency",
    "ImageDelivery",
    "FontDisplay",
];

/// An insight as lines of text, the first of which is the summary; none for an unknown name.
pub(crate) fn describe(trace: &Trace, name: &str) -> Option<Vec<String>> {
    Some(match name {
        "LCPBreakdown" => largest(trace),
        "CLSCulprits" => shifts(trace),
        "INPBreakdown" => interactions(trace),
        "LongTasks" => tasks(trace),
        "RenderBlocking" => blocking(trace),
        "NetworkDependencyTree" => chain(trace),
        "ThirdParties" => third_parties(trace),
        "DocumentLatency" => document(trace),
        "ImageDelivery" => images(trace),
        "FontDisplay" => fonts(trace),
        _ => return None,
    })
}

fn largest(trace: &Trace) -> Vec<String> {
    let Some(largest) = &trace.largest else {
        return vec!["No largest content was painted.".into()];
    };
    let mut lines = vec![format!(
        "The largest content came after {:.0} ms: {}",
        trace.ms(largest.at),
        match &largest.image {
            Some(url) => format!("{} {}", largest.element, one_line(url, 300)),
            None => one_line(&largest.element, 100),
        }
    )];
    match vitals::phases(trace) {
        Some(phases) => lines.push(phases),
        None => {
            let first_byte = trace.document().and_then(|it| it.answered);
            let first_byte = first_byte.map_or(0.0, |at| trace.ms(at));
            lines.push(format!(
                "time to first byte {first_byte:.0} ms, render delay {:.0} ms",
                trace.ms(largest.at) - first_byte
            ));
        }
    }
    if largest.lazy {
        lines.push("It has loading=lazy, so the browser requests it late. Remove that.".into());
    }
    let request = largest.image.as_ref();
    let request = request.and_then(|url| trace.requests.iter().find(|it| it.url == *url));
    if let Some(request) = request {
        if matches!(request.priority.as_str(), "Low" | "VeryLow" | "Medium") {
            lines.push(format!(
                "It was requested with priority {}. fetchpriority=high loads it earlier.",
                request.priority
            ));
        }
        if let Some(by) = request.initiator.as_ref().filter(|by| **by != trace.url) {
            lines.push(format!(
                "It is found only through {by}, not in the document."
            ));
        }
    }
    lines
}

fn shifts(trace: &Trace) -> Vec<String> {
    let mut lines = vec![format!(
        "Layout shifts score {:.3} in the worst five seconds, {} shifts in all.",
        trace.shift_score(),
        trace.shifts.len()
    )];
    let mut worst: Vec<_> = trace.shifts.iter().collect();
    worst.sort_by(|a, b| b.score.total_cmp(&a.score));
    for shift in worst.into_iter().take(MAX_ENTRIES) {
        lines.push(format!(
            "{:.3} at {:.0} ms: moved {}",
            shift.score,
            trace.ms(shift.at),
            match shift.moved.is_empty() {
                true => "something".into(),
                false => moved(trace, shift),
            }
        ));
        // What happened shortly before has probably caused the shift.
        let before = |at: &f64| (0.0..=500_000.0).contains(&(shift.at - at));
        let causes = trace.causes.iter().filter(|(at, _)| before(at));
        let causes: Vec<_> = causes.map(|(_, cause)| cause.as_str()).take(3).collect();
        let calls = trace.tasks.iter().filter(|task| before(&task.at));
        let calls: Vec<_> = calls.filter_map(|task| task.calls.first()).collect();
        if !causes.is_empty() {
            lines.push(format!("  just before: {}", causes.join(", ")));
        } else if let Some((call, _)) = calls.first() {
            lines.push(format!("  just before: {call}"));
        } else {
            lines.push(
                "  no image or font came just before; content was added or resized by script"
                    .into(),
            );
        }
    }
    lines
}

fn moved(trace: &Trace, shift: &Shift) -> String {
    let words = shift.moved.iter().map(|(node, by)| {
        let name = trace
            .names
            .get(node)
            .map_or("an element that is gone", String::as_str);
        format!("{name} by {by:.0} px")
    });
    words.collect::<Vec<_>>().join(", ")
}

fn interactions(trace: &Trace) -> Vec<String> {
    let mut list: Vec<_> = trace.interactions.iter().collect();
    list.sort_by(|a, b| b.long().total_cmp(&a.long()));
    let Some(slowest) = list.first() else {
        return vec!["There was no interaction in this trace.".into()];
    };
    let mut lines = vec![format!(
        "The slowest of {} interactions took {:.0} ms.",
        list.len(),
        slowest.long()
    )];
    for it in list.iter().take(MAX_ENTRIES) {
        lines.push(format!(
            "{} at {:.0} ms: {:.0} ms = input delay {:.0} + processing {:.0} + presentation {:.0}",
            one_line(&it.kind, 40),
            trace.ms(it.at),
            it.long(),
            it.wait,
            it.handling,
            it.showing
        ));
        let span = it.at..=it.at + it.long() * 1_000.0;
        let during = trace.tasks.iter().filter(|task| {
            span.contains(&task.at) || (task.at..=task.at + task.long * 1_000.0).contains(&it.at)
        });
        for task in during.take(2) {
            lines.extend(
                task.calls
                    .iter()
                    .take(2)
                    .map(|(call, long)| format!("  {call}: {long:.0} ms")),
            );
        }
    }
    lines
}

fn tasks(trace: &Trace) -> Vec<String> {
    let held = trace.tasks.iter().fold(0.0, |sum, task| sum + task.long);
    let mut lines = vec![format!(
        "{} tasks blocked the main thread for more than 50 ms, {held:.0} ms in all.",
        trace.tasks.len()
    )];
    let mut worst: Vec<_> = trace.tasks.iter().collect();
    worst.sort_by(|a, b| b.long.total_cmp(&a.long));
    for task in worst.into_iter().take(MAX_ENTRIES) {
        let calls = task
            .calls
            .iter()
            .map(|(call, long)| format!("{call} {long:.0} ms"));
        let calls: Vec<_> = calls.collect();
        lines.push(format!(
            "{:.0} ms at {:.0} ms: {}",
            task.long,
            trace.ms(task.at),
            match calls.is_empty() {
                true => "the browser's own work".into(),
                false => calls.join(", "),
            }
        ));
    }
    lines
}

fn blocking(trace: &Trace) -> Vec<String> {
    let until = trace.first_paint.unwrap_or(f64::MAX);
    let mut list: Vec<_> = trace
        .requests
        .iter()
        .filter(|it| it.blocking && it.kind != "Document" && it.sent < until)
        .collect();
    list.sort_by(|a, b| span(b).total_cmp(&span(a)));
    let mut lines = vec![format!(
        "{} requests had to end before anything could be painted.",
        list.len()
    )];
    for it in list.into_iter().take(MAX_ENTRIES) {
        lines.push(format!(
            "{:.0} ms, {:.1} kB: {} ({})",
            span(it),
            it.bytes / 1_000.0,
            one_line(&it.url, 200),
            it.kind.to_lowercase()
        ));
    }
    lines
}

/// The chain of requests that ended last; each of them was found only through the one before.
fn chain(trace: &Trace) -> Vec<String> {
    let by_url: HashMap<&str, &Request> = trace
        .requests
        .iter()
        .map(|it| (it.url.as_str(), it))
        .collect();
    let critical =
        |it: &&Request| matches!(it.priority.as_str(), "VeryHigh" | "High") || it.blocking;
    let mut longest: Vec<&Request> = Vec::new();
    for last in trace.requests.iter().filter(critical) {
        let mut chain = vec![last];
        let mut at = last;
        while let Some(from) = at.initiator.as_deref().and_then(|url| by_url.get(url)) {
            // A cycle is not a chain.
            if chain.len() > 20 || chain.iter().any(|it| it.id == from.id) {
                break;
            }
            chain.push(from);
            at = from;
        }
        let end = |chain: &Vec<&Request>| chain.first().and_then(|it| it.ended).unwrap_or(0.0);
        if (chain.len(), end(&chain)) > (longest.len(), end(&longest)) {
            longest = chain;
        }
    }
    let Some(last) = longest.first() else {
        return vec!["No important request depends on another.".into()];
    };
    let end = last.ended.map_or(0.0, |at| trace.ms(at));
    let mut lines = vec![format!(
        "The longest chain of important requests has {} links and ends at {end:.0} ms.",
        longest.len()
    )];
    for (depth, it) in longest.iter().rev().enumerate() {
        lines.push(format!(
            "{}{} requested at {:.0} ms, complete at {:.0} ms",
            "  ".repeat(depth.min(8)),
            one_line(&it.url, 200),
            trace.ms(it.sent),
            it.ended.map_or(0.0, |at| trace.ms(at))
        ));
    }
    lines
}

fn third_parties(trace: &Trace) -> Vec<String> {
    let own = site(&trace.url);
    let mut sites: HashMap<String, (usize, f64, f64)> = HashMap::new();
    for it in &trace.requests {
        let Some(of) = site(&it.url).filter(|of| Some(of) != own.as_ref()) else {
            continue;
        };
        let sums = sites.entry(of).or_default();
        sums.0 += 1;
        sums.1 += it.bytes;
    }
    for (call, long) in trace.tasks.iter().flat_map(|task| &task.calls) {
        for (of, sums) in &mut sites {
            if call.contains(&format!("//{of}")) {
                sums.2 += long;
            }
        }
    }
    let mut list: Vec<_> = sites.into_iter().collect();
    list.sort_by(|a, b| b.1.1.total_cmp(&a.1.1).then(a.0.cmp(&b.0)));
    let mut lines = vec![format!(
        "The page made requests to {} other sites.",
        list.len()
    )];
    for (of, (count, bytes, held)) in list.into_iter().take(MAX_ENTRIES) {
        lines.push(format!(
            "{of}: {count} requests, {:.1} kB, {held:.0} ms of long tasks",
            bytes / 1_000.0
        ));
    }
    lines
}

fn document(trace: &Trace) -> Vec<String> {
    let Some(document) = trace.document() else {
        return vec!["The trace has no request for the document.".into()];
    };
    let wait = document.answered.map_or(0.0, |at| trace.ms(at));
    let mut lines = vec![format!(
        "The document's first byte came after {wait:.0} ms, {}.",
        if wait <= 600.0 {
            "which is fine"
        } else {
            "which is slow"
        }
    )];
    if document.redirects > 0 {
        lines.push(format!("It was redirected {} times.", document.redirects));
    }
    if wait > 600.0 {
        lines.push("The server took longer than 600 ms to answer.".into());
    }
    if !document.compressed && document.bytes > 10_000.0 {
        lines.push(format!(
            "It was sent without compression ({:.1} kB).",
            document.bytes / 1_000.0
        ));
    }
    lines
}

fn images(trace: &Trace) -> Vec<String> {
    let mut list: Vec<_> = trace
        .requests
        .iter()
        .filter(|it| it.kind == "Image")
        .collect();
    list.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
    let bytes = list.iter().fold(0.0, |sum, it| sum + it.bytes);
    let mut lines = vec![format!(
        "{} images, {:.1} kB in all.",
        list.len(),
        bytes / 1_000.0
    )];
    if trace.unsized_images > 0 {
        lines.push(format!(
            "{} images have no width and height, so the layout shifts when they load.",
            trace.unsized_images
        ));
    }
    for it in list
        .iter()
        .filter(|it| it.bytes > 50_000.0)
        .take(MAX_ENTRIES)
    {
        let old = !matches!(
            it.mime_type.as_str(),
            "image/webp" | "image/avif" | "image/svg+xml"
        );
        lines.push(format!(
            "{:.1} kB {}{}: {}",
            it.bytes / 1_000.0,
            it.mime_type,
            if old { ", smaller as webp or avif" } else { "" },
            one_line(&it.url, 200)
        ));
    }
    lines
}

fn fonts(trace: &Trace) -> Vec<String> {
    let mut list: Vec<_> = trace.fonts.iter().collect();
    list.sort();
    let hiding = |display: &str| matches!(display, "auto" | "block" | "");
    let count = list.iter().filter(|(_, display)| hiding(display)).count();
    let mut lines = vec![format!(
        "{} web fonts, of which {count} hide their text until they are loaded.",
        list.len()
    )];
    for (url, _) in list
        .into_iter()
        .filter(|(_, display)| hiding(display))
        .take(MAX_ENTRIES)
    {
        let request = trace.requests.iter().find(|it| it.url == *url);
        let long = request.map_or(0.0, span);
        lines.push(format!(
            "{} took {long:.0} ms; font-display: swap would show text at once",
            one_line(url, 200)
        ));
    }
    lines
}

/// Milliseconds from the request to its end.
fn span(request: &Request) -> f64 {
    request
        .ended
        .map_or(0.0, |at| ((at - request.sent) / 1_000.0).max(0.0))
}

/// Host and port.
fn site(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    let host = url.host_str()?;
    Some(match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    })
}

const MAX_ENTRIES: usize = 15;
