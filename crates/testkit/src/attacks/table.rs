//! All known attacks.

use super::Arguments::{Json, Made};
use super::Group::{Browsing, Calls, Connections, Console, Documents, PageTools};
use super::Hold::{ClientsComeIn, Disk, ExtensionsComeIn, LastSucceeds, NoHiddenText, PagesComeIn};
use super::{Attack, Call, Group, Hold, Library, Means, Port};
use serde_json::{Value, json};

/// All attacks, grouped.
pub const ATTACKS: &[Attack] = &[
    // What a page logs.
    page(
        Console,
        "console.log of 95 million control characters",
        "console-control-characters.html",
        LOOK,
    ),
    page(
        Console,
        "a flood of small console messages",
        "console-small-messages.html",
        LISTEN,
    ),
    page(
        Console,
        "console messages of 5,000 long arguments",
        "console-many-arguments.html",
        LISTEN,
    ),
    page(
        Console,
        "errors of 5 MB, thrown and rejected",
        "console-long-errors.html",
        LISTEN,
    ),
    Attack {
        holds: &[NoHiddenText],
        ..page(
            Console,
            "text that people cannot see, everywhere",
            "hidden-text.html",
            READ_ALL,
        )
    },
    // Tools that a page offers.
    page(
        PageTools,
        "60 tools with 46 kB schemas, every 120 ms",
        "tools-large-schemas.html",
        TOOLS,
    ),
    page(
        PageTools,
        "50 tools under new names, every 10 ms",
        "tools-new-names.html",
        TOOLS,
    ),
    page(
        PageTools,
        "schemas 2,000 levels deep or 5,000 wide",
        "tools-deep-schemas.html",
        TOOLS,
    ),
    page(
        PageTools,
        "40 schemas that refer to themselves",
        "tools-recursive-schemas.html",
        RECURSIVE,
    ),
    page(
        PageTools,
        "1,000 forms that are tools, every 200 ms",
        "tools-many-forms.html",
        TOOLS,
    ),
    page(
        PageTools,
        "20 servers in the page whose tools always change",
        "tools-chatty-servers.html",
        TOOLS,
    ),
    page(
        PageTools,
        "a tool's picture of 8 million control characters",
        "tool-picture.html",
        PICTURES,
    ),
    page(
        PageTools,
        "tools that never answer, throw or return circles",
        "tool-never-answers.html",
        BAD_TOOLS,
    ),
    // What a page is.
    page(Documents, "a script that never ends", "loop.html", LOOK),
    page(Documents, "dialogs without end", "dialogs.html", DIALOGS),
    page(
        Documents,
        "a document that changes every 4 ms",
        "dom-changes.html",
        ACT,
    ),
    page(
        Documents,
        "50,000 elements with names of 2,000 characters",
        "dom-huge.html",
        ACT,
    ),
    page(
        Documents,
        "20,000 elements inside each other",
        "dom-deep.html",
        ACT,
    ),
    page(
        Documents,
        "a list of 100,000 choices",
        "dom-long-list.html",
        ACT,
    ),
    page(
        Documents,
        "40 frames inside each other",
        "frames-nested.html",
        ACT,
    ),
    page(
        Documents,
        "frames that come and go",
        "frames-come-and-go.html",
        LOOK,
    ),
    page(
        Documents,
        "prototypes that throw and never end",
        "prototypes.html",
        ACT,
    ),
    page(
        Documents,
        "a page that does not want to be left",
        "leaving-is-hard.html",
        LEAVE,
    ),
    // What a page does with the browser.
    page(Browsing, "40 popups", "popups.html", LOOK),
    page(
        Browsing,
        "requests without end",
        "requests-endless.html",
        LISTEN,
    ),
    page(
        Browsing,
        "requests to addresses of 2 MB",
        "requests-long-addresses.html",
        LISTEN,
    ),
    page(
        Browsing,
        "requests with bodies of 10 MB",
        "requests-large-bodies.html",
        LISTEN,
    ),
    page(
        Browsing,
        "another address and title every millisecond",
        "address-changes.html",
        LOOK,
    ),
    page(
        Browsing,
        "a page that loads itself again and again",
        "reloads.html",
        LOOK,
    ),
    page(
        Browsing,
        "workers that come and go",
        "workers-come-and-go.html",
        LOOK,
    ),
    page(
        Browsing,
        "service workers that come and go",
        "service-workers.html",
        LOOK,
    ),
    page(
        Browsing,
        "storage and cookies that are full",
        "storage.html",
        STORAGE,
    ),
    Attack {
        holds: &[Disk(550_000_000)],
        ..page(
            Browsing,
            "downloads of 30 MB that nobody asked for",
            "downloads.html",
            LOOK,
        )
    },
    // Connections to the loopback port.
    library(
        "58 kB registrations over one library connection",
        Library::Registrations(1),
        &[],
        ALL_ACCESS,
    ),
    library(
        "58 kB registrations over 16 library connections",
        Library::Registrations(16),
        &[],
        ALL_ACCESS,
    ),
    library(
        "library tabs that come and go",
        Library::Tabs,
        &[],
        ALL_ACCESS,
    ),
    library(
        "one origin that takes 200 library places",
        Library::Places(200),
        &[],
        ALL_ACCESS,
    ),
    library(
        "library tools that answer twice, never or for others",
        Library::Answers,
        LIBRARY_TOOLS,
        &[],
    ),
    port("1,100 idle connections", Port::Idle(1_100), ALL_ACCESS),
    port(
        "300 request heads, byte by byte",
        Port::SlowHeads(300),
        ALL_ACCESS,
    ),
    port(
        "40 extensions that prove nothing",
        Port::Unproved(40),
        ALL_ACCESS,
    ),
    port(
        "64 frames of 24 MB before any proof",
        Port::BigFrames(64),
        ALL_ACCESS,
    ),
    port("noise on the port", Port::Noise, ALL_ACCESS),
    // What an agent calls.
    calls(
        "a script that returns 95 million control characters",
        Means::Calls,
        LARGE_RESULT,
    ),
    calls(
        "scripts with endless or huge results",
        Means::Calls,
        STRANGE_RESULTS,
    ),
    Attack {
        holds: &[ClientsComeIn, LastSucceeds],
        ..calls("a named pipe as file", Means::Fifo, FIFO)
    },
    Attack {
        holds: &[ClientsComeIn, LastSucceeds],
        ..calls(
            "arguments just under and over 16 MiB",
            Means::Calls,
            LONG_ARGUMENTS,
        )
    },
    calls("2,000 calls at once", Means::Burst(2_000), &[]),
];

