//! Saved states: files, encryption, versions and locks.

use super::*;
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

fn state() -> StorageState {
    let cookie = json!({"name": "n", "value": "s3cret", "domain": "a.example", "path": "/"});
    let entry = json!([{"name": "k", "value": "s3cret"}]);
    let origin = json!({"origin": "https://a.example", "localStorage": entry});
    serde_json::from_value(json!({"cookies": [cookie], "origins": [origin]})).unwrap()
}

fn named(folder: &Path, key: Option<&str>) -> NamedState {
    NamedState::in_folder("work".parse().unwrap(), key, folder.join("states"))
}

#[test]
fn a_state_is_kept_with_and_without_a_key() {
    for key in [None, Some("a good key")] {
        let home = tempfile::tempdir().unwrap();
        let work = named(home.path(), key);
        let lock = work.try_lock().unwrap();
        assert!(lock.is_some() && work.read_now().unwrap().is_none());
        work.write_now(state()).unwrap();
        let summary = work.summary().unwrap();
        assert_eq!(summary.cookies, [("a.example".to_owned(), 1)].into());
        assert_eq!(
            summary.local_storage,
            [("https://a.example".to_owned(), 1)].into()
        );
        let mode = fs::metadata(work.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let bytes = String::from_utf8(fs::read(work.path()).unwrap()).unwrap();
        assert_eq!(bytes.contains("s3cret"), key.is_none());
        let listed = list_in(&home.path().join("states")).unwrap();
        assert_eq!(listed.len(), 1, "neither the lock nor a draft is a state");
        drop(lock);
        work.delete().unwrap();
        assert!(
            work.delete()
                .unwrap_err()
                .contains("There is no state work.")
        );
    }
}

#[test]
fn a_state_that_cannot_be_opened_says_what_to_do() {
    let home = tempfile::tempdir().unwrap();
    let work = named(home.path(), Some("a good key"));
    let _lock = work.try_lock().unwrap();
    work.write_now(state()).unwrap();
    let sealed = fs::read_to_string(work.path()).unwrap();
    let told = |state: &NamedState| state.read_now().err().unwrap();
    let without = told(&named(home.path(), None));
    assert!(
        without.contains("is encrypted. Set TABMUX_STATE_KEY"),
        "{without}"
    );
    let wrong = told(&named(home.path(), Some("another key")));
    assert!(wrong.contains("was encrypted with another key"), "{wrong}");
    // A file of another name.
    let other = NamedState {
        name: "other".parse().unwrap(),
        ..work.clone()
    };
    fs::write(other.path(), &sealed).unwrap();
    assert!(told(&other).contains("The state other is damaged."));
    for (content, why) in [
        (
            sealed.replace("\"version\":1", "\"version\":9"),
            "another version of tabmux (format 9",
        ),
        (
            sealed[..sealed.len() / 2].to_owned(),
            "is damaged. Run `tabmux state delete work`",
        ),
        ("s3cret".to_owned(), "is damaged."),
        ("{\"version\":1}".to_owned(), "is damaged."),
        (
            "{\"version\":1,\"state\":{\"cookies\":\"s3cret\"}}".to_owned(),
            "is damaged.",
        ),
    ] {
        fs::write(work.path(), content).unwrap();
        let error = told(&work);
        assert!(error.contains(why) && !error.contains("s3cret"), "{error}");
    }
}

#[test]
fn a_state_has_one_user_at_a_time() {
    let home = tempfile::tempdir().unwrap();
    let work = named(home.path(), None);
    let lock = work.try_lock().unwrap();
    assert!(lock.is_some() && work.try_lock().unwrap().is_none());
    let error = work.delete().unwrap_err();
    assert!(
        error.contains("Another session uses the state work."),
        "{error}"
    );
    drop(lock);
    assert!(work.try_lock().unwrap().is_some());
}

#[test]
fn a_name_is_a_plain_file_name() {
    for bad in [
        "",
        ".",
        "..",
        "a/b",
        "-x",
        ".x",
        "a b",
        "ä",
        &"x".repeat(65),
    ] {
        assert!(bad.parse::<StateName>().is_err(), "{bad}");
    }
    assert!("work.2-a_b".parse::<StateName>().is_ok());
}
