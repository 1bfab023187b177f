//! What `tabmux serve` tells those that watch it about the daemon.

use super::super::status::overview;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use tabmux_daemon_client::SocketPath;
use tabmux_http_server::Probe;
use tabmux_protocol::overview::Overview;

/// Asks the daemon at this socket. None is running before the first session, which is no fault.
pub(super) fn probe(socket_path: SocketPath) -> Probe {
    Probe::new(move || {
        let socket_path = socket_path.clone();
        async move {
            let found = overview(&socket_path).await;
            let found = found.map_err(|error| format!("{error:#}"))?;
            Ok(metrics(found.as_ref()))
        }
    })
}

/// In the text format of Prometheus.
fn metrics(overview: Option<&Overview>) -> String {
    let mut text = String::new();
    let mut gauge = |name: &str, help: &str, rows: &[(String, u64)]| {
        let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n");
        for (labels, value) in rows {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    let one = |value: u64| [(String::new(), value)];
    let count = |length: usize| one(length as u64);
    let up = overview.is_some();
    gauge(
        "tabmux_daemon_up",
        "Whether the daemon runs.",
        &one(up.into()),
    );
    let Some(overview) = overview else {
        return text;
    };
    let (sessions, tabs) = (overview.sessions.len(), overview.tabs.len());
    gauge(
        "tabmux_sessions",
        "Sessions of all clients.",
        &count(sessions),
    );
    gauge("tabmux_tabs", "Tabs of connected browsers.", &count(tabs));
    let mut states = BTreeMap::<_, u64>::new();
    for browser in &overview.browsers {
        *states.entry(&browser.state).or_default() += 1;
    }
    let states = states.into_iter();
    let states = states.map(|(state, count)| (format!("{{state=\"{state}\"}}"), count));
    let states: Vec<_> = states.collect();
    gauge("tabmux_browsers", "Browsers by their state.", &states);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_that_does_not_run_is_said_to_be_down_and_others_are_described() {
        assert!(metrics(None).ends_with("tabmux_daemon_up 0\n"));
        let text = metrics(Some(&Overview::default()));
        for line in ["tabmux_daemon_up 1", "tabmux_sessions 0", "tabmux_tabs 0"] {
            assert!(text.lines().any(|it| it == line), "{text}");
        }
    }
}
