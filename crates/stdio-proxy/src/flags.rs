//! The flags that say which browser a session works with.

mod borrowed;
mod categories;
mod origins;
mod scripts;
mod secrets;
mod state;
mod tls;

pub(crate) use borrowed::translate;
#[cfg(test)]
pub(crate) use borrowed::{playwright_samples, samples};
pub use categories::{CategoryFlags, Kind};
pub(crate) use origins::OriginFlags;
pub use origins::ReadOrigins;
pub(crate) use secrets::read as read_secrets;
pub use state::state_key;
pub(crate) use state::with_state;

use anyhow::{Context, bail};
use clap::Args;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use tabmux_protocol::session::{BrowserChoice, BrowserOptions, Endpoint, EndpointAddress};

/// Which browser, and how it is launched.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Browser")]
pub struct BrowserFlags {
    /// Attach to the browser at this address, such as http://127.0.0.1:9222 or https://HOST; or have a grid hand one
    /// out, such as grid+https://HUB:4444?browserName=chrome. May be repeated. Prepend a name
    /// if you like (work=http://…). Append `|COMMAND` to restart the browser when reconnecting fails
    /// (http://…|google-chrome …); the command runs in a shell with your rights: trusted commands only.
    #[arg(
        long = "browserUrl",
        alias = "browser-url",
        short = 'u',
        value_name = "[NAME=]URL[|COMMAND]",
        value_parser = ordered
    )]
    browser_url: Vec<Ordered>,

    /// Attach to the browser at this websocket, such as ws://127.0.0.1:9222/devtools/browser/ID or wss://HOST. May
    /// be repeated; takes a name and a command like --browserUrl.
    #[arg(
        long = "wsEndpoint",
        alias = "ws-endpoint",
        short = 'w',
        value_name = "[NAME=]URL[|COMMAND]",
        value_parser = ordered
    )]
    ws_endpoint: Vec<Ordered>,

    /// Headers for --wsEndpoint, a JSON object such as {"Authorization":"Bearer TOKEN"}; one for each
    /// endpoint, in their order.
    #[arg(
        long = "wsHeaders",
        alias = "ws-headers",
        value_name = "JSON",
        requires = "ws_endpoint",
        value_parser = headers
    )]
    ws_headers: Vec<Headers>,

    #[command(flatten)]
    tls: tls::TlsFlags,

    /// Attach to your running browser that allows remote debugging (chrome://inspect/#remote-debugging), and never
    /// launch one. --channel or --userDataDir choose which.
    #[arg(
        long = "autoConnect",
        alias = "auto-connect",
        conflicts_with_all = ["isolated", "executable_path"]
    )]
    auto_connect: bool,

    /// Work in your own browser, through the extension (see `tabmux extension`), and in no other.
    #[arg(long)]
    extension: bool,

    /// Which of several browsers, by the name that its extension was installed with.
    #[arg(long = "browser", value_name = "NAME", requires = "extension")]
    browser: Option<String>,

    /// Let agents add browsers that are not on this machine.
    #[arg(long = "allowRemoteBrowsers", alias = "allow-remote-browsers")]
    allow_remote_browsers: bool,

    /// Let agents choose a default among several browsers, so that browserIndex can be left out.
    #[arg(long = "allowDefaultBrowser", alias = "allow-default-browser")]
    allow_default_browser: bool,

    /// Connect to all browsers when the session begins, instead of when each is first needed. This happens in the
    /// background; a browser that cannot be reached is tried again when it is needed.
    #[arg(long = "connectAtStart", alias = "connect-at-start")]
    connect_at_start: bool,

    /// Launch without a window. Default without a display.
    #[arg(long)]
    headless: bool,

    /// Launch with separate cookies, storage and tabs, deleted at the end: a browser context in a browser that other
    /// sessions may share, or a temporary profile with --no-daemon.
    #[arg(long)]
    isolated: bool,

    /// Start with the cookies and local storage of this file, which Playwright or save_storage wrote. Needs
    /// --isolated.
    #[arg(long = "storageState", alias = "storage-state", value_name = "FILE")]
    storage_state: Option<PathBuf>,

    /// Launch with this profile folder.
    #[arg(
        long = "userDataDir",
        alias = "user-data-dir",
        value_name = "DIR",
        conflicts_with = "isolated"
    )]
    user_data_dir: Option<PathBuf>,

    /// Launch this browser.
    #[arg(
        long = "executablePath",
        alias = "executable-path",
        short = 'e',
        value_name = "PATH"
    )]
    executable_path: Option<PathBuf>,

    /// Launch this channel of Chrome: stable, beta, dev or canary.
    #[arg(long, value_name = "CHANNEL", conflicts_with = "executable_path", value_parser = channel)]
    channel: Option<String>,

    /// The size of pages, such as 1280x720.
    #[arg(long, value_name = "WxH", value_parser = viewport)]
    viewport: Option<(u32, u32)>,

    /// Emulate this device in all tabs, such as "iPhone 15" or "Pixel 7 landscape".
    #[arg(long, value_name = "NAME")]
    device: Option<String>,

    /// A proxy for the launched browser, such as http://HOST:PORT or http://USER:PASSWORD@HOST:PORT.
    #[arg(long = "proxyServer", alias = "proxy-server", value_name = "URL")]
    proxy_server: Option<String>,

    /// Accept any certificate in the launched browser.
    #[arg(long = "acceptInsecureCerts", alias = "accept-insecure-certs")]
    accept_insecure_certs: bool,

    /// One more argument for the launched browser; may be repeated.
    #[arg(
        long = "chromeArg",
        alias = "chrome-arg",
        value_name = "ARG",
        allow_hyphen_values = true
    )]
    chrome_arg: Vec<String>,

    /// The user agent of the launched browser.
    #[arg(long = "userAgent", alias = "user-agent", value_name = "TEXT")]
    user_agent: Option<String>,

    /// Hosts to reach without the proxy, such as `.example.com,localhost`.
    #[arg(
        long = "proxyBypass",
        alias = "proxy-bypass",
        value_name = "LIST",
        requires = "proxy_server"
    )]
    proxy_bypass: Option<String>,

    /// Run this JavaScript file in every page of the launched browser, before the page's own scripts; may be
    /// repeated.
    #[arg(long = "initScript", alias = "init-script", value_name = "FILE")]
    init_script: Vec<PathBuf>,

    /// Permissions that pages of the launched browser have without asking, such as `geolocation,clipboard-read`.
    #[arg(
        long = "grantPermissions",
        alias = "grant-permissions",
        value_name = "LIST",
        value_delimiter = ',',
        value_parser = scripts::permission
    )]
    grant_permissions: Vec<String>,

    /// Let agents open and read file: URLs.
    #[arg(long = "allowFileUrls", alias = "allow-file-urls")]
    allow_file_urls: bool,

    /// Do not give pages document.modelContext (WebMCP) where the browser has none.
    #[arg(long = "noShim", alias = "no-shim")]
    no_shim: bool,
}

