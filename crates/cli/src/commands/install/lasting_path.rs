//! The path of tabmux that a config can keep: not one in a folder that a build or a package runner deletes, nor one with
//! a version in it, which the next upgrade leaves.

use super::own_path;
use crate::commands::program_version::version_of;
use anyhow::bail;
use std::env;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tabmux_platform::files::is_executable;

/// The path for configs. A `tabmux` on PATH that is this program comes first, because an upgrade changes what it links to.
pub(super) fn find() -> anyhow::Result<String> {
    let own = own_path()?;
    let path = env::var_os("PATH").unwrap_or_default();
    let on_path = env::split_paths(&path).map(|folder| folder.join("tabmux"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let is_tabmux = |program: &Path| runtime.block_on(answers_as_tabmux(program, VERSION_LIMIT));
    match choose(Path::new(&own), on_path, is_tabmux) {
        Some(program) => Ok(program),
        None => bail!(
            "{own} is in a folder that a build or a package runner deletes, so clients would lose it. Install tabmux \
             first (npm install --global tabmux, uv tool install tabmux, or in a clone: cargo install --locked --path \
             crates/cli), or name the program with --command"
        ),
    }
}

fn choose(
    own: &Path,
    on_path: impl Iterator<Item = PathBuf>,
    is_tabmux: impl Fn(&Path) -> bool,
) -> Option<String> {
    let lasts = |program: &PathBuf| {
        let can_run = program.is_absolute() && is_program(program);
        can_run && !is_temporary(program) && !is_temporary(&real(program))
    };
    let on_path: Vec<PathBuf> = on_path.filter(lasts).collect();
    let same = || on_path.iter().find(|program| real(program) == real(own));
    // The launchers of npm and pnpm are other files, and start the program that is there after an upgrade, too.
    let other = || on_path.iter().find(|program| is_tabmux(program));
    let found = match (is_temporary(own), names_a_version(own)) {
        (true, _) => same().or_else(other)?,
        (false, true) => same().or_else(other).map_or(own, PathBuf::as_path),
        (false, false) => same().map_or(own, PathBuf::as_path),
    };
    found.to_str().map(str::to_owned)
}

/// Whether it is a file that can be run.
fn is_program(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|meta| meta.is_file() && is_executable(&meta))
}

/// Whether a program is tabmux of some version; another one can have its name.
async fn answers_as_tabmux(program: &Path, limit: Duration) -> bool {
    let version = version_of(program, limit).await;
    version.is_ok_and(|version| version.starts_with("tabmux "))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Whether a tool may delete it: builds and caches mark their folders, and package runners have folders of their own.
fn is_temporary(path: &Path) -> bool {
    path.ancestors().skip(1).any(is_build_or_cache) || is_of_a_runner(path)
}

/// Environments of Python have the mark of caches, too. That of `uvx` is inside of uv's cache, which is no environment.
fn is_build_or_cache(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).is_file();
    let is_environment = has("pyvenv.cfg") || has("uv-receipt.toml");
    has(".cargo-lock") || (has("CACHEDIR.TAG") && !is_environment)
}

/// `npx`, `pnpm dlx`, `yarn dlx`, `bunx`, `pipx run`.
fn is_of_a_runner(path: &Path) -> bool {
    let parts = parts(path);
    let is_runner = |part: &&str| {
        let prefixes = ["dlx-", "bunx-"];
        *part == "_npx" || prefixes.iter().any(|prefix| part.starts_with(prefix))
    };
    let pairs = [["pnpm", "dlx"], [".cache", "pipx"], ["pipx", ".cache"]];
    parts.iter().any(is_runner)
        || parts
            .windows(2)
            .any(|pair| pairs.iter().any(|it| it == pair))
}

/// Whether it is in a folder of a version, of Homebrew or pnpm.
fn names_a_version(path: &Path) -> bool {
    parts(path)
        .iter()
        .any(|part| ["Cellar", ".pnpm"].contains(part))
}

fn parts(path: &Path) -> Vec<&str> {
    let parts = path.components();
    parts.filter_map(|part| part.as_os_str().to_str()).collect()
}

/// How long a program on PATH may take to tell its version.
const VERSION_LIMIT: Duration = Duration::from_secs(5);

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    #[test]
    fn build_folders_and_caches_are_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let program = file(folder.path(), "target/release/tabmux");
        assert!(!is_temporary(&program));
        file(folder.path(), "target/CACHEDIR.TAG");
        assert!(is_temporary(&program));
        assert!(!is_temporary(Path::new("/home/a/.cargo/bin/tabmux")));
    }

    #[test]
    fn folders_of_package_runners_are_temporary() {
        for path in [
            "/home/a/.npm/_npx/12/node_modules/@tabmux/linux-x64/tabmux",
            "/home/a/.cache/pnpm/dlx/ab/cd/node_modules/.pnpm/@tabmux+linux-x64@0.1.0/tabmux",
            "/home/a/.local/share/pnpm/store/v3/tmp/dlx-12/node_modules/.bin/tabmux",
            "/tmp/xfs-12/dlx-34/node_modules/@tabmux/linux-x64/tabmux",
            "/tmp/bunx-1000-tabmux@latest/node_modules/@tabmux/linux-x64/tabmux",
            "/home/a/.local/share/pipx/.cache/12/bin/tabmux",
        ] {
            assert!(is_temporary(Path::new(path)), "{path}");
        }
        assert!(!is_temporary(Path::new(
            "/home/a/.local/share/pipx/venvs/tabmux/bin/tabmux"
        )));
    }

    #[test]
    fn an_environment_of_python_lasts_unless_it_is_in_a_cache() {
        let folder = tempfile::tempdir().unwrap();
        for environment in ["uv/tools/tabmux", "cache/uv/archive-v0/12"] {
            file(folder.path(), &format!("{environment}/CACHEDIR.TAG"));
            file(folder.path(), &format!("{environment}/pyvenv.cfg"));
        }
        file(folder.path(), "cache/uv/CACHEDIR.TAG");
        let tool = file(folder.path(), "uv/tools/tabmux/bin/tabmux");
        let run = file(folder.path(), "cache/uv/archive-v0/12/bin/tabmux");
        assert!(!is_temporary(&tool));
        assert!(is_temporary(&run));
        let link = link(folder.path(), "bin/tabmux", &tool);
        assert_eq!(chosen(&tool, &[&link]), Some(link));
        assert_eq!(chosen(&run, &[&run]), None);
    }

    #[test]
    fn a_link_on_path_is_written_instead_of_a_folder_of_one_version() {
        let folder = tempfile::tempdir().unwrap();
        let other = file(folder.path(), "other/tabmux");
        let own = file(folder.path(), "Cellar/tabmux/0.1.0/bin/tabmux");
        let link = link(folder.path(), "bin/tabmux", &own);
        assert_eq!(chosen(&own, &[&other, &link]), Some(link));
        assert_eq!(chosen(&own, &[]), Some(own));
        // The launcher of pnpm is a script.
        let own = file(folder.path(), ".pnpm/@tabmux+linux-x64@0.1.0/tabmux");
        assert_eq!(chosen(&own, &[&other]), Some(other));
    }

    #[test]
    fn only_a_tabmux_that_runs_replaces_a_temporary_one() {
        let folder = tempfile::tempdir().unwrap();
        let own = file(folder.path(), "_npx/tabmux");
        let (no_program, namesake) = (
            file(folder.path(), "a/tabmux"),
            file(folder.path(), "b/tabmux"),
        );
        fs::set_permissions(&no_program, fs::Permissions::from_mode(0o644)).unwrap();
        let tabmux = file(folder.path(), "c/tabmux");
        let on_path = [no_program, namesake, tabmux.clone()];
        let is_tabmux = |program: &Path| program == tabmux;
        let chosen = choose(&own, on_path.clone().into_iter(), is_tabmux);
        assert_eq!(chosen.map(PathBuf::from), Some(tabmux.clone()));
        assert_eq!(choose(&own, on_path[..2].iter().cloned(), is_tabmux), None);
        // One of its own name that lasts is not even asked.
        let asks = |_: &Path| panic!("no other program is run");
        choose(&tabmux, on_path.into_iter(), asks).unwrap();
    }

    #[test]
    fn another_program_on_path_does_not_replace_one_that_lasts() {
        let folder = tempfile::tempdir().unwrap();
        let other = file(folder.path(), "other/tabmux");
        let own = file(folder.path(), "bin/tabmux");
        assert_eq!(chosen(&own, &[&other]), Some(own));
    }

    fn file(folder: &Path, path: &str) -> PathBuf {
        // Folders for temporary files can be links.
        let path = folder.canonicalize().unwrap().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn link(folder: &Path, path: &str, target: &Path) -> PathBuf {
        let link = folder.join(path);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, &link).unwrap();
        link
    }

    fn chosen(own: &Path, on_path: &[&PathBuf]) -> Option<PathBuf> {
        let on_path = on_path.iter().copied().cloned();
        choose(own, on_path, |_| true).map(PathBuf::from)
    }
}
