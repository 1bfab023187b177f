//! `tabmux logs`: prints the log of the daemon, and follows it if asked.

use super::common_flags::Socket;
use crate::say::complain;
use anyhow::{Context, bail};
use std::fs::File;
use std::io::{self, ErrorKind, Seek, SeekFrom, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tabmux_platform::files::identity;
use tabmux_stdio_proxy::log_path;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Keep printing new lines until interrupted.
    #[arg(long, short)]
    follow: bool,

    #[command(flatten)]
    socket: Socket,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let path = log_path(args.socket.path().socket());
    let shown = path.display().to_string();
    if args.follow && !path.exists() {
        complain(format!("There is no log at {shown} yet; waiting for one."));
    }
    match print(Tail::new(path), args.follow) {
        Ok(true) => Ok(ExitCode::SUCCESS),
        Ok(false) => bail!(
            "there is no log at {shown} yet; it is created when `tabmux mcp` or `tabmux call` starts \
             the daemon"
        ),
        // The reader has closed the pipe.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error).with_context(|| format!("{shown} cannot be read")),
    }
}

/// Prints the log. Returns whether there is one.
fn print(mut tail: Tail, follow: bool) -> io::Result<bool> {
    let mut out = io::stdout().lock();
    loop {
        let is_there = tail.print_new(&mut out)?;
        if !follow {
            return Ok(is_there);
        }
        std::thread::sleep(PAUSE);
    }
}

/// A growing file, and how much of it has been printed.
struct Tail {
    path: PathBuf,
    printed: u64,
    /// The inode of that file: a new file of the same name is printed from its beginning.
    file: Option<u64>,
}

impl Tail {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            printed: 0,
            file: None,
        }
    }

    /// Prints what is new. Returns whether there is a file.
    fn print_new(&mut self, out: &mut impl Write) -> io::Result<bool> {
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
            opened => opened?,
        };
        let meta = file.metadata()?;
        if self.file != Some(identity(&meta)) || meta.len() < self.printed {
            self.file = Some(identity(&meta));
            self.printed = 0;
        }
        if meta.len() > self.printed {
            file.seek(SeekFrom::Start(self.printed))?;
            self.printed += io::copy(&mut file, out)?;
            out.flush()?;
        }
        Ok(true)
    }
}

const PAUSE: Duration = Duration::from_millis(200);

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn new(tail: &mut Tail) -> String {
        let mut out = Vec::new();
        tail.print_new(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn each_line_is_printed_once_also_after_rotation() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("daemon.log");
        let mut tail = Tail::new(path.clone());
        assert!(!tail.print_new(&mut Vec::new()).unwrap());
        fs::write(&path, "one\n").unwrap();
        assert_eq!(new(&mut tail), "one\n");
        assert_eq!(new(&mut tail), "");
        fs::write(&path, "one\ntwo\n").unwrap();
        assert_eq!(new(&mut tail), "two\n");
        fs::write(&path, "new\n").unwrap();
        assert_eq!(new(&mut tail), "new\n");
        let other = folder.path().join("other");
        fs::write(&other, "another file\n").unwrap();
        fs::rename(&other, &path).unwrap();
        assert_eq!(new(&mut tail), "another file\n");
    }
}
