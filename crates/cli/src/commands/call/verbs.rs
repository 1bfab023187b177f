//! Shortcuts for common tools: `tabmux open`, `snapshot`, `click`, `fill`, `screenshot`.

use super::arguments::Given;
use serde_json::{Map, Value};
use std::ffi::OsStr;
use std::path::Path;

/// A shortcut: a command that runs one tool.
#[derive(Debug)]
pub(crate) struct Verb {
    pub(super) name: &'static str,
    pub(super) tool: &'static str,
    pub(super) about: &'static str,
    /// The arguments that need no flag, in order.
    pub(super) plain: &'static [Plain],
}

/// An argument that needs no flag.
#[derive(Debug)]
pub(super) struct Plain {
    /// Its name in the help.
    pub(super) word: &'static str,
    /// Its name in the tool's schema.
    pub(super) argument: &'static str,
    /// Its meaning for people, if the tool's own description is for agents.
    pub(super) meaning: Option<&'static str>,
    pub(super) is_required: bool,
}

impl Plain {
    pub(super) fn usage(&self) -> String {
        match self.is_required {
            true => self.word.to_owned(),
            false => format!("[{}]", self.word),
        }
    }
}

pub(crate) static OPEN: Verb = Verb {
    name: "open",
    tool: "navigate_page",
    about: "Open a page in the tab of the shell's session, and wait until it is loaded.",
    plain: &[Plain {
        word: "URL",
        argument: "url",
        meaning: Some("The address, such as example.com, localhost:3000 or https://example.com/a."),
        is_required: true,
    }],
};

pub(crate) static SNAPSHOT: Verb = Verb {
    name: "snapshot",
    tool: "take_snapshot",
    about: "Print the page as text. Each line is one element, with the uid that `click` and `fill` take.",
    plain: &[],
};

pub(crate) static CLICK: Verb = Verb {
    name: "click",
    tool: "click",
    about: "Click an element, and show what the click caused or what blocks it.",
    plain: &[UID],
};

pub(crate) static FILL: Verb = Verb {
    name: "fill",
    tool: "fill",
    about: "Fill a field: replaces a text, chooses from a list, ticks a box or sets a date.",
    plain: &[
        UID,
        Plain {
            word: "VALUE",
            argument: "value",
            meaning: None,
            is_required: true,
        },
    ],
};

pub(crate) static SCREENSHOT: Verb = Verb {
    name: "screenshot",
    tool: "take_screenshot",
    about: "Save a screenshot of the page or of an element.",
    plain: &[Plain {
        word: "FILE",
        argument: "filePath",
        meaning: Some(
            "The file; the extension jpg or webp chooses that format. Default: screenshot.png.",
        ),
        is_required: false,
    }],
};

const UID: Plain = Plain {
    word: "UID",
    argument: "uid",
    meaning: Some("The element, from `tabmux snapshot`."),
    is_required: true,
};

impl Verb {
    pub(super) fn has(&self, argument: &str) -> bool {
        self.plain.iter().any(|plain| plain.argument == argument)
    }

    /// The words without flags, as arguments of the tool. The error is a sentence.
    pub(super) fn read(&self, words: Vec<String>, given: &[Given]) -> Result<Vec<Given>, String> {
        let usage: Vec<_> = self.plain.iter().map(Plain::usage).collect();
        let usage = format!("tabmux {} {}", self.name, usage.join(" "));
        let is_given = |argument: &str| given.iter().any(|given| given.name == argument);
        // A flag replaces its word; a role, a name or a text nearby replaces the uid.
        let is_named = ["role", "name", "near"].into_iter().any(is_given);
        let is_wanted = |plain: &&Plain| {
            !(is_given(plain.argument) || is_named && plain.argument == UID.argument)
        };
        let wanted: Vec<_> = self.plain.iter().filter(is_wanted).collect();
        if let Some(extra) = words.get(wanted.len()) {
            return Err(format!(
                "`{extra}` is one argument too many. Write `{}`, with quotes around a text that has spaces",
                usage.trim_end()
            ));
        }
        // Back, forward and reload need no address.
        let needs_no_url = self.name == "open" && is_given("type");
        let mut missing = wanted.iter().skip(words.len());
        match missing.find(|plain| plain.is_required) {
            Some(plain) if !needs_no_url => {
                let hint = match plain.word {
                    "UID" => {
                        " `tabmux snapshot` shows the uid of each element; or name it with --role and --name"
                    }
                    _ => "",
                };
                Err(format!("{} is missing. Write `{usage}`.{hint}", plain.word)
                    .trim_end_matches('.')
                    .to_owned())
            }
            _ => {
                let pairs = wanted.iter().zip(words);
                Ok(pairs
                    .map(|(plain, word)| self.argument(plain, word))
                    .collect())
            }
        }
    }

