//! A proxy on loopback that requires a user and a password.
//!
//! All hosts lead to one server of the test; hosts that begin with `nowhere` cannot be reached, and tunnels are
//! refused.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// The proxy. Accepts no more connections when dropped.
#[derive(Debug)]
pub struct ProxyServer {
    port: u16,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    /// The port of the server behind it.
    server: u16,
    /// The required header value.
    wanted: String,
    passed: AtomicUsize,
    refused: AtomicUsize,
    ended: AtomicBool,
}

impl ProxyServer {
    /// Starts a proxy in front of the server at this port. `credentials` is `user:password` in base64.
    pub fn start(server: u16, credentials: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port for the proxy");
        let port = listener.local_addr().expect("an address").port();
        let shared = Arc::new(Shared {
            server,
            wanted: format!("Basic {credentials}"),
            passed: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
            ended: AtomicBool::new(false),
        });
        let serving = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if serving.ended.load(Ordering::Relaxed) {
                    return;
                }
                let serving = Arc::clone(&serving);
                // A browser that disconnects does not matter.
                thread::spawn(move || drop(serving.serve(stream)));
            }
        });
        Self { port, shared }
    }

    /// Its address, such as `127.0.0.1:40001`.
    pub fn authority(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// How many requests had the right password.
    pub fn passed(&self) -> usize {
        self.shared.passed.load(Ordering::Relaxed)
    }

    /// How many requests had none, or a wrong one.
    pub fn refused(&self) -> usize {
        self.shared.refused.load(Ordering::Relaxed)
    }
}

impl Drop for ProxyServer {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

impl Shared {
    /// Responds to one request.
    fn serve(&self, mut browser: TcpStream) -> io::Result<()> {
        let mut reader = BufReader::new(browser.try_clone()?);
        let mut request = String::new();
        reader.read_line(&mut request)?;
        let mut headers = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 || line == "\r\n" {
                break;
            }
            headers.push(line);
        }
        let value = |header: &str, wanted: &str| {
            let (name, value) = header.split_once(':')?;
            name.eq_ignore_ascii_case(wanted)
                .then(|| value.trim().to_owned())
        };
        let given = headers
            .iter()
            .find_map(|header| value(header, "Proxy-Authorization"));
        if given.as_deref() != Some(&self.wanted) {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return browser.write_all(REFUSAL);
        }
        self.passed.fetch_add(1, Ordering::Relaxed);
        let mut words = request.split(' ');
        let (method, url) = (
            words.next().unwrap_or_default(),
            words.next().unwrap_or_default(),
        );
        let after_scheme = url.strip_prefix("http://").unwrap_or_default();
        let path = after_scheme.find('/').map_or("/", |at| &after_scheme[at..]);
        if method == "CONNECT" || after_scheme.starts_with("nowhere") {
            return browser.write_all(UNREACHABLE);
        }
        let mut server = TcpStream::connect((Ipv4Addr::LOCALHOST, self.server))?;
        write!(server, "{method} {path} HTTP/1.1\r\n")?;
        for header in headers {
            let is_ours = ["Proxy-Authorization", "Proxy-Connection", "Connection"];
            if is_ours.iter().all(|name| value(&header, name).is_none()) {
                server.write_all(header.as_bytes())?;
            }
        }
        server.write_all(b"Connection: close\r\n\r\n")?;
        let mut answer = Vec::new();
        server.read_to_end(&mut answer)?;
        browser.write_all(&answer)
    }
}

const REFUSAL: &[u8] = b"HTTP/1.1 407 Proxy Authentication Required\r\n\
    Proxy-Authenticate: Basic realm=\"proxy\"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
const UNREACHABLE: &[u8] =
    b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
