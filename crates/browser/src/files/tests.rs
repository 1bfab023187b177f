//! Which files a client may read and write.

use super::*;
use std::fs;
use std::os::unix::fs::symlink;
use tempfile::TempDir;

/// A client that works in `project`, with its output in `output`.
struct Client {
    home: TempDir,
    output: OutputRoot,
    files: Files,
}

impl Client {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("project");
        fs::create_dir(&project).unwrap();
        let output = OutputRoot::at(home.path().join("output"));
        let roots = Roots {
            working: Some(project),
            ..Roots::default()
        };
        Self {
            files: Files::new(roots, output.session()),
            output,
            home,
        }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.home.path().join("project").join(name)
    }

    async fn save(&self, path: &str, overwrite: bool) -> Result<PathBuf, String> {
        let to = Destination::new(Some(path), Some(overwrite), "txt");
        let saved = self.files.save(to, b"new".to_vec()).await;
        saved.map_err(|error| error.to_string())
    }

    async fn read(&self, path: &str) -> Result<Vec<u8>, String> {
        let read = self.files.read(path, 100).await;
        read.map_err(|error| error.to_string())
    }
}

#[tokio::test]
async fn files_stay_in_the_clients_folder() {
    let client = Client::new();
    let place = client.save("a.png", false).await.unwrap();
    assert_eq!(fs::read(place).unwrap(), b"new");
    for outside in ["../a.png", "/etc/a.png", "/", "nowhere/a.png"] {
        assert!(client.save(outside, true).await.is_err(), "{outside}");
    }
}

#[tokio::test]
async fn only_files_of_the_client_are_read() {
    let client = Client::new();
    fs::write(client.at("a.txt"), "x").unwrap();
    fs::write(client.at("long.txt"), [b'x'; 101]).unwrap();
    symlink("/etc/hostname", client.at("link")).unwrap();
    let place = client.files.readable("a.txt").await.unwrap();
    assert!(place.ends_with("a.txt"));
    assert_eq!(client.read("a.txt").await.unwrap(), b"x");
    for outside in ["../a.txt", "/etc/hostname", "link", ".", "nothing"] {
        assert!(client.files.readable(outside).await.is_err(), "{outside}");
    }
    let told = "long.txt cannot be read: it is longer than 100 bytes.";
    assert_eq!(client.read("long.txt").await, Err(told.into()));
}

#[tokio::test]
async fn a_link_is_not_followed() {
    let client = Client::new();
    let elsewhere = tempfile::NamedTempFile::new().unwrap();
    symlink(elsewhere.path(), client.at("link.png")).unwrap();
    symlink("/tmp", client.at("out")).unwrap();
    for path in ["link.png", "out/a.png"] {
        assert!(client.save(path, true).await.is_err(), "{path}");
    }
    assert_eq!(fs::read(elsewhere.path()).unwrap(), b"");
}

#[tokio::test]
async fn only_regular_files_are_read_and_written() {
    let client = Client::new();
    let made = std::process::Command::new("mkfifo")
        .arg(client.at("fifo"))
        .status();
    assert!(made.unwrap().success());
    fs::create_dir(client.at("folder")).unwrap();
    for name in ["fifo", "folder"] {
        let problems = [
            client.save(name, true).await.map(drop),
            client.save(name, false).await.map(drop),
            client.read(name).await.map(drop),
        ];
        for problem in problems {
            let problem = problem.unwrap_err();
            assert!(problem.ends_with("not a regular file."), "{problem}");
        }
    }
}

#[tokio::test]
async fn an_existing_file_is_replaced_only_on_request_and_completely() {
    let client = Client::new();
    fs::write(client.at("a.txt"), "old").unwrap();
    let refused = client.save("a.txt", false).await.unwrap_err();
    let told = "a.txt cannot be written: it exists already. Pass overwrite: true to replace it, or use another path.";
    assert_eq!(refused, told);
    let to = Destination::new(Some("a.txt"), Some(true), "txt");
    let mut draft = client.files.create(to.clone()).await.unwrap();
    draft.write(b"half".to_vec()).await.unwrap();
    assert_eq!(fs::read(client.at("a.txt")).unwrap(), b"old");
    drop(draft);
    let mut draft = client.files.create(to).await.unwrap();
    draft.write(b"who".to_vec()).await.unwrap();
    draft.write(b"le".to_vec()).await.unwrap();
    let head = draft.read_back(|file| {
        let mut text = String::new();
        io::Read::read_to_string(file, &mut text).unwrap();
        text
    });
    assert_eq!(head.await.unwrap(), "whole");
    draft.keep().await.unwrap();
    assert_eq!(fs::read(client.at("a.txt")).unwrap(), b"whole");
}

#[tokio::test]
async fn hidden_files_are_neither_read_nor_written() {
    let client = Client::new();
    fs::create_dir(client.at(".git")).unwrap();
    symlink(client.at(".git"), client.at("git")).unwrap();
    for path in [".git/config", ".env"] {
        fs::write(client.at(path), "mine").unwrap();
    }
    for path in [".git/config", "git/config", ".env", "x/../.env"] {
        fs::create_dir_all(client.at("x")).unwrap();
        for problem in [
            client.save(path, true).await.unwrap_err(),
            client.read(path).await.map(drop).unwrap_err(),
        ] {
            assert!(problem.contains("hidden (."), "{path}: {problem}");
        }
    }
    assert!(client.save(".new", false).await.is_err());
    // A root that is the hidden folder itself may be used.
    let roots = Roots {
        working: Some(client.at("")),
        named: vec![client.at(".git")],
        ..Roots::default()
    };
    let named = Files::new(roots, client.output.session());
    assert_eq!(named.read(".git/config", 100).await.unwrap(), b"mine");
}

