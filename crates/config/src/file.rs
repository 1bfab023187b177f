//! Finding and reading the file.

use std::fmt;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use tabmux_platform::files::{Refused, SafeOptions, is_own, others_can_write, permissions_text};
use tabmux_text::one_line;
use toml_edit::{Document, Item, Table};

/// The content of the file; empty if there is none.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// Where it is.
    pub path: PathBuf,
    /// False if there is no file there.
    pub exists: bool,
    document: Document<String>,
}

/// What is wrong with the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    path: PathBuf,
    position: Position,
    why: String,
}

/// A position in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Position {
    /// The whole file.
    File,
    /// Counted from 1.
    Line(usize),
    /// Any line of these tables.
    Tables(String),
}

/// Where the file is, unless a flag or a variable names another one.
pub fn usual_path() -> Option<PathBuf> {
    let absolute = |name| {
        let folder = PathBuf::from(std::env::var_os(name)?);
        folder.is_absolute().then_some(folder)
    };
    let folder = absolute("XDG_CONFIG_HOME").or_else(|| Some(absolute("HOME")?.join(".config")))?;
    Some(folder.join("tabmux/tabmux.toml"))
}

impl ConfigFile {
    /// Reads the file with this name, or the usual one, which need not exist.
    ///
    /// # Errors
    /// When it cannot be read, may not be trusted, or has other tables.
    pub fn read(named: Option<PathBuf>) -> Result<Self, ConfigError> {
        let must_exist = named.is_some();
        let Some(path) = named.or_else(usual_path) else {
            return Self::parse(PathBuf::new(), String::new(), false);
        };
        let path = std::path::absolute(&path).unwrap_or(path);
        match content_of(&path) {
            Ok(text) => Self::parse(path, text, true),
            Err(Unreadable::Missing) if !must_exist => Self::parse(path, String::new(), false),
            Err(why) => Err(ConfigError {
                path,
                position: Position::File,
                why: why.to_string(),
            }),
        }
    }

    pub(crate) fn parse(path: PathBuf, text: String, exists: bool) -> Result<Self, ConfigError> {
        let parsed = Document::parse(text.clone()).map_err(|error| ConfigError {
            position: position_of(&text, error.span()),
            path: path.clone(),
            why: match path.extension().is_some_and(|ending| ending == "json") {
                true => {
                    "tabmux reads TOML; write the settings of this file into a tabmux.toml".into()
                }
                false => format!(
                    "this is not TOML: {}",
                    one_line(error.message(), MOST_SHOWN)
                ),
            },
        });
        let file = Self {
            path,
            exists,
            document: parsed?,
        };
        file.check_tables()?;
        Ok(file)
    }

    /// The table with this name; `None` if the file does not have it.
    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.document.get(name).and_then(Item::as_table)
    }

    /// The profiles, in the order of the file.
    pub fn profiles(&self) -> impl Iterator<Item = (&str, &Table)> {
        let profiles = self.table("profiles").into_iter().flat_map(Table::iter);
        profiles.filter_map(|(name, item)| Some((name, item.as_table()?)))
    }

    /// An error at this place of the file.
    pub(crate) fn error_at(
        &self,
        span: Option<Range<usize>>,
        why: impl Into<String>,
    ) -> ConfigError {
        self.error(position_of(self.document.raw(), span), why)
    }

    /// The same at any position.
    pub(crate) fn error(&self, position: Position, why: impl Into<String>) -> ConfigError {
        ConfigError {
            path: self.path.clone(),
            position,
            why: why.into(),
        }
    }

    /// The line of the file that begins at this place.
    pub(crate) fn line_of(&self, span: &Range<usize>) -> usize {
        line_at(self.document.raw(), span)
    }

    fn check_tables(&self) -> Result<(), ConfigError> {
        let root = self.document.as_table();
        for (name, item) in root.iter() {
            let span = root.key(name).and_then(toml_edit::Key::span);
            let Some(table) = item.as_table().filter(|_| TABLES.contains(&name)) else {
                let why = format!(
                    "`{}` is not expected here; the tables are [mcp], [profiles.NAME] and [daemon]",
                    one_line(name, MOST_SHOWN)
                );
                return Err(self.error_at(span, why));
            };
            if name == "profiles" {
                self.check_profiles(table)?;
            }
        }
        Ok(())
    }

    fn check_profiles(&self, profiles: &Table) -> Result<(), ConfigError> {
        for (name, item) in profiles.iter() {
            if item.as_table().is_none() {
                let span = profiles.key(name).and_then(toml_edit::Key::span);
                let name = one_line(name, MOST_SHOWN);
                let why = format!("a profile is a table: write [profiles.{name}]");
                return Err(self.error_at(span, why));
            }
        }
        Ok(())
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        match &self.position {
            Position::File => {}
            Position::Line(line) => write!(f, ", line {line}")?,
            Position::Tables(tables) => write!(f, ", {tables}")?,
        }
        write!(f, ": {}", self.why)
    }
}

