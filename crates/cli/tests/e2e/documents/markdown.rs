//! Reads a document: its fenced blocks, and what is to be done with each.

use serde_json::Value;
use std::path::Path;

/// A document, its steps, and the lines of snippets that are neither run nor marked.
pub(super) struct Document {
    pub(super) text: String,
    pub(super) steps: Vec<Step>,
    pub(super) neither: Vec<usize>,
}

/// What the runner does, in the order of the document.
#[derive(Debug, PartialEq)]
pub(super) enum Step {
    /// A block whose first line is a comment with a file name and nothing else.
    Save { name: String, text: String },
    /// A command of a `console` block, after `$ `, with its output; or a line of an `sh` block.
    Command {
        line: usize,
        command: String,
        expected: Option<String>,
        /// The next command prints the exit code.
        may_fail: bool,
    },
    /// `<!-- run: COMMAND -->`: a command that readers do not see. `$BLOCK` is a file with the block above it.
    Hidden {
        line: usize,
        command: String,
        block: String,
    },
    /// Settings of an MCP client (JSON or TOML): the server in them is started.
    Server {
        line: usize,
        command: String,
        arguments: Vec<String>,
    },
}

impl Document {
    pub(super) fn read(root: &Path, path: &str) -> Self {
        let text = std::fs::read_to_string(root.join(path));
        Self::parse(text.unwrap_or_else(|error| panic!("{path}: {error}")))
    }

    fn parse(text: String) -> Self {
        let mut steps = Vec::new();
        let mut neither = Vec::new();
        let mut last_block = String::new();
        let mut lines = text.lines().enumerate().peekable();
        while let Some((number, line)) = lines.next() {
            if let Some(command) = hidden(line) {
                steps.push(Step::Hidden {
                    line: number + 1,
                    command: command.to_owned(),
                    block: last_block.clone(),
                });
            }
            let Some(language) = line.trim_start().strip_prefix("```") else {
                continue;
            };
            let indent = line.len() - line.trim_start().len();
            let mut content = String::new();
            for (_, line) in lines.by_ref() {
                if line.trim_start().starts_with("```") {
                    break;
                }
                content += line.get(indent..).unwrap_or_default();
                content.push('\n');
            }
            let own = block_steps(language.trim(), &content, number + 1);
            // What follows the block: a blank line may be in between.
            let after = lines
                .clone()
                .map(|(_, line)| line.trim())
                .find(|line| !line.is_empty());
            let after = after.unwrap_or_default();
            // On the pages of registries, readers do not see it.
            let told = after.strip_prefix("<!-- ").unwrap_or(after);
            let marked = MARKS.iter().any(|mark| told.starts_with(mark));
            if marked || language.trim() == "text" {
                continue;
            }
            if own.is_empty() && hidden(after).is_none() {
                neither.push(number + 1);
            }
            steps.extend(own);
            last_block = content;
        }
        Self {
            text,
            steps,
            neither,
        }
    }
}

/// How a line begins that says why the snippet above it is not run here.
const MARKS: &[&str] = &["Not run in tests: ", "Run by `make clients`"];

fn hidden(line: &str) -> Option<&str> {
    let line = line.trim().strip_prefix("<!-- run: ")?;
    line.strip_suffix(" -->")
}

fn block_steps(language: &str, content: &str, line: usize) -> Vec<Step> {
    if let Some(name) = file_name(content) {
        return vec![Step::Save {
            name: name.to_owned(),
            text: content.to_owned(),
        }];
    }
    match language {
        "console" => session(content, line),
        "sh" => commands(content, line),
        "json" => serde_json::from_str(content)
            .ok()
            .map_or_else(Vec::new, |settings| servers(&settings, line)),
        "toml" => content
            .parse::<toml_edit::DocumentMut>()
            .map(|settings| toml_servers(&settings, line))
            .unwrap_or_default(),
        _ => Vec::new(),
    }
}

/// The name in the first line, if that is a comment with nothing but a name: `<!-- index.html -->`, `// main.js`.
fn file_name(content: &str) -> Option<&str> {
    let first = content.lines().next()?.trim();
    let inner = first
        .strip_prefix("<!--")
        .and_then(|rest| rest.strip_suffix("-->"))
        .or_else(|| first.strip_prefix("//"))
        .or_else(|| first.strip_prefix('#'))?
        .trim();
    let is_name =
        inner.contains('.') && !inner.contains(char::is_whitespace) && !inner.starts_with('!');
    is_name.then_some(inner)
}

