//! Runs tests a second time in a running browser, through our extension.

mod browser_owner;

use crate::{Chromium, real_browser, run_again, workspace_root};
use serde_json::{Value, json};
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};
use tempfile::TempDir;

/// The browser with the extension, as the child process sees it.
#[derive(Debug)]
pub struct OverExtension {
    /// The port where the extension looks for the daemon.
    pub port: u16,
    /// The file with the secret that the extension knows.
    pub secret: PathBuf,
    /// `None` while the browser is not running.
    websocket: Mutex<Option<String>>,
    owner: PathBuf,
    flags: Vec<String>,
}

impl OverExtension {
    /// Runs the tests of this program whose names begin with one of `parts`, without those that begin with one of
    /// `without`, in one process and in one browser with these flags.
    #[track_caller]
    pub fn run(parts: &[&str], without: &[&str], flags: &[&str]) {
        let Some(executable) = real_browser() else {
            return;
        };
        let with = flags_of_browser(flags);
        let with: Vec<_> = with.iter().map(String::as_str).collect();
        let mut browser = ExtendedChromium::start(&executable, &with);
        let told = json!({
            "port": browser.port, "secret": browser.secret(), "flags": flags,
            "websocket": browser.chromium.websocket_url(), "owner": browser_owner::socket(&browser),
        });
        let told = told.to_string();
        browser_owner::serve_during(&mut browser, || {
            run_again(parts, without, &[(VARIABLE, &told)]);
        });
    }

    /// The browser, if the tests of this process use the extension.
    pub fn here() -> Option<&'static Self> {
        static HERE: OnceLock<Option<OverExtension>> = OnceLock::new();
        let here = HERE.get_or_init(|| Some(Self::read(&std::env::var(VARIABLE).ok()?)));
        here.as_ref()
    }

    /// The browser's DevTools websocket, for the user's part in a test; tabmux does not know it.
    pub fn websocket(&self) -> String {
        self.websocket_place()
            .clone()
            .expect("the browser is running")
    }

    /// Kills the browser, as a crash would.
    pub fn end_browser(&self) {
        browser_owner::request(&self.owner, browser_owner::END);
        *self.websocket_place() = None;
    }

    /// Starts another one with the same extension, if the browser is not running. It has one blank tab.
    pub fn start_browser(&self) {
        let mut websocket = self.websocket_place();
        if websocket.is_none() {
            *websocket = Some(browser_owner::request(&self.owner, browser_owner::START));
        }
    }

    fn websocket_place(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.websocket
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the browser has this flag.
    pub fn runs_with(&self, flag: &str) -> bool {
        self.flags.iter().any(|had| had == flag)
    }

    /// Fails a test that needs a browser with another flag.
    #[track_caller]
    pub fn assert_runs_with(&self, flag: &str) {
        assert!(
            self.runs_with(flag),
            "this test needs a browser with {flag}"
        );
    }

    fn read(told: &str) -> Self {
        let told: Value = serde_json::from_str(told).expect("what another process wrote");
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let port = told["port"].as_u64().expect("a port");
        Self {
            port: u16::try_from(port).expect("a port"),
            secret: text(&told["secret"]).into(),
            websocket: Mutex::new(Some(text(&told["websocket"]))),
            owner: text(&told["owner"]).into(),
            flags: told["flags"]
                .as_array()
                .expect("flags")
                .iter()
                .map(text)
                .collect(),
        }
    }
}

/// The flags of a browser for many tests: those that the tests need, and what tabmux itself launches a browser with, so
/// that screenshots have the same size and a new window costs half as much.
fn flags_of_browser(needed: &[&str]) -> Vec<String> {
    let mut off = UNUSED_UI.to_owned();
    let mut flags = vec!["--hide-scrollbars".to_owned()];
    for flag in needed {
        // Chrome obeys only the last flag of a name.
        match flag.strip_prefix("--disable-features=") {
            Some(features) => off = format!("{off},{features}"),
            None => flags.push((*flag).to_owned()),
        }
    }
    flags.push(format!("--disable-features={off}"));
    flags
}