    /// Adds what the shortcut implies: a screenshot is saved to a file, in full size.
    pub(super) fn complete(&self, mut read: Map<String, Value>) -> Map<String, Value> {
        if self.name == "screenshot" && !read.contains_key("filePath") {
            let ending = match read.get("format").and_then(Value::as_str) {
                Some("jpeg") => "jpg",
                Some(other) => other,
                None => "png",
            };
            let name = free_name(&format!("screenshot.{ending}"));
            read.insert("filePath".to_owned(), name.into());
        } else if self.name == "screenshot" && !read.contains_key("format") {
            let name = read
                .get("filePath")
                .and_then(Value::as_str)
                .unwrap_or_default();
            let ending = Path::new(name).extension().and_then(OsStr::to_str);
            let format = match ending.map(str::to_lowercase).as_deref() {
                Some("jpg" | "jpeg") => Some("jpeg"),
                Some("webp") => Some("webp"),
                _ => None,
            };
            if let Some(format) = format {
                read.insert("format".to_owned(), format.into());
            }
        }
        read
    }

    fn argument(&self, plain: &Plain, word: String) -> Given {
        let value = match plain.argument {
            "url" => address(&word),
            _ => word,
        };
        Given {
            name: plain.argument.to_owned(),
            value: Some(value),
        }
    }
}

/// This name, or one with a number if the file exists.
fn free_name(name: &str) -> String {
    let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
    let numbered = (2_u32..).map(|number| format!("{stem}-{number}.{ending}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    let is_free = |name: &String| std::fs::symlink_metadata(name).is_err();
    names.find(is_free).unwrap_or_else(|| name.to_owned())
}

/// Completes an address as people type it: without a scheme, or as a path.
fn address(written: &str) -> String {
    let scheme = written.split_once(':').map(|(scheme, _)| scheme);
    let is_scheme = |scheme: &str| {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-');
        !scheme.is_empty() && scheme.chars().all(fits)
    };
    let host = written
        .split(['/', ':', '?', '#'])
        .next()
        .unwrap_or_default();
    let has_port = written
        .strip_prefix(host)
        .and_then(|rest| rest.strip_prefix(':'))
        .is_some_and(|rest| rest.starts_with(|digit: char| digit.is_ascii_digit()));
    if scheme.is_some_and(is_scheme) && !has_port {
        return written.to_owned();
    }
    if written.starts_with(['/', '.']) || Path::new(written).is_file() {
        let path = std::path::absolute(written).unwrap_or_else(|_| written.into());
        return format!("file://{}", path.display());
    }
    let is_here = host == "localhost" || host.starts_with("127.") || host == "[";
    match is_here {
        true => format!("http://{written}"),
        false => format!("https://{written}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_may_be_written_as_people_do() {
        for (written, meant) in [
            ("https://example.com/", "https://example.com/"),
            ("about:blank", "about:blank"),
            ("data:text/html,x", "data:text/html,x"),
            ("chrome://version", "chrome://version"),
            ("example.com", "https://example.com"),
            (
                "example.com:8443/a?b=c:d",
                "https://example.com:8443/a?b=c:d",
            ),
            ("localhost:3000", "http://localhost:3000"),
            ("localhost", "http://localhost"),
            ("127.0.0.1:8080/x", "http://127.0.0.1:8080/x"),
            ("/srv/page.html", "file:///srv/page.html"),
        ] {
            assert_eq!(address(written), meant, "{written}");
        }
    }

    #[test]
    fn missing_and_extra_arguments_are_explained_in_a_sentence() {
        let words = |words: &[&str]| {
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            CLICK.read(words(&[]), &[]).unwrap_err(),
            "UID is missing. Write `tabmux click UID`. `tabmux snapshot` shows the uid of each element; or name it with --role and --name"
        );
        assert_eq!(
            FILL.read(words(&["1_1"]), &[]).unwrap_err(),
            "VALUE is missing. Write `tabmux fill UID VALUE`"
        );
        assert_eq!(
            FILL.read(words(&["1_1", "two", "words"]), &[]).unwrap_err(),
            "`words` is one argument too many. Write `tabmux fill UID VALUE`, with quotes around a text that has spaces"
        );
        assert!(SCREENSHOT.read(words(&[]), &[]).unwrap().is_empty());
        let back = [Given {
            name: "type".into(),
            value: Some("back".into()),
        }];
        assert!(OPEN.read(words(&[]), &back).unwrap().is_empty());
    }

    #[test]
    fn a_named_element_needs_no_uid() {
        let named = [Given {
            name: "name".into(),
            value: Some("City".into()),
        }];
        assert!(CLICK.read(Vec::new(), &named).unwrap().is_empty());
        let read = FILL.read(vec!["Bonn".to_owned()], &named).unwrap();
        let [value] = read.as_slice() else {
            panic!("{read:?}")
        };
        assert_eq!(
            (value.name.as_str(), value.value.as_deref()),
            ("value", Some("Bonn"))
        );
        let extra = vec!["1_1".to_owned(), "Bonn".to_owned()];
        assert!(FILL.read(extra, &named).is_err());
    }
}
