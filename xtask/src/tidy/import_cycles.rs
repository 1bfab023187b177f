//! Scripts must not import each other in a cycle. Between crates Cargo checks that.

use super::Problem;
use crate::files::SourceFile;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The import cycles among the scripts of the packages, each reported once.
pub(super) fn problems(files: &[SourceFile]) -> Vec<Problem> {
    let scripts = files
        .iter()
        .filter(|file| file.has_extension(&["ts"]) && file.path.starts_with("packages"));
    let imports: BTreeMap<&Path, Vec<PathBuf>> = scripts
        .map(|file| (file.path.as_path(), imports(file)))
        .collect();
    let mut walk = Walk {
        imports: &imports,
        done: BTreeSet::new(),
        chain: Vec::new(),
        cycles: Vec::new(),
    };
    for script in imports.keys() {
        walk.visit(script);
    }
    walk.cycles.iter().map(|cycle| problem(cycle)).collect()
}

struct Walk<'a> {
    imports: &'a BTreeMap<&'a Path, Vec<PathBuf>>,
    /// Scripts whose imports are already visited.
    done: BTreeSet<PathBuf>,
    /// The chain of imports to the current script.
    chain: Vec<PathBuf>,
    cycles: Vec<Vec<PathBuf>>,
}

impl Walk<'_> {
    fn visit(&mut self, script: &Path) {
        if let Some(begin) = self.chain.iter().position(|passed| passed == script) {
            let cycle = self.chain.iter().skip(begin).cloned().collect();
            return self.cycles.push(cycle);
        }
        if !self.done.insert(script.to_path_buf()) {
            return;
        }
        self.chain.push(script.to_path_buf());
        for next in self.imports.get(script).into_iter().flatten() {
            self.visit(next);
        }
        self.chain.pop();
    }
}

fn problem(cycle: &[PathBuf]) -> Problem {
    let names = cycle.iter().map(|script| script.display().to_string());
    let names: Vec<_> = names.collect();
    Problem {
        place: names.first().cloned().unwrap_or_default(),
        complaint: format!("scripts import each other in a cycle: {}", names.join(", ")),
    }
}

/// Our own scripts that a script imports. Type imports do not count: they do not exist at run time.
fn imports(file: &SourceFile) -> Vec<PathBuf> {
    let folder = file.path.parent().unwrap_or_else(|| Path::new(""));
    let statements = file.text.split(';').filter_map(|statement| {
        let statement = statement.trim_start();
        let (words, path) = statement.rsplit_once(" from '")?;
        let is_import = !words.contains("import type") && path.starts_with('.');
        let path = path.strip_suffix('\'').filter(|_| is_import)?;
        Some(normal(&folder.join(path).with_extension("ts")))
    });
    statements.collect()
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{super::assert_problems, *};

    fn script(path: &str, imports: &[&str]) -> SourceFile {
        let imports = imports
            .iter()
            .map(|place| format!("import {{\n  a,\n}} from '{place}';\n"));
        SourceFile {
            path: path.into(),
            text: format!(
                "/** A. */\n{}import type {{ T }} from './a.js';\n",
                imports.collect::<String>()
            ),
        }
    }

    /// Spec: multi-browser 96.
    #[test]
    fn scripts_do_not_import_each_other_in_a_cycle() {
        let a = || script("packages/p/src/a.ts", &["./b.js", "node:fs"]);
        let b = |imports: &[&str]| script("packages/p/src/b.ts", imports);
        let c = |imports: &[&str]| script("packages/p/src/deep/c.ts", imports);
        assert_problems(&problems(&[a(), b(&["./deep/c.js"]), c(&[])]), &[]);
        assert_problems(
            &problems(&[a(), b(&["./deep/c.js"]), c(&["../a.js"])]),
            &[(
                "packages/p/src/a.ts",
                "a.ts, packages/p/src/b.ts, packages/p/src/deep/c.ts",
            )],
        );
        assert_problems(
            &problems(&[a(), b(&["./b.js"])]),
            &[("packages/p/src/b.ts", "cycle")],
        );
    }
}
