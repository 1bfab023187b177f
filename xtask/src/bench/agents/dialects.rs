//! The servers, and the calls with which each acts and looks.

use super::tasks::Target;
use crate::bench::peers::{Call, Job, Peer};
use serde_json::{Value, json};

/// A server in one of its modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Server {
    pub(super) name: &'static str,
    pub(super) peer: Peer,
    /// What its command line has in addition.
    pub(super) flags: &'static [&'static str],
}

/// How an element is named in a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Handle {
    Reference(String),
    /// Its role, name and place, which the server resolves itself.
    Named(Target),
}

/// One action.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Press(Handle, usize),
    Fill(Vec<Field>),
    Key(String),
    Accept,
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) handle: Handle,
    pub(super) role: String,
    pub(super) name: String,
    pub(super) value: String,
}

/// A way to look at the page.
#[derive(Clone, Copy, Debug)]
pub(super) enum Look<'a> {
    /// Everything; with texts that cannot be used if they matter.
    Page { texts: bool },
    /// Whether a text that the agent can guess is there.
    Text(&'a str),
}

impl Server {
    pub(super) const ALL: [Self; 5] = [
        Self {
            name: "tabmux, static",
            peer: Peer::Tabmux,
            flags: &["--tools=static"],
        },
        Self {
            name: "tabmux, progressive",
            peer: Peer::Tabmux,
            flags: &["--tools=progressive"],
        },
        Self {
            name: "chrome-devtools-mcp",
            peer: Peer::DevTools,
            flags: &[],
        },
        Self {
            name: "Playwright MCP",
            peer: Peer::Playwright,
            flags: &[],
        },
        Self {
            name: "agent-browser",
            peer: Peer::AgentBrowser,
            // Without `tabs` it has no tool for dialogs.
            flags: &["--tools", "core,tabs"],
        },
    ];

    pub(super) fn is_tabmux(self) -> bool {
        self.peer == Peer::Tabmux
    }

    pub(super) fn is_progressive(self) -> bool {
        self.flags.contains(&"--tools=progressive")
    }
}

/// Whether calls of a server can name an element by what it is called.
pub(super) fn takes_names(peer: Peer, target: &Target, has_steps: bool) -> bool {
    match peer {
        Peer::Tabmux => has_steps,
        // Selectors of roles and texts; there is none for "in the row of".
        Peer::Playwright => target.near.is_none(),
        Peer::DevTools | Peer::AgentBrowser => false,
    }
}

/// Whether calls of a server can name an element by a selector.
pub(super) fn takes_css(peer: Peer) -> bool {
    matches!(peer, Peer::Playwright | Peer::AgentBrowser)
}

/// Whether several fields are one call.
pub(super) fn has_forms(peer: Peer) -> bool {
    peer != Peer::AgentBrowser
}

/// Whether a look for a text waits until it comes.
pub(super) fn waits_for_text(peer: Peer) -> bool {
    peer == Peer::AgentBrowser
}

/// The call that lists all tabs.
pub(super) fn list_tabs(server: Server) -> Call {
    match server.peer {
        Peer::Tabmux if server.is_progressive() => ("list_tabs", json!({})),
        Peer::Tabmux | Peer::DevTools => ("list_pages", json!({})),
        Peer::Playwright => ("browser_tabs", json!({"action": "list"})),
        Peer::AgentBrowser => ("agent_browser_tab_list", json!({})),
    }
}

/// The call after which the first tab is used again, where a tab that a page opens is used from then on.
pub(super) fn back_to_first_tab(peer: Peer) -> Option<Call> {
    (peer == Peer::AgentBrowser).then(|| ("agent_browser_tab_switch", json!({"tab": "t1"})))
}

/// The call for an action. `look` asks for a snapshot in the answer, where there is such an argument.
pub(super) fn act(peer: Peer, action: &Action, look: bool) -> Call {
    match peer {
        Peer::Tabmux => devtools(action),
        Peer::DevTools => {
            let (tool, mut arguments) = devtools(action);
            arguments["pageId"] = 1.into();
            if look && !matches!(action, Action::Accept) {
                arguments["includeSnapshot"] = true.into();
            }
            (tool, arguments)
        }
        Peer::Playwright => playwright(action),
        Peer::AgentBrowser => agent_browser(action),
    }
}

/// Several actions as one call of tabmux.
pub(super) fn steps(actions: &[Action]) -> Call {
    let steps = actions.iter().map(|action| {
        let (tool, arguments) = devtools(action);
        let mut step = json!({"tool": tool, "arguments": arguments});
        if let Action::Press(_, times @ 2..) = action {
            step["repeat"] = (*times).into();
        }
        step
    });
    ("run_steps", json!({"steps": steps.collect::<Vec<_>>()}))
}

