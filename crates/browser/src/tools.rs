//! The tools that work on a page: one table, one file per group of related tools.
//!
//! A tool is its argument struct: its doc comments become the published schema, and `Tool::run`
//! does the work. Everything common to all tools (dialogs, cancelling, dead tabs, forbidden pages)
//! is in `run.rs`.

mod act;
mod advanced;
pub(crate) mod candidates;
pub(crate) mod changes;
mod console;
mod dialog;
mod drag;
mod emulate;
mod fill;
mod find;
pub(crate) mod generated;
mod input;
mod keyboard;
mod look;
mod navigate;
mod network;
mod paging;
mod performance;
mod read_page;
mod rules;
mod save;
mod schema;
mod screencast;
mod screenshot;
mod script;
mod scroll;
mod secret;
mod shown_secrets;
mod slim;
mod snapshot;
mod steps;
mod storage;
mod targets;
mod upload;
mod wait;

pub(crate) use act::{owner_number as frame_owner, shown_frame};
pub use changes::Viewer;
pub(crate) use performance::Tracing;
pub(crate) use screencast::Filming;
pub(crate) use storage::State as StorageState;

use crate::error::ToolError;
use crate::run::Page;
use crate::tab::TargetId;
use futures_util::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::future::Future;
use std::time::Duration;

/// All page tools, sorted by name.
pub fn all() -> &'static [ToolSpec] {
    static ALL: std::sync::LazyLock<Vec<ToolSpec>> = std::sync::LazyLock::new(|| {
        let mut all = vec![
            ToolSpec::of::<advanced::AddInitScript>(),
            ToolSpec::of::<advanced::Clipboard>(),
            ToolSpec::of::<advanced::GetCssStyles>(),
            ToolSpec::of::<advanced::SetCredentials>(),
            ToolSpec::of::<advanced::SetPermission>(),
            ToolSpec::of::<advanced::WaitForDownload>(),
            ToolSpec::of::<console::GetConsoleMessage>(),
            ToolSpec::of::<console::ListConsoleMessages>(),
            ToolSpec::of::<dialog::HandleDialog>(),
            ToolSpec::of::<drag::Drag>(),
            ToolSpec::of::<emulate::Emulate>(),
            ToolSpec::of::<emulate::ResizePage>(),
            ToolSpec::of::<fill::Fill>(),
            ToolSpec::of::<fill::FillForm>(),
            ToolSpec::of::<find::Find>(),
            ToolSpec::of::<input::Click>(),
            ToolSpec::of::<input::ClickAt>(),
            ToolSpec::of::<input::Hover>(),
            ToolSpec::of::<keyboard::PressKey>(),
            ToolSpec::of::<keyboard::TypeText>(),
            ToolSpec::of::<navigate::NavigatePage>(),
            ToolSpec::of::<network::GetNetworkRequest>(),
            ToolSpec::of::<network::ListNetworkRequests>(),
            ToolSpec::of::<performance::PerformanceAnalyzeInsight>(),
            ToolSpec::of::<performance::PerformanceStartTrace>(),
            ToolSpec::of::<performance::PerformanceStopTrace>(),
            ToolSpec::of::<read_page::ReadPage>(),
            ToolSpec::of::<rules::Route>(),
            ToolSpec::of::<rules::Unroute>(),
            ToolSpec::of::<save::SavePdf>(),
            ToolSpec::of::<save::TakeHeapsnapshot>(),
            ToolSpec::of::<screencast::ScreencastStart>(),
            ToolSpec::of::<screencast::ScreencastStop>(),
            ToolSpec::of::<screenshot::TakeScreenshot>(),
            ToolSpec::of::<script::EvaluateScript>(),
            ToolSpec::of::<scroll::Scroll>(),
            ToolSpec::of::<secret::ListSecrets>(),
            ToolSpec::of::<snapshot::TakeSnapshot>(),
            ToolSpec::of::<steps::RunSteps>(),
            ToolSpec::of::<storage::Cookies>(),
            ToolSpec::of::<storage::LocalStorage>(),
            ToolSpec::of::<storage::SessionStorage>(),
            ToolSpec::of::<storage::SaveStorage>(),
            ToolSpec::of::<storage::LoadStorage>(),
            ToolSpec::of::<upload::UploadFile>(),
            ToolSpec::of::<wait::WaitFor>(),
        ];
        all.sort_by_key(|spec: &ToolSpec| spec.name);
        all
    });
    &ALL
}

/// The only tools of a `--slim` session, sorted by name.
pub fn slim() -> &'static [ToolSpec] {
    static SLIM: [ToolSpec; 3] = [
        ToolSpec::of::<slim::Evaluate>(),
        ToolSpec::of::<slim::Navigate>(),
        ToolSpec::of::<slim::Screenshot>(),
    ];
    &SLIM
}