impl std::error::Error for ConfigError {}

/// Why the file is not read.
#[derive(Debug, thiserror::Error)]
enum Unreadable {
    #[error("there is no such file")]
    Missing,
    #[error("it cannot be read ({0})")]
    Failed(std::io::Error),
    #[error("it is not a regular file")]
    NotAFile,
    #[error(
        "it belongs to another user, and its commands would run with your rights; make a copy of your own"
    )]
    Foreign,
    #[error(
        "other users can change it (mode {0}), and its commands run with your rights; run `chmod go-w` on it"
    )]
    Writable(String),
    #[error("it has more than {MOST_BYTES} bytes")]
    TooLarge,
    #[error("it is not UTF-8")]
    NotText,
}

/// The text of the file, if only this user can change it: it names programs to run.
fn content_of(path: &Path) -> Result<String, Unreadable> {
    let file = OpenOptions::new()
        .read(true)
        .refusing(Refused::Waiting)
        .open(path)
        .map_err(|error| match error.kind() {
            ErrorKind::NotFound => Unreadable::Missing,
            _ => Unreadable::Failed(error),
        })?;
    let about = file.metadata().map_err(Unreadable::Failed)?;
    if !about.is_file() {
        return Err(Unreadable::NotAFile);
    }
    if !is_own(&about) {
        return Err(Unreadable::Foreign);
    }
    if others_can_write(&about) {
        return Err(Unreadable::Writable(permissions_text(&about)));
    }
    let mut bytes = Vec::new();
    let limit = u64::try_from(MOST_BYTES + 1).unwrap_or(u64::MAX);
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(Unreadable::Failed)?;
    if bytes.len() > MOST_BYTES {
        return Err(Unreadable::TooLarge);
    }
    String::from_utf8(bytes).map_err(|_| Unreadable::NotText)
}

fn position_of(text: &str, span: Option<Range<usize>>) -> Position {
    span.map_or(Position::File, |span| Position::Line(line_at(text, &span)))
}

fn line_at(text: &str, span: &Range<usize>) -> usize {
    let before = text.get(..span.start.min(text.len())).unwrap_or_default();
    before.matches('\n').count() + 1
}

const TABLES: [&str; 3] = ["mcp", "profiles", "daemon"];
/// Far more than anybody writes.
const MOST_BYTES: usize = 1 << 20;
/// So many characters of a name or a value are repeated in an error.
pub(crate) const MOST_SHOWN: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    fn refusal(text: &str) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tabmux.toml");
        fs::write(&path, text).unwrap();
        let error = ConfigFile::read(Some(path.clone())).unwrap_err();
        error
            .to_string()
            .replace(&path.display().to_string(), "FILE")
    }

    #[test]
    fn a_file_that_cannot_be_read_says_why_and_where() {
        let wrong_table =
            "`server` is not expected here; the tables are [mcp], [profiles.NAME] and [daemon]";
        assert_eq!(
            refusal("[mcp]\n[server]\n"),
            format!("FILE, line 2: {wrong_table}")
        );
        assert_eq!(
            refusal("\n[profiles]\nci = 1\n"),
            "FILE, line 3: a profile is a table: write [profiles.ci]"
        );
        let broken = refusal("[mcp]\nheadless = \n");
        assert!(
            broken.starts_with("FILE, line 2: this is not TOML: "),
            "{broken}"
        );
        let twice = refusal("[mcp]\nslim = true\nslim = true\n");
        assert!(
            twice.starts_with("FILE, line 3: this is not TOML: "),
            "{twice}"
        );
    }

    #[test]
    fn a_file_that_others_can_change_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tabmux.toml");
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
        let said = ConfigFile::read(Some(path)).unwrap_err().to_string();
        assert!(
            said.contains("(mode 0666)") && said.ends_with("`chmod go-w` on it"),
            "{said}"
        );
    }

    #[test]
    fn a_file_that_is_named_must_exist_and_be_toml() {
        let folder = tempfile::tempdir().unwrap();
        let json = folder.path().join("config.json");
        fs::write(&json, "{\"browser\": {}}").unwrap();
        let said = ConfigFile::read(Some(json)).unwrap_err().to_string();
        assert!(said.ends_with("into a tabmux.toml"), "{said}");
        let said = ConfigFile::read(Some(folder.path().join("none.toml"))).unwrap_err();
        assert!(
            said.to_string()
                .ends_with("none.toml: there is no such file"),
            "{said}"
        );
        let said = ConfigFile::read(Some(folder.path().to_owned())).unwrap_err();
        assert!(
            said.to_string().ends_with(": it is not a regular file"),
            "{said}"
        );
    }
}
