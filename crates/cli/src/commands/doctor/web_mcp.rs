//! Whether the browsers in use have native WebMCP.

use super::Check;
use tabmux_protocol::overview::BrowserRow;

/// One line for each browser that is connected.
pub(super) fn check(browsers: &[BrowserRow]) -> Vec<Check> {
    const NAME: &str = "webmcp";
    let connected = browsers.iter().filter(|row| row.state == "connected");
    let lines = connected.map(|row| {
        let BrowserRow {
            index,
            name,
            version,
            ..
        } = row;
        let browser = format!("{name} {version} (browser {index})");
        Check::ok(
            NAME,
            match row.web_mcp {
                Some(true) => format!("{browser} has native WebMCP."),
                Some(false) => format!(
                    "{browser} has no native WebMCP; pages get a polyfill, unless --noShim is given."
                ),
                None => format!(
                    "{browser}: not known until an agent works in a page of https or localhost."
                ),
            },
        )
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_connected_browser_is_reported() {
        let row = |index, state: &str, web_mcp| BrowserRow {
            index,
            name: "Chrome".into(),
            version: "157.0".into(),
            state: state.into(),
            source: String::new(),
            web_mcp,
            metrics: Default::default(),
        };
        let told = check(&[
            row(1, "connected", Some(true)),
            row(2, "disconnected", Some(true)),
            row(3, "connected", Some(false)),
            row(4, "connected", None),
        ]);
        let told: Vec<_> = told.iter().map(|check| check.finding.as_str()).collect();
        assert_eq!(
            told,
            [
                "Chrome 157.0 (browser 1) has native WebMCP.",
                "Chrome 157.0 (browser 3) has no native WebMCP; pages get a polyfill, unless --noShim is given.",
                "Chrome 157.0 (browser 4): not known until an agent works in a page of https or localhost.",
            ]
        );
    }
}
