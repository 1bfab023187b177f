//! `tabmux status`, `browsers`, `tabs`, `sessions`: the state of the daemon, as tables or JSON.

use super::ask::ask_daemon;
use super::common_flags::Socket;
use super::extension::AWAY;
use super::other_daemons::{self, OtherDaemon};
use crate::say::say;
use crate::table::Table;
use crate::wrap;
use anyhow::bail;
use std::process::ExitCode;
use tabmux_daemon_client::SocketPath;
use tabmux_protocol::overview::{BrowserMetrics, Overview};
use tabmux_protocol::wire::{FromClient, FromDaemon};

/// What to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum View {
    Status,
    Browsers,
    Tabs,
    Sessions,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print JSON instead of a table.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    socket: Socket,
}

pub(crate) fn run(view: View, args: Args) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let socket_path = args.socket.path();
    let overview = runtime.block_on(overview(&socket_path))?;
    let others = match view {
        View::Status => runtime.block_on(other_daemons::find(&socket_path)),
        _ => Vec::new(),
    };
    let mut text = match (&overview, args.json) {
        (Some(overview), true) => json(view, overview, &others)?,
        (None, true) => "null".to_owned(),
        (Some(overview), false) => table(view, overview),
        (None, false) => wrap::wrap(
            "No daemon is running. An MCP client starts one with `tabmux mcp`.",
            0,
            wrap::width(),
        ),
    };
    if !args.json {
        for other in &others {
            let warning = format!("{} {}", other.finding(), other.advice());
            text.push('\n');
            text.push_str(&wrap::wrap(&warning, 0, wrap::width()));
        }
    }
    say(text)?;
    Ok(if overview.is_some() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(NO_DAEMON)
    })
}

/// The daemon's overview, or `None` if no daemon is running.
pub(super) async fn overview(socket_path: &SocketPath) -> anyhow::Result<Option<Overview>> {
    let question = FromClient::Overview {
        id: "overview".into(),
    };
    match ask_daemon(socket_path, &question).await? {
        Some(FromDaemon::OverviewOk { overview, .. }) => Ok(Some(overview)),
        Some(_) => bail!(
            "the process listening at {} is not a tabmux daemon of this version; run `tabmux doctor`",
            socket_path.socket().display()
        ),
        None => Ok(None),
    }
}

fn json(view: View, overview: &Overview, others: &[OtherDaemon]) -> serde_json::Result<String> {
    match view {
        View::Status => {
            let mut status = serde_json::to_value(overview)?;
            status["otherDaemons"] = others.iter().map(OtherDaemon::as_json).collect();
            serde_json::to_string_pretty(&status)
        }
        View::Browsers => serde_json::to_string_pretty(&overview.browsers),
        View::Tabs => serde_json::to_string_pretty(&overview.tabs),
        View::Sessions => serde_json::to_string_pretty(&overview.sessions),
    }
}

fn table(view: View, overview: &Overview) -> String {
    match view {
        View::Status => status(overview),
        View::Browsers => browsers(overview),
        View::Tabs => tabs(overview),
        View::Sessions => sessions(overview),
    }
}

fn status(overview: &Overview) -> String {
    let pages = match overview.port {
        Some(port) => format!("Pages can offer tools at port {port}."),
        None => "Pages cannot offer tools: the port was taken when the daemon started.".to_owned(),
    };
    let paused = match overview.paused {
        true => format!("\n{PAUSED}"),
        false => String::new(),
    };
    let is_extension = |source: &str| source == "extension" || source.ends_with("(extension)");
    let mut browsers = overview.browsers.iter();
    let away = browsers.any(|row| is_extension(&row.source) && row.state == "disconnected");
    let extension = match away {
        true => format!("\nAn agent needs the browser with the extension. {AWAY}"),
        false => String::new(),
    };
    format!(
        "The daemon has been up for {}.\ntabmux {}, process {}.\n{}, {}, {}.\n{pages}{paused}{extension}",
        age(overview.uptime_seconds),
        overview.version,
        overview.pid,
        count(overview.sessions.len(), "session"),
        count(overview.browsers.len(), "browser"),
        count(overview.tabs.len(), "tab"),
    )
}

