//! Makes paths in a tool's arguments absolute: the daemon runs in another folder than the user.

use anyhow::Context;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// Makes the paths of our own tools absolute. Arguments of a page's tool stay unchanged.
pub(super) fn absolute(
    mut arguments: Map<String, Value>,
    is_ours: bool,
) -> anyhow::Result<Map<String, Value>> {
    let paths = arguments
        .iter_mut()
        .filter(|(name, _)| is_ours && is_path(name));
    for (_, value) in paths {
        match value {
            Value::String(path) => *path = one(path)?,
            Value::Array(list) => {
                for item in list {
                    if let Value::String(path) = item {
                        *path = one(path)?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(arguments)
}

/// Whether some path is in none of these folders.
pub(super) fn is_outside(arguments: &Map<String, Value>, roots: &[PathBuf]) -> bool {
    let paths = arguments.iter().filter(|(name, _)| is_path(name));
    let mut paths = paths.flat_map(|(_, value)| match value {
        Value::String(path) => vec![path.as_str()],
        Value::Array(list) => list.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    });
    paths
        .any(|path| !path.is_empty() && !roots.iter().any(|root| Path::new(path).starts_with(root)))
}

fn one(path: &str) -> anyhow::Result<String> {
    // The tool itself refuses an empty path.
    if path.is_empty() {
        return Ok(String::new());
    }
    let path = std::path::absolute(path).with_context(|| format!("{path} is not a path"))?;
    Ok(path.to_string_lossy().into_owned())
}

fn is_path(argument: &str) -> bool {
    let name = argument.to_lowercase();
    name.ends_with("filepath") || name.ends_with("filepaths") || name == "sourcepath"
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn relative_paths_start_where_they_are_typed() {
        let here = std::env::current_dir().unwrap();
        let there = |name: &str| here.join(name).display().to_string();
        let given = json!({"filePath": "a.png", "filePaths": ["/b", "c"], "url": "d", "responseFilePath": ""});
        let read = absolute(given.as_object().unwrap().clone(), true).unwrap();
        let meant = json!({
            "filePath": there("a.png"), "filePaths": ["/b", there("c")], "url": "d", "responseFilePath": "",
        });
        assert_eq!(Value::Object(read), meant);
        let theirs = absolute(given.as_object().unwrap().clone(), false).unwrap();
        assert_eq!(Value::Object(theirs), given);
    }
}
