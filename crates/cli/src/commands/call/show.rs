//! Shows a tool's answer to people: text, and images as files.

use anyhow::Context;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use tabmux_protocol::{CallReply, Content};

/// The answer's text. Images are saved in `folder`, and the text names their paths.
pub(super) fn text(tool: &str, reply: &CallReply, folder: &Path) -> anyhow::Result<String> {
    let parts: anyhow::Result<Vec<String>> = reply
        .content
        .iter()
        .map(|content| match content {
            Content::Text { text } => Ok(text.clone()),
            Content::Image { data, mime_type } => {
                let bytes = BASE64_STANDARD
                    .decode(data)
                    .context("the image is damaged; call again")?;
                let path = save(&bytes, &folder.join(tool), ending(mime_type))?;
                Ok(format!("Saved {}", path.display()))
            }
            // The text names the file itself.
            Content::ResourceLink(link) => Ok(link.uri.clone()),
            Content::Resource(body) => Ok(body.text.clone().unwrap_or_default()),
        })
        .collect();
    Ok(parts?.join("\n"))
}

/// Removes control characters: text of a page must not control the user's terminal.
pub(super) fn for_terminal(text: String, is_terminal: bool) -> String {
    let is_harmless = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
    if !is_terminal || text.chars().all(is_harmless) {
        return text;
    }
    text.chars()
        .map(|c| if is_harmless(c) { c } else { '\u{fffd}' })
        .collect()
}

/// Writes a new file: `name.png`, or `name-2.png` and so on.
fn save(bytes: &[u8], name: &Path, ending: &str) -> anyhow::Result<PathBuf> {
    let context = |path: &Path| {
        format!(
            "the image cannot be saved as {}; run this in a folder that you can write to",
            path.display()
        )
    };
    for number in 1_u32.. {
        let mut path = name.as_os_str().to_owned();
        match number {
            1 => path.push(format!(".{ending}")),
            _ => path.push(format!("-{number}.{ending}")),
        }
        let path = PathBuf::from(path);
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            opened => {
                let written = opened.and_then(|mut file| file.write_all(bytes));
                written.with_context(|| context(&path))?;
                return Ok(path);
            }
        }
    }
    anyhow::bail!(context(name))
}

fn ending(mime_type: &str) -> &'static str {
    match mime_type {
        "image/jpeg" => "jpg",
        "image/webp" => "webp",
        _ => "png",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_become_files_and_none_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let picture = |data: &str| Content::Image {
            data: BASE64_STANDARD.encode(data),
            mime_type: "image/jpeg".into(),
        };
        let words = Content::Text {
            text: "Two pictures.".into(),
        };
        let reply = CallReply {
            content: vec![words, picture("one"), picture("two")],
            ..CallReply::default()
        };
        let said = text("shot", &reply, folder.path()).unwrap();
        let at = |name: &str| folder.path().join(name);
        let (first, second) = (at("shot.jpg"), at("shot-2.jpg"));
        assert_eq!(
            said,
            format!(
                "Two pictures.\nSaved {}\nSaved {}",
                first.display(),
                second.display()
            )
        );
        assert_eq!(std::fs::read(first).unwrap(), b"one");
        assert_eq!(std::fs::read(second).unwrap(), b"two");
    }

    #[test]
    fn a_page_cannot_control_the_terminal() {
        let text = "a\tb\n\x1b[31mred\u{9b}0m".to_owned();
        assert_eq!(for_terminal(text.clone(), false), text);
        assert_eq!(for_terminal(text, true), "a\tb\n\u{fffd}[31mred\u{fffd}0m");
    }
}