fn browsers(overview: &Overview) -> String {
    if overview.browsers.is_empty() {
        return "No browser has been used yet.".to_owned();
    }
    let mut table = Table::new(["#", "STATE", "BROWSER", "VERSION", "SOURCE"]);
    for row in &overview.browsers {
        let index = row.index.to_string();
        table.row([&index, &row.state, &row.name, &row.version, &row.source]);
    }
    let table = table.to_string();
    let mut rows = table.lines();
    let mut lines: Vec<String> = rows.next().map(str::to_owned).into_iter().collect();
    for (line, row) in rows.zip(&overview.browsers) {
        lines.push(line.to_owned());
        let metrics = wrap::wrap(&describe_metrics(&row.metrics), 3, wrap::width());
        lines.push(format!("   {metrics}"));
    }
    lines.join("\n")
}

/// Calls and connections of a browser so far, in one line.
fn describe_metrics(metrics: &BrowserMetrics) -> String {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let mut calls = vec![count(number(metrics.calls), "call")];
    if let (Some(median), Some(slowest)) = (metrics.median_ms, metrics.slowest_ms) {
        calls.push(format!("{} failed", metrics.failed));
        calls.push(format!("median {median} ms, slowest {slowest} ms"));
    }
    let mut connection = Vec::new();
    if let Some(seconds) = metrics.connected_seconds {
        connection.push(format!("connected for {}", age(seconds)));
    }
    if metrics.connects > 1 {
        connection.push(count(number(metrics.connects - 1), "reconnect"));
    }
    if metrics.failed_connects > 0 {
        connection.push(count(number(metrics.failed_connects), "failed attempt"));
    }
    let parts = [calls.join(", "), connection.join(", ")];
    let parts = parts.iter().filter(|part| !part.is_empty());
    parts.map(String::as_str).collect::<Vec<_>>().join("; ")
}

fn tabs(overview: &Overview) -> String {
    if overview.tabs.is_empty() {
        return "No tab is open.".to_owned();
    }
    let mut table = Table::new(["TAB", "BROWSER", "HELD BY", "TITLE", "URL"]);
    for row in &overview.tabs {
        let holder = row.holder.as_deref().map_or("no agent", short);
        table.row([
            &row.id.to_string(),
            &row.browser.to_string(),
            holder,
            &row.title,
            &row.url,
        ]);
    }
    table.to_string()
}

fn sessions(overview: &Overview) -> String {
    if overview.sessions.is_empty() {
        return "No session is open.".to_owned();
    }
    let mut table = Table::new(["SESSION", "CLIENT", "TAB", "CALLS", "AGE"]);
    for row in &overview.sessions {
        let tab = row
            .tab
            .map_or_else(|| "–".to_owned(), |tab| tab.to_string());
        let calls = match row.calls {
            0 => row.calls_made.to_string(),
            now => format!("{} ({now} now)", row.calls_made),
        };
        let age = age(row.age_seconds);
        table.row([short(&row.id), &row.client, &tab, &calls, &age]);
    }
    table.to_string()
}

/// The beginning of a session's id, enough to recognise it.
fn short(id: &str) -> &str {
    id.get(..13).unwrap_or(id)
}

fn count(number: usize, thing: &str) -> String {
    match number {
        1 => format!("1 {thing}"),
        other => format!("{other} {thing}s"),
    }
}

