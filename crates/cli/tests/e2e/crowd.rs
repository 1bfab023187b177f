//! Several agents at once: one daemon, one browser, a client for each.

use crate::over_extension::{self, Capability};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;
use tabmux_testkit::chromium::QUIET_ARGUMENTS;
use tabmux_testkit::{
    Chromium, ExtendedChromium, FixtureServer, McpClient, OverExtension, Response, panics_in,
    process,
};
use tempfile::TempDir;

/// The home of a daemon, the clients that share it, and pages. Dropping it ends everything.
pub(crate) struct Crowd {
    pub(crate) pages: FixtureServer,
    browser: PathBuf,
    home: TempDir,
    /// The port at which the extension of the crowd's browser expects the daemon, if the extension is used.
    extension: Option<u16>,
}

impl Crowd {
    /// A home without a daemon yet. `None` if tests with a real browser are off.
    pub(crate) fn gather() -> Option<Self> {
        let browser = tabmux_testkit::real_browser()?;
        let home = TempDir::with_prefix("tabmux-crowd-").unwrap();
        let over = OverExtension::here();
        if let Some(over) = over {
            over_extension::move_in(over, home.path());
        }
        Some(Self::live(browser, home, over.map(|over| over.port)))
    }

    /// A home for clients that use this browser through its extension.
    pub(crate) fn around(executable: PathBuf, chromium: &ExtendedChromium) -> Self {
        let home = TempDir::with_prefix("tabmux-crowd-").unwrap();
        chromium.pair(home.path());
        Self::live(executable, home, Some(chromium.port))
    }

    fn live(browser: PathBuf, home: TempDir, extension: Option<u16>) -> Self {
        let pages = FixtureServer::start();
        pages.route_with("/secret", |request| {
            let name = request.query.trim_start_matches("of=").to_owned();
            Response::html(format!(
                "<title>{name}</title><p id=secret>{name}</p>\
                 <button onclick='this.value++' value=0>Press</button><output>0</output>"
            ))
        });
        pages.route(WAITING, Response::no_content());
        Self {
            pages,
            browser,
            home,
            extension,
        }
    }

    /// Whether Chrome offers this capability here.
    pub(crate) fn can(&self, capability: Capability) -> bool {
        capability.is_given()
    }

    /// One more client, after its handshake, with the crowd's browser profile. The first client starts the
    /// daemon.
    pub(crate) async fn client(&self, flags: &[&str]) -> McpClient {
        if self.extension.is_some() {
            return self.visitor(&[&["--extension"], flags].concat()).await;
        }
        let profile = self.home.path().join("profile");
        let profile = format!("--userDataDir={}", profile.display());
        self.client_in(&[&[profile.as_str()], flags].concat()).await
    }

    /// One more client, after its handshake, with the browser of its flags.
    pub(crate) async fn client_in(&self, flags: &[&str]) -> McpClient {
        let mut command = self.tabmux();
        command.args([
            "mcp",
            "--tools=static",
            "--headless",
            "--chromeArg=--disable-quic",
        ]);
        command.arg(format!("--executablePath={}", self.browser.display()));
        let client = McpClient::spawn({
            command.args(flags);
            command
        });
        client.initialize().await;
        client
    }

    /// One more client, with a server that needs no daemon.
    pub(crate) async fn client_without_daemon(&self, flags: &[&str]) -> McpClient {
        let mut command = self.tabmux();
        command
            .env_remove("TABMUX_SOCKET")
            .env_remove("TABMUX_PORT");
        command.args(["mcp", "--no-daemon", "--tools=static", "--headless"]);
        command.arg(format!("--executablePath={}", self.browser.display()));
        command.args(flags);
        let client = McpClient::spawn(command);
        client.initialize().await;
        client
    }

    /// One more client, before its handshake, with its own working folder.
    pub(crate) fn client_working_in(&self, folder: &Path, flags: &[&str]) -> McpClient {
        self.client_at_home(self.home.path(), folder, flags)
    }

    /// One more client, before its handshake, with its own home and working folder.
    pub(crate) fn client_at_home(&self, home: &Path, folder: &Path, flags: &[&str]) -> McpClient {
        let mut command = self.tabmux();
        command.env("HOME", home);
        command.current_dir(folder).args(["mcp", "--tools=static"]);
        match self.extension {
            Some(_) => command.arg("--extension"),
            None => command
                .args(["--headless", "--isolated", "--chromeArg=--disable-quic"])
                .arg(format!("--executablePath={}", self.browser.display())),
        };
        command.args(flags);
        McpClient::spawn(command)
    }

    /// One more client, attached to this browser.
    pub(crate) async fn guest(&self, chromium: &Chromium) -> McpClient {
        let flag = format!("--browserUrl={}", chromium.http_url());
        self.visitor(&[&flag]).await
    }