impl BrowserFlags {
    /// Whether they name several browsers.
    pub fn is_several(&self) -> bool {
        self.browser_url.len() + self.ws_endpoint.len() > 1
    }

    /// The same for a session with cookies and storage of its own.
    #[must_use]
    pub(crate) fn isolated(self) -> Self {
        Self {
            isolated: true,
            ..self
        }
    }

    /// What the flags mean.
    ///
    /// # Errors
    /// When flags contradict each other.
    pub fn options(self) -> anyhow::Result<BrowserOptions> {
        if self.storage_state.is_some() && !self.isolated {
            bail!(
                "--storageState needs --isolated: it fills the session's own cookies and storage, \
                 never a profile that others use"
            );
        }
        let endpoints = self.endpoints()?;
        let attaches = self.auto_connect || !endpoints.is_empty();
        if self.chooses_launch() && !endpoints.is_empty() {
            bail!(
                "--browserUrl and --wsEndpoint attach to a browser; remove the flags that launch one"
            );
        }
        if self.extension && (self.launches() || attaches) {
            bail!(
                "--extension means your own browser; remove the flags that launch a browser or attach to another"
            );
        }
        if attaches && self.shapes_launch() {
            tracing::warn!(
                "--headless, --acceptInsecureCerts and --chromeArg have no effect on a browser that already runs"
            );
        }
        let choice = self.choice(endpoints);
        let (ca_files, client_certificate) = self.tls.files()?;
        let init_scripts = scripts::read(&self.init_script)?;
        let extra_args = self.arguments();
        Ok(BrowserOptions {
            choice,
            ca_files,
            client_certificate,
            allow_remote: self.allow_remote_browsers,
            allow_default: self.allow_default_browser,
            connect_at_start: self.connect_at_start,
            headless: self.headless,
            isolated: self.isolated,
            storage_state: self.storage_state.map(absolute).transpose()?,
            state: None,
            user_data_dir: self.user_data_dir.map(absolute).transpose()?,
            executable: self.executable_path.map(program).transpose()?,
            channel: self.channel,
            viewport: self.viewport,
            device: self.device,
            proxy: self.proxy_server,
            accept_insecure_certs: self.accept_insecure_certs,
            extra_args,
            init_scripts,
            permissions: self.grant_permissions,
            allow_file_urls: self.allow_file_urls,
            no_shim: self.no_shim,
        })
    }

