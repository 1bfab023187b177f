//! Every flag of Playwright MCP 0.0.83 that chrome-devtools-mcp does not have, and how we treat it.

use super::table::{Flag, Here, one, several, switch};

pub(super) static FLAGS: &[Flag] = &[
    // Which browser.
    one("browser", Here::Browser),
    one("cdpEndpoint", Here::Endpoint),
    several("cdpHeader", Here::Headers),
    one(
        "cdpTimeout",
        Here::Idle(
            true,
            "a call waits for its browser until the call's own timeout",
        ),
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
        Here::Idle(true, "a browser is closed when no session needs it"),
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
        Here::Refused(true, "service workers always run; remove it"),
    ),
    // Which tools, and what they answer.
    one(
        "caps",
        Here::Idle(
            true,
            "all of these tools are offered; --categories chooses among the categories",
        ),
    ),
    switch(
        "webmcp",
        Here::Refused(
            false,
            "tools that pages register are always offered; --noShim only stops tabmux from adding document.modelContext where the browser has none",
        ),
    ),
    one("codegen", Here::Idle(true, "tabmux generates no code")),
    one(
        "consoleLevel",
        Here::Idle(
            true,
            "each call of list_console_messages says which types it wants",
        ),
    ),
    one("filePaths", Here::Idle(true, "paths are always absolute")),
    one(
        "imageResponses",
        Here::Idle(true, "a call returns an image only if it asks for one"),
    ),
    switch(
        "snapshotBoxes",
        Here::Idle(true, "elements are identified by uid"),
    ),
    one(
        "snapshotMode",
        Here::Idle(true, "a snapshot is taken when a call asks for one"),
    ),
    one(
        "testIdAttribute",
        Here::Idle(true, "elements are identified by uid"),
    ),
    one("timeoutAction", Here::Idle(true, TIMEOUT)),
    one("timeoutNavigation", Here::Idle(true, TIMEOUT)),
    one(
        "timeoutSettle",
        Here::Idle(
            true,
            "after an action tabmux waits for the requests and changes that it caused",
        ),
    ),
    one(
        "secrets",
        Here::Refused(
            true,
            "values are shown unchanged; keep secrets out of the browser",
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

/// Flags that both servers and tabmux have, which need no entry here.
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
