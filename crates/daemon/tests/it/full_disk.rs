//! A daemon that is killed while its disk is full, and the next one.

use crate::fake_extension::{Daemon, Extension, through_extension};
use crate::page_harness::request;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;
use tabmux_daemon::extension::Secret;
use tabmux_daemon::{Client, Handle, SessionOptions};
use tabmux_protocol::Backend;
use tabmux_testkit::{patiently, say_skipped};

#[tokio::test]
async fn after_a_full_disk_and_a_kill_no_tab_has_the_number_of_another() {
    let Some(disk) = SmallDisk::mount() else {
        return;
    };
    // One number is stored before the disk is full, and one after.
    let mut first = Agent::start(&disk.0.path().join("d"), 1).await;
    let before = first.number_of(1).await;
    disk.fill();
    first.opens(2).await;
    let after = first.number_of(2).await;
    // The first daemon is not shut down properly.
    let second = Agent::start(&disk.0.path().join("d"), 3).await;
    let next = second.number_of(3).await;
    assert!(before < after && after < next, "{before}, {after}, {next}");

    // The same if the disk was full from the start.
    let third = Agent::start(&disk.0.path().join("e"), 4).await;
    let fourth = Agent::start(&disk.0.path().join("e"), 5).await;
    assert_ne!(third.number_of(4).await, fourth.number_of(5).await);
}

/// An agent in the browser of an extension, with its own daemon.
struct Agent {
    daemon: Daemon,
    extension: Extension,
    session: Handle,
}

impl Agent {
    /// Its browser has this tab.
    async fn start(folder: &Path, id: u32) -> Self {
        let daemon = Daemon::start_shared(folder).await;
        let mut extension = daemon.extension("0123456789").await;
        let browser = json!({"name": "Chrome", "version": "156.0.1"});
        extension
            .say(json!({"type": "connected", "browser": browser, "tabs": [tab(id)]}))
            .await;
        let options = SessionOptions::from_wire(through_extension()).unwrap();
        let session = daemon.hub.open(options, Client::default()).await;
        Self {
            daemon,
            extension,
            session,
        }
    }

    async fn opens(&mut self, id: u32) {
        let opened = json!({"type": "tabCreated", "tab": tab(id)});
        self.extension.say(opened).await;
    }

    /// The number of a tab, once the agent sees it.
    async fn number_of(&self, id: u32) -> u32 {
        let list = || async {
            let list = request("list_pages", &json!({}));
            let list = self.session.call(list).await.unwrap();
            assert!(!list.is_error, "{list:?}");
        };
        let asking = async {
            loop {
                list().await;
                let overview = self.daemon.hub.overview().await.unwrap();
                let mut tabs = overview.tabs.iter();
                if let Some(tab) = tabs.find(|tab| tab.url == url(id)) {
                    // It may not be in the list yet.
                    list().await;
                    return tab.id;
                }
            }
        };
        patiently(asking, || format!("tab {id}")).await
    }
}

fn tab(id: u32) -> Value {
    json!({"id": id, "title": "T", "url": url(id), "windowId": 1})
}

fn url(id: u32) -> String {
    format!("http://a.test/{id}")
}

/// A file system of 256 kB, until this is dropped.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=256k", "none"]);
        let mounted = mount.arg(folder.path()).output();
        if !mounted.is_ok_and(|mounted| mounted.status.success()) {
            say_skipped("only root can mount a small file system");
            return None;
        }
        for place in ["d", "e"] {
            let place = folder.path().join(place);
            std::fs::create_dir(&place).unwrap();
            Secret::load_or_make(&place.join("pairing-secret")).unwrap();
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
