//! Recorded traces, and hostile ones.

use super::*;

const LOAD: &str = include_str!("../../../../fixtures/traces/load.json");
const LOAD_FRAME: &str = "D8A19C10E66F2E5F27A2DC00603EA4F5";
const CLICK: &str = include_str!("../../../../fixtures/traces/click.json");
const CLICK_FRAME: &str = "26E3895F71DF5498A7BD3BDE070655BA";

fn load() -> Trace {
    Trace::read(LOAD.as_bytes(), LOAD_FRAME).unwrap()
}

#[test]
fn a_loading_is_summed_up() {
    let trace = load();
    assert_eq!(trace.url, "http://127.0.0.1:8080/page");
    let text = summary(&trace);
    for part in [
        "LCP (largest content): ",
        "hero.png",
        "load delay",
        "FCP",
        "CLS (layout shifts): 0.110, needs improvement; 1 shifts",
        "Long tasks: 1",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    let largest = trace.largest.as_ref().unwrap();
    assert_eq!(largest.element, "IMG");
    // The phases add up to the whole.
    let phases = vitals::phases(&trace).unwrap();
    let sum: f64 = phases
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|number| number.parse::<f64>().ok())
        .sum();
    assert!((sum - trace.ms(largest.at)).abs() <= 4.0, "{phases}");
}

#[test]
fn every_finding_has_its_numbers() {
    let trace = load();
    let told = |name| describe(&trace, name).unwrap().join("\n");
    assert!(told("LongTasks").contains("(http://127.0.0.1:8080/page:1)"));
    assert!(told("RenderBlocking").contains("/s.css (stylesheet)"));
    let chain = told("NetworkDependencyTree");
    assert!(
        chain.contains("3 links") && chain.contains("    http://127.0.0.1:8080/t.css"),
        "{chain}"
    );
    assert!(told("ThirdParties").contains("localhost:8080: 1 requests"));
    assert!(told("CLSCulprits").contains("by 200 px"));
    assert!(told("ImageDelivery").contains("1 images have no width and height"));
    assert!(describe(&trace, "Nonsense").is_none());
}

#[test]
fn an_interaction_is_taken_apart() {
    let trace = Trace::read(CLICK.as_bytes(), CLICK_FRAME).unwrap();
    assert!(!trace.navigated && trace.largest.is_none());
    let slowest = trace.slowest_interaction().unwrap();
    assert_eq!(slowest.kind, "click");
    assert!((240.0..320.0).contains(&slowest.handling), "{slowest:?}");
    assert!(
        describe(&trace, "INPBreakdown")
            .unwrap()
            .join("\n")
            .contains("onclick")
    );
}

#[test]
fn another_tabs_trace_has_nothing_of_ours() {
    let trace = Trace::read(LOAD.as_bytes(), "ANOTHER").unwrap();
    assert!(!trace.navigated && trace.requests.is_empty() && trace.tasks.is_empty());
}

#[test]
fn half_a_trace_is_an_error_and_nonsense_in_it_is_not() {
    for broken in [
        "",
        "{",
        "{\"traceEvents\":[{\"name\":1}]}",
        &LOAD[..LOAD.len() / 2],
    ] {
        assert!(Trace::read(broken.as_bytes(), "F").is_err());
    }
    for odd in [
        "[]",
        "{\"traceEvents\":[]}",
        r#"[{"name":"LayoutShift","args":{"data":7}},{"name":"ResourceFinish","args":[1]},{"name":"navigationStart"}]"#,
    ] {
        let trace = Trace::read(odd.as_bytes(), "F").unwrap();
        summary(&trace);
        for name in NAMES {
            describe(&trace, name).unwrap();
        }
    }
}

#[test]
fn a_huge_trace_is_kept_within_bounds() {
    let event =
        r#"{"name":"LayoutShift","ts":5,"args":{"data":{"score":0.1,"impacted_nodes":[]}}},"#;
    let json = format!("[{}{}]", event.repeat(20_000), event.trim_end_matches(','));
    let trace = Trace::read(json.as_bytes(), "F").unwrap();
    assert!(trace.cut && trace.shifts.len() <= 5_000);
    assert!(summary(&trace).contains("more data than is analyzed"));
}
