//! Scripts do not import each other in a circle. Between crates Cargo sees to that.

use super::Problem;
use crate::files::SourceFile;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The circles among the scripts of the packages, each told once.
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
        way: Vec::new(),
        circles: Vec::new(),
    };
    for script in imports.keys() {
        walk.visit(script);
    }
    walk.circles.iter().map(|circle| told(circle)).collect()
}

struct Walk<'a> {
    imports: &'a BTreeMap<&'a Path, Vec<PathBuf>>,
    /// Scripts that lead into no circle that is not told.
    done: BTreeSet<PathBuf>,
    /// How we came here.
    way: Vec<PathBuf>,
    circles: Vec<Vec<PathBuf>>,
}

impl Walk<'_> {
    fn visit(&mut self, script: &Path) {
        if let Some(begin) = self.way.iter().position(|passed| passed == script) {
            let circle = self.way.iter().skip(begin).cloned().collect();
            return self.circles.push(circle);
        }
        if !self.done.insert(script.to_path_buf()) {
            return;
        }
        self.way.push(script.to_path_buf());
        for next in self.imports.get(script).into_iter().flatten() {
            self.visit(next);
        }
        self.way.pop();
    }
}

fn told(circle: &[PathBuf]) -> Problem {
    let names = circle.iter().map(|script| script.display().to_string());
    let names: Vec<_> = names.collect();
    Problem {
        place: names.first().cloned().unwrap_or_default(),
        complaint: format!(
            "scripts import each other in a circle: {}",
            names.join(", ")
        ),
    }
}

/// The scripts of ours that a script imports. What is only a type is gone when it runs.
fn imports(file: &SourceFile) -> Vec<PathBuf> {
    let folder = file.path.parent().unwrap_or_else(|| Path::new(""));
    let statements = file.text.split(';').filter_map(|statement| {
        let statement = statement.trim_start();
        let (words, place) = statement.rsplit_once(" from '")?;
        let is_import = !words.contains("import type") && place.starts_with('.');
        let place = place.strip_suffix('\'').filter(|_| is_import)?;
        Some(normal(&folder.join(place).with_extension("ts")))
    });
    statements.collect()
}

/// The same path without steps back.
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
    fn scripts_do_not_import_each_other_in_a_circle() {
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
            &[("packages/p/src/b.ts", "circle")],
        );
    }
}
