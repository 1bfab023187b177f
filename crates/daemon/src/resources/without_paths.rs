//! Answers for clients on other machines: they name files of the session by their addresses, never by paths.

use super::address;
use super::listing;
use std::path::Path;
use tabmux_browser::OutputFolder;
use tabmux_protocol::{CallReply, Content};

/// The reply with the address of each file of the session in place of its path, and a link to it.
pub(crate) fn shown(mut reply: CallReply, output: &OutputFolder) -> CallReply {
    let mut saved = output.saved();
    // A path may begin with another one.
    saved.sort_by_key(|file| std::cmp::Reverse(file.path.as_os_str().len()));
    let mut links = Vec::new();
    for content in &mut reply.content {
        let Content::Text { text } = content else {
            continue;
        };
        for file in &saved {
            let path = file.path.to_string_lossy();
            if !text.contains(&*path) {
                continue;
            }
            *text = text.replace(&*path, &address::of_file(file.number));
            let name = file.path.file_name().unwrap_or_default().to_string_lossy();
            links.push((file.number, listing::of_file(file.number, &name)));
        }
        // What is left are files that could not be written, or are forgotten.
        for folder in saved.iter().filter_map(|file| file.path.parent()) {
            *text = without_folder(text, folder);
        }
        for words in DOWNLOADS {
            *text = with_names(text, words);
        }
    }
    links.sort_by_key(|(number, _)| *number);
    links.dedup_by_key(|(number, _)| *number);
    let links = links.into_iter().take(MOST_LINKS);
    let links = links.map(|(_, link)| Content::ResourceLink(link));
    reply.content.extend(links);
    reply
}

fn without_folder(text: &str, folder: &Path) -> String {
    match folder.parent() {
        // The root is in every path.
        None => text.to_owned(),
        Some(_) => text.replace(&format!("{}/", folder.display()), ""),
    }
}

/// The text with names in place of the paths that stand between these words.
fn with_names(text: &str, (before, after, end): (&str, &str, &str)) -> String {
    let mut shown = String::new();
    let mut rest = text;
    while let Some((head, tail)) = rest.split_once(before) {
        shown.push_str(head);
        shown.push_str(before);
        // A path may have the same words in it.
        let path = tail.split(end).next().unwrap_or_default();
        let path = path.rsplit_once(after).map_or(path, |(path, _)| path);
        rest = &tail[path.len()..];
        let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
        shown.push_str(if address::is_ours(path) { path } else { name });
    }
    shown + rest
}

/// The words before and after the path of a download in a folder of the browser, and those where its sentence ends.
const DOWNLOADS: [(&str, &str, &str); 2] = [
    ("It is saved as ", " (", " bytes)"),
    (
        "saved on the machine of the browser as ",
        ": it cannot",
        " be read here",
    ),
];

/// The rest can be listed.
const MOST_LINKS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_browser::OutputRoot;
    use tabmux_browser::files::{Destination, Files, Roots};

    #[tokio::test]
    async fn paths_become_addresses_and_links() {
        let home = tempfile::tempdir().unwrap();
        let output = OutputRoot::at(home.path().join("output")).session();
        let mut paths = Vec::new();
        for name in ["a.png", "a.png.txt"] {
            let files = Files::new(Roots::default(), output.clone()).of_remote_client();
            let to = Destination::new(Some(name), None, "");
            paths.push(files.save(to, b"x".to_vec()).await.unwrap());
        }
        let folder = paths[0].parent().unwrap().display();
        let said = format!(
            "Saved to {}. Copied to {}. Not {folder}/gone.txt.",
            paths[0].display(),
            paths[1].display()
        );
        let reply = shown(CallReply::text(said), &output);
        let told = serde_json::to_value(&reply.content).unwrap();
        assert_eq!(
            told[0]["text"],
            "Saved to tabmux://file/1. Copied to tabmux://file/2. Not gone.txt."
        );
        assert_eq!(
            (&told[1]["type"], &told[1]["uri"], &told[1]["mimeType"]),
            (
                &"resourceLink".into(),
                &"tabmux://file/1".into(),
                &"image/png".into()
            )
        );
        assert_eq!(told[2]["name"], "a.png.txt");
        assert!(!told.to_string().contains(&*home.path().to_string_lossy()));
        for (said, expected) in [
            (
                "A download started: a.csv. It is saved as /home/me (1)/a.csv (7 bytes).",
                "A download started: a.csv. It is saved as a.csv (7 bytes).",
            ),
            (
                "It is saved as tabmux://file/1 (7 bytes). It is saved as /b (8 bytes).",
                "It is saved as tabmux://file/1 (7 bytes). It is saved as b (8 bytes).",
            ),
            (
                "but saved on the machine of the browser as C:\\x\\a.csv: it cannot be read here.",
                "but saved on the machine of the browser as a.csv: it cannot be read here.",
            ),
        ] {
            let reply = shown(CallReply::text(said), &output);
            assert_eq!(reply.content[0].as_text(), Some(expected));
        }
        let other = shown(CallReply::text("nothing"), &output);
        assert_eq!(other.content.len(), 1);
    }
}