const fn page(
    group: Group,
    name: &'static str,
    file: &'static str,
    calls: &'static [Call],
) -> Attack {
    Attack {
        name,
        group,
        means: Means::Page(file),
        calls,
        holds: &[],
    }
}

const fn library(
    name: &'static str,
    kind: Library,
    calls: &'static [Call],
    holds: &'static [Hold],
) -> Attack {
    Attack {
        name,
        group: Connections,
        means: Means::Library(kind),
        calls,
        holds,
    }
}

const fn port(name: &'static str, kind: Port, holds: &'static [Hold]) -> Attack {
    Attack {
        name,
        group: Connections,
        means: Means::Port(kind),
        calls: &[],
        holds,
    }
}

const fn calls(name: &'static str, means: Means, calls: &'static [Call]) -> Attack {
    Attack {
        name,
        group: Calls,
        means,
        calls,
        holds: &[ClientsComeIn],
    }
}

const ALL_ACCESS: &[Hold] = &[ClientsComeIn, PagesComeIn, ExtensionsComeIn];

const LOOK: &[Call] = &[
    Call("take_snapshot", Json("{}")),
    Call("list_pages", Json("{}")),
];
const LISTEN: &[Call] = &[
    Call("list_console_messages", Json("{}")),
    Call("list_network_requests", Json("{}")),
    Call("take_snapshot", Json("{}")),
];
const ACT: &[Call] = &[
    Call("take_snapshot", Json("{}")),
    Call("find", Json(r#"{"text": "name"}"#)),
    Call("click_at", Json(r#"{"x": 20, "y": 20}"#)),
    Call("evaluate_script", Json(r#"{"function": "() => 1"}"#)),
    Call("take_screenshot", Json("{}")),
];
const READ_ALL: &[Call] = &[
    Call("take_snapshot", Json("{}")),
    Call("list_pages", Json("{}")),
    Call("list_console_messages", Json("{}")),
    Call("list_page_tools", Json("{}")),
    Call("call_page_tool", Json(r#"{"name": "hidden"}"#)),
    Call("find", Json(r#"{"text": "shown"}"#)),
];
const TOOLS: &[Call] = &[
    Call("list_page_tools", Json("{}")),
    Call("list_browser_tabs", Json("{}")),
    Call("take_snapshot", Json("{}")),
];
const RECURSIVE: &[Call] = &[
    Call("list_page_tools", Json("{}")),
    Call(
        "call_page_tool",
        Json(
            r#"{"name": "recursive_0", "arguments": {"value": [[[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]]]}}"#,
        ),
    ),
    Call(
        "call_page_tool",
        Json(r#"{"name": "recursive_39", "arguments": {"value": null}}"#),
    ),
];
const PICTURES: &[Call] = &[
    Call("call_page_tool", Json(r#"{"name": "picture"}"#)),
    Call("call_page_tool", Json(r#"{"name": "text"}"#)),
    Call("call_page_tool", Json(r#"{"name": "resource"}"#)),
];
const BAD_TOOLS: &[Call] = &[
    Call("call_page_tool", Json(r#"{"name": "throws"}"#)),
    Call("call_page_tool", Json(r#"{"name": "circle"}"#)),
    Call("call_page_tool", Json(r#"{"name": "getters"}"#)),
    Call("call_page_tool", Json(r#"{"name": "never"}"#)),
];
const LIBRARY_TOOLS: &[Call] = &[
    Call("list_page_tools", Json("{}")),
    Call("call_page_tool", Json(r#"{"name": "twice"}"#)),
    Call("call_page_tool", Json(r#"{"name": "strange"}"#)),
    Call("call_page_tool", Json(r#"{"name": "for_others"}"#)),
    Call("call_page_tool", Json(r#"{"name": "picture"}"#)),
    Call("call_page_tool", Json(r#"{"name": "never"}"#)),
];
const DIALOGS: &[Call] = &[
    Call("take_snapshot", Json("{}")),
    Call("handle_dialog", Json(r#"{"action": "accept"}"#)),
    Call("handle_dialog", Json(r#"{"action": "dismiss"}"#)),
    Call(
        "handle_dialog",
        Json(r#"{"action": "accept", "promptText": "text"}"#),
    ),
    Call("evaluate_script", Json(r#"{"function": "() => 1"}"#)),
];
const LEAVE: &[Call] = &[
    Call("press_key", Json(r#"{"key": "a"}"#)),
    Call("navigate_page", Json(r#"{"url": "about:blank"}"#)),
    Call("take_snapshot", Json("{}")),
];
const STORAGE: &[Call] = &[
    Call("cookies", Json("{}")),
    Call("local_storage", Json("{}")),
    Call("session_storage", Json("{}")),
    Call("save_storage", Json(r#"{"filePath": "storage.json"}"#)),
];
const LARGE_RESULT: &[Call] = &[
    Call(
        "evaluate_script",
        Json(r#"{"function": "() => '\\u0001'.repeat(95e6)"}"#),
    ),
    Call("evaluate_script", Json(r#"{"function": "() => 1"}"#)),
];
const STRANGE_RESULTS: &[Call] = &[
    Call(
        "evaluate_script",
        Json(
            r#"{"function": "() => Array.from({length: 1e6}, (_, i) => ({number: i, name: 'item ' + i}))"}"#,
        ),
    ),
    Call(
        "evaluate_script",
        Json(
            r#"{"function": "() => { let deep = 1; for (let i = 0; i < 1e5; i++) deep = [deep]; return deep; }"}"#,
        ),
    ),
    Call(
        "evaluate_script",
        Json(r#"{"function": "() => { const circle = []; circle.push(circle); return circle; }"}"#),
    ),
    Call(
        "evaluate_script",
        Json(r#"{"function": "() => new Proxy({}, {ownKeys() { throw new Error('no'); }})"}"#),
    ),
    Call(
        "evaluate_script",
        Json(r#"{"function": "() => { throw 'e'.repeat(5e7); }"}"#),
    ),
    Call("evaluate_script", Json(r#"{"function": "() => 1"}"#)),
];
const FIFO: &[Call] = &[
    Call("take_screenshot", Json(r#"{"filePath": "fifo"}"#)),
    Call("take_snapshot", Json(r#"{"filePath": "fifo"}"#)),
    Call("save_storage", Json(r#"{"filePath": "fifo"}"#)),
    Call("load_storage", Json(r#"{"filePath": "fifo"}"#)),
    Call("evaluate_script", Json(r#"{"function": "() => 1"}"#)),
];
const LONG_ARGUMENTS: &[Call] = &[
    Call("evaluate_script", Made(just_under)),
    Call("evaluate_script", Made(just_over)),
    Call("call_page_tool", Made(just_under_escaped)),
    Call("evaluate_script", Json(r#"{"function": "() => 1"}"#)),
];

fn just_under() -> Value {
    script_of(LONGEST_LINE - 300)
}

fn just_over() -> Value {
    script_of(LONGEST_LINE + 300)
}

/// Each of these characters is six bytes on every wire.
fn just_under_escaped() -> Value {
    json!({"name": "none", "arguments": {"text": "\u{1}".repeat((LONGEST_LINE - 300) / 6)}})
}

fn script_of(bytes: usize) -> Value {
    json!({"function": format!("() => '{}'.length", "x".repeat(bytes))})
}

const LONGEST_LINE: usize = 16 * 1024 * 1024;
