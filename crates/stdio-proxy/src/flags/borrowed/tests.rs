//! Every flag of chrome-devtools-mcp is accepted, or its refusal says what to do.

use super::*;

fn read(words: &[&str]) -> Result<Translated, String> {
    translate(words.iter().map(OsString::from))
}

#[track_caller]
fn args(words: &[&str]) -> Vec<String> {
    let args = read(words).unwrap().args.into_iter();
    args.map(|word| word.into_string().unwrap()).collect()
}

#[test]
fn a_switch_is_understood_in_every_spelling() {
    for on in [
        &["--acceptInsecureCerts"][..],
        &["--acceptInsecureCerts=true"],
        &["--acceptInsecureCerts", "true"],
        &["--accept-insecure-certs"],
        &["--accept-insecure-certs=true"],
        &["--no-accept-insecure-certs=false"],
        &["--no-acceptInsecureCerts", "--acceptInsecureCerts"],
    ] {
        assert_eq!(args(on), ["--acceptInsecureCerts"], "{on:?}");
    }
    for off in [
        &["--headless=false"][..],
        &["--headless", "false"],
        &["--no-headless"],
        &["--noHeadless"],
        &["--headless", "--headless=false"],
    ] {
        assert!(args(off).is_empty(), "{off:?}");
    }
    let error = read(&["--headless=maybe"]).unwrap_err();
    assert_eq!(error, "--headless is true or false: write --headless=true");
}

#[test]
fn categories_can_be_switched_off_in_every_spelling() {
    for off in [
        "--categoryEmulation=false",
        "--category-emulation=false",
        "--no-category-emulation",
        "--no-categoryEmulation",
    ] {
        assert_eq!(args(&[off]), ["--categoryEmulation=false"], "{off}");
    }
}

#[test]
fn our_own_flags_are_kept() {
    let ours = [
        "--tools",
        "static",
        "--no-daemon",
        "--noShim",
        "-u",
        "http://a:1",
        "--nonsense=1",
        "--viewport",
        "1x1",
    ];
    assert_eq!(args(&ours), ours);
}

#[test]
fn lists_may_be_several_words_and_arguments_for_a_browser_are_not_our_flags() {
    assert_eq!(
        args(&["--chromeArg", "--headless", "--chrome-arg=--no-sandbox"]),
        ["--chromeArg=--headless", "--chromeArg=--no-sandbox"]
    );
    assert_eq!(
        args(&["--filesystemRoot", "/a", "/b", "--isolated"]),
        ["--filesystemRoot=/a", "--filesystemRoot=/b", "--isolated"]
    );
    assert_eq!(args(&["--filesystemRoot"]), ["--filesystemRoot"]);
}

#[test]
fn flags_without_effect_are_accepted_and_logged() {
    let words = [
        "--devtoolsComments",
        "--screenshotFormat",
        "jpeg",
        "--experimentalTomorrow=1",
    ];
    let taken = read(&words).unwrap();
    assert!(taken.args.is_empty(), "{taken:?}");
    assert_eq!(taken.notes.len(), 3, "{taken:?}");
    assert!(
        taken.notes[0].starts_with("--devtoolsComments has no effect: "),
        "{taken:?}"
    );
}

#[test]
fn flags_that_ask_for_the_default_are_silent() {
    let quiet = [
        "--no-usage-statistics",
        "--usageStatistics=false",
        "--performanceCrux=false",
        "--no-performance-crux",
        "--experimentalPageIdRouting",
        "--slim=false",
    ];
    let taken = read(&quiet).unwrap();
    assert!(taken.args.is_empty() && taken.notes.is_empty(), "{taken:?}");
}

#[test]
fn flags_that_users_rely_on_are_refused_in_a_sentence() {
    for (word, next) in [
        ("--redactNetworkHeaders", "--categoryNetwork=false"),
        ("--no-javascript-evaluation", "--categoryDebugging=false"),
        ("--blockedUrlPattern=*://a/*", "--blockedOrigins"),
        ("--allowed-url-pattern=*://a/*", "--allowedOrigins"),
    ] {
        let error = read(&[word]).unwrap_err();
        assert!(
            error.contains("is not supported: ") && error.contains(next),
            "{error}"
        );
    }
    assert!(args(&["--javascriptEvaluation", "--redact-network-headers=false"]).is_empty());
}
