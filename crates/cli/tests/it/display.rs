//! The display of a launched browser whose daemon was started without one.

use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use tabmux_testkit::McpClient;

/// The official SDKs start servers with four variables only, so a daemon may know no display.
#[tokio::test(flavor = "multi_thread")]
async fn a_browser_opens_on_the_screen_of_the_last_client_that_had_one() {
    let home = Home::new();
    let socket = home.folder().join("wayland-0");
    let _screen = UnixListener::bind(&socket).unwrap();
    let bare = home.client(&[], None).await;
    assert!(home.launched_by(&bare).await.contains("--headless=new"));

    let at_desk = home.client(&[], Some(&socket)).await;
    let shown = home.launched_by(&at_desk).await;
    assert!(!shown.contains("--headless"), "{shown}");
    let variable = format!("WAYLAND_DISPLAY={}\n", socket.display());
    assert!(shown.contains(&variable), "{shown}");
    // Other clients of the daemon use the same display, unless they want no window.
    assert!(home.launched_by(&bare).await.contains(&variable));
    let unseen = home.client(&["--headless"], Some(&socket)).await;
    assert!(home.launched_by(&unseen).await.contains("--headless=new"));
}

/// The home of a daemon, and a fake browser that records how it was started. Dropping it stops the daemon.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        let script = "#!/bin/sh\n{ echo \"$@\"; env; } > \"$HOME/draft\"\nmv \"$HOME/draft\" \"$HOME/started\"\n";
        std::fs::write(home.browser(), script).unwrap();
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(home.browser(), executable).unwrap();
        home
    }

    fn folder(&self) -> &Path {
        self.0.path()
    }

    fn browser(&self) -> PathBuf {
        self.folder().join("browser")
    }

    /// A client after its handshake. The first one starts the daemon.
    async fn client(&self, flags: &[&str], screen: Option<&Path>) -> McpClient {
        let mut command = self.tabmux();
        command.args(["mcp", "--tools=static", "--executablePath"]);
        command.arg(self.browser()).args(flags);
        command.envs(screen.map(|socket| ("WAYLAND_DISPLAY", socket)));
        let client = McpClient::spawn(command);
        client.initialize().await;
        client.list_tools().await;
        client
    }

    /// How the browser was started for a client: its arguments and its environment.
    async fn launched_by(&self, client: &McpClient) -> String {
        let started = self.folder().join("started");
        let _ = std::fs::remove_file(&started);
        client
            .call_tool("list_pages", json!({}))
            .await
            .expect_error();
        std::fs::read_to_string(started).unwrap()
    }

    /// With the few variables that an SDK passes on.
    fn tabmux(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
        let home = self.folder();
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", home)
            .env("TABMUX_SOCKET", home.join("daemon.sock"))
            .env("TABMUX_PORT", "0");
        command
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.tabmux().args(["daemon", "stop"]).output();
    }
}