/// A Chromium with our extension, paired. Ends with this value.
#[derive(Debug)]
pub struct ExtendedChromium {
    /// The browser.
    pub chromium: Chromium,
    /// The port where its extension looks for the daemon.
    pub port: u16,
    folder: TempDir,
    executable: PathBuf,
    flags: Vec<String>,
}

impl ExtendedChromium {
    /// Starts one with these flags. No daemon listens at its port yet.
    pub fn start(executable: &Path, flags: &[&str]) -> Self {
        let folder = TempDir::with_prefix("tabmux-over-").expect("a temporary folder");
        let port = free_port();
        let extension = folder.path().join("extension");
        let secret = make_secret(&folder.path().join(SECRET));
        write_extension(&extension, &secret, port);
        let load = format!("--load-extension={}", extension.display());
        let flags = [&[load.as_str()], flags].concat();
        Self {
            chromium: Chromium::start_with(executable, &flags),
            port,
            folder,
            executable: executable.to_owned(),
            flags: flags.into_iter().map(str::to_owned).collect(),
        }
    }

    /// Kills the browser, and starts another one with the same extension.
    pub fn replace(&mut self) {
        self.chromium.kill();
        self.start_again();
    }

    /// Starts another one with the same extension after this one has ended.
    fn start_again(&mut self) {
        let flags: Vec<_> = self.flags.iter().map(String::as_str).collect();
        self.chromium = Chromium::start_with(&self.executable, &flags);
    }

    /// The file with the secret that its extension knows.
    pub fn secret(&self) -> PathBuf {
        self.folder.path().join(SECRET)
    }

    /// Creates a home folder whose daemon the extension accepts.
    pub fn pair(&self, home: &Path) {
        pair(&self.secret(), home);
    }
}

/// Creates a home folder whose daemon knows this secret.
pub fn pair(secret: &Path, home: &Path) {
    let data = home.join(".local/share/tabmux");
    fs::create_dir_all(&data).expect("a folder");
    fs::copy(secret, data.join("pairing-secret")).expect("the secret is there");
}

/// A port that was free a moment ago.
pub fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it has an address").port()
}

/// Writes the extension of this repository, as `tabmux extension install` does.
fn write_extension(folder: &Path, secret: &str, port: u16) {
    fs::create_dir(folder).expect("a folder");
    let source = workspace_root().join("packages/extension");
    for file in FILES {
        let name = Path::new(file).file_name().expect("a file has a name");
        fs::copy(source.join(file), folder.join(name))
            .unwrap_or_else(|error| panic!("{file} cannot be copied: {error}"));
    }
    let pairing = json!({"secret": secret, "port": port, "name": "Work"});
    fs::write(folder.join("pairing.json"), pairing.to_string()).expect("a file");
}

fn make_secret(file: &Path) -> String {
    let mut bytes = [0; 32];
    let random = File::open("/dev/urandom").and_then(|mut random| random.read_exact(&mut bytes));
    random.expect("random numbers");
    let secret: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut options = OpenOptions::new();
    let opened = options.write(true).create_new(true).mode(0o600).open(file);
    writeln!(opened.expect("a file"), "{secret}").expect("a secret");
    secret
}

/// Pages that Chrome has in every window, each with its own process.
const UNUSED_UI: &str = "WebUIOmniboxPopup,WebUIOmniboxAimPopup";

const SECRET: &str = "secret";

const VARIABLE: &str = "TABMUX_OVER_EXTENSION";

const FILES: [&str; 11] = [
    "manifest.json",
    "icons/icon-16.png",
    "icons/icon-32.png",
    "icons/icon-48.png",
    "icons/icon-128.png",
    "panel.html",
    "panel.css",
    "panel-sections.css",
    "dist/worker.js",
    "dist/panel.js",
    "dist/relay.js",
];