    /// One more client, attached to the browsers of its flags.
    pub(crate) async fn visitor(&self, flags: &[&str]) -> McpClient {
        let mut command = self.tabmux();
        let is_chosen = flags.iter().any(|flag| flag.starts_with("--tools"));
        command
            .arg("mcp")
            .args((!is_chosen).then_some("--tools=static"));
        command.args(flags);
        let client = McpClient::spawn(command);
        client.initialize().await;
        client
    }

    /// The home of the crowd.
    pub(crate) fn home(&self) -> &Path {
        self.home.path()
    }

    /// Kills the browser that the crowd shares with SIGKILL.
    pub(crate) async fn kill_browser(&self) {
        if let Some(over) = OverExtension::here() {
            return over.end_browser();
        }
        let browsers = process::processes_with(&self.mark());
        let browser = browsers
            .iter()
            .find(|process| process.command.contains("--remote-debugging-pipe"));
        let browser = browser.expect("there is a browser").pid;
        process::kill_hard(browser);
        process::wait_until_gone(&[browser]).await;
    }

    /// A running browser with one tab, which the daemon does not own.
    pub(crate) fn running_browser(&self) -> Chromium {
        Chromium::start(&self.browser)
    }

    /// A running browser at this port.
    pub(crate) fn running_browser_at(&self, port: u16) -> Chromium {
        Chromium::start_at(&self.browser, port)
    }

    /// A command that starts a browser at this port. It ends with the crowd.
    pub(crate) fn start_command(&self, port: u16) -> String {
        format!(
            "{} {} --headless --remote-debugging-port={port} --user-data-dir={} about:blank",
            self.browser.display(),
            QUIET_ARGUMENTS.join(" "),
            self.home.path().join("started").display()
        )
    }

    /// The JSON output of a command.
    pub(crate) fn asked(&self, what: &str) -> Value {
        let output = self.tabmux().args([what, "--json"]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    }

    /// The daemon's process, if there is one.
    pub(crate) fn daemon(&self) -> Option<u32> {
        u32::try_from(self.asked("status")["pid"].as_u64()?).ok()
    }

    /// The program itself, pointed at this crowd's daemon.
    pub(crate) fn tabmux(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
        command.env("TABMUX_SOCKET", self.home.path().join("run/daemon.sock"));
        command
            .env("TABMUX_PORT", "0")
            .env("HOME", self.home.path())
            .env("TMPDIR", self.home.path());
        command
            .env_remove("XDG_RUNTIME_DIR")
            .env_remove("XDG_DATA_HOME")
            .env_remove("DISPLAY")
            .env_remove("TABMUX_LOG");
        if let Some(port) = self.extension {
            command.env("TABMUX_PORT", port.to_string());
        }
        command
    }

    /// `tabmux serve` with the crowd's browser profile.
    pub(crate) fn serve(&self) -> Command {
        let mut command = self.tabmux();
        let profile = self.home.path().join("profile");
        command
            .args(["serve", "--headless", "--chromeArg=--disable-quic"])
            .arg(format!("--executablePath={}", self.browser.display()))
            .arg(format!("--userDataDir={}", profile.display()));
        command
    }

    /// The address of a page with this name in it.
    pub(crate) fn secret_of(&self, name: &str) -> String {
        self.pages.url(&format!("secret?of={name}"))
    }

    /// Files that should not be left in the temporary folder and next to the socket after all processes have
    /// ended.
    pub(crate) fn litter(&self) -> Vec<String> {
        let names = |folder: PathBuf| {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned())
        };
        let is_kept = |name: &str| KEPT.contains(&name);
        let temporary = names(self.home.path().to_owned()).filter(|name| !is_kept(name));
        let output = names(self.home.path().join(".cache/tabmux/output"));
        let sockets = names(self.home.path().join("run")).filter(|name| name.ends_with(".sock"));
        temporary.chain(output).chain(sockets).collect()
    }

    /// The panics of the crowd's daemons and clients so far, from the daemon's log.
    pub(crate) fn panics(&self) -> Vec<String> {
        panics_in(&self.home.path().join("run/daemon.log"))
    }

    /// The home as text; every process that the crowd started has it in its command line.
    pub(crate) fn mark(&self) -> String {
        self.home.path().display().to_string()
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        // Ends every process that the test started.
        for process in process::processes_with(&self.mark()) {
            process::kill_hard(process.pid);
        }
    }
}

/// A script that waits in its page until [`LET_GO`] runs in another one. The page requests [`WAITING`] meanwhile, so
/// that a test knows how many wait at the same time.
pub(crate) const WAIT: &str = "() => new Promise((done) => { \
    window.go = new BroadcastChannel('go'); \
    window.go.onmessage = () => done(document.title); \
    fetch('/waiting'); })";
pub(crate) const LET_GO: &str = "() => new BroadcastChannel('go').postMessage('go')";
pub(crate) const WAITING: &str = "/waiting";

/// Expected files, since the home is also the temporary folder: our own folders, and Chrome's.
const KEPT: [&str; 6] = ["profile", "run", ".cache", ".config", ".local", ".pki"];
