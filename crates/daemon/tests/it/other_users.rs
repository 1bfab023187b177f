//! Other users of the machine, on either side of the socket.

use crate::server::Server;
use crate::wire::Wire;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use tabmux_daemon_client::{SocketPath, ask};
use tabmux_protocol::Backend;
use tabmux_protocol::wire::FromClient;
use tabmux_testkit::say_skipped;

/// Spec: security 13.
#[tokio::test]
async fn another_user_is_refused_even_if_the_socket_is_open_to_all() {
    let server = Server::start();
    if !are_root(&server.folder()) {
        return;
    }
    open(&server.folder(), 0o755);
    open(server.socket(), 0o666);
    // A refused client sees the end of the connection, or its data was never read.
    let script = r#"
s = socket.socket(socket.AF_UNIX)
s.settimeout(60)
s.connect(sys.argv[1])
try:
    s.sendall(b'{"type":"PING","id":"p"}\n')
    print(len(s.recv(100)))
except (ConnectionResetError, BrokenPipeError) as error:
    print(type(error).__name__)
"#;
    let nobody = as_nobody(script, server.socket());
    let output = tokio::task::spawn_blocking(|| nobody.wait_with_output());
    let output = output.await.unwrap().unwrap();
    let (said, complaints) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{complaints}");
    let refused = ["0", "ConnectionResetError", "BrokenPipeError"];
    assert!(refused.contains(&said.trim()), "{said}");
    let mut ours = Wire::connect(server.socket()).await;
    assert_eq!(
        ours.ask(json!({"type": "PING", "id": "p"})).await["type"],
        "PONG"
    );
}

/// Spec: security 15.
#[tokio::test]
async fn nothing_is_sent_to_a_socket_that_another_user_listens_at() {
    let folder = tempfile::tempdir().unwrap();
    if !are_root(folder.path()) {
        return;
    }
    open(folder.path(), 0o777);
    let place = SocketPath::choose(Some(folder.path().join("d.sock")));
    // Counts the bytes of each connection.
    let script = r#"
s = socket.socket(socket.AF_UNIX)
s.settimeout(60)
s.bind(sys.argv[1])
s.listen()
print("listening", flush=True)
while True:
    peer, _ = s.accept()
    peer.settimeout(60)
    print(len(peer.recv(100)), flush=True)
"#;
    let mut nobody = as_nobody(script, place.socket());
    let mut said = BufReader::new(nobody.stdout.take().unwrap()).lines();
    assert_eq!(said.next().unwrap().unwrap(), "listening");

    let whose = format!(
        "the socket {} belongs to another user",
        place.socket().display()
    );
    let ping = FromClient::Ping { id: "p".into() };
    let refused = ask(&place, &ping).await.unwrap_err();
    assert_eq!(refused.to_string(), whose);
    let (session, started) = crate::remote::open(place);
    let call = crate::page_harness::request("list_pages", &json!({}));
    let reply = session.call(call).await.unwrap();
    assert!(reply.is_error, "{reply:?}");
    let told = crate::page_harness::text(&reply);
    let next = "Start tabmux with --socket PATH, a path in a folder of your own.";
    assert_eq!(
        told,
        format!("The tabmux daemon cannot be reached: {whose}. {next}")
    );
    assert_eq!(started.load(Ordering::Relaxed), 0, "it would not help");
    let heard: Vec<_> = said.by_ref().take(2).map(Result::unwrap).collect();
    nobody.kill().unwrap();
    let complaints = nobody.wait_with_output().unwrap().stderr;
    assert_eq!(heard, ["0", "0"], "{}", text(&complaints));
}

#[tokio::test]
async fn another_user_cannot_pose_as_a_page_or_an_extension() {
    let daemon = crate::page_harness::Daemon::start().await;
    let policy = tempfile::tempdir().unwrap();
    if !are_root(policy.path()) {
        return;
    }
    // Requests a websocket like a browser, over IPv4 and IPv6, and prints the answer.
    let script = r#"
port = int(sys.argv[1])
for path, origin in [("/page", "http://localhost:5173"), ("/", "chrome-extension://EXTENSION")]:
    for family, address in [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1"), (socket.AF_INET6, "::1")]:
        try:
            s = socket.socket(family)
            s.settimeout(60)
            s.connect((address, port))
        except OSError:
            continue
        s.sendall((f"GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\nOrigin: {origin}\r\nConnection: Upgrade\r\n"
                   "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode())
        print(s.recv(1000).decode().replace("\r\n", "|"))
"#;
    let script = script.replace("EXTENSION", tabmux_protocol::extension::EXTENSION_ID);
    let port = daemon.port.to_string();
    for (uid, is_ours) in [(65_534, false), (0, true)] {
        let somebody = run_as(uid, &script, Path::new(&port));
        let output = tokio::task::spawn_blocking(|| somebody.wait_with_output());
        let output = output.await.unwrap().unwrap();
        let (said, complaints) = (text(&output.stdout), text(&output.stderr));
        assert!(output.status.success(), "{complaints}");
        assert!(said.lines().count() >= 4, "{said}");
        for answer in said.lines() {
            if is_ours {
                assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
                continue;
            }
            assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
            let why = "The connecting process belongs to another user (65534). Run the browser as the user of the \
                       daemon, or start the daemon with --allowOtherUsers.";
            assert!(answer.ends_with(why), "{answer}");
        }
    }
}

/// Runs a Python script as the user `nobody`, with a path as its argument.
fn as_nobody(script: &str, path: &Path) -> Child {
    run_as(65_534, script, path)
}

fn run_as(uid: u32, script: &str, argument: &Path) -> Child {
    Command::new("/usr/bin/env")
        .args(["python3", "-c", &format!("import socket, sys\n{script}")])
        .arg(argument)
        .uid(uid)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Whether we are root, and so can become another user.
fn are_root(ours: &Path) -> bool {
    let root = std::fs::metadata(ours).unwrap().uid() == 0;
    if !root {
        say_skipped("only root can become another user");
    }
    root
}

fn open(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
