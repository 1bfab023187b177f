//! Tests that run in a child process end the browser and start another one: the parent process owns the browser, and
//! does so on request.

use super::ExtendedChromium;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::thread;

/// The socket for requests about a browser.
pub(super) fn place(browser: &ExtendedChromium) -> PathBuf {
    browser.folder.path().join("keeper.sock")
}

/// Serves requests about the browser while `work` runs.
pub(super) fn keep(browser: &mut ExtendedChromium, work: impl FnOnce()) {
    let place = place(browser);
    let listener = UnixListener::bind(&place).expect("a socket");
    thread::scope(|scope| {
        scope.spawn(move || serve(&listener, browser));
        // Also sent when the work panics.
        let _over = Over(&place);
        work();
    });
}

/// Sends a request to the browser's owner. Returns the response.
pub(super) fn tell(place: &Path, word: &str) -> String {
    let mut keeper = UnixStream::connect(place).expect("the browser has a keeper");
    writeln!(keeper, "{word}").expect("the keeper listens");
    let mut answer = String::new();
    keeper
        .read_to_string(&mut answer)
        .expect("the keeper answers");
    answer
}

fn serve(listener: &UnixListener, browser: &mut ExtendedChromium) {
    for teller in listener.incoming() {
        let mut teller = BufReader::new(teller.expect("a connection"));
        let mut word = String::new();
        teller.read_line(&mut word).expect("a word");
        match word.trim_end() {
            END => browser.chromium.kill(),
            START => browser.start_again(),
            _ => return,
        }
        let websocket = browser.chromium.websocket_url();
        let _ = write!(teller.get_mut(), "{websocket}");
    }
}

struct Over<'a>(&'a Path);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        let _ = UnixStream::connect(self.0).and_then(|mut keeper| writeln!(keeper, "over"));
    }
}

pub(super) const END: &str = "end";
pub(super) const START: &str = "start";
