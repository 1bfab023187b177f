//! Findings are reported in time and at a bounded rate, and the last state is always reported.

use super::super::{CallPath, FoundTool, ToolNumber, ToolSource};
use super::*;
use crate::tab::DocumentId;
use tokio::sync::oneshot;

const DOCUMENT: DocumentId = DocumentId(1);

fn tool(number: u64, name: &str, bytes: usize, said: u64) -> Arc<FoundTool> {
    let schema = format!(
        "{{\"properties\": {{}}, \"$comment\": \"{said}{}\"}}",
        "x".repeat(bytes)
    );
    Arc::new(FoundTool {
        number: ToolNumber(number),
        name: name.into(),
        description: "Adds.".into(),
        schema: schema.into(),
        brief: None,
        read_only: false,
        consequential: false,
        origin: "http://a.test".into(),
        path: CallPath::Generated,
        text: Default::default(),
    })
}

fn put(found: &Found, tools: Vec<Arc<FoundTool>>) {
    found.put(ToolSource::WebMcp, DOCUMENT, tools, 0);
}

/// Twenty tools of 46 kB each, with this content.
fn large(said: u64) -> Vec<Arc<FoundTool>> {
    let tools = 0..20_u64;
    tools
        .map(|number| tool(said * 100 + number, &format!("t{number}"), 46_000, said))
        .collect()
}

fn started() -> (Found, Reporter) {
    let found = Found::default();
    found.set_document(DOCUMENT);
    let reporter = Reporter::new(&found).unwrap();
    (found, reporter)
}

#[tokio::test(start_paused = true)]
async fn a_page_that_always_changes_large_tools_is_reported_at_a_bounded_rate() {
    let (found, mut reporter) = started();
    let begun = Instant::now();
    let mut bytes = 0;
    let mut turn = 0;
    let mut rounds = tokio::time::interval(Duration::from_millis(120));
    while begun.elapsed() < Duration::from_secs(30) {
        tokio::select! {
            report = reporter.next() => {
                let report = report.unwrap();
                for tool in report.findings.tools() {
                    assert!(tool.text.get().is_some());
                    bytes += tool.bytes();
                }
            }
            _ = rounds.tick() => {
                turn += 1;
                put(&found, large(turn));
            }
        }
    }
    let most = BURST as usize + 31 * BYTES_PER_SECOND as usize + 20 * 47_000;
    assert!(
        (BURST as usize..most).contains(&bytes),
        "{bytes} bytes in 30 s"
    );
    // When the page is quiet, its last state is reported.
    let last = large(turn);
    loop {
        let report = reporter.next().await.unwrap();
        if report.findings.web_mcp == last {
            break;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn tools_that_are_registered_again_unchanged_are_prepared_once() {
    let (found, mut reporter) = started();
    put(&found, large(0));
    reporter.next().await.unwrap();
    let first = reporter.reported.clone();
    let begun = Instant::now();
    for turn in 1..200_u64 {
        // Registered again with new numbers and the same texts.
        let again = large(0).into_iter().zip(0..);
        let again = again.map(|(tool, number)| FoundTool {
            number: ToolNumber(turn * 1_000 + number),
            ..(*tool).clone()
        });
        put(&found, again.map(Arc::new).collect());
        let report = reporter.next().await.unwrap();
        for (tool, first) in report.findings.tools().zip(first.tools()) {
            assert!(Arc::ptr_eq(tool.text(), first.text()));
        }
    }
    // They cost as much as 4,000 small changes, and not 180 MB.
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn a_requested_report_is_made_at_once_even_over_the_rate() {
    let (found, mut reporter) = started();
    put(&found, vec![tool(1, "small", 10, 1)]);
    let (done, mut asked) = oneshot::channel();
    found.ask(done).await;
    let begun = Instant::now();
    let report = reporter.next().await.unwrap();
    assert_eq!(report.findings.web_mcp.len(), 1);
    assert_eq!(begun.elapsed(), Duration::ZERO);
    assert!(asked.try_recv().is_err(), "the report comes first");
    report.done.unwrap().send(()).unwrap();

    reporter
        .pace
        .spend(BURST as usize + 2 * BYTES_PER_SECOND as usize);
    put(&found, vec![tool(2, "more", 10, 2)]);
    let (done, asked) = oneshot::channel();
    found.ask(done).await;
    let next = tokio::spawn(async move { reporter.next().await });
    asked.await.unwrap();
    assert_eq!(begun.elapsed(), Duration::ZERO);
    // The report is made nevertheless.
    let report = next.await.unwrap().unwrap();
    assert_eq!(&*report.findings.web_mcp[0].name, "more");
    assert!(begun.elapsed() > Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn the_tools_of_a_gone_document_are_dropped_even_over_the_rate() {
    let (found, mut reporter) = started();
    put(&found, vec![tool(1, "before", 10, 1)]);
    reporter.next().await.unwrap();
    reporter
        .pace
        .spend(BURST as usize + 60 * BYTES_PER_SECOND as usize);
    let begun = Instant::now();
    let next = DocumentId(2);
    found.set_document(next);
    found.put(ToolSource::WebMcp, next, vec![tool(2, "after", 10, 2)], 0);
    let report = reporter.next().await.unwrap();
    assert_eq!(report.findings.document, Some(next));
    assert!(report.findings.is_empty());
    assert!(begun.elapsed() < Duration::from_secs(1));
    let report = reporter.next().await.unwrap();
    assert_eq!(&*report.findings.web_mcp[0].name, "after");
}