    fn choice(&self, endpoints: Vec<Endpoint>) -> BrowserChoice {
        if self.extension {
            let name = self.browser.clone();
            BrowserChoice::Extension { name }
        } else if !endpoints.is_empty() {
            BrowserChoice::Endpoints { endpoints }
        } else if self.auto_connect {
            BrowserChoice::Running
        } else if self.launches() {
            BrowserChoice::Launch
        } else {
            BrowserChoice::Any
        }
    }

    /// The browsers to attach to, in the order of the command line.
    fn endpoints(&self) -> anyhow::Result<Vec<Endpoint>> {
        let mut web_sockets = self.ws_endpoint.clone();
        if !self.ws_headers.is_empty() && self.ws_headers.len() != web_sockets.len() {
            bail!(
                "--wsHeaders is given {} times for {} endpoints; give it once for each --wsEndpoint, {{}} \
                 where no header is needed",
                self.ws_headers.len(),
                web_sockets.len()
            );
        }
        let mut headers = self.ws_headers.iter();
        for Ordered { endpoint, .. } in &mut web_sockets {
            let headers = headers.next().map(|headers| headers.0.clone());
            let headers = headers.transpose().map_err(anyhow::Error::msg)?;
            endpoint.address = EndpointAddress::WebSocket {
                url: endpoint.address.url().to_owned(),
                headers: headers.unwrap_or_default(),
            };
        }
        let mut all = [self.browser_url.clone(), web_sockets].concat();
        all.sort_by_key(|ordered| ordered.position);
        let all = all.into_iter().map(|ordered| ordered.endpoint);
        let mut all: Vec<_> = all.collect();
        self.tls.mark_insecure(&mut all)?;
        Ok(all)
    }

    /// Command-line arguments for the browser.
    fn arguments(&self) -> Vec<String> {
        let agent = self
            .user_agent
            .iter()
            .map(|text| format!("--user-agent={text}"));
        let bypass = self.proxy_bypass.iter();
        let bypass = bypass.map(|hosts| format!("--proxy-bypass-list={}", hosts.replace(',', ";")));
        self.chrome_arg
            .iter()
            .cloned()
            .chain(agent)
            .chain(bypass)
            .collect()
    }

    fn launches(&self) -> bool {
        self.chooses_launch() || self.shapes_launch()
    }

