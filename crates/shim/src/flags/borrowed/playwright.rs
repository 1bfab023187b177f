//! Every flag of Playwright MCP 0.0.83 that chrome-devtools-mcp does not have, and what becomes of it here.

use super::table::{Flag, Here, one, several, switch};

pub(super) static FLAGS: &[Flag] = &[
    // Which browser.
    one("browser", Here::Browser),
    one("cdpEndpoint", Here::Endpoint),
    several("cdpHeader", Here::Headers),
    one(
        "cdpTimeout",
        Here::Idle(true, "browsers are waited for as long as a call may take"),
    ),
    one(
        "endpoint",
        Here::Refused(
            true,
            "use --cdp-endpoint with the browser's debugging address",
        ),
    ),
    one(
        "profileDirName",
        Here::Refused(
            true,
            "use --browser with the name that the extension was installed with",
        ),
    ),
    switch("ignoreHttpsErrors", Here::As("acceptInsecureCerts")),
    switch("sandbox", Here::Sandbox),
    one("viewportSize", Here::Value("viewport")),
    one("userAgent", Here::Same),
    one("proxyBypass", Here::Same),
    one("device", Here::Same),
    switch(
        "mobile",
        Here::Refused(true, "name a device, such as --device \"Pixel 7\""),
    ),
    one(
        "idleTimeout",
        Here::Idle(true, "a browser ends when nobody needs it"),
    ),
    switch(
        "sharedBrowserContext",
        Here::Idle(
            true,
            "clients share cookies and storage unless they ask for --isolated",
        ),
    ),
    // What pages get.
    several("initScript", Here::Same),
    several(
        "initPage",
        Here::Refused(
            true,
            "use --initScript, whose JavaScript runs in every page",
        ),
    ),
    several("grantPermissions", Here::Same),
    one("storageState", Here::Same),
    switch(
        "blockServiceWorkers",
        Here::Refused(
            true,
            "service workers run as they do for people; leave it out",
        ),
    ),
    // Which tools, and what they answer.
    one(
        "caps",
        Here::Idle(
            true,
            "tools of these kinds are there; --categories chooses among all kinds",
        ),
    ),
    switch(
        "webmcp",
        Here::Refused(
            false,
            "tools that pages register cannot be left out; --noShim only leaves pages without document.modelContext where the browser has none",
        ),
    ),
    one("codegen", Here::Idle(true, "no code is written")),
    one(
        "consoleLevel",
        Here::Idle(
            true,
            "each call of list_console_messages says which types it wants",
        ),
    ),
    one("filePaths", Here::Idle(true, "paths are told whole")),
    one(
        "imageResponses",
        Here::Idle(true, "pictures are answered when a call asks for one"),
    ),
    switch(
        "snapshotBoxes",
        Here::Idle(true, "clicks find their elements by uid"),
    ),
    one(
        "snapshotMode",
        Here::Idle(true, "a snapshot is taken when a call asks for one"),
    ),
    one(
        "testIdAttribute",
        Here::Idle(true, "elements are named by uid"),
    ),
    one("timeoutAction", Here::Idle(true, TIMEOUT)),
    one("timeoutNavigation", Here::Idle(true, TIMEOUT)),
    one(
        "timeoutSettle",
        Here::Idle(true, "after an action, what it began is waited for"),
    ),
    one(
        "secrets",
        Here::Refused(
            true,
            "values are told as they are; keep secrets out of the browser",
        ),
    ),
    // Files.
    switch("allowUnrestrictedFileAccess", Here::AnyFile),
    one("outputDir", Here::Same),
    one(
        "outputMaxSize",
        Here::Idle(true, "a session may download 512 MB in 100 files"),
    ),
    switch(
        "saveSession",
        Here::Idle(true, "`tabmux logs` shows what was done"),
    ),
    // Which clients.
    one("host", Here::Refused(true, STDIO)),
    several("allowedHosts", Here::Refused(true, STDIO)),
];

/// Those of both servers and of ours, which are read already.
#[cfg(test)]
pub(super) const SHARED: [&str; 10] = [
    "allowedOrigins",
    "blockedOrigins",
    "config",
    "executablePath",
    "extension",
    "headless",
    "isolated",
    "port",
    "proxyServer",
    "userDataDir",
];

const TIMEOUT: &str = "calls that wait take a timeout";
const STDIO: &str = "MCP clients start tabmux and speak over stdin and stdout; leave it out";
