//! Pages and programmable routes on loopback.
//!
//! Serves the files of the repository's `fixtures/` folder, and the routes that a test adds. The
//! server has its own thread, so a test that blocks its runtime still gets its pages.

mod connection;
mod http;
mod routes;

pub use http::{Request, Response};
pub use routes::Gate;

use crate::{patiently, workspace_root};
use routes::{Route, Routes};
use std::{
    io,
    net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener},
    path::PathBuf,
    sync::Arc,
    thread,
};
use tokio::sync::watch;

/// A web server on `127.0.0.1` (and `::1` if available). Ends when dropped.
///
/// By default `/` lists nothing, `/favicon.ico` is empty, and every other path is a file of
/// `fixtures/` or 404. Routes added by a test take precedence; they ignore queries.
#[derive(Debug)]
pub struct FixtureServer {
    port: u16,
    routes: Arc<Routes>,
    _ends_the_thread_when_dropped: watch::Sender<()>,
}

impl FixtureServer {
    /// Starts a server of the repository's `fixtures/`.
    pub fn start() -> Self {
        Self::serving(workspace_root().join("fixtures"))
    }

    /// Starts a server of some other folder.
    pub fn serving(folder: impl Into<PathBuf>) -> Self {
        let listeners = bind_loopback();
        let port = local_port(&listeners[0]);
        let routes = Arc::new(Routes::new(folder.into()));
        let (alive, ended) = watch::channel(());
        let shared = Arc::clone(&routes);
        thread::Builder::new()
            .name("fixture-server".to_owned())
            .spawn(move || connection::run(listeners, shared, ended))
            .expect("a thread for the fixture server");
        Self {
            port,
            routes,
            _ends_the_thread_when_dropped: alive,
        }
    }

    /// The address of a path, e.g. `http://127.0.0.1:40001/form.html`.
    pub fn url(&self, path: &str) -> String {
        self.url_at("127.0.0.1", path)
    }

    /// The same page on another site, as a browser sees it: by the name `localhost`.
    pub fn cross_site_url(&self, path: &str) -> String {
        self.url_at("localhost", path)
    }

    /// The address of a path under another name of loopback, e.g. `a.localhost`.
    pub fn url_at(&self, host: &str, path: &str) -> String {
        format!(
            "http://{host}:{}/{}",
            self.port,
            path.trim_start_matches('/')
        )
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Responds to a path always with the same response.
    pub fn route(&self, path: &str, response: Response) {
        self.route_with(path, move |_| response.clone());
    }

    /// Responds to a path with what `answer` makes of the request.
    pub fn route_with(
        &self,
        path: &str,
        answer: impl Fn(&Request) -> Response + Send + Sync + 'static,
    ) {
        self.routes.add(path, Route::Answer(Arc::new(answer)));
    }

    /// Responds to a path only once the gate is opened.
    pub fn hold(&self, path: &str, response: Response) -> Gate {
        let gate = Gate::closed();
        self.routes
            .add(path, Route::Held(gate.clone(), Arc::new(response)));
        gate
    }

    /// Sends the head and the first `sent` bytes of the body at once, and the rest once the gate
    /// is opened.
    pub fn hold_body(&self, path: &str, response: Response, sent: usize) -> Gate {
        let gate = Gate::closed();
        self.routes.add(
            path,
            Route::HeldBody(gate.clone(), Arc::new(response), sent),
        );
        gate
    }

    /// Never responds to a path; the connection stays open until the other side closes it.
    pub fn hang(&self, path: &str) {
        self.routes.add(path, Route::Hang);
    }

    /// Closes the connection instead of responding.
    pub fn hang_up(&self, path: &str) {
        self.routes.add(path, Route::HangUp);
    }

    /// Every request so far, in order of arrival.
    pub fn requests(&self) -> Vec<Request> {
        self.routes.log().requests.clone()
    }

    /// How many requests for a path have arrived.
    pub fn count(&self, path: &str) -> usize {
        self.routes.log().of(path).count()
    }

    /// Waits until a path has been requested; returns the first such request.
    pub async fn wait_for_request(&self, path: &str) -> Request {
        self.wait_for_nth_request(path, 1).await
    }

    /// Waits until a path has been requested `n` times; returns the `n`th request.
    pub async fn wait_for_nth_request(&self, path: &str, n: usize) -> Request {
        self.wait(format!("request {n} for {path}"), |log| {
            log.of(path).nth(n - 1).cloned()
        })
        .await
    }

    /// Waits until the other side has closed `n` requests for a path that were held or hung.
    pub async fn wait_for_abandoned(&self, path: &str, n: usize) {
        self.wait(format!("{n} abandoned requests for {path}"), |log| {
            (log.abandoned_of(path) >= n).then_some(())
        })
        .await;
    }

    async fn wait<T>(&self, what: String, mut found: impl FnMut(&routes::Log) -> Option<T>) -> T {
        let mut log = self.routes.subscribe();
        let event = async {
            loop {
                let hit = found(&log.borrow_and_update());
                if let Some(hit) = hit {
                    return hit;
                }
                log.changed().await.expect("the routes outlive this borrow");
            }
        };
        patiently(event, || format!("{what}\n{:#?}", self.routes.log())).await
    }
}

// `localhost` may mean either family, so both must respond on the same port.
fn bind_loopback() -> Vec<TcpListener> {
    for _ in 0..50 {
        let v4 = TcpListener::bind(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
            .expect("a free port on 127.0.0.1");
        match TcpListener::bind(SocketAddr::from((Ipv6Addr::LOCALHOST, local_port(&v4)))) {
            Ok(v6) => return vec![v4, v6],
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(_) => return vec![v4],
        }
    }
    panic!("no port is free on both 127.0.0.1 and ::1");
}

fn local_port(listener: &TcpListener) -> u16 {
    listener.local_addr().expect("a bound listener").port()
}

#[cfg(test)]
mod tests;
