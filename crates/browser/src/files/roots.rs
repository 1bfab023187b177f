//! Which paths a client may use: below its own folders, nothing hidden there, and nothing of other sessions.
//! Everything here asks the file system and may block.

use std::path::{Component, Path, PathBuf};

/// The folders of one client, as configured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// Where its process was started. Relative paths start here.
    pub working: Option<PathBuf>,
    /// The folders of its flags (`--filesystemRoot`). These may be any folders.
    pub named: Vec<PathBuf>,
    /// The folders that it claims to work in (MCP roots).
    pub claimed: Vec<PathBuf>,
}

/// The same folders after links were resolved, without those that do not count.
#[derive(Clone, Debug, Default)]
pub(super) struct Resolved {
    /// Whether the client is on another machine: it learns no paths.
    pub(super) is_remote: bool,
    /// Relative paths start in the first.
    pub(super) roots: Vec<PathBuf>,
    /// The folders of its flags as they were given, each with what it is after links were resolved.
    pub(super) named: Vec<(PathBuf, PathBuf)>,
    /// The session's own output folder, if it exists yet.
    pub(super) own: Option<PathBuf>,
    /// The folder that its flags name for files without a path. It may hold other files of the user, too.
    pub(super) kept: Option<PathBuf>,
    /// The parent folders of all sessions' output folders.
    pub(super) outputs: Vec<PathBuf>,
}

/// Why a path may not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It is in none of the folders.
    Outside,
    /// It is hidden, or inside a hidden folder of this name.
    Hidden(String),
}

impl Roots {
    /// Resolves links, and skips missing folders. A working folder or MCP root that contains the home folder does not
    /// count: programs start there by default.
    pub(super) fn resolve(&self) -> Vec<PathBuf> {
        let home = std::env::home_dir();
        let home = home.map(|home| home.canonicalize().unwrap_or(home));
        let canonical = |root: &PathBuf| root.canonicalize().ok();
        let narrow = |root: &PathBuf| !contains_home(root, home.as_deref());
        let working = self.working.iter().filter_map(canonical).filter(narrow);
        let named = self.named.iter().filter_map(canonical);
        let claimed = self.claimed.iter().filter_map(canonical).filter(narrow);
        working.chain(named).chain(claimed).collect()
    }

    /// The folders of its flags, and what they are after links were resolved.
    pub(super) fn resolve_named(&self) -> Vec<(PathBuf, PathBuf)> {
        let named = self.named.iter();
        let named = named.filter_map(|given| Some((given.clone(), given.canonicalize().ok()?)));
        named.collect()
    }
}

impl Resolved {
    /// Whether a file may be used. Its path must have no links, except for its last part.
    pub(super) fn check(&self, place: &Path) -> Result<(), Refusal> {
        if self.own.as_ref().is_some_and(|own| place.starts_with(own)) {
            return Ok(());
        }
        if self
            .outputs
            .iter()
            .any(|outputs| place.starts_with(outputs))
        {
            return Err(Refusal::Outside);
        }
        let below = self
            .roots
            .iter()
            .chain(&self.kept)
            .filter_map(|root| place.strip_prefix(root).ok());
        let mut refusal = Refusal::Outside;
        for path in below {
            match hidden_part(path) {
                None => return Ok(()),
                Some(name) => refusal = Refusal::Hidden(name),
            }
        }
        Err(refusal)
    }

    /// Where the path of a remote client leads, without asking the file system: what is there, outside of its folders,
    /// is not its business.
    pub(super) fn lexical(&self, path: &Path) -> Result<PathBuf, Refusal> {
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(Refusal::Outside);
        }
        let known = self
            .named
            .iter()
            .find_map(|(given, real)| path.strip_prefix(given).ok().map(|rest| real.join(rest)));
        let place = match (known, &self.own) {
            (Some(place), _) => place,
            // An absolute path stays what it is.
            (None, Some(own)) => own.join(path),
            (None, None) => return Err(Refusal::Outside),
        };
        self.check(&place)?;
        Ok(place)
    }

    /// The client's folders, or the first of them, for an error message.
    pub(super) fn words(&self) -> String {
        if self.is_remote {
            return "the files of this session; give a name without a folder".to_owned();
        }
        let some = self.roots.iter().take(MOST_IN_WORDS);
        let some: Vec<_> = some.map(|root| root.display().to_string()).collect();
        match self.roots.len() - some.len() {
            0 if some.is_empty() => "the folders of this client (it has none)".to_owned(),
            0 => some.join(", "),
            more => format!("{} and {more} more", some.join(", ")),
        }
    }
}

/// Whether a path is a name without a folder.
pub(super) fn is_name(path: &Path) -> bool {
    let mut parts = path.components().filter(|part| *part != Component::CurDir);
    matches!(
        (parts.next(), parts.next()),
        (Some(Component::Normal(_)), None)
    )
}

fn contains_home(root: &Path, home: Option<&Path>) -> bool {
    root.parent().is_none() || home.is_some_and(|home| home.starts_with(root))
}

/// The first path segment that starts with a dot: `.ssh`, `.git`, `.env`. Such files hold secrets, or settings that
/// other programs execute.
fn hidden_part(path: &Path) -> Option<String> {
    path.components().find_map(|part| match part {
        Component::Normal(name) => {
            let name = name.to_string_lossy();
            name.starts_with('.').then(|| name.into_owned())
        }
        _ => None,
    })
}

/// How many folders an error names.
const MOST_IN_WORDS: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_that_contain_the_home_folder_do_not_count() {
        let home = Path::new("/home/somebody");
        for (root, counts) in [
            ("/", false),
            ("/home", false),
            ("/home/somebody", false),
            ("/home/somebody/project", true),
            ("/home/some", true),
            ("/srv", true),
        ] {
            assert_eq!(
                contains_home(Path::new(root), Some(home)),
                !counts,
                "{root}"
            );
        }
        assert!(contains_home(Path::new("/"), None));
    }

    #[test]
    fn a_path_below_a_root_is_permitted_unless_hidden() {
        let resolved = Resolved {
            is_remote: false,
            roots: vec!["/p".into(), "/p/.cfg".into(), "/cache".into()],
            named: Vec::new(),
            own: Some("/cache/out/run/mine".into()),
            kept: Some("/kept".into()),
            outputs: vec!["/cache/out".into()],
        };
        let hidden = |name: &str| Err(Refusal::Hidden(name.to_owned()));
        for (place, verdict) in [
            ("/p/a.png", Ok(())),
            ("/p/sub/a.png", Ok(())),
            ("/p/.env", hidden(".env")),
            ("/p/.git/config", hidden(".git")),
            ("/p/sub/.ssh/id_rsa", hidden(".ssh")),
            ("/p/.cfg/a.json", Ok(())),
            ("/p/.cfg/.git/config", hidden(".git")),
            ("/pp/a.png", Err(Refusal::Outside)),
            ("/etc/passwd", Err(Refusal::Outside)),
            ("/cache/a.png", Ok(())),
            ("/cache/out/run/mine/1.png", Ok(())),
            ("/kept/report.csv", Ok(())),
            ("/kept/.git/hooks/pre-commit", hidden(".git")),
            ("/cache/out/run/theirs/1.png", Err(Refusal::Outside)),
        ] {
            assert_eq!(resolved.check(Path::new(place)), verdict, "{place}");
        }
    }
}
