//! Reading the notes again: which clients get them, and what happens if the file is damaged or replaced.

use super::*;
use std::os::unix::fs::PermissionsExt;
use tabmux_protocol::wire::SessionId;

const GRACE: Duration = Duration::from_secs(60);

fn notes() -> Notes {
    let tab = |target: &str, number, opened, bound| TabNotes {
        browser: "http://127.0.0.1:9222".into(),
        target: target.into(),
        number,
        page: Some(number - 2),
        stays: true,
        opened,
        bound,
        extension: None,
    };
    let session = SessionNotes {
        secret: "s3cret".into(),
        number: 2,
        pages_counted: 6,
        tabs: vec![
            tab("A", 3, true, true),
            tab("B", 5, true, false),
            tab("C", 7, false, false),
        ],
        lost: None,
        connected: Some("http://127.0.0.1:9222".into()),
        follows: Some(true),
    };
    Notes {
        tabs_counted: 9,
        sessions: HashMap::from([("sess_1".to_owned(), session)]),
    }
}

fn resume(session: &str, secret: &str) -> Resume {
    Resume {
        session_id: SessionId(session.into()),
        secret: secret.into(),
        told: false,
    }
}

#[tokio::test]
async fn notes_are_read_by_the_next_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.json");
    let mut first = Memory::at(path.clone(), GRACE);
    first.keep(notes());
    first.finish();
    let mode = fs::metadata(&path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    let mut second = Memory::at(path.clone(), GRACE);
    assert_eq!(second.tabs_counted(), 9);
    assert_eq!(second.tabs().len(), 3);
    // Sessions that have not reconnected are not forgotten if this daemon dies, too.
    second.keep(Notes::default());
    if let Some(writing) = second.writing() {
        writing.await;
    }
    assert!(second.writing().is_none());
    assert_eq!(read(&path).unwrap().sessions.len(), 1);
    assert_eq!(second.take_up(&resume("sess_1", "guess")), None);
    assert_eq!(second.take_up(&resume("sess_2", "s3cret")), None);
    assert_eq!(second.follows_of("sess_1"), None, "it may be anybody's");
    let restored_tabs = second.take_up(&resume("sess_1", "s3cret")).unwrap();
    assert_eq!(restored_tabs.opened.len(), 2);
    assert_eq!(second.number_of("sess_1"), Some(2));
    assert_eq!(second.follows_of("sess_1"), Some(true));
    assert_eq!(restored_tabs.bound, [TargetId("A".into())]);
    let connected = BrowserKey("http://127.0.0.1:9222".into());
    assert_eq!(restored_tabs.connected, Some(connected));
    let numbers: Vec<_> = restored_tabs.numbers.iter().collect();
    assert_eq!(numbers, [(TabId(3), 1), (TabId(5), 3), (TabId(7), 5)]);
    assert_eq!(restored_tabs.numbers.counted(), 6);
    assert_eq!(second.take_up(&resume("sess_1", "s3cret")), None, "once");
    let client = Client {
        session: "sess_1".into(),
        ..Client::default()
    };
    second.opened(&client);
    assert!(second.take_abandoned().is_empty());
    // Until its tabs are found again, they are kept for the next daemon.
    let missing = second.missing(&client, &restored_tabs);
    assert_eq!(missing, notes().sessions["sess_1"].tabs[..2]);
    assert_eq!(second.missing(&client, &RestoredTabs::default()), []);
    second.closed(&client);
    assert_eq!(second.missing(&client, &restored_tabs), []);
    second.finish();
}

#[test]
fn only_tabs_that_a_lost_session_opened_are_abandoned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.json");
    write(&path, &notes()).unwrap();
    let mut memory = Memory::at(path, GRACE);
    let abandoned = memory.take_abandoned();
    let targets: Vec<_> = abandoned.iter().map(|tab| &*tab.target.0).collect();
    assert_eq!(targets, ["A", "B"]);
    assert_eq!(memory.grace(), None);
}

/// The loss that a client learns from a file with this entry.
fn loss_in(lost: &str) -> Option<Loss> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.json");
    let session = format!(r#"{{"secret": "s3cret", "tabs": [], "lost": {lost}}}"#);
    let text = format!(r#"{{"tabsCounted": 9, "sessions": {{"sess_1": {session}}}}}"#);
    fs::write(&path, text).unwrap();
    let mut memory = Memory::at(path, GRACE);
    memory.take_up(&resume("sess_1", "s3cret")).unwrap().lost
}

#[test]
fn a_loss_is_remembered_with_its_browser_also_where_an_older_file_does_not_say_it() {
    let (tab, fate) = (TabId(7), Fate::Crashed);
    let loss = |browser: Option<&str>| Loss {
        browser: browser.map(|key| BrowserKey(key.into())),
        tab: LostTab { tab, fate },
    };
    let older = r#"{"number": 7, "fate": "crashed"}"#;
    assert_eq!(loss_in(older), Some(loss(None)));
    let loss = loss(Some("http://127.0.0.1:9223"));
    let notes = serde_json::to_string(&LostNotes::from(loss.clone())).unwrap();
    assert_eq!(loss_in(&notes), Some(loss));
}

#[test]
fn an_invalid_file_is_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sessions.json");
    fs::write(&path, "{]").unwrap();
    assert_eq!(Memory::at(path, GRACE).tabs_counted(), 0);
}

