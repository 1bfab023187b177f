//! Connections to the loopback port that send too little or too much.

use super::Port;
use super::access::extension_headers;
use crate::page_worker::{self, Socket};
use futures_util::future::join_all;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::timeout;

/// Attacks forever; signals when it is running.
pub(super) async fn attack(kind: Port, port: u16, under_way: &watch::Sender<bool>) {
    match kind {
        Port::Idle(count) => {
            let held = join_all((0..count).map(|_| connect(port))).await;
            are_accepted(port).await;
            under_way.send_replace(true);
            hold(held).await;
        }
        Port::SlowHeads(count) => slow_heads(count, port, under_way).await,
        Port::Unproved(count) => {
            let held = join_all((0..count).map(|_| pose_as_extension(port))).await;
            under_way.send_replace(true);
            hold(held).await;
        }
        Port::BigFrames(count) => {
            // Half of them as pages, half as extensions.
            let frames = (0..count).map(|number| big_frame(port, number % 2 == 0));
            let held = join_all(frames).await;
            under_way.send_replace(true);
            hold(held).await;
        }
        Port::Noise => {
            let noise = (0..8).map(|_| make_noise(port, under_way));
            join_all(noise).await;
        }
    }
}

async fn hold<T>(held: T) {
    std::future::pending::<()>().await;
    drop(held);
}

async fn connect(port: u16) -> Option<TcpStream> {
    let connecting = TcpStream::connect(("127.0.0.1", port));
    timeout(LIMIT, connecting).await.ok()?.ok()
}

/// The system accepts connections before the daemon does, which accepts them in order: once a later one was answered,
/// or timed out, the earlier ones have been accepted or refused.
async fn are_accepted(port: u16) {
    if let Some(mut stream) = connect(port).await {
        let _ = stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await;
        let _ = timeout(5 * LIMIT, stream.read_u8()).await;
    }
}

async fn slow_heads(count: usize, port: u16, under_way: &watch::Sender<bool>) {
    let mut held = join_all((0..count).map(|_| connect(port))).await;
    let head = format!("GET /page HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Long: ");
    for stream in held.iter_mut().flatten() {
        let _ = stream.write_all(head.as_bytes()).await;
    }
    are_accepted(port).await;
    under_way.send_replace(true);
    loop {
        for stream in held.iter_mut().flatten() {
            let _ = stream.write_all(b"x").await;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn pose_as_extension(port: u16) -> Option<Socket> {
    let headers = extension_headers();
    let address = format!("ws://127.0.0.1:{port}/");
    let opening = page_worker::open(&address, &headers);
    Some(timeout(LIMIT, opening).await.ok()?.ok()?.0)
}

/// Announces 24 MB and sends all but the last byte of them, so that the receiver has to keep them.
async fn big_frame(port: u16, as_page: bool) -> Option<Socket> {
    let mut socket = match as_page {
        true => {
            let address = format!("ws://127.0.0.1:{port}/page");
            let opening = page_worker::open(&address, &[("Origin", "http://localhost:5173")]);
            timeout(LIMIT, opening).await.ok()?.ok()?.0
        }
        false => pose_as_extension(port).await?,
    };
    let mut frame = vec![0x81, 0xff];
    frame.extend(BIG.to_be_bytes());
    // The mask: all zero, so that the payload is unchanged.
    frame.extend([0; 4]);
    let chunk = [b'x'; 64 * 1024];
    let stream = socket.get_mut();
    stream.write_all(&frame).await.ok()?;
    for _ in 0..BIG / chunk.len() as u64 - 1 {
        timeout(LIMIT, stream.write_all(&chunk)).await.ok()?.ok()?;
    }
    Some(socket)
}

async fn make_noise(port: u16, under_way: &watch::Sender<bool>) {
    let evil = format!("Host: localhost:{port}#@evil.test");
    let requests = [
        format!("GET /page HTTP/1.1\r\n{evil}\r\nOrigin: http://evil.test\r\n\r\n"),
        "POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n".to_owned(),
        format!("GET /{} HTTP/1.1\r\n\r\n", "a".repeat(60_000)),
        "\u{1}\u{2}\u{3}\0\0\0".repeat(2_000),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_owned(),
    ];
    for request in requests.iter().cycle() {
        if let Some(mut stream) = connect(port).await {
            let _ = stream.write_all(request.as_bytes()).await;
            let mut answer = [0; 64];
            let _ = timeout(Duration::from_millis(20), stream.read(&mut answer)).await;
        }
        under_way.send_replace(true);
    }
}

const LIMIT: Duration = Duration::from_secs(2);
const BIG: u64 = 24 * 1024 * 1024;
