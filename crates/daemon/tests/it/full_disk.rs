//! A daemon whose disk is full and that is killed, and the one that comes after it.

use crate::fake_extension::Daemon;
use crate::page_desk::{request, worker_at};
use serde_json::json;
use std::path::Path;
use std::process::Command;
use tabmux_daemon::{Client, SessionOptions};
use tabmux_protocol::Backend;
use tabmux_protocol::session as wire;

#[tokio::test]
async fn after_a_full_disk_and_a_kill_no_tab_has_the_number_of_another() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    // One is written down before the disk is full, and one after.
    let first = Daemon::start_shared(&disk.0.path().join("d")).await;
    let before = number_of_new_tab(&first, "before").await;
    disk.fill();
    let after = number_of_new_tab(&first, "after").await;
    // Nothing of the first is ended in order.
    let second = Daemon::start_shared(&disk.0.path().join("d")).await;
    let next = number_of_new_tab(&second, "next").await;
    let mut numbers = vec![before, after, next];
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 3, "{before}, {after}, {next}");

    // Nor if the disk was full from the start.
    let third = Daemon::start_shared(&disk.0.path().join("e")).await;
    let third = number_of_new_tab(&third, "third").await;
    let fourth = Daemon::start_shared(&disk.0.path().join("e")).await;
    let fourth = number_of_new_tab(&fourth, "fourth").await;
    assert_ne!(third, fourth);
}

/// The number of a page that is new, as an agent could have heard it.
async fn number_of_new_tab(daemon: &Daemon, title: &str) -> u32 {
    let mut worker = worker_at(daemon.port).await;
    worker.tab(title).await;
    worker.is_heard().await;
    let options = SessionOptions::from_wire(wire::SessionOptions::default()).unwrap();
    let session = daemon.hub.open(options, Client::default()).await;
    // An answer is given when what it rests on is written down.
    let status = request("browser_get_connection_status", &json!({}));
    session.call(status).await.unwrap();
    let overview = daemon.hub.overview().await.unwrap();
    let tab = overview.tabs.iter().find(|tab| tab.title == title);
    tab.unwrap().id
}

/// A file system of 256 kB, until this is dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    #[expect(
        clippy::print_stdout,
        reason = "the reader of a test run wants to know"
    )]
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=256k", "none"]);
        let mounted = mount.arg(folder.path()).output();
        if !mounted.is_ok_and(|mounted| mounted.status.success()) {
            println!("skipped: only root can mount a small file system");
            return None;
        }
        for place in ["d", "e"] {
            std::fs::create_dir(folder.path().join(place)).unwrap();
        }
        Some(Self(folder))
    }

    fn fill(&self) {
        let filler: &Path = &self.0.path().join("filler");
        let full = std::fs::write(filler, vec![0; 1024 * 1024]).unwrap_err();
        assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        // Files may still be open.
        let _ = Command::new("umount")
            .arg("--lazy")
            .arg(self.0.path())
            .status();
    }
}
