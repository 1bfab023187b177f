//! Other processes that connect to the daemon and send garbage.

use crate::crowd::Crowd;
use std::net::Shutdown;
use std::time::Duration;
use tabmux_testkit::Rng;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};

/// Connects to the daemon's socket, sends something, and disconnects. `None` if no daemon listens.
pub(super) async fn at_socket(crowd: &Crowd, rng: &mut Rng) -> Option<()> {
    let socket = crowd.home().join("run/daemon.sock");
    let mut stream = UnixStream::connect(socket).await.ok()?;
    let long = vec![b'['; LONG];
    let said: &[u8] = match rng.below(8) {
        0 => b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
        1 => b"\xff\xfe\x00\n",
        2 => b"{\"type\":\"REGISTER\"",
        3 => b"{\"type\":\"NOTHING\"}\n[]\nnull\n",
        4 => b"{\"type\":\"REQUEST\",\"sessionId\":\"sess_0\",\"requestId\":\"sess_0:1\",\"action\":\"close_page\",\"params\":{\"pageId\":1}}\n",
        5 => b"{\"type\":\"REGISTER\",\"id\":\"1\",\"protocol\":1,\"version\":\"0\",\"client\":{\"name\":\"x\",\"pid\":1},\"options\":{},\"resume\":{\"sessionId\":\"sess_0\",\"secret\":\"guess\"}}\n",
        6 => b"",
        _ => &long,
    };
    write(&mut stream, said).await;
    Some(())
}

/// Connects to the daemon's port, as a page, as an extension or as neither, and disconnects.
pub(super) async fn at_port(crowd: &Crowd, rng: &mut Rng) -> Option<()> {
    let port = u16::try_from(crowd.asked("status")["port"].as_u64()?).ok()?;
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let (path, origin) = [
        ("/page", "http://localhost"),
        ("/page", "https://evil.example"),
        ("/", "chrome-extension://kidkkbhkckkggbmfgbebagoimeiebefc"),
        ("/elsewhere", "null"),
    ][rng.below(4)];
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: {origin}\r\nUpgrade: websocket\r\n\
         Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    );
    write(&mut stream, request.as_bytes()).await;
    if rng.one_in(4) {
        return Some(()); // Disconnects before the answer.
    }
    let mut answer = [0; 16];
    let _ = tokio::time::timeout(MOMENT, stream.read(&mut answer)).await;
    let hello = frame(br#"{"type":"HELLO","version":1}"#);
    let said = match rng.below(5) {
        0 => [&hello[..], &frame(br#"{"type":"REGISTER_TAB","tabId":"t","documentId":"d","url":"http://localhost/","title":"T"}"#)].concat(),
        1 => [&hello[..], &frame(&[b'['; 100_000])].concat(),
        2 => hello[..hello.len() / 2].to_vec(),
        3 => vec![0xff; 1_000],
        _ => frame(br#"{"type":"hello","version":1,"nonce":"00000000000000000000000000000000","instance":"stranger"}"#),
    };
    write(&mut stream, &said).await;
    if rng.one_in(2)
        && let Ok(stream) = stream.into_std()
    {
        let _ = stream.shutdown(Shutdown::Both);
    }
    Some(())
}

/// Writes for a moment at most, in case the daemon does not read.
async fn write(stream: &mut (impl AsyncWriteExt + Unpin), bytes: &[u8]) {
    let _ = tokio::time::timeout(MOMENT, stream.write_all(bytes)).await;
}

/// A masked text frame of a websocket client; the mask is zero.
fn frame(text: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x81];
    match u8::try_from(text.len()) {
        Ok(length @ ..126) => frame.push(0x80 | length),
        _ => {
            frame.push(0x80 | 127);
            frame.extend((text.len() as u64).to_be_bytes());
        }
    }
    frame.extend([0; 4]);
    frame.extend(text);
    frame
}

/// The length of a line without an end.
const LONG: usize = 1_000_000;
const MOMENT: Duration = Duration::from_millis(200);
