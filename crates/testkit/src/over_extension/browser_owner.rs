//! Tests that run in a child process end the browser and start another one: the parent process owns the browser, and
//! does so on request.

use super::ExtendedChromium;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;

/// The socket for requests about a browser.
pub(super) fn socket(browser: &ExtendedChromium) -> PathBuf {
    browser.folder.path().join("owner.sock")
}

/// Serves requests about the browser while `work` runs.
pub(super) fn serve_during(browser: &mut ExtendedChromium, work: impl FnOnce()) {
    let socket = socket(browser);
    let listener = UnixListener::bind(&socket).expect("a socket");
    thread::scope(|scope| {
        scope.spawn(move || serve(&listener, browser));
        // Also sent when the work panics.
        let _over = Over(&socket);
        work();
    });
}

/// Sends a request to the browser's owner. Returns the response.
pub(super) fn request(socket: &Path, command: &str) -> String {
    let mut owner = UnixStream::connect(socket).expect("the browser has an owner");
    writeln!(owner, "{command}").expect("the owner reads");
    let mut answer = String::new();
    owner
        .read_to_string(&mut answer)
        .expect("the owner responds");
    answer
}

fn serve(listener: &UnixListener, browser: &mut ExtendedChromium) {
    for client in listener.incoming() {
        let mut client = BufReader::new(client.expect("a connection"));
        let mut command = String::new();
        client.read_line(&mut command).expect("a command");
        match command.trim_end() {
            END => browser.chromium.kill(),
            START => browser.start_again(),
            _ => return,
        }
        let websocket = browser.chromium.websocket_url();
        let _ = write!(client.get_mut(), "{websocket}");
    }
}

struct Over<'a>(&'a Path);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        let _ = UnixStream::connect(self.0).and_then(|mut owner| writeln!(owner, "over"));
    }
}

pub(super) const END: &str = "end";
pub(super) const START: &str = "start";
