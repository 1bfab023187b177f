//! Tests of the arguments of `emulate`.

use super::*;

/// DevTools defines these as line speed and round trip, with factors for its throttling.
#[test]
fn the_networks_are_those_of_devtools() {
    let line = |mbit: f64, factor: f64| mbit * 1e6 / 8.0 * factor;
    for (name, latency, down, up) in [
        ("Slow 3G", 400.0 * 5.0, line(0.5, 0.8), line(0.5, 0.8)),
        ("Fast 3G", 150.0 * 3.75, line(1.6, 0.9), line(0.75, 0.9)),
        ("Slow 4G", 150.0 * 3.75, line(1.6, 0.9), line(0.75, 0.9)),
        ("Fast 4G", 60.0 * 2.75, line(9.0, 0.9), line(1.5, 0.9)),
    ] {
        let ours = network(name).unwrap();
        let near = |a: f64, b: f64| (a - b).abs() < 1e-6;
        assert!(near(ours.latency, latency), "{ours:?}");
        assert!(near(ours.down, down) && near(ours.up, up), "{ours:?}");
    }
}

#[test]
fn a_viewport_is_read_as_it_is_written() {
    for text in [
        "390x844",
        "390x844x3",
        "390x844x2.5,mobile,touch",
        "10x10x1,landscape",
    ] {
        assert_eq!(viewport(text).unwrap().to_string(), text);
    }
    for text in [
        "",
        "390",
        "390x",
        "0x5",
        "390x844,big",
        "1x1x1x1",
        "99999x1",
        "-1x4",
    ] {
        assert!(viewport(text).is_err(), "{text}");
    }
}

#[test]
fn only_what_is_named_is_changed() {
    let first: Emulate =
        serde_json::from_str(r#"{"colorScheme": "dark", "locale": "de-DE"}"#).unwrap();
    let usual = Emulation::default();
    let now = first.applied_to(&usual, &usual).unwrap();
    let next: Emulate = serde_json::from_str(r#"{"colorScheme": "auto"}"#).unwrap();
    let now = next.applied_to(&now, &usual).unwrap();
    assert_eq!(now.words(), ["locale de-DE"]);
}

#[test]
fn an_empty_argument_restores_the_default() {
    let usual = Emulation::from(&Device::named("iPhone 15").unwrap());
    let wish = |json: &str| serde_json::from_str::<Emulate>(json).unwrap();
    let other = wish(r#"{"device": "Pixel 7", "userAgent": "Mine"}"#);
    let other = other.applied_to(&usual, &usual).unwrap();
    assert_eq!(
        other.words(),
        ["user agent \"Mine\"", "viewport 412x839x2.625,mobile,touch"]
    );
    for back in [r#"{"device": ""}"#, r#"{"userAgent": "", "viewport": ""}"#] {
        assert_eq!(wish(back).applied_to(&other, &usual).unwrap(), usual);
    }
    let nothing = Emulation::default();
    let bare = wish(r#"{"device": ""}"#).applied_to(&other, &nothing);
    assert_eq!(bare.unwrap(), nothing);
}

#[test]
fn nonsense_is_refused() {
    for json in [
        r#"{"networkConditions": "5G"}"#,
        r#"{"device": "Toaster"}"#,
        r#"{"cpuThrottlingRate": 0.5}"#,
        r#"{"geolocation": "100,0"}"#,
        r#"{"colorScheme": "pink"}"#,
        r#"{"extraHttpHeaders": "[]"}"#,
        r#"{"extraHttpHeaders": "{\"a b\": \"c\"}"}"#,
        r#"{"userAgent": "a\nb"}"#,
    ] {
        let wanted: Emulate = serde_json::from_str(json).unwrap();
        assert!(wanted.check().is_err(), "{json}");
    }
}
