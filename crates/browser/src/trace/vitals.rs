//! The most important numbers, as text.

use super::Trace;
use tabmux_text::one_line;

/// A summary of the trace, and which insights there are.
pub(crate) fn summary(trace: &Trace) -> String {
    let mut lines = Vec::new();
    match trace.navigated {
        true => lines.push(format!("Insight set NAVIGATION_0: {}", trace.url)),
        false => lines.push("Insight set NAVIGATION_0: no navigation in this trace".into()),
    }
    if let Some(largest) = &trace.largest {
        let long = trace.ms(largest.at);
        let what = match &largest.image {
            Some(url) => format!("image {}", one_line(url, 200)),
            None => format!("text in {}", one_line(&largest.element, 100)),
        };
        lines.push(format!(
            "LCP (largest content): {long:.0} ms, {}; {what}",
            grade(long, 2_500.0, 4_000.0)
        ));
        lines.extend(phases(trace).map(|phases| format!("  {phases}")));
    } else if trace.navigated {
        lines.push("LCP (largest content): none, nothing was painted".into());
    }
    if let Some(first) = trace.first_paint {
        lines.push(format!("FCP (first content): {:.0} ms", trace.ms(first)));
    }
    if let Some(loaded) = trace.loaded {
        lines.push(format!("Loaded: {:.0} ms", trace.ms(loaded)));
    }
    let score = trace.shift_score();
    lines.push(format!(
        "CLS (layout shifts): {score:.3}, {}; {} shifts",
        grade(score, 0.1, 0.25),
        trace.shifts.len()
    ));
    match trace.slowest_interaction() {
        Some(slowest) => lines.push(format!(
            "INP (slowest interaction): {:.0} ms, {}; {}",
            slowest.long(),
            grade(slowest.long(), 200.0, 500.0),
            slowest.kind
        )),
        None => lines.push("INP (slowest interaction): none, no interaction".into()),
    }
    let held = trace.tasks.iter().fold(0.0, |sum, task| sum + task.long);
    lines.push(format!(
        "Long tasks: {}, {held:.0} ms in all; requests: {}, {:.0} kB",
        trace.tasks.len(),
        trace.requests.len(),
        trace.requests.iter().fold(0.0, |sum, it| sum + it.bytes) / 1_000.0
    ));
    if trace.cut {
        lines.push(
            "The trace has more data than is analyzed here; open the file to see all of it.".into(),
        );
    }
    let worth = super::NAMES.iter().filter(|name| {
        let told = super::describe(trace, name);
        told.is_some_and(|lines| lines.len() > 1)
    });
    let worth: Vec<_> = worth.copied().collect();
    if !worth.is_empty() {
        lines.push(format!(
            "More with performance_analyze_insight: {}",
            worth.join(", ")
        ));
    }
    lines.join("\n")
}

/// The phases until the largest content was painted, in milliseconds.
pub(super) fn phases(trace: &Trace) -> Option<String> {
    let largest = trace.largest.as_ref()?;
    let total = trace.ms(largest.at);
    let first_byte = trace.ms(trace.document()?.answered?).min(total);
    let image = largest.image.as_ref()?;
    let request = trace.requests.iter().find(|it| it.url == *image);
    let Some(request) = request else {
        return Some(format!(
            "time to first byte {first_byte:.0} ms, render delay {:.0} ms",
            total - first_byte
        ));
    };
    let asked = trace.ms(request.sent).clamp(first_byte, total);
    let there = request
        .ended
        .map_or(total, |at| trace.ms(at))
        .clamp(asked, total);
    Some(format!(
        "time to first byte {first_byte:.0} ms, load delay {:.0} ms, load {:.0} ms, render delay {:.0} ms",
        asked - first_byte,
        there - asked,
        total - there
    ))
}

/// The rating of a value, by the limits of Core Web Vitals.
fn grade(value: f64, good: f64, poor: f64) -> &'static str {
    match value {
        value if value <= good => "good",
        value if value <= poor => "needs improvement",
        _ => "poor",
    }
}
