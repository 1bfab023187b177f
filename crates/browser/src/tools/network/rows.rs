//! The list of requests and downloads as data.

use crate::tab::{Download, NetworkRequest, Progress};
use serde_json::{Value, json};
use tabmux_text::one_line;

/// These requests of so many, and the newest downloads.
pub(super) fn of(
    requests: &[&NetworkRequest],
    total: usize,
    downloads: &[(usize, &Download)],
) -> Value {
    let requests: Vec<_> = requests.iter().map(|request| row(request)).collect();
    let downloads: Vec<_> = downloads.iter().map(|it| download(it.0, it.1)).collect();
    json!({ "requests": requests, "total": total, "downloads": downloads })
}

/// The schema of [`of`].
pub(super) fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "requests": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "reqid": {"type": "integer"},
                    "method": {"type": "string"},
                    "url": {"type": "string"},
                    "type": {"type": "string"},
                    "status": {"type": "integer"},
                    "failure": {"type": "string"},
                    "ended": {"type": "boolean"},
                },
                "required": ["reqid", "method", "url", "type", "ended"],
            }},
            "total": {"type": "integer"},
            "downloads": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "number": {"type": "integer"},
                    "name": {"type": "string"},
                    "state": {"enum": ["running", "complete", "stopped", "refused"]},
                },
                "required": ["number", "name", "state"],
            }},
        },
        "required": ["requests", "total", "downloads"],
    })
}

fn row(request: &NetworkRequest) -> Value {
    let mut row = json!({
        "reqid": request.number,
        "method": request.method,
        "url": one_line(&request.url, 250),
        "type": request.kind.to_ascii_lowercase(),
        "ended": request.ended,
    });
    if let Some(status) = request.status {
        row["status"] = status.into();
    }
    if let Some(failure) = &request.failure {
        row["failure"] = one_line(failure, 80).into();
    }
    row
}

fn download(number: usize, download: &Download) -> Value {
    let state = match download.progress {
        Progress::Running => "running",
        Progress::Saved(_) | Progress::SavedElsewhere(_) => "complete",
        Progress::Stopped => "stopped",
        Progress::Refused(_) => "refused",
    };
    json!({ "number": number, "name": one_line(&download.name, 200), "state": state })
}
