//! As much HTTP/1.1 as a browser needs: one request in, one response out.

use std::io;
use tokio::io::{AsyncBufRead, AsyncBufReadExt as _, AsyncReadExt as _};

/// A request as received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// `GET` and so on.
    pub method: String,
    /// The path with its leading slash, without the query, undecoded.
    pub path: String,
    /// The text after the `?`; may be empty.
    pub query: String,
    /// The headers, names in lower case, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Request {
    /// The first header of that name (in lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(other, _)| other == name)
            .map(|(_, value)| value.as_str())
    }

    /// Reads the next request of a connection, or `None` at its end.
    pub(super) async fn read(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Self>> {
        let Some(start) = read_line(input).await? else {
            return Ok(None);
        };
        let mut parts = start.split(' ');
        let (Some(method), Some(target)) = (parts.next(), parts.next()) else {
            return Err(io::ErrorKind::InvalidData.into());
        };
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut request = Self {
            method: method.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            headers: Vec::new(),
            body: Vec::new(),
        };
        loop {
            match read_line(input).await? {
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
                Some(line) if line.is_empty() => break,
                Some(line) => {
                    let (name, value) = line.split_once(':').ok_or(io::ErrorKind::InvalidData)?;
                    let header = (name.to_ascii_lowercase(), value.trim().to_owned());
                    request.headers.push(header);
                }
            }
        }
        let length = request.header("content-length").unwrap_or("0");
        let length = length.parse().map_err(|_| io::ErrorKind::InvalidData)?;
        request.body = vec![0; length];
        input.read_exact(&mut request.body).await?;
        Ok(Some(request))
    }
}

/// The response of a route.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers, without `Content-Length`.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// Any response.
    pub fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
        }
        .with_header("Content-Type", content_type)
    }

    /// A page.
    pub fn html(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/html; charset=utf-8", body)
    }

    /// Plain text.
    pub fn text(body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "text/plain; charset=utf-8", body)
    }

    /// JSON.
    pub fn json(body: &serde_json::Value) -> Self {
        Self::new(200, "application/json", body.to_string())
    }

    /// A redirect (302) to another address.
    pub fn redirect(location: &str) -> Self {
        Self::text("")
            .with_status(302)
            .with_header("Location", location)
    }

    /// 404 with a small page.
    pub fn not_found() -> Self {
        Self::html("<!doctype html><title>Not found</title><h1>Not found</h1>").with_status(404)
    }

    /// 204: the browser stays on its page.
    pub fn no_content() -> Self {
        Self {
            status: 204,
            headers: Vec::new(),
            body: Vec::new(),
        }
    }

    /// A file that the browser saves instead of showing it.
    pub fn download(file_name: &str, body: impl Into<Vec<u8>>) -> Self {
        Self::new(200, "application/octet-stream", body).with_header(
            "Content-Disposition",
            &format!("attachment; filename=\"{file_name}\""),
        )
    }

    /// The same, without `Content-Length`.
    pub fn chunked(mut self) -> Self {
        let size = format!("{:x}\r\n", self.body.len());
        self.body = [size.as_bytes(), &self.body, b"\r\n0\r\n\r\n"].concat();
        self.with_header(CHUNKED.0, CHUNKED.1)
    }

    /// The same with one more header.
    pub fn with_header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The same with another status.
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(super) fn head(&self) -> Vec<u8> {
        use std::fmt::Write as _;
        let mut head = format!("HTTP/1.1 {} Fixture\r\n", self.status);
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        let is_chunked = self.headers.iter().any(|(name, _)| name == CHUNKED.0);
        if self.status != 204 && !is_chunked {
            let _ = write!(head, "Content-Length: {}\r\n", self.body.len());
        }
        // A test that changes a page must see the change, unless it sets its own caching.
        let mut names = self.headers.iter().map(|(name, _)| name);
        if !names.any(|name| name.eq_ignore_ascii_case("Cache-Control")) {
            head.push_str("Cache-Control: no-store\r\n");
        }
        head.push_str("\r\n");
        head.into_bytes()
    }
}

const CHUNKED: (&str, &str) = ("Transfer-Encoding", "chunked");

async fn read_line(input: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<String>> {
    let mut line = String::new();
    if input.read_line(&mut line).await? == 0 {
        return Ok(None);
    }
    line.truncate(line.trim_end_matches(['\r', '\n']).len());
    Ok(Some(line))
}
