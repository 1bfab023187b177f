//! Every flag of chrome-devtools-mcp 1.11, and how we treat it.

/// A flag of another server.
#[derive(Debug)]
pub(super) struct Flag {
    /// In camel case.
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    pub(super) here: Here,
}

impl Flag {
    /// Whether the flag shows that the configuration was written for another server. Those have fixed lists.
    pub(super) fn is_only_theirs(&self) -> bool {
        match self.here {
            Here::Same => matches!(self.name, "slim" | "channel" | "wsHeaders"),
            // With `--extension` it is our own flag.
            Here::Browser => false,
            _ => true,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    Switch,
    One,
    Several,
}

/// How we treat a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Here {
    /// We have the same flag.
    Same,
    /// We have the same flag for a category of tools, where `false` has an effect too.
    Category,
    /// It means this flag of ours.
    As(&'static str),
    /// If on, tools may use files in any folder.
    AnyFolder,
    /// If on, tools may use files in any folder, and open file: URLs.
    AnyFile,
    /// Its value, in Playwright's notation, is for this flag of ours.
    Value(&'static str),
    /// An address: `--browserUrl` or `--wsEndpoint`.
    Endpoint,
    /// Headers for that address.
    Headers,
    /// The name of a browser.
    Browser,
    /// If off, the browser has no sandbox.
    Sandbox,
    /// Accepted. With this value it has no effect, for this reason.
    Idle(bool, &'static str),
    /// With this value tabmux does not start, because the user relies on an effect that we do not have.
    Refused(bool, &'static str),
}

/// Experimental flags, which change with every version.
pub(super) static ANY_EXPERIMENT: Flag =
    one("experimental…", Here::Idle(true, "tabmux does not know it"));

pub(super) static FLAGS: &[Flag] = &[
    // Which browser.
    switch("autoConnect", Here::Same),
    one("browserUrl", Here::Same),
    one("wsEndpoint", Here::Same),
    one("wsHeaders", Here::Same),
    switch("headless", Here::Same),
    one("executablePath", Here::Same),
    switch("isolated", Here::Same),
    one("userDataDir", Here::Same),
    one("channel", Here::Same),
    one("proxyServer", Here::Same),
    several("chromeArg", Here::Same),
    several(
        "ignoreDefaultChromeArg",
        Here::Idle(
            true,
            "browsers are launched with the arguments that tabmux needs; --chromeArg adds some",
        ),
    ),
    one("viewport", Here::Same),
    switch("acceptInsecureCerts", Here::Same),
    // Which sites.
    several(
        "blockedUrlPattern",
        Here::Refused(
            true,
            "use --blockedOrigins, which takes origins such as https://*.example.com",
        ),
    ),
    several(
        "allowedUrlPattern",
        Here::Refused(
            true,
            "use --allowedOrigins, which takes origins such as https://*.example.com",
        ),
    ),
    switch("fileNavigations", Here::As("allowFileUrls")),
    switch("allowFileUrls", Here::Same),
    // Which tools.
    switch("categoryInput", Here::Category),
    switch("categoryNavigation", Here::Category),
    switch("categoryEmulation", Here::Category),
    switch("categoryPerformance", Here::Category),
    switch("categoryNetwork", Here::Category),
    switch("categoryDebugging", Here::Category),
    switch("categoryScreencast", Here::Category),
    switch(
        "categoryMemory",
        Here::Idle(
            false,
            "take_heapsnapshot is one of the performance tools; --categoryPerformance=false removes it",
        ),
    ),
    switch("categoryExtensions", Here::Idle(true, NO_SUCH_TOOLS)),
    switch("categoryPwa", Here::Idle(true, NO_SUCH_TOOLS)),
    switch("categoryExperimentalWebmcp", Here::Idle(false, PAGE_TOOLS)),
    switch(
        "categoryExperimentalThirdParty",
        Here::Idle(false, PAGE_TOOLS),
    ),
    switch("slim", Here::Same),
    switch(
        "javascriptEvaluation",
        Here::Refused(
            false,
            "--categoryDebugging=false removes evaluate_script with the other debugging tools; initScript of navigate_page stays",
        ),
    ),
    switch("pageIdRouting", Here::Idle(false, PAGE_ID)),
    switch("experimentalPageIdRouting", Here::Idle(false, PAGE_ID)),
    switch(
        "experimentalVision",
        Here::Idle(false, "click_at is always offered"),
    ),
    switch("memoryDebugging", MEMORY),
    switch("experimentalMemory", MEMORY),
    switch("experimentalScreencast", Here::As("categoryScreencast")),
    one("experimentalFfmpegPath", Here::Idle(true, FILM)),
    one("screencastFps", Here::Idle(true, FILM)),
    one("experimentalScreencastFps", Here::Idle(true, FILM)),
    switch(
        "experimentalDevtools",
        Here::Idle(true, "windows of DevTools are not listed as tabs"),
    ),
    switch("devtoolsComments", Here::Idle(true, NO_SUCH_TOOLS)),
    switch("experimentalInteropTools", Here::Idle(true, NO_SUCH_TOOLS)),
    switch(
        "experimentalIncludeAllPages",
        Here::Idle(true, "only tabs and popups are listed"),
    ),
    // What tools answer.
    one("screenshotFormat", Here::Idle(true, SCREENSHOT)),
    one("screenshotQuality", Here::Idle(true, SCREENSHOT)),
    one("screenshotMaxWidth", Here::Idle(true, SCREENSHOT)),
    one("screenshotMaxHeight", Here::Idle(true, SCREENSHOT)),
    switch("experimentalStructuredContent", Here::Idle(true, TEXT)),
    switch("experimentalToonFormat", Here::Idle(true, TEXT)),
    one("experimentalDataFormat", Here::Idle(true, TEXT)),
    switch(
        "sourceMaps",
        Here::Idle(false, "stack traces always use source maps"),
    ),
    switch(
        "redactNetworkHeaders",
        Here::Refused(
            true,
            "headers are shown unchanged; --categoryNetwork=false removes the tools that show them",
        ),
    ),
    // Files.
    several("filesystemRoot", Here::Same),
    several("workspace", Here::As("filesystemRoot")),
    switch("allowUnrestrictedPaths", Here::AnyFolder),
    one("logFile", Here::Same),
    one("config", Here::Refused(true, "write its contents as flags")),
    // Telemetry.
    switch("performanceCrux", Here::Idle(true, NOTHING_SENT)),
    switch("usageStatistics", Here::Idle(true, NOTHING_SENT)),
    one("clearcutEndpoint", Here::Idle(true, NOTHING_SENT)),
    one(
        "clearcutForceFlushIntervalMs",
        Here::Idle(true, NOTHING_SENT),
    ),
    switch("clearcutIncludePidHeader", Here::Idle(true, NOTHING_SENT)),
    switch("viaCli", Here::Idle(true, NOTHING_SENT)),
];

pub(super) const fn switch(name: &'static str, here: Here) -> Flag {
    Flag {
        name,
        takes: Takes::Switch,
        here,
    }
}

pub(super) const fn one(name: &'static str, here: Here) -> Flag {
    Flag {
        name,
        takes: Takes::One,
        here,
    }
}

pub(super) const fn several(name: &'static str, here: Here) -> Flag {
    Flag {
        name,
        takes: Takes::Several,
        here,
    }
}

const MEMORY: Here = Here::Idle(
    true,
    "take_heapsnapshot is always offered, and none of the other tools",
);
const NO_SUCH_TOOLS: &str = "tabmux has no such tools";
const PAGE_TOOLS: &str = "tools that pages offer are always listed";
const PAGE_ID: &str = "pageId is always accepted; without it, the focused tab is used";
const FILM: &str = "frames are taken as the page changes, and Chrome encodes them";
const SCREENSHOT: &str = "each call of take_screenshot says the format and size";
const TEXT: &str = "answers are text";
const NOTHING_SENT: &str = "tabmux sends nothing to third parties";
