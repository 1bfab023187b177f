//! The core tools as the specification has them.

use serde_json::{Value, json};

pub(super) fn connect_browser() -> Value {
    json!({
        "name": "connect_browser",
        "description": "Establish connection to browser (attach to existing or launch new)",
        "inputSchema": {
            "type": "object",
            "properties": {
                "launch": {
                    "type": "boolean",
                    "description": "Launch new browser instance if none found",
                    "default": false
                }
            }
        }
    })
}

pub(super) fn core_tools() -> [Value; 4] {
    [
        json!({
            "name": "list_tabs",
            "description": "See all open tabs without loading their tools",
            "inputSchema": {"type": "object", "properties": {}}
        }),
        json!({
            "name": "open_tab",
            "description": "Open a new browser tab",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "url": {"type": "string", "description": "URL to open"},
                    "focus": {
                        "type": "boolean",
                        "description": "Focus the new tab after opening",
                        "default": true
                    }
                },
                "required": ["url"]
            }
        }),
        json!({
            "name": "focus_tab",
            "description": "Switch focus to a different tab, loading its tools",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "tabId": {"type": "number", "description": "ID of the tab to focus"}
                },
                "required": ["tabId"]
            }
        }),
        json!({
            "name": "close_tab",
            "description": "Close a tab",
            "inputSchema": {
                "type": "object",
                "properties": {
                    "tabId": {
                        "type": "number",
                        "description": "ID of tab to close. Defaults to focused tab."
                    }
                }
            }
        }),
    ]
}