#[tokio::test]
async fn no_session_can_name_the_output_of_another() {
    let client = Client::new();
    // The widest possible root: the folder with all sessions' output.
    let roots = Roots {
        named: vec![client.home.path().to_owned()],
        ..Roots::default()
    };
    let other = Files::new(roots, client.output.session());
    let fresh = || Destination::new(None, None, "json");
    let theirs = client
        .files
        .save(fresh(), b"cookies".to_vec())
        .await
        .unwrap();
    let own = other.save(fresh(), b"own".to_vec()).await.unwrap();
    assert_ne!(theirs.parent(), own.parent());
    let path = |place: &Path| place.to_str().unwrap().to_owned();
    assert_eq!(other.read(&path(&own), 100).await.unwrap(), b"own");
    let refused = other.read(&path(&theirs), 100).await.unwrap_err();
    assert!(refused.to_string().contains("it is outside"), "{refused}");
    let over = Destination::new(Some(&path(&theirs)), Some(true), "json");
    assert!(other.save(over, b"x".to_vec()).await.is_err());
    assert_eq!(fs::read(theirs).unwrap(), b"cookies");
}

#[tokio::test]
async fn without_a_folder_only_the_sessions_own_output_is_written() {
    let client = Client::new();
    let roots = Roots {
        working: Some("/".into()),
        ..Roots::default()
    };
    let files = Files::new(roots, client.output.session());
    let to = Destination::new(Some("a.png"), None, "png");
    assert!(files.save(to, b"x".to_vec()).await.is_err());
    for name in ["tabmux-1.png", "tabmux-2.png"] {
        let to = Destination::new(None, None, "png");
        let place = files.save(to, b"x".to_vec()).await.unwrap();
        assert!(place.ends_with(name), "{place:?}");
    }
}

#[tokio::test]
async fn files_of_a_client_that_keeps_them_stay_in_its_folder() {
    let client = Client::new();
    let output = client
        .output
        .session_with(Some(client.at("")), Quota::default());
    let files = Files::new(Roots::default(), output.clone());
    let to = Destination::new(None, None, "pdf");
    let place = files.save(to, b"x".to_vec()).await.unwrap();
    output.end().await;
    assert_eq!(place, client.at("tabmux-1.pdf"));
    assert!(place.is_file());
}

/// A client on another machine, with a folder of a flag: through `link`, as people name folders.
fn remote_client() -> (Client, Files) {
    let client = Client::new();
    fs::write(client.at("prices.csv"), "old").unwrap();
    fs::write(client.at(".env"), "old").unwrap();
    let link = client.home.path().join("link");
    symlink(client.at(""), &link).unwrap();
    let roots = Roots {
        named: vec![link],
        ..Roots::default()
    };
    let files = Files::new(roots, client.output.session()).of_remote_client();
    (client, files)
}

#[tokio::test]
async fn a_remote_client_writes_only_under_names_in_its_sessions_folder() {
    let (client, files) = remote_client();
    let home = client.home.path();
    for outside in [
        client.at("prices.csv"),
        client.at("new.csv"),
        home.join("link/prices.csv"),
        home.join("link/new.csv"),
        "folder/new.csv".into(),
        "../new.csv".into(),
    ] {
        let to = Destination::new(outside.to_str(), Some(true), "");
        let why = files.save(to, b"new".to_vec()).await.unwrap_err();
        let why = why.to_string();
        assert!(why.contains("a name without a folder"), "{why}");
    }
    assert_eq!(fs::read(client.at("prices.csv")).unwrap(), b"old");
    assert!(!client.at("new.csv").exists());
    let to = Destination::new(Some("./new.csv"), None, "");
    let place = files.save(to, b"new".to_vec()).await.unwrap();
    assert!(place.starts_with(home.join("output")), "{place:?}");
    // An upload of a client on this machine writes in the same way.
    let upload = client.files.clone().of_remote_client();
    let to = Destination::new(client.at("prices.csv").to_str(), Some(true), "");
    assert!(upload.save(to, b"new".to_vec()).await.is_err());
    assert_eq!(fs::read(client.at("prices.csv")).unwrap(), b"old");
}

#[tokio::test]
async fn a_remote_client_does_not_learn_which_files_exist() {
    let (client, files) = remote_client();
    let home = client.home.path();
    fs::write(home.join("secret"), "x").unwrap();
    let why = async |path: PathBuf| {
        let path = path.to_str().unwrap();
        let why = files.read(path, 100).await.unwrap_err().to_string();
        why.replace(path, "")
    };
    let outside = why(home.join("secret")).await;
    assert!(outside.contains("outside"), "{outside}");
    for other in [
        "nothing",
        "project/../secret",
        "secret/x",
        "link/../nothing",
    ] {
        assert_eq!(why(home.join(other)).await, outside, "{other}");
    }
    assert_eq!(why("../../secret".into()).await, outside);
    let hidden = why(client.at(".env")).await;
    assert_eq!(
        why(client.at(".nothing")).await,
        hidden.replace(".env", ".nothing")
    );
    assert_eq!(
        why(client.at("nothing")).await,
        why(client.at("prices.csv/x")).await
    );
    for there in [client.at("prices.csv"), home.join("link/prices.csv")] {
        assert_eq!(
            files.read(there.to_str().unwrap(), 100).await.unwrap(),
            b"old"
        );
    }
}
