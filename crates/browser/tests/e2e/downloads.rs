//! Downloads of a launched browser: which session they belong to, and their limits.

use crate::consequences::{click, page_with};
use crate::harness::{BrowserHarness, Capability};
use serde_json::json;
use std::path::Path;
use tabmux_browser::files::Quota;
use tabmux_testkit::{Response, patiently};

const SMALL: Quota = Quota {
    bytes: 1_000,
    files: 2,
};

#[tokio::test]
async fn a_download_goes_to_its_sessions_folder_and_ends_with_it() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    if !harness.can(Capability::Downloads) {
        return;
    }
    harness
        .server
        .route("/a", Response::download("../.evil.csv", "a,b"));
    let tab = page_with(&harness, "<a href=/a>a</a>").await;
    let text = click(&harness, &tab, "a").await;
    let (_, path) = text
        .split_once("saved as ")
        .unwrap_or_else(|| panic!("{text}"));
    let path = std::path::PathBuf::from(path.split(" (").next().unwrap());
    assert_eq!(std::fs::read(&path).unwrap(), b"a,b");
    // The session can use it as any other of its files.
    let named = json!({"sourcePath": path});
    let error = harness.error(&tab, "evaluate_script", named).await;
    assert!(!error.contains("it is outside"), "{error}");
    harness.output.end().await;
    assert!(!path.exists());
    let text = click(&harness, &tab, "a").await;
    assert!(text.contains("cancelled: the session is over"), "{text}");
}

#[tokio::test]
async fn a_link_that_opens_a_tab_for_its_download_is_reported() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    if !harness.can(Capability::Downloads) {
        return;
    }
    harness
        .server
        .route("/a", Response::download("a.csv", "a,b"));
    let tab = page_with(&harness, "<a href=/a target=_blank>a</a>").await;
    click(&harness, &tab, "a").await;
    let saved = |state: &tabmux_browser::tab::TabState| {
        state
            .downloads
            .iter()
            .any(|it| it.tell().contains("saved as"))
    };
    tab.until(tabmux_testkit::PATIENCE, saved).await.unwrap();
    assert!(saved(&tab.state()));
}

#[tokio::test]
async fn downloads_beyond_what_a_session_may_have_are_stopped_and_leave_nothing() {
    let Some(mut harness) = BrowserHarness::start().await else {
        return;
    };
    if !harness.can(Capability::Downloads) {
        return;
    }
    harness.allow_downloads(SMALL);
    harness
        .server
        .route("/small", Response::download("small.bin", [b'x'; 600]));
    // Its size is known before any content has arrived.
    let _gate = harness.server.hold_body(
        "/large",
        Response::download("large.bin", vec![b'x'; 1_000_000]),
        10,
    );
    // The size of this one is unknown until its content arrives.
    let endless = Response::download("endless.bin", vec![b'x'; 10_000_000]);
    harness.server.route("/endless", endless.chunked());
    let html = "<a id=small href=/small>a</a> <a id=large href=/large>b</a> <a id=endless href=/endless>c</a>";
    let tab = page_with(&harness, html).await;
    let text = click(&harness, &tab, "#small").await;
    assert!(text.contains("saved as"), "{text}");
    for id in ["#large", "#endless"] {
        let text = click(&harness, &tab, id).await;
        assert!(text.contains("may have 0 MB in all"), "{id}: {text}");
    }
    // Stopped downloads do not count.
    harness
        .server
        .route("/small", Response::download("small.bin", [b'x'; 100]));
    let text = click(&harness, &tab, "#small").await;
    assert!(text.contains("saved as"), "{text}");
    let text = click(&harness, &tab, "#small").await;
    assert!(text.contains("its limit of 2 downloads"), "{text}");
    // Chrome removes the file of a stopped download with a delay.
    let folder = harness.files.path().join("output");
    let left = async {
        while names(&folder) != ["small-2.bin", "small.bin"] {
            tokio::task::yield_now().await;
        }
    };
    patiently(left, || format!("other files than {:?}", names(&folder))).await;
}

#[tokio::test]
async fn the_client_chooses_where_a_download_goes() {
    let Some(mut harness) = BrowserHarness::start().await else {
        return;
    };
    if !harness.can(Capability::Downloads) {
        return;
    }
    let named = harness.files.path().join("named");
    std::fs::create_dir(&named).unwrap();
    let outside = tempfile::tempdir().unwrap();
    harness.keep_output_in(outside.path());
    harness
        .server
        .route("/a", Response::download("a.csv", "a,b"));
    let tab = page_with(&harness, "<a href=/a>a</a>").await;
    // All of them go to the folder of `--outputDir`, which need not be one of the client's folders.
    let text = click(&harness, &tab, "a").await;
    let kept = outside.path().join("a.csv");
    assert!(text.contains(&kept.display().to_string()), "{text}");
    assert_eq!(std::fs::read(&kept).unwrap(), b"a,b");
    // A call takes a copy into a folder of the client, and replaces a file there only if it says so.
    let fetch = async |arguments| harness.run(&tab, "wait_for_download", arguments).await;
    let there = json!({ "filePath": "named/", "content": true });
    let said = harness.text(&tab, "wait_for_download", there).await;
    assert!(said.ends_with("Its text:\na,b"), "{said}");
    assert_eq!(std::fs::read(named.join("a.csv")).unwrap(), b"a,b");
    click(&harness, &tab, "a").await;
    // Its name is a-2.csv, because the first one is kept.
    fetch(json!({ "filePath": "named/a-2.csv" })).await.unwrap();
    harness
        .server
        .route("/a", Response::download("a.csv", "c,d"));
    click(&harness, &tab, "a").await;
    let taken = json!({ "filePath": "named/a.csv" });
    for (arguments, why) in [
        (taken.clone(), "overwrite"),
        (json!({ "filePath": "missing/" }), "missing/"),
        (json!({ "filePath": "/etc/" }), "/etc/a-3.csv"),
        (json!({ "filePath": "named/.git/" }), ".git"),
    ] {
        let error = fetch(arguments).await.unwrap_err().to_string();
        assert!(
            error.contains("cannot be written") && error.contains(why),
            "{error}"
        );
    }
    assert_eq!(std::fs::read(named.join("a.csv")).unwrap(), b"a,b");
    let mut replacing = taken;
    replacing["overwrite"] = json!(true);
    fetch(replacing).await.unwrap();
    assert_eq!(std::fs::read(named.join("a.csv")).unwrap(), b"c,d");
    harness.output.end().await;
    assert!(kept.exists(), "it outlives the session");
}

/// The files in a folder and its subfolders, without lock files.
fn names(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        match entry.path().is_dir() {
            true => names.extend(self::names(&entry.path())),
            false if name.ends_with(".lock") => {}
            false => names.push(name),
        }
    }
    names.sort();
    names
}
