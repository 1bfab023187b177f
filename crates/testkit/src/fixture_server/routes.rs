//! The response to each path, and the log of requests.

use super::http::{Request, Response};
use std::{
    collections::HashMap,
    fmt,
    path::{Component, Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::watch;

/// Holds responses until it is opened; then it stays open. Dropping it does not open it.
#[derive(Clone, Debug)]
#[must_use = "without the gate the answer never comes"]
pub struct Gate(Arc<watch::Sender<bool>>);

impl Gate {
    pub(super) fn closed() -> Self {
        Self(Arc::new(watch::Sender::new(false)))
    }

    /// Lets every waiting and every later request through.
    pub fn open(&self) {
        self.0.send_replace(true);
    }

    pub(super) async fn passed(&self) {
        // The sender is in `self`, so it cannot be gone.
        let _ = self.0.subscribe().wait_for(|open| *open).await;
    }
}

#[derive(Clone)]
pub(super) enum Route {
    Answer(Arc<dyn Fn(&Request) -> Response + Send + Sync>),
    Held(Gate, Arc<Response>),
    HeldBody(Gate, Arc<Response>, usize),
    Hang,
    HangUp,
}

pub(super) struct Routes {
    folder: PathBuf,
    by_path: Mutex<HashMap<String, Route>>,
    log: watch::Sender<Log>,
}

#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) requests: Vec<Request>,
    pub(super) abandoned: Vec<String>,
}

impl Routes {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            by_path: Mutex::default(),
            log: watch::Sender::default(),
        }
    }

    pub(super) fn add(&self, path: &str, route: Route) {
        let path = format!("/{}", path.trim_start_matches('/'));
        self.lock().insert(path, route);
    }

    /// Logs a request and returns what to do with it.
    pub(super) fn resolve(&self, request: &Request) -> Route {
        self.log
            .send_modify(|log| log.requests.push(request.clone()));
        let route = self.lock().get(&request.path).cloned();
        route.unwrap_or_else(|| {
            let response = self.file(&request.path);
            Route::Answer(Arc::new(move |_| response.clone()))
        })
    }

    pub(super) fn abandon(&self, path: &str) {
        self.log
            .send_modify(|log| log.abandoned.push(path.to_owned()));
    }

    pub(super) fn log(&self) -> watch::Ref<'_, Log> {
        self.log.borrow()
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Log> {
        self.log.subscribe()
    }

    fn file(&self, path: &str) -> Response {
        if path == "/favicon.ico" {
            return Response::no_content();
        }
        let relative = Path::new(path.trim_start_matches('/'));
        let stays_inside = relative
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        match std::fs::read(self.folder.join(relative)) {
            Ok(body) if stays_inside => Response::new(200, content_type(relative), body),
            _ => Response::not_found(),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<String, Route>> {
        self.by_path.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Log {
    pub(super) fn of<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a Request> {
        self.requests
            .iter()
            .filter(move |request| same_path(&request.path, path))
    }

    pub(super) fn abandoned_of(&self, path: &str) -> usize {
        let paths = self.abandoned.iter();
        paths.filter(|other| same_path(other, path)).count()
    }
}

fn same_path(one: &str, other: &str) -> bool {
    one.trim_start_matches('/') == other.trim_start_matches('/')
}

impl fmt::Debug for Routes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Routes")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