    /// Whether flags choose which browser to launch, or its contents.
    fn chooses_launch(&self) -> bool {
        self.isolated
            || self.user_data_dir.is_some()
            || self.executable_path.is_some()
            || self.channel.is_some()
            || self.proxy_server.is_some()
            || self.user_agent.is_some()
            || self.device.is_some()
            || !self.init_script.is_empty()
            || !self.grant_permissions.is_empty()
    }

    /// Whether flags only say how to launch it. Some configurations have these together with an address.
    fn shapes_launch(&self) -> bool {
        self.headless || self.accept_insecure_certs || !self.chrome_arg.is_empty()
    }
}

/// The daemon runs in another folder, so paths must be absolute.
fn absolute(path: PathBuf) -> anyhow::Result<PathBuf> {
    std::path::absolute(&path).with_context(|| format!("{} is not a path", path.display()))
}

/// Makes the path absolute. A name without a folder is looked up in `PATH` later.
fn program(path: PathBuf) -> anyhow::Result<PathBuf> {
    match path.as_os_str().as_encoded_bytes().contains(&b'/') {
        true => absolute(path),
        false => Ok(path),
    }
}

/// The parsed headers, or what is wrong with them. The error is reported later: clap would print the wrong value,
/// which may have secrets in it.
#[derive(Clone, Debug)]
struct Headers(Result<Vec<(String, String)>, String>);

fn headers(text: &str) -> Result<Headers, Infallible> {
    let read = serde_json::from_str::<BTreeMap<String, String>>(text);
    let read = read.map(|map| map.into_iter().collect());
    Ok(Headers(read.map_err(|error| {
        format!(
            "--wsHeaders is not a JSON object of strings: error at character {}. Write it like \
             '{{\"Authorization\":\"Bearer TOKEN\"}}'",
            error.column()
        )
    })))
}

/// An endpoint, and its position among all endpoints of the command line.
#[derive(Clone, Debug)]
struct Ordered {
    position: usize,
    endpoint: Endpoint,
}

/// Two flags name endpoints, and clap keeps them apart. It parses values in the order of the command
/// line, so counting here tells which came first.
fn ordered(text: &str) -> Result<Ordered, String> {
    static READ: AtomicUsize = AtomicUsize::new(0);
    let position = READ.fetch_add(1, Ordering::Relaxed);
    endpoint(text).map(|endpoint| Ordered { position, endpoint })
}

/// `[NAME=]URL[|COMMAND]`.
fn endpoint(text: &str) -> Result<Endpoint, String> {
    let (address, start_command) = match text.split_once('|') {
        Some((address, command)) => (address.trim(), Some(command.trim().to_owned())),
        None => (text.trim(), None),
    };
    let is_name = |name: &str| {
        let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_');
        !name.is_empty() && name.len() <= 64 && name.chars().all(fits)
    };
    let (name, address) = match address.split_once('=') {
        Some((name, address)) if is_name(name) => (Some(name.to_owned()), address),
        _ => (None, address),
    };
    // A malformed address is reported when the browser is needed: users do not see what a server prints at
    // its start.
    if address.is_empty() {
        return Err("write it like http://127.0.0.1:9222".to_owned());
    }
    let url = address.to_owned();
    let address = match address.starts_with(EndpointAddress::GRID) {
        true => EndpointAddress::Grid { url },
        false => EndpointAddress::DevTools { url },
    };
    Ok(Endpoint {
        address,
        name,
        start_command: start_command.filter(|command| !command.is_empty()),
        insecure: false,
    })
}

fn channel(text: &str) -> Result<String, String> {
    match text {
        "stable" | "beta" | "dev" | "canary" => Ok(text.to_owned()),
        _ => Err("use stable, beta, dev or canary".to_owned()),
    }
}

fn viewport(text: &str) -> Result<(u32, u32), String> {
    let sides = text.split_once(['x', 'X']);
    let size = sides.and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    match size {
        Some((width @ 1..=10_000, height @ 1..=10_000)) => Ok((width, height)),
        _ => Err("write it like 1280x720, each side at most 10000".to_owned()),
    }
}

#[cfg(test)]
mod tests;
