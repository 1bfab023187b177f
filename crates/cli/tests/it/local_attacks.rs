//! A daemon attacked by other local processes.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use tabmux_testkit::McpClient;
use tabmux_testkit::process::resident_bytes;

/// More than the number of files that the daemon may have open.
const IDLE: usize = 1_100;
const MIB: usize = 1024 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn more_idle_connections_than_there_are_descriptors_stop_nobody() {
    tabmux_platform::limits::raise();
    let daemon = Daemon::start("ulimit -n 1024");
    let mut idle: Vec<_> = (0..IDLE).map(|_| daemon.connect()).collect();
    let status = daemon.tabmux(&["status"]);
    assert!(status.status.success(), "{status:?}");
    let mut page = daemon.page();
    say(&mut page, &hello(10));
    assert!(hear(&mut page).contains("WELCOME"));
    let mut command = daemon.command();
    command.args(["mcp", "--socket"]);
    command.arg(&daemon.socket);
    let client = McpClient::spawn(command);
    client.initialize().await;
    let reply = client.call_tool("browser_get_connection_status", serde_json::json!({}));
    reply.await.ok();
    // The oldest connections were closed.
    let mut nothing = Vec::new();
    let _ = idle[0].read_to_end(&mut nothing);
    let open = std::fs::read_dir(format!("/proc/{}/fd", daemon.process.id()));
    let open = open.unwrap().count();
    assert!(open < 300, "{open} files are open");
}

#[test]
fn large_frames_cost_nothing_before_a_hello_and_nothing_lasting_after_it() {
    let daemon = Daemon::start("true");
    let before = daemon.memory();
    let mut pages: Vec<_> = (0..30).map(|_| daemon.page()).collect();
    for page in &mut pages {
        // The daemon may close the connection before everything is written.
        let _ = page.write_all(&frame(20 * MIB)[..10 * MIB]);
    }
    for page in &mut pages {
        assert_eq!(hear(page), "", "it hangs up");
    }
    let unproved = daemon.memory() - before;
    assert!(unproved < 20 * MIB, "{} MiB", unproved / MIB);

    // Few enough that the rate limit does not slow the test down much.
    let before = daemon.memory();
    let mut pages = Vec::new();
    for _ in 0..4 {
        let mut page = daemon.page();
        say(&mut page, &hello(10));
        assert!(hear(&mut page).contains("WELCOME"));
        page.write_all(&frame(4 * MIB)).unwrap();
        say(&mut page, r#"{"type": "PING"}"#);
        assert!(hear(&mut page).contains("PONG"));
        pages.push(page);
    }
    let welcomed = daemon.memory().saturating_sub(before);
    assert!(welcomed < 12 * MIB, "{} MiB", welcomed / MIB);
}

/// A daemon process.
struct Daemon {
    process: Child,
    home: tempfile::TempDir,
    socket: PathBuf,
    port: u16,
}

impl Daemon {
    /// Starts one after running this shell command.
    fn start(before: &str) -> Self {
        let home = tempfile::tempdir().unwrap();
        let socket = home.path().join("d.sock");
        let log = home.path().join("log");
        let run = format!(
            "{before}; exec \"$0\" daemon run --port 0 --idle 0 --socket \"$1\" --logFile \"$2\""
        );
        let mut command = Command::new("sh");
        command.args(["-c", &run, env!("CARGO_BIN_EXE_tabmux")]);
        command.arg(&socket).arg(&log).stdin(Stdio::null());
        let process = environment(&mut command, home.path()).spawn().unwrap();
        let port = loop {
            let log = std::fs::read_to_string(&log).unwrap_or_default();
            let port = log.split("port=").nth(1);
            if let Some(port) = port.and_then(|text| text.lines().next()) {
                break port.trim().parse().unwrap();
            }
            std::thread::yield_now();
        };
        Self {
            process,
            home,
            socket,
            port,
        }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
        environment(&mut command, self.home.path());
        command
    }

    fn tabmux(&self, arguments: &[&str]) -> Output {
        let mut command = self.command();
        command.args(arguments).arg("--socket").arg(&self.socket);
        command.output().unwrap()
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(("127.0.0.1", self.port)).unwrap()
    }

    /// The websocket of a page's worker.
    fn page(&self) -> TcpStream {
        let mut socket = self.connect();
        let request = format!(
            "GET /page HTTP/1.1\r\nHost: localhost:{}\r\nOrigin: http://localhost:5173\r\n\
             Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
             Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            self.port
        );
        socket.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            socket.read_exact(&mut byte).unwrap();
            answer.extend(byte);
        }
        assert!(answer.starts_with(b"HTTP/1.1 101 "));
        socket
    }

    fn memory(&self) -> usize {
        resident_bytes(self.process.id()).unwrap() as usize
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn environment<'a>(command: &'a mut Command, home: &Path) -> &'a mut Command {
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", home)
}

fn hello(padding: usize) -> String {
    let padding = "x".repeat(padding);
    format!(r#"{{"type": "HELLO", "version": 1, "library": "{padding}"}}"#)
}

/// A masked text frame with this many bytes; the mask is zero.
fn frame(size: usize) -> Vec<u8> {
    framed(&vec![b'x'; size])
}

fn framed(payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0x81, 0xff];
    bytes.extend((payload.len() as u64).to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(payload);
    bytes
}

fn say(socket: &mut TcpStream, text: &str) {
    socket.write_all(&framed(text.as_bytes())).unwrap();
}

/// The next short frame of the daemon; empty at the end.
fn hear(socket: &mut TcpStream) -> String {
    let mut header = [0; 2];
    if socket.read_exact(&mut header).is_err() || header[0] != 0x81 {
        let _ = socket.shutdown(Shutdown::Both);
        return String::new();
    }
    let mut text = vec![0; header[1].into()];
    socket.read_exact(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}