/// Resets a tab: removes the emulation, the request rules and everything else that tools set in it.
pub(crate) async fn reset_tab(tab: &crate::Tab) {
    let resets = [
        emulate::reset(tab).await,
        rules::clear(tab).await,
        advanced::reset(tab).await,
    ];
    for reset in resets {
        if let Err(error) = reset {
            tracing::debug!(%error, "cannot reset a released tab completely");
        }
    }
}

/// The tool with this name.
pub fn find(name: &str) -> Option<&'static ToolSpec> {
    all().iter().find(|spec| spec.name == name)
}

/// One tool: a struct of its arguments, which can be run.
pub(crate) trait Tool: DeserializeOwned + JsonSchema + Send + 'static {
    /// The name that clients call.
    const NAME: &'static str;
    /// When to use it, in one or two plain sentences.
    const DESCRIPTION: &'static str;
    /// How it shares a tab with other tools.
    const ACCESS: Access;
    /// What it is for; users switch tools on and off by category.
    const CATEGORY: Category;
    /// Whether the user must switch on its category to get it.
    const OPT_IN: bool = false;
    /// Whether the short list of a focused tab includes it.
    const PROGRESSIVE: bool = true;
    /// Whether it works while a dialog blocks the page.
    const DURING_DIALOG: bool = false;
    /// Whether it needs a responsive page.
    const NEEDS_PAGE: bool = true;

    /// Whether it navigates the tab away, so it also works on pages where no other tool does.
    const LEAVES: bool = false;
    /// Whether its answer covers what the tab has shown since an earlier call.
    const LOOKS_BACK: bool = false;
    /// Whether its answer ends with what changed on the page.
    const TELLS_CHANGES: bool = false;

    /// The schema of its structured output, if it has any.
    fn output_schema() -> Option<Value> {
        None
    }

    /// Whether its published schema lists the arguments that can replace a uid. Every tool with a uid takes them; listing
    /// them everywhere would cost every client tokens.
    const LISTS_TARGETS: bool = false;

    /// Checks what serde cannot. The error completes "Invalid arguments for TOOL: …".
    fn check(&self) -> Result<(), String> {
        Ok(())
    }

    /// The timeout that the arguments ask for, if any.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// Whether the arguments say how to answer dialogs, so that a dialog does not end the call.
    fn answers_dialogs(&self) -> bool {
        false
    }

    /// The uid of the element that it acts on, if it is one.
    fn target(&self) -> Option<&str> {
        None
    }

    /// Runs the tool.
    fn run(self, page: Page) -> impl Future<Output = ToolResult> + Send;
}

/// How a tool shares its tab with other tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Changes nothing: runs at once, in parallel with any other.
    Read,
    /// May change the page: runs one at a time, in order of arrival.
    Act,
    /// Must never wait for another tool.
    Bypass,
}

/// What a tool is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Mouse, keyboard and form input.
    Input,
    /// Navigating and waiting.
    Navigation,
    /// Emulating another device, network or place.
    Emulation,
    /// Measuring performance.
    Performance,
    /// Inspecting requests.
    Network,
    /// Inspecting the page and its scripts.
    Debugging,
    /// Cookies and web storage.
    Storage,
    /// Blocking, mocking and changing requests.
    Rules,
    /// Recording the page as a video.
    Screencast,
    /// The clipboard, passwords, permissions, scripts, styles and downloads.
    Advanced,
    /// Values that the agent never sees. Sessions with such values have it, others do not.
    Secrets,
}

impl Category {
    /// The name that users switch it on and off by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Navigation => "navigation",
            Self::Emulation => "emulation",
            Self::Performance => "performance",
            Self::Network => "network",
            Self::Debugging => "debugging",
            Self::Storage => "storage",
            Self::Rules => "rules",
            Self::Screencast => "screencast",
            Self::Advanced => "advanced",
            Self::Secrets => "secrets",
        }
    }
}

/// The result of a tool call.
pub type ToolResult = Result<ToolOutput, ToolError>;

/// The output of a successful call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolOutput {
    /// What the agent reads, in this order.
    pub blocks: Vec<Block>,
    /// The same as data, if the tool has an output schema.
    pub structured: Option<Value>,
    /// Tabs that opened because of the call. The caller adds their numbers to the answer.
    pub opened: Vec<TargetId>,
}

/// One block of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// Plain text.
    Text(String),
    /// An image.
    Image {
        /// The encoded image, in base64.
        base64: String,
        /// Such as `image/png`.
        mime_type: &'static str,
    },
}

impl ToolOutput {
    /// Output with a single text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            blocks: vec![Block::Text(text.into())],
            ..Self::default()
        }
    }
}

