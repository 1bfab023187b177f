//! The pages of the demo, on a local web server.

use anyhow::Context;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

/// The web site of the hut. Served until the process ends.
#[derive(Debug)]
pub(super) struct Site(SocketAddr);

impl Site {
    pub(super) fn open() -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
        let listener = listener.context("no web server could be opened on 127.0.0.1")?;
        let address = listener
            .local_addr()
            .context("the web server has no address")?;
        thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                // Browsers open connections in advance; an idle one must not block the next.
                thread::spawn(move || serve(connection));
            }
        });
        Ok(Self(address))
    }

    /// Where the booking form is.
    pub(super) fn url(&self) -> String {
        format!("http://{}/", self.0)
    }
}

/// Answers one request. Errors of the connection are ignored.
fn serve(mut connection: TcpStream) {
    let _ = connection.set_read_timeout(Some(READ_TIMEOUT));
    let Some(path) = requested_path(&mut connection) else {
        return;
    };
    let (status, kind, body) = page(&path);
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let _ = connection.write_all(head.as_bytes());
    let _ = connection.write_all(body.as_bytes());
}

/// The path of the request, without the query.
fn requested_path(connection: &mut impl Read) -> Option<String> {
    let mut request = Vec::new();
    let mut piece = [0; 1024];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = connection
            .read(&mut piece)
            .ok()
            .filter(|&count| count > 0)?;
        request.extend_from_slice(&piece[..count]);
        if request.len() > LONGEST_REQUEST {
            return None;
        }
    }
    let text = String::from_utf8_lossy(&request);
    let target = text.strip_prefix("GET ")?.split(' ').next()?;
    target.split('?').next().map(str::to_owned)
}

fn page(path: &str) -> (&'static str, &'static str, &'static str) {
    match path {
        "/" => (
            "200 OK",
            "text/html",
            include_str!("../../../demo-pages/booking.html"),
        ),
        "/ticket" => (
            "200 OK",
            "text/html",
            include_str!("../../../demo-pages/ticket.html"),
        ),
        "/style.css" => (
            "200 OK",
            "text/css",
            include_str!("../../../demo-pages/style.css"),
        ),
        _ => ("404 Not Found", "text/plain", "Not found.\n"),
    }
}

const READ_TIMEOUT: Duration = Duration::from_secs(30);
const LONGEST_REQUEST: usize = 16 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(request: &str) -> String {
        let site = Site::open().unwrap();
        let mut connection = TcpStream::connect(site.0).unwrap();
        connection.write_all(request.as_bytes()).unwrap();
        connection.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        answer
    }

    #[test]
    fn pages_are_served_and_others_are_not() {
        assert!(ask("GET / HTTP/1.1\r\n\r\n").contains("Book a bed"));
        assert!(ask("GET /ticket?name=Ada HTTP/1.1\r\n\r\n").contains("Booked"));
        assert!(ask("GET /style.css HTTP/1.1\r\n\r\n").contains("text/css"));
        assert!(ask("GET /etc/passwd HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
    }

    #[test]
    fn malformed_requests_get_no_answer() {
        assert_eq!(ask("POST / HTTP/1.1\r\n\r\n"), "");
        assert_eq!(ask("GET /"), "");
        assert_eq!(ask(""), "");
    }
}