fn age(seconds: u64) -> String {
    match seconds {
        0..=59 => format!("{seconds} s"),
        60..=3_599 => format!("{} min", seconds / 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

const NO_DAEMON: u8 = 3;

const PAUSED: &str = "A person paused all agents. Press \"Resume all\" in the side panel of the browser to resume them.";

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_protocol::overview::{BrowserRow, SessionRow, TabRow};

    fn example() -> Overview {
        Overview {
            version: "0.1.0".into(),
            build: "0.1.0 (0123456789ab)".into(),
            protocol: 2,
            pid: 7,
            uptime_seconds: 3_700,
            port: Some(8765),
            paused: false,
            browsers: vec![BrowserRow {
                index: 1,
                name: "Chrome".into(),
                version: "156.0".into(),
                state: "connected".into(),
                source: "launched".into(),
                web_mcp: None,
                metrics: BrowserMetrics {
                    calls: 12,
                    failed: 1,
                    median_ms: Some(3.2),
                    slowest_ms: Some(210.0),
                    connects: 3,
                    failed_connects: 1,
                    connected_seconds: Some(61),
                },
            }],
            tabs: vec![TabRow {
                id: 2,
                url: "https://example.com/".into(),
                title: "Example".into(),
                browser: 1,
                holder: Some("sess_0123456789abcdef".into()),
            }],
            sessions: vec![SessionRow {
                id: "sess_0123456789abcdef".into(),
                client: "claude".into(),
                tab: Some(2),
                calls: 1,
                calls_made: 12,
                age_seconds: 61,
            }],
            libraries: Vec::new(),
            extensions: Vec::new(),
            loop_costs: Vec::new(),
        }
    }

    #[test]
    fn people_read_tables() {
        let overview = example();
        assert_eq!(
            table(View::Status, &overview),
            "The daemon has been up for 1 h 1 min.\ntabmux 0.1.0, process 7.\n1 session, 1 browser, 1 tab.\n\
             Pages can offer tools at port 8765."
        );
        let paused = Overview {
            paused: true,
            ..overview.clone()
        };
        assert!(table(View::Status, &paused).ends_with(&format!("\n{PAUSED}")));
        assert!(
            json(View::Status, &paused, &[])
                .unwrap()
                .contains("\"paused\": true")
        );
        assert_eq!(
            table(View::Tabs, &overview),
            "TAB  BROWSER  HELD BY        TITLE    URL\n\
             2    1        sess_01234567  Example  https://example.com/"
        );
        assert_eq!(
            table(View::Sessions, &overview),
            "SESSION        CLIENT  TAB  CALLS       AGE\nsess_01234567  claude  2    12 (1 now)  1 min"
        );
    }

    #[test]
    fn status_tells_how_an_absent_extension_comes_back() {
        let advice = "An agent needs the browser with the extension. It is not connected. Open the browser in \
                      which it is loaded. If it is still not connected after a minute, click the reload arrow of \
                      \"tabmux Browser Tools\" in chrome://extensions.";
        let mut overview = example();
        for (source, state, is_told) in [
            ("extension", "disconnected", true),
            ("Work (extension)", "disconnected", true),
            ("extension", "connected", false),
            ("launched", "disconnected", false),
        ] {
            overview.browsers[0].source = source.into();
            overview.browsers[0].state = state.into();
            let text = table(View::Status, &overview);
            let last = text.lines().last().unwrap_or_default();
            assert_eq!(last == advice, is_told, "{source} {state}: {text}");
            assert_eq!(text.contains("chrome://"), is_told, "{text}");
        }
    }

    /// Spec: multi-browser 89.
    #[test]
    fn metrics_of_each_browser_are_below_its_row() {
        let text = table(View::Browsers, &example());
        assert_eq!(
            text,
            "#  STATE      BROWSER  VERSION  SOURCE\n\
             1  connected  Chrome   156.0    launched\n   \
             12 calls, 1 failed, median 3.2 ms, slowest 210 ms; connected for 1 min, \
             2 reconnects, 1 failed attempt"
        );
        assert_eq!(describe_metrics(&BrowserMetrics::default()), "0 calls");
    }

    #[test]
    fn an_empty_table_is_a_sentence() {
        let overview = Overview::default();
        assert_eq!(table(View::Tabs, &overview), "No tab is open.");
        assert_eq!(table(View::Sessions, &overview), "No session is open.");
        assert_eq!(
            table(View::Browsers, &overview),
            "No browser has been used yet."
        );
    }

    #[test]
    fn tabs_as_json_are_an_array_of_five_keys() {
        let json: serde_json::Value =
            serde_json::from_str(&json(View::Tabs, &example(), &[]).unwrap()).unwrap();
        let keys: Vec<_> = json[0].as_object().unwrap().keys().cloned().collect();
        assert_eq!(keys, ["id", "url", "title", "browser", "holder"]);
    }
}