pub(super) fn look(peer: Peer, look: Look<'_>) -> Call {
    match (peer, look) {
        (Peer::Tabmux | Peer::Playwright, Look::Page { .. }) | (Peer::DevTools, _) => {
            let mut calls = peer.calls(&Job::Snapshot);
            calls.remove(0)
        }
        (Peer::Tabmux, Look::Text(text)) => ("find", json!({"text": text})),
        (Peer::Playwright, Look::Text(text)) => ("browser_find", json!({"text": text})),
        (Peer::AgentBrowser, Look::Page { texts }) => (
            "agent_browser_snapshot",
            json!({"interactive": !texts, "compact": !texts}),
        ),
        (Peer::AgentBrowser, Look::Text(text)) => {
            ("agent_browser_wait_for_text", json!({"text": text}))
        }
    }
}

/// The tools of chrome-devtools-mcp, which tabmux has too.
fn devtools(action: &Action) -> Call {
    match action {
        Action::Press(handle, _) => ("click", element(handle)),
        Action::Fill(fields) => match fields.as_slice() {
            [field] => ("fill", filled(field)),
            fields => (
                "fill_form",
                json!({"elements": fields.iter().map(filled).collect::<Vec<_>>()}),
            ),
        },
        Action::Key(key) => ("press_key", json!({"key": key})),
        Action::Accept => ("handle_dialog", json!({"action": "accept"})),
    }
}

fn element(handle: &Handle) -> Value {
    match handle {
        Handle::Reference(uid) => json!({"uid": uid}),
        Handle::Named(Target {
            role, name, near, ..
        }) => {
            let mut arguments = json!({"name": name});
            for (key, value) in [("role", role), ("near", near)] {
                if let Some(value) = value {
                    arguments[key] = value.as_str().into();
                }
            }
            arguments
        }
    }
}

fn filled(field: &Field) -> Value {
    let mut arguments = element(&field.handle);
    arguments["value"] = field.value.as_str().into();
    arguments
}

fn playwright(action: &Action) -> Call {
    match action {
        Action::Press(handle, _) => ("browser_click", json!({"target": selector(handle)})),
        Action::Fill(fields) => {
            let fields = fields.iter().map(|field| {
                json!({
                    "target": selector(&field.handle),
                    "name": field.name,
                    "type": field.role,
                    "value": field.value,
                })
            });
            (
                "browser_fill_form",
                json!({"fields": fields.collect::<Vec<_>>()}),
            )
        }
        Action::Key(key) => ("browser_press_key", json!({"key": key})),
        Action::Accept => ("browser_handle_dialog", json!({"accept": true})),
    }
}

/// A reference or a unique selector, for Playwright.
fn selector(handle: &Handle) -> String {
    match handle {
        Handle::Reference(reference) => reference.clone(),
        Handle::Named(Target { role, name, .. }) => role.as_ref().map_or_else(
            || format!("text={name:?}"),
            |role| format!("role={role}[name={name:?}]"),
        ),
    }
}

fn agent_browser(action: &Action) -> Call {
    match action {
        Action::Press(handle, _) => ("agent_browser_click", json!({"selector": selector(handle)})),
        Action::Fill(fields) => fields.first().map_or_else(
            || ("agent_browser_fill", json!({})),
            |field| {
                let selector = selector(&field.handle);
                match field.role.as_str() {
                    "combobox" => (
                        "agent_browser_select",
                        json!({"selector": selector, "values": [field.value]}),
                    ),
                    _ => (
                        "agent_browser_fill",
                        json!({"selector": selector, "text": field.value}),
                    ),
                }
            },
        ),
        Action::Key(key) => ("agent_browser_press", json!({"key": key})),
        Action::Accept => ("agent_browser_dialog_accept", json!({})),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn save() -> Handle {
        Handle::Named(Target {
            role: Some("button".into()),
            name: "Save".into(),
            near: None,
            given: false,
            unnamed: None,
        })
    }

    #[test]
    fn an_element_is_named_where_the_server_takes_names() {
        let press = Action::Press(save(), 1);
        let (_, arguments) = act(Peer::Tabmux, &press, true);
        assert_eq!(arguments, json!({"role": "button", "name": "Save"}));
        let (_, arguments) = act(Peer::Playwright, &press, true);
        assert_eq!(arguments, json!({"target": "role=button[name=\"Save\"]"}));
    }

    #[test]
    fn many_presses_are_one_step() {
        let (tool, arguments) = steps(&[Action::Press(save(), 12)]);
        assert_eq!(tool, "run_steps");
        assert_eq!(arguments["steps"][0]["repeat"], 12);
    }
}
