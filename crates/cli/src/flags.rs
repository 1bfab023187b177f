//! The flags that say which browser a session works with.

use anyhow::{Context, bail};
use clap::Args;
use std::path::PathBuf;
use tabmux_browser::find::Channel;
use tabmux_protocol::session::BrowserOptions;

/// Which browser, and how it is launched.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Browser")]
pub(crate) struct BrowserFlags {
    /// Attach to the browser at this address, such as http://127.0.0.1:9222.
    #[arg(
        long = "browserUrl",
        alias = "browser-url",
        short = 'u',
        value_name = "URL"
    )]
    browser_url: Option<String>,

    /// Attach to the browser at this websocket, such as ws://127.0.0.1:9222/devtools/browser/ID.
    #[arg(
        long = "wsEndpoint",
        alias = "ws-endpoint",
        short = 'w',
        value_name = "URL",
        conflicts_with = "browser_url"
    )]
    ws_endpoint: Option<String>,

    /// Launch without a window. Also so by itself when there is no display.
    #[arg(long)]
    headless: bool,

    /// Launch with a temporary profile that is removed afterwards.
    #[arg(long)]
    isolated: bool,

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
    channel: Option<Channel>,

    /// The size of pages, such as 1280x720.
    #[arg(long, value_name = "WxH", value_parser = viewport)]
    viewport: Option<(u32, u32)>,

    /// A proxy for the launched browser.
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

    /// Let agents open and read file: URLs.
    #[arg(long = "allowFileUrls", alias = "allow-file-urls")]
    allow_file_urls: bool,
}

impl BrowserFlags {
    /// What the flags mean. Fails on flags that contradict each other.
    pub(crate) fn options(self) -> anyhow::Result<BrowserOptions> {
        let launches = self.launches();
        if launches && (self.browser_url.is_some() || self.ws_endpoint.is_some()) {
            bail!(
                "--browserUrl and --wsEndpoint attach to a browser; flags that launch one do not go with them"
            );
        }
        Ok(BrowserOptions {
            url: self.browser_url,
            web_socket: self.ws_endpoint,
            launches,
            headless: self.headless,
            isolated: self.isolated,
            user_data_dir: self.user_data_dir.map(absolute).transpose()?,
            executable: self.executable_path,
            channel: self.channel.map(|channel| channel.name().to_owned()),
            viewport: self.viewport,
            proxy: self.proxy_server,
            accept_insecure_certs: self.accept_insecure_certs,
            extra_args: self.chrome_arg,
            allow_file_urls: self.allow_file_urls,
        })
    }

    fn launches(&self) -> bool {
        self.headless
            || self.isolated
            || self.user_data_dir.is_some()
            || self.executable_path.is_some()
            || self.channel.is_some()
            || self.proxy_server.is_some()
            || self.accept_insecure_certs
            || !self.chrome_arg.is_empty()
    }
}

/// The daemon works in another folder than whoever wrote the path.
fn absolute(path: PathBuf) -> anyhow::Result<PathBuf> {
    std::path::absolute(&path).with_context(|| format!("{} is no path", path.display()))
}

fn channel(text: &str) -> Result<Channel, String> {
    Channel::parse(text).ok_or_else(|| "use stable, beta, dev or canary".to_owned())
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
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        flags: BrowserFlags,
    }

    fn options(flags: &[&str]) -> BrowserOptions {
        let args = [&["x"], flags].concat();
        Only::try_parse_from(args).unwrap().flags.options().unwrap()
    }

    #[test]
    fn without_flags_a_running_browser_may_be_taken() {
        assert!(!options(&[]).launches);
    }

    #[test]
    fn a_launch_flag_means_a_browser_that_we_launch() {
        for flags in [
            &["--headless"][..],
            &["--isolated"],
            &["--user-data-dir", "/x"],
        ] {
            assert!(options(flags).launches, "{flags:?}");
        }
    }

    #[test]
    fn both_spellings_are_understood() {
        assert_eq!(
            options(&["--browserUrl", "http://a:1"]),
            options(&["--browser-url", "http://a:1"])
        );
        assert_eq!(
            options(&["--chromeArg=--a"]),
            options(&["--chrome-arg", "--a"])
        );
    }

    #[test]
    fn contradictions_and_nonsense_are_refused() {
        let refused = |flags: &[&str]| {
            let args = [&["x"], flags].concat();
            Only::try_parse_from(args).is_err_and(|e| !e.to_string().is_empty())
                || Only::try_parse_from([&["x"], flags].concat())
                    .is_ok_and(|o| o.flags.options().is_err())
        };
        assert!(refused(&[
            "--browserUrl",
            "http://a:1",
            "--wsEndpoint",
            "ws://a"
        ]));
        assert!(refused(&["--browserUrl", "http://a:1", "--headless"]));
        assert!(refused(&["--viewport", "big"]));
        assert!(refused(&["--viewport", "0x10"]));
        assert!(refused(&["--channel", "nightly"]));
    }
}