/// The commands of a `console` block, each with the output below it.
fn session(content: &str, line: usize) -> Vec<Step> {
    let mut steps: Vec<(usize, String, String)> = Vec::new();
    for (number, text) in content.lines().enumerate() {
        let continued = steps
            .last()
            .is_some_and(|(_, command, output)| command.ends_with('\\') && output.is_empty());
        if let Some((_, command, _)) = steps.last_mut().filter(|_| continued) {
            command.push('\n');
            command.push_str(text);
        } else if let Some(command) = text.strip_prefix("$ ") {
            steps.push((line + number + 1, command.to_owned(), String::new()));
        } else if let Some((_, _, output)) = steps.last_mut() {
            output.push_str(text);
            output.push('\n');
        }
    }
    let next: Vec<bool> = steps
        .iter()
        .skip(1)
        .map(|(_, command, _)| command == "echo $?")
        .collect();
    let commands = steps.into_iter().enumerate();
    commands
        .map(|(index, (line, command, output))| Step::Command {
            line,
            command,
            expected: Some(output),
            may_fail: next.get(index) == Some(&true),
        })
        .collect()
}

/// The lines of an `sh` block; only their exit codes are checked.
fn commands(content: &str, line: usize) -> Vec<Step> {
    let lines = content.lines().enumerate();
    lines
        .filter(|(_, text)| !text.is_empty() && !text.starts_with('#'))
        .map(|(number, text)| Step::Command {
            line: line + number + 1,
            command: text.to_owned(),
            expected: None,
            may_fail: false,
        })
        .collect()
}

fn servers(settings: &Value, line: usize) -> Vec<Step> {
    let keys = [
        "mcpServers",
        "servers",
        "mcp",
        "context_servers",
        "amp.mcpServers",
    ];
    let table = keys.iter().find_map(|key| settings.get(key)?.as_object());
    let entries = table.into_iter().flatten();
    entries
        .map(|(_, server)| {
            // Some clients have the program and its arguments in one list.
            let mut words = texts(&server["command"]);
            words.extend(texts(&server["args"]));
            let command = words.first().cloned().unwrap_or_default();
            Step::Server {
                line,
                command,
                arguments: words.into_iter().skip(1).collect(),
            }
        })
        .collect()
}

/// A text, or those of a list.
fn texts(value: &Value) -> Vec<String> {
    let texts = match value {
        Value::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    let texts = texts.iter().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

fn toml_servers(settings: &toml_edit::DocumentMut, line: usize) -> Vec<Step> {
    let table = settings.get("mcp_servers").and_then(|item| item.as_table());
    let entries = table.into_iter().flatten();
    entries
        .map(|(_, server)| Step::Server {
            line,
            command: server["command"].as_str().unwrap_or_default().to_owned(),
            arguments: server["args"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|argument| argument.as_str().map(str::to_owned))
                .collect(),
        })
        .collect()
}

#[test]
fn blocks_are_run_saved_started_or_marked() {
    let text = "```html\n<!-- a.html -->\n<p>\n```\n\n```console\n$ one\nits output\n$ two\n$ echo $?\n1\n```\n\n\
                ```sh\n# a comment\nthree\n```\n\n```json\n{\"servers\": {\"x\": {\"command\": \"tabmux\", \"args\": [\"mcp\"]}}}\n```\n\n\
                ```json\n{}\n```\n<!-- run: use $BLOCK -->\n\n```js\nalone()\n```\n\n```js\nmarked()\n```\nNot run in tests: no time.\n\n\
                ```text\na picture\n```\n\n```sh\nmarked\n```\nNot run in tests: no.\n\n```sh\nmarked\n```\n<!-- Not run in tests: no. -->\n";
    let document = Document::parse(text.to_owned());
    assert_eq!(document.neither, [28]);
    let command = |line, command: &str, expected: Option<&str>, may_fail| Step::Command {
        line,
        command: command.to_owned(),
        expected: expected.map(str::to_owned),
        may_fail,
    };
    let expected = [
        Step::Save {
            name: "a.html".to_owned(),
            text: "<!-- a.html -->\n<p>\n".to_owned(),
        },
        command(7, "one", Some("its output\n"), false),
        command(9, "two", Some(""), true),
        command(10, "echo $?", Some("1\n"), false),
        command(16, "three", None, false),
        Step::Server {
            line: 19,
            command: "tabmux".to_owned(),
            arguments: vec!["mcp".to_owned()],
        },
        Step::Hidden {
            line: 26,
            command: "use $BLOCK".to_owned(),
            block: "{}\n".to_owned(),
        },
    ];
    assert_eq!(document.steps, expected);
}
