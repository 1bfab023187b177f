//! Every flag of Playwright MCP 0.0.83 that chrome-devtools-mcp does not have, and how we treat it.

use super::table::{Flag, Treatment, one, several, switch};

pub(super) static FLAGS: &[Flag] = &[
    // Which browser.
    one("browser", Treatment::Browser),
    one("cdpEndpoint", Treatment::Endpoint),
    several("cdpHeader", Treatment::Headers),
    one(
        "cdpTimeout",
        Treatment::Idle(
            true,
            "a call waits for its browser until the call's own timeout",
        ),
    ),
    one(
        "endpoint",
        Treatment::Refused(
            true,
            "use --cdp-endpoint with the browser's debugging address",
        ),
    ),
    one(
        "profileDirName",
        Treatment::Refused(
            true,
            "use --browser with the name that the extension was installed with",
        ),
    ),
    switch("ignoreHttpsErrors", Treatment::As("acceptInsecureCerts")),
    switch("sandbox", Treatment::Sandbox),
    one("viewportSize", Treatment::Value("viewport")),
    one("userAgent", Treatment::Same),
    one("proxyBypass", Treatment::Same),
    one("device", Treatment::Same),
    switch(
        "mobile",
        Treatment::Refused(true, "name a device, such as --device \"Pixel 7\""),
    ),
    one(
        "idleTimeout",
        Treatment::Idle(true, "a browser is closed when no session needs it"),
    ),
    switch(
        "sharedBrowserContext",
        Treatment::Idle(
            true,
            "clients share cookies and storage unless they ask for --isolated",
        ),
    ),
    // What pages get.
    several("initScript", Treatment::Same),
    several(
        "initPage",
        Treatment::Refused(
            true,
            "use --initScript, whose JavaScript runs in every page",
        ),
    ),
    several("grantPermissions", Treatment::Same),
    one("storageState", Treatment::Same),
    switch(
        "blockServiceWorkers",
        Treatment::Refused(true, "service workers always run; remove it"),
    ),
    // Which tools, and what they answer.
    one(
        "caps",
        Treatment::Idle(
            true,
            "all of these tools are offered; --categories chooses among the categories",
        ),
    ),
    switch(
        "webmcp",
        Treatment::Refused(
            false,
            "tools that pages register are always offered; --noShim only stops tabmux from adding document.modelContext where the browser has none",
        ),
    ),
    one("codegen", Treatment::Idle(true, "tabmux generates no code")),
    one(
        "consoleLevel",
        Treatment::Idle(
            true,
            "each call of list_console_messages says which types it wants",
        ),
    ),
    one(
        "filePaths",
        Treatment::Idle(true, "paths are always absolute"),
    ),
    one(
        "imageResponses",
        Treatment::Idle(true, "a call returns an image only if it asks for one"),
    ),
    switch(
        "snapshotBoxes",
        Treatment::Idle(true, "elements are identified by uid"),
    ),
    one(
        "snapshotMode",
        Treatment::Idle(true, "a snapshot is taken when a call asks for one"),
    ),
    one(
        "testIdAttribute",
        Treatment::Idle(true, "elements are identified by uid"),
    ),
    one("timeoutAction", Treatment::Idle(true, TIMEOUT)),
    one("timeoutNavigation", Treatment::Idle(true, TIMEOUT)),
    one(
        "timeoutSettle",
        Treatment::Idle(
            true,
            "after an action tabmux waits for the requests and changes that it caused",
        ),
    ),
    // Each of its secrets needs origins treatment; the error says how to add them.
    one("secrets", Treatment::Same),
    // Files.
    switch("allowUnrestrictedFileAccess", Treatment::AnyFile),
    one("outputDir", Treatment::Same),
    one(
        "outputMaxSize",
        Treatment::Idle(true, "a session may download 512 MB in 100 files"),
    ),
    switch(
        "saveSession",
        Treatment::Idle(true, "`tabmux logs` shows what was done"),
    ),
    // Which clients.
    one("host", Treatment::Refused(true, STDIO)),
    several("allowedHosts", Treatment::Refused(true, STDIO)),
];

/// Flags that both servers and tabmux have, which need no entry treatment.
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
const STDIO: &str = "MCP clients start tabmux and communicate over stdin and stdout; remove it";