/// A row of the tool table.
#[derive(Clone, Copy, Debug)]
pub struct ToolSpec {
    /// The name that clients call.
    pub name: &'static str,
    /// When to use it.
    pub description: &'static str,
    /// How it shares a tab.
    pub access: Access,
    /// What it is for.
    pub category: Category,
    /// Whether the user must switch on its category to get it.
    pub opt_in: bool,
    /// Whether the short list of a focused tab includes it.
    pub progressive: bool,
    pub(crate) during_dialog: bool,
    pub(crate) needs_page: bool,
    pub(crate) leaves: bool,
    pub(crate) looks_back: bool,
    pub(crate) tells_changes: bool,
    output_schema: fn() -> Option<Value>,
    schema: fn() -> Map<String, Value>,
    unlisted: fn() -> Map<String, Value>,
    prepare: fn(&Self, &RawValue) -> Result<Prepared, BadArguments>,
}

impl ToolSpec {
    /// Whether its answer only confirms an action on the page.
    pub fn is_plain_action(&self) -> bool {
        self.tells_changes
    }

    /// The published JSON schema of the arguments.
    pub fn schema(&self) -> Map<String, Value> {
        (self.schema)()
    }

    /// The schema of its structured output, if it has any.
    pub fn output_schema(&self) -> Option<Value> {
        (self.output_schema)()
    }

    /// Arguments that it takes besides, by name, with their schemas: documented, but not published.
    pub fn unlisted(&self) -> Map<String, Value> {
        (self.unlisted)()
    }

    /// Parses and checks the arguments. The result can run once its tab is known.
    pub fn prepare(&self, arguments: &RawValue) -> Result<Prepared, BadArguments> {
        (self.prepare)(self, arguments)
    }

    const fn of<T: Tool>() -> Self {
        Self {
            name: T::NAME,
            description: T::DESCRIPTION,
            access: T::ACCESS,
            category: T::CATEGORY,
            opt_in: T::OPT_IN,
            progressive: T::PROGRESSIVE,
            during_dialog: T::DURING_DIALOG,
            needs_page: T::NEEDS_PAGE,
            leaves: T::LEAVES,
            looks_back: T::LOOKS_BACK,
            tells_changes: T::TELLS_CHANGES,
            output_schema: T::output_schema,
            unlisted: schema::unlisted::<T>,
            schema: published::<T>,
            prepare: prepare::<T>,
        }
    }
}

fn published<T: Tool>() -> Map<String, Value> {
    let mut schema = schema::of::<T>();
    if T::LISTS_TARGETS {
        targets::list(&mut schema);
    }
    schema
}

/// A tool with its arguments, ready to run.
pub struct Prepared {
    /// The tool.
    pub spec: ToolSpec,
    /// The timeout that the arguments ask for, if any.
    pub timeout: Option<Duration>,
    pub(crate) target: Option<String>,
    pub(crate) run: Box<dyn FnOnce(Page) -> BoxFuture<'static, ToolResult> + Send>,
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prepared")
            .field("tool", &self.spec.name)
            .finish_non_exhaustive()
    }
}

/// Arguments that a tool rejects.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Invalid arguments for {tool}: {detail}.")]
pub struct BadArguments {
    /// The tool's name.
    pub tool: &'static str,
    /// What is wrong.
    pub detail: String,
}

/// Parses the arguments of any tool: strictly, with an error that an agent can act on.
pub fn parse<T: DeserializeOwned>(
    tool: &'static str,
    arguments: &RawValue,
) -> Result<T, BadArguments> {
    serde_json::from_str(arguments.get()).map_err(|error| {
        let text = error.to_string();
        // Agents do not write JSON line by line, so a position in it does not help them.
        let detail = text
            .rsplit_once(" at line ")
            .map_or(text.as_str(), |(detail, _)| detail);
        // Rust's names of number types mean nothing to an agent.
        let detail = detail.replace("expected u32", "expected a whole number");
        let detail = detail.replace(
            "missing field `uid`",
            "give a `uid`, or a `role`, `name` and `near`",
        );
        BadArguments {
            tool,
            detail: tabmux_text::one_line(&detail, 300),
        }
    })
}

fn prepare<T: Tool>(spec: &ToolSpec, arguments: &RawValue) -> Result<Prepared, BadArguments> {
    let wanted = changes::Wanted::read::<T>(arguments)?;
    let arguments = wanted.arguments(arguments);
    let named = targets::NamedTargets::read::<T>(arguments)?;
    let tool: T = parse(
        T::NAME,
        named.as_ref().map_or(arguments, |named| named.checked()),
    )?;
    tool.check().map_err(|detail| BadArguments {
        tool: T::NAME,
        detail: detail.trim_end_matches('.').to_owned(),
    })?;
    Ok(Prepared {
        spec: ToolSpec {
            during_dialog: spec.during_dialog || tool.answers_dialogs(),
            tells_changes: spec.tells_changes && wanted.changes(),
            ..*spec
        },
        timeout: tool.timeout(),
        target: tool.target().filter(|_| named.is_none()).map(str::to_owned),
        run: match named {
            None => Box::new(move |page| Box::pin(tool.run(page))),
            Some(named) => Box::new(move |page| {
                Box::pin(async move { named.found::<T>(&page).await?.run(page).await })
            }),
        },
    })
}
