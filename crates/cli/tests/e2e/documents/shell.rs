//! A shell of a new user: an empty home, `tabmux` on the path, and a browser.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use tabmux_testkit::{PATIENCE, process};
use tempfile::TempDir;

/// A running shell, with what it started. All of it ends with this value.
pub(super) struct Shell {
    home: TempDir,
    variables: Vec<(&'static str, String)>,
    /// Ports that documents name, and those that are used instead.
    ports: Vec<(&'static str, String)>,
    child: Child,
    lines: Receiver<String>,
}

impl Shell {
    pub(super) fn start(root: &Path, browser: &Path) -> Self {
        let home = TempDir::with_prefix("tabmux-docs-").unwrap();
        for folder in ["bin", "work", "run", "tmp"] {
            std::fs::create_dir(home.path().join(folder)).unwrap();
        }
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(home.path().join("run"), private).unwrap();
        let program = home.path().join("bin/tabmux");
        // Not a link to the build folder, which `tabmux install` would refuse to write into settings.
        let built = env!("CARGO_BIN_EXE_tabmux");
        if std::fs::hard_link(built, &program).is_err() {
            std::fs::copy(built, &program).unwrap();
        }
        let ports: Vec<_> = ["8000", "8765"].into_iter().zip(free_ports()).collect();
        let inside = |name: &str| home.path().join(name).display().to_string();
        let path = std::env::var("PATH").unwrap_or_default();
        let variables = vec![
            ("HOME", home.path().display().to_string()),
            ("PATH", format!("{}:{path}", inside("bin"))),
            ("LANG", "C.UTF-8".to_owned()),
            ("TMPDIR", inside("tmp")),
            ("XDG_RUNTIME_DIR", inside("run")),
            ("CHROME_PATH", browser.display().to_string()),
            ("TABMUX_PORT", ports[1].1.clone()),
            ("REPOSITORY", root.display().to_string()),
            ("BLOCK", inside("block")),
        ];
        let mut command = Command::new("sh");
        command.env_clear().envs(variables.clone());
        command.current_dir(home.path().join("work"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let lines = read_lines(&mut child);
        let mut shell = Self {
            home,
            variables,
            ports,
            child,
            lines,
        };
        shell.run(PRELUDE);
        shell
    }

    /// Runs a command; returns its output, errors included, and its exit code.
    pub(super) fn run(&mut self, command: &str) -> (String, i32) {
        let command = self.with_free_ports(command);
        let stdin = self.child.stdin.as_mut().unwrap();
        // The exit code is restored, so that a document can show it.
        writeln!(stdin, "{command}\ntabmux_docs_code=$?; printf '\\n{END} %d\\n' $tabmux_docs_code; (exit $tabmux_docs_code)").unwrap();
        let mut output = Vec::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE);
            let line = line.unwrap_or_else(|error| {
                panic!("{error} waiting for: {command}\n{}", output.join("\n"))
            });
            if let Some(code) = line.strip_prefix(END) {
                return (
                    self.without_free_ports(&output),
                    code.trim().parse().unwrap(),
                );
            }
            output.push(line);
        }
    }

    /// Saves a file in the working folder.
    pub(super) fn save(&self, name: &str, text: &str) {
        let path = self.home.path().join("work").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, self.with_free_ports(text)).unwrap();
    }

    /// Saves a block for the hidden command below it.
    pub(super) fn save_block(&self, text: &str) {
        let path: PathBuf = self.home.path().join("block");
        std::fs::write(path, self.with_free_ports(text)).unwrap();
    }

    /// The program, in the environment of this shell.
    pub(super) fn command(&self, arguments: &[String]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
        command.args(arguments);
        command.env_clear().envs(self.variables.clone());
        command.current_dir(self.home.path().join("work"));
        command
    }

    fn with_free_ports(&self, text: &str) -> String {
        let ports = self.ports.iter();
        ports.fold(text.to_owned(), |text, (named, free)| {
            text.replace(named, free)
        })
    }

    fn without_free_ports(&self, output: &[String]) -> String {
        // The mark is on a line of its own, so there is one line feed too many.
        let text = output.join("\n");
        let text = text.strip_suffix('\n').unwrap_or(&text).to_owned();
        let ports = self.ports.iter();
        ports.fold(text, |text, (named, free)| {
            text.replace(free.as_str(), named)
        })
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let mut all = process::descendants(self.child.id());
        all.extend(process::processes_with(
            &self.home.path().display().to_string(),
        ));
        for one in all {
            process::kill_hard(one.pid);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_lines(child: &mut Child) -> Receiver<String> {
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let (tell, lines) = channel();
    thread::spawn(move || {
        for line in stdout.lines().map_while(Result::ok) {
            if tell.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn free_ports() -> [String; 2] {
    let listeners = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port().to_string())
}

/// How the line begins that ends the output of a command.
const END: &str = "tabmux-docs-end";

/// `served PORT` waits until a server listens at this port.
const PRELUDE: &str = "exec 2>&1; \
    served() { until python3 -c 'import socket, sys; socket.create_connection((\"localhost\", sys.argv[1]))' $1 2>/dev/null; \
    do sleep 0.1; done; }";