#[test]
fn files_of_other_users_are_neither_read_nor_written() {
    let folder = tempfile::tempdir().unwrap();
    let [elsewhere, path, draft] = ["elsewhere", "d.sock.sessions.json", "d.sock.sessions.new"]
        .map(|it| folder.path().join(it));
    write(&elsewhere, &notes()).unwrap();
    let before = fs::read(&elsewhere).unwrap();
    for link in [&path, &draft] {
        std::os::unix::fs::symlink(&elsewhere, link).unwrap();
    }
    let mut memory = Memory::at(path.clone(), GRACE);
    assert_eq!(memory.tabs_counted(), 0, "a link is not followed");
    memory.keep(Notes {
        tabs_counted: 3,
        ..Notes::default()
    });
    memory.finish();
    assert_eq!(fs::read(&elsewhere).unwrap(), before);
    assert!(fs::symlink_metadata(&path).unwrap().is_file());
    assert_eq!(read(&path).unwrap().tabs_counted, 3);
    // Only root can change a file's owner.
    if tabmux_platform::user::is_root() {
        write(&path, &notes()).unwrap();
        std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
        let memory = Memory::at(path, GRACE);
        assert!(memory.tabs().is_empty());
        assert_eq!(memory.tabs_counted(), 3, "as we have counted ourselves");
    }
}

/// Simulates a daemon that uses more numbers and is killed.
fn use_numbers(path: &Path, more: u32) -> std::ops::RangeInclusive<u32> {
    let mut memory = Memory::at(path.to_owned(), GRACE);
    let before = memory.tabs_counted();
    memory.keep(Notes {
        tabs_counted: before + more,
        ..Notes::default()
    });
    memory.finish();
    before + 1..=before + more
}

#[test]
fn numbers_are_not_used_again_when_notes_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.sock.sessions.json");
    assert_eq!(use_numbers(&path, 5), 1..=5);
    // A folder blocks the notes' temporary file, so they stay as they were.
    fs::create_dir(path.with_extension("new")).unwrap();
    assert_eq!(use_numbers(&path, 5), 6..=10);
    assert_eq!(use_numbers(&path, 5), 11..=15);
    fs::remove_dir(path.with_extension("new")).unwrap();
    assert_eq!(use_numbers(&path, 5), 16..=20);
    // Notes without a counter file are continued, too.
    fs::remove_file(path.with_extension("count")).unwrap();
    assert_eq!(use_numbers(&path, 5), 21..=25);
}

#[test]
fn numbers_continue_in_a_random_range_when_the_count_is_unknown() {
    for broken in [
        "",
        "0000000007",
        "0000000007 0000000007",
        "0000000007 0000000008\n",
        "7 7\n",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("d.sock.sessions.json");
        use_numbers(&path, 5);
        fs::write(path.with_extension("count"), broken).unwrap();
        let first = use_numbers(&path, 5);
        assert!(*first.start() > 1_000_000, "{broken:?}: {first:?}");
        // The file is complete again, and the numbers are low enough to continue.
        let next = use_numbers(&path, 5);
        assert_eq!(*next.start(), first.end() + 1, "{broken:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.sock.sessions.json");
    use_numbers(&path, 5);
    fs::remove_file(path.with_extension("count")).unwrap();
    fs::create_dir(path.with_extension("count")).unwrap();
    let (one, two) = (use_numbers(&path, 5), use_numbers(&path, 5));
    assert!(one.end() < two.start() || two.end() < one.start());
    assert!(*one.start() > 1_000_000 && *two.start() > 1_000_000);
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_hangs_delays_one_answer_for_a_second() {
    let (write, _notes) = watch::channel((0, Notes::default()));
    let (done, written) = watch::channel(0);
    let mut memory = Memory {
        write: Some(write),
        written,
        ..Memory::none()
    };
    let keep = |memory: &mut Memory, tabs_counted| {
        memory.keep(Notes {
            tabs_counted,
            ..Notes::default()
        });
    };
    assert!(memory.writing().is_none());
    keep(&mut memory, 1);
    let begun = tokio::time::Instant::now();
    memory.writing().unwrap().await;
    assert_eq!(begun.elapsed(), WRITE_LIMIT);
    // Later replies do not wait at all, until the disk answers.
    assert!(memory.writing().is_none());
    keep(&mut memory, 2);
    assert!(memory.writing().is_none());
    done.send_replace(2);
    assert!(memory.writing().is_none());
    keep(&mut memory, 3);
    let writing = memory.writing().unwrap();
    done.send_replace(3);
    writing.await;
    assert_eq!(begun.elapsed(), WRITE_LIMIT);
}
