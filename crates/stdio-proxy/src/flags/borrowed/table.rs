//! Every flag of chrome-devtools-mcp 1.11, and what becomes of it here.

/// A flag of the other server's.
#[derive(Debug)]
pub(super) struct Flag {
    /// In camel case.
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    pub(super) here: Here,
}

impl Flag {
    /// Whether nobody writes it who did not have one of the other servers before. Both have fixed lists.
    pub(super) fn is_only_theirs(&self) -> bool {
        match self.here {
            Here::Same => matches!(self.name, "slim" | "channel" | "wsHeaders"),
            // With an extension it is ours.
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

/// What becomes of a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Here {
    /// It is ours, too.
    Same,
    /// It is ours, too, and says which tools there are; off means something.
    Category,
    /// It is this one of ours.
    As(&'static str),
    /// Switched on, files may be anywhere.
    AnyFolder,
    /// Switched on, files may be anywhere, and be opened.
    AnyFile,
    /// Its value is one for this flag of ours, as Playwright writes it.
    Value(&'static str),
    /// An address: `--browserUrl` or `--wsEndpoint`.
    Endpoint,
    /// Headers for that address.
    Headers,
    /// The name of a browser.
    Browser,
    /// Switched off, the browser has no sandbox.
    Sandbox,
    /// It is taken. If it says this, there is a reason why it changes nothing.
    Idle(bool, &'static str),
    /// If it says this, nothing is started: whoever wrote it counts on it.
    Refused(bool, &'static str),
}

/// Flags that come and go there.
pub(super) static ANY_EXPERIMENT: Flag =
    one("experimental…", Here::Idle(true, "it is not known here"));

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
            "take_heapsnapshot is one of the performance tools; --categoryPerformance=false takes it away",
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
            "--categoryDebugging=false takes evaluate_script away, with the other debugging tools; initScript of navigate_page stays",
        ),
    ),
    switch("pageIdRouting", Here::Idle(false, PAGE_ID)),
    switch("experimentalPageIdRouting", Here::Idle(false, PAGE_ID)),
    switch(
        "experimentalVision",
        Here::Idle(false, "click_at is always there"),
    ),
    switch("memoryDebugging", MEMORY),
    switch("experimentalMemory", MEMORY),
    switch("experimentalScreencast", Here::As("categoryScreencast")),
    one("experimentalFfmpegPath", Here::Idle(true, FILM)),
    one("screencastFps", Here::Idle(true, FILM)),
    one("experimentalScreencastFps", Here::Idle(true, FILM)),
    switch(
        "experimentalDevtools",
        Here::Idle(true, "windows of DevTools are no tabs"),
    ),
    switch("devtoolsComments", Here::Idle(true, NO_SUCH_TOOLS)),
    switch("experimentalInteropTools", Here::Idle(true, NO_SUCH_TOOLS)),
    switch(
        "experimentalIncludeAllPages",
        Here::Idle(true, "tabs and popups are listed, and nothing else"),
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
        Here::Idle(
            false,
            "stacks are told in the sources that source maps name",
        ),
    ),
    switch(
        "redactNetworkHeaders",
        Here::Refused(
            true,
            "headers are told as they are; --categoryNetwork=false takes the tools away that tell them",
        ),
    ),
    // Files.
    several("filesystemRoot", Here::Same),
    several("workspace", Here::As("filesystemRoot")),
    switch("allowUnrestrictedPaths", Here::AnyFolder),
    one("logFile", Here::Same),
    one(
        "config",
        Here::Refused(true, "write what that file says as flags"),
    ),
    // What is told to others.
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
    "take_heapsnapshot is always there, and no other of these tools",
);
const NO_SUCH_TOOLS: &str = "there are no such tools here";
const PAGE_TOOLS: &str = "tools that pages offer are always there";
const PAGE_ID: &str = "pageId is always taken, and where it is left out, the tab in focus is meant";
const FILM: &str = "frames are taken as the page changes, and Chrome encodes them";
const SCREENSHOT: &str = "each call of take_screenshot says what it wants";
const TEXT: &str = "answers are text";
const NOTHING_SENT: &str = "nothing is sent to anybody";
