//! Every flag of chrome-devtools-mcp 1.11, and how we treat it.

/// A flag of another server.
#[derive(Debug)]
pub(super) struct Flag {
    /// In camel case.
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    pub(super) treatment: Treatment,
}

impl Flag {
    /// Whether the flag shows that the configuration was written for another server. Those have fixed lists.
    pub(super) fn is_only_theirs(&self) -> bool {
        match self.treatment {
            Treatment::Same => matches!(self.name, "slim" | "channel" | "wsHeaders"),
            // With `--extension` it is our own flag.
            Treatment::Browser => false,
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
pub(super) enum Treatment {
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
pub(super) static ANY_EXPERIMENT: Flag = one(
    "experimental…",
    Treatment::Idle(true, "tabmux does not know it"),
);

pub(super) static FLAGS: &[Flag] = &[
    // Which browser.
    switch("autoConnect", Treatment::Same),
    one("browserUrl", Treatment::Same),
    one("wsEndpoint", Treatment::Same),
    one("wsHeaders", Treatment::Same),
    switch("headless", Treatment::Same),
    one("executablePath", Treatment::Same),
    switch("isolated", Treatment::Same),
    one("userDataDir", Treatment::Same),
    one("channel", Treatment::Same),
    one("proxyServer", Treatment::Same),
    several("chromeArg", Treatment::Same),
    several(
        "ignoreDefaultChromeArg",
        Treatment::Idle(
            true,
            "browsers are launched with the arguments that tabmux needs; --chromeArg adds some",
        ),
    ),
    one("viewport", Treatment::Same),
    switch("acceptInsecureCerts", Treatment::Same),
    // Which sites.
    several(
        "blockedUrlPattern",
        Treatment::Refused(
            true,
            "use --blockedOrigins, which takes origins such as https://*.example.com",
        ),
    ),
    several(
        "allowedUrlPattern",
        Treatment::Refused(
            true,
            "use --allowedOrigins, which takes origins such as https://*.example.com",
        ),
    ),
    switch("fileNavigations", Treatment::As("allowFileUrls")),
    switch("allowFileUrls", Treatment::Same),
    // Which tools.
    switch("categoryInput", Treatment::Category),
    switch("categoryNavigation", Treatment::Category),
    switch("categoryEmulation", Treatment::Category),
    switch("categoryPerformance", Treatment::Category),
    switch("categoryNetwork", Treatment::Category),
    switch("categoryDebugging", Treatment::Category),
    switch("categoryScreencast", Treatment::Category),
    switch(
        "categoryMemory",
        Treatment::Idle(
            false,
            "take_heapsnapshot is one of the performance tools; --categoryPerformance=false removes it",
        ),
    ),
    switch("categoryExtensions", Treatment::Idle(true, NO_SUCH_TOOLS)),
    switch("categoryPwa", Treatment::Idle(true, NO_SUCH_TOOLS)),
    switch(
        "categoryExperimentalWebmcp",
        Treatment::Idle(false, PAGE_TOOLS),
    ),
    switch(
        "categoryExperimentalThirdParty",
        Treatment::Idle(false, PAGE_TOOLS),
    ),
    switch("slim", Treatment::Same),
    switch(
        "javascriptEvaluation",
        Treatment::Refused(
            false,
            "--categoryDebugging=false removes evaluate_script with the other debugging tools; initScript of navigate_page stays",
        ),
    ),
    switch("pageIdRouting", Treatment::Idle(false, PAGE_ID)),
    switch("experimentalPageIdRouting", Treatment::Idle(false, PAGE_ID)),
    switch(
        "experimentalVision",
        Treatment::Idle(false, "click_at is always offered"),
    ),
    switch("memoryDebugging", MEMORY),
    switch("experimentalMemory", MEMORY),
    switch(
        "experimentalScreencast",
        Treatment::As("categoryScreencast"),
    ),
    one("experimentalFfmpegPath", Treatment::Idle(true, FILM)),
    one("screencastFps", Treatment::Idle(true, FILM)),
    one("experimentalScreencastFps", Treatment::Idle(true, FILM)),
    switch(
        "experimentalDevtools",
        Treatment::Idle(true, "windows of DevTools are not listed as tabs"),
    ),
    switch("devtoolsComments", Treatment::Idle(true, NO_SUCH_TOOLS)),
    switch(
        "experimentalInteropTools",
        Treatment::Idle(true, NO_SUCH_TOOLS),
    ),
    switch(
        "experimentalIncludeAllPages",
        Treatment::Idle(true, "only tabs and popups are listed"),
    ),
    // What tools answer.
    one("screenshotFormat", Treatment::Idle(true, SCREENSHOT)),
    one("screenshotQuality", Treatment::Idle(true, SCREENSHOT)),
    one("screenshotMaxWidth", Treatment::Idle(true, SCREENSHOT)),
    one("screenshotMaxHeight", Treatment::Idle(true, SCREENSHOT)),
    switch("experimentalStructuredContent", Treatment::Idle(true, TEXT)),
    switch("experimentalToonFormat", Treatment::Idle(true, TEXT)),
    one("experimentalDataFormat", Treatment::Idle(true, TEXT)),
    switch(
        "sourceMaps",
        Treatment::Idle(false, "stack traces always use source maps"),
    ),
    switch(
        "redactNetworkHeaders",
        Treatment::Refused(
            true,
            "headers are shown unchanged; --categoryNetwork=false removes the tools that show them",
        ),
    ),
    // Files.
    several("filesystemRoot", Treatment::Same),
    several("workspace", Treatment::As("filesystemRoot")),
    switch("allowUnrestrictedPaths", Treatment::AnyFolder),
    one("logFile", Treatment::Same),
    // Telemetry.
    switch("performanceCrux", Treatment::Idle(true, NOTHING_SENT)),
    switch("usageStatistics", Treatment::Idle(true, NOTHING_SENT)),
    one("clearcutEndpoint", Treatment::Idle(true, NOTHING_SENT)),
    one(
        "clearcutForceFlushIntervalMs",
        Treatment::Idle(true, NOTHING_SENT),
    ),
    switch(
        "clearcutIncludePidHeader",
        Treatment::Idle(true, NOTHING_SENT),
    ),
    switch("viaCli", Treatment::Idle(true, NOTHING_SENT)),
];

pub(super) const fn switch(name: &'static str, treatment: Treatment) -> Flag {
    Flag {
        name,
        takes: Takes::Switch,
        treatment,
    }
}

pub(super) const fn one(name: &'static str, treatment: Treatment) -> Flag {
    Flag {
        name,
        takes: Takes::One,
        treatment,
    }
}

pub(super) const fn several(name: &'static str, treatment: Treatment) -> Flag {
    Flag {
        name,
        takes: Takes::Several,
        treatment,
    }
}

const MEMORY: Treatment = Treatment::Idle(
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
