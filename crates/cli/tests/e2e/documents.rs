//! The snippets of the documentation are run: commands in a shell with a real browser, settings by starting what they
//! name. A snippet that cannot be run says why, below it.
//!
//! `Step` lists what a document can contain; CONTRIBUTING.md explains it to those who write documents.

mod compare;
mod markdown;
mod shell;

use markdown::{Document, Step};
use shell::Shell;
use std::collections::BTreeSet;
use std::path::Path;
use tabmux_testkit::{McpClient, workspace_root};

/// One test for each document with something to run.
macro_rules! documents {
    ($($test:ident: $path:literal,)*) => {
        /// The documents that have a test here.
        const RUN: &[&str] = &[$($path),*];

        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $test() {
                run($path).await;
            }
        )*
    };
}

documents! {
    readme: "README.md",
    page_library_on_npm: "packages/page/README.md",
    tutorial_first_page: "docs/tutorials/first-page.md",
    tutorial_two_agents: "docs/tutorials/two-agents.md",
    tutorial_own_chrome: "docs/tutorials/own-chrome.md",
    tutorial_page_tools: "docs/tutorials/page-tools.md",
    tutorial_in_ci: "docs/tutorials/in-ci.md",
    clients: "docs/clients.md",
    migrating_from_chrome_devtools_mcp: "docs/migrating/chrome-devtools-mcp.md",
    migrating_from_playwright_mcp: "docs/migrating/playwright-mcp.md",
    migrating_from_agent_browser: "docs/migrating/agent-browser.md",
    config_file: "docs/config.md",
    mcp_over_http: "docs/http.md",
    options: "docs/options.md",
    policy: "docs/policy.md",
    protocol: "docs/protocol.md",
    secrets: "docs/secrets.md",
    shell_commands: "docs/shell.md",
    steps: "docs/steps.md",
    web_mcp: "docs/web-mcp.md",
}

/// Documents whose examples are checked by another test, which they name in a line `Proof: …`.
const PROVED: &[(&str, &str)] = &[
    (
        "docs/page-protocol.md",
        "every_example_of_the_document_can_be_parsed",
    ),
    (
        "docs/protocol.md",
        "every_example_is_encoded_as_it_is_written",
    ),
];

#[test]
fn every_snippet_runs_or_says_why_not() {
    let root = workspace_root();
    let mut complaints = Vec::new();
    let mut runnable = BTreeSet::new();
    for path in documents(&root) {
        let document = Document::read(&root, &path);
        let proved = PROVED.iter().any(|(proved, test)| {
            let proof = |line: &str| line.starts_with("Proof:") && line.contains(test);
            *proved == path && document.text.lines().any(proof)
        });
        if !proved {
            let lines = document.neither.iter();
            complaints.extend(lines.map(|line| format!("{path}:{line}")));
        }
        if !document.steps.is_empty() {
            runnable.insert(path);
        }
    }
    assert!(
        complaints.is_empty(),
        "these snippets are neither run nor marked with a line `Not run in tests: …` below them:\n{}",
        complaints.join("\n")
    );
    let run: BTreeSet<String> = RUN.iter().map(|path| (*path).to_owned()).collect();
    assert_eq!(
        run, runnable,
        "the documents that have a test, and those that need one"
    );
}

/// Every tool of Playwright MCP is in its page, and what the pages name as ours exists.
#[test]
fn migration_pages_name_all_tools_of_others_and_real_ones_of_ours() {
    let root = workspace_root();
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let guide = read("docs/migrating/playwright-mcp.md");
    for tool in read("fixtures/calls/playwright-mcp-tools.txt").lines() {
        let beginning = tool
            .rsplit_once('_')
            .map_or(tool, |(beginning, _)| beginning);
        let shorter = beginning
            .rsplit_once('_')
            .map_or(tool, |(shorter, _)| shorter);
        let groups = [beginning, shorter].map(|group| format!("`{group}_…`"));
        let is_named = guide.contains(&format!("`{tool}`"))
            || groups.iter().any(|group| guide.contains(group));
        assert!(
            is_named,
            "docs/migrating/playwright-mcp.md does not name {tool}"
        );
    }
    let reference = read("docs/tools.md");
    let theirs = ["browser_", "agent_browser_", "lighthouse_audit"];
    for page in ["chrome-devtools-mcp", "playwright-mcp", "agent-browser"] {
        let guide = read(&format!("docs/migrating/{page}.md"));
        let quoted = guide.split('`').skip(1).step_by(2);
        let is_tool = |word: &&str| {
            word.contains('_')
                && word
                    .bytes()
                    .all(|byte| byte == b'_' || byte.is_ascii_lowercase())
                && !theirs.iter().any(|their| word.starts_with(their))
        };
        for tool in quoted.filter(is_tool) {
            let heading = format!("\n## `{tool}`\n");
            assert!(
                reference.contains(&heading),
                "{page}.md: there is no tool {tool}"
            );
        }
    }
}

/// Runs all steps of a document, in order, in one shell.
async fn run(path: &str) {
    let root = workspace_root();
    let document = Document::read(&root, path);
    let Some(browser) = tabmux_testkit::real_browser() else {
        return;
    };
    let mut shell = Shell::start(&root, &browser);
    for step in &document.steps {
        match step {
            Step::Save { name, text } => shell.save(name, text),
            Step::Hidden {
                line,
                command,
                block,
            } => {
                shell.save_block(block);
                let (output, code) = shell.run(command);
                assert_eq!(code, 0, "{path}:{line}: {command}\n{output}");
            }
            Step::Command {
                line,
                command,
                expected,
                may_fail,
            } => {
                let (output, code) = shell.run(command);
                let place = format!("{path}:{line}: $ {command}");
                assert!(
                    code == 0 || *may_fail,
                    "{place}\nended with {code}:\n{output}"
                );
                if let Some(expected) = expected
                    && let Err(difference) = compare::compare(expected, &output)
                {
                    panic!(
                        "{place}\nprints something else (`…` stands for anything):\n{difference}"
                    );
                }
            }
            Step::Server {
                line,
                command,
                arguments,
            } => {
                assert_eq!(
                    command, "tabmux",
                    "{path}:{line}: only tabmux can be started"
                );
                let client = McpClient::spawn(shell.command(arguments));
                client.initialize().await;
                assert!(!client.list_tools().await.is_empty(), "{path}:{line}");
            }
        }
    }
}

/// README.md, the pages of registries, and everything in docs/ except the specification, which quotes others.
fn documents(root: &Path) -> Vec<String> {
    let pages = [
        "README.md",
        "packaging/README.md",
        "packages/page/README.md",
    ];
    let mut found: Vec<String> = pages.map(str::to_owned).into();
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let path = path.strip_prefix(root).unwrap();
                found.push(path.display().to_string());
            }
        }
    }
    found.retain(|path| !path.starts_with("docs/specification/"));
    found
}
