//! The answer to a read.

use super::address::{Address, FileAddress, TabAddress, of_file};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use tabmux_browser::OutputFolder;
use tabmux_protocol::{CallFailure, CallReply, Content, ResourceBody};
use tabmux_text::secrets;

type Outcome = Result<CallReply, CallFailure>;

/// The content of a tab's resource, from the reply of the call that reads it.
pub(super) async fn tab(
    output: &OutputFolder,
    uri: &str,
    address: &TabAddress,
    called: CallReply,
) -> Outcome {
    if called.is_error || called.question.is_some() {
        return Ok(called);
    }
    let mime_type = address.kind.mime_type.to_owned();
    let mut texts = Vec::new();
    for content in called.content {
        match content {
            Content::Image { data, mime_type } => {
                return Ok(body(uri, mime_type, None, Some(data)));
            }
            Content::ResourceLink(link) => {
                let Some(Address::File(file)) = Address::parse(&link.uri) else {
                    continue;
                };
                let read = self::file(output, uri, file).await;
                if address.kind.is_read_once() {
                    output.remove_saved(file.number).await;
                }
                return read.unwrap_or_else(|| Err(unknown(uri)));
            }
            Content::Text { text } => texts.push(text),
            Content::Resource(_) => {}
        }
    }
    let text = texts.join("\n");
    match mime_type.starts_with("text/") {
        true => Ok(body(uri, mime_type, Some(text), None)),
        // The text says why there is no file.
        false => Ok(CallReply::error(text)),
    }
}

/// The content of a file of the session, or a part of it. `None` if there is no such file.
pub(super) async fn file(output: &OutputFolder, uri: &str, file: FileAddress) -> Option<Outcome> {
    let path = output.saved_path(file.number)?;
    let offset = file.offset.unwrap_or_default();
    let span = Span::of(&file);
    let part = match output
        .read_saved(file.number, span.start, span.length)
        .await?
    {
        Ok(part) => part,
        Err(why) => return Some(Ok(CallReply::error(why))),
    };
    if file.offset.is_none() && part.whole > MOST_WHOLE {
        let first = of_file(file.number);
        return Some(Ok(CallReply::error(format!(
            "The file has {} bytes, and at most {MOST_WHOLE} are read at once. Read it in parts of {PART} bytes: \
             {first}?offset=0, {first}?offset={PART} and so on.",
            part.whole
        ))));
    }
    if offset > part.whole {
        let why = format!("The file has {} bytes, so it has none there.", part.whole);
        return Some(Ok(CallReply::error(why)));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mime_type = mime_of(&name);
    let is_text = mime_type.starts_with("text/") || mime_type == "application/json";
    let bytes = match is_text && file.offset.is_none() {
        true => match String::from_utf8(part.bytes) {
            Ok(text) => return Some(Ok(body(uri, mime_type.to_owned(), Some(text), None))),
            Err(other) => span.masked(other.into_bytes()),
        },
        // A part may begin or end within a character.
        false => span.masked(part.bytes),
    };
    let data = BASE64_STANDARD.encode(bytes);
    Some(Ok(body(uri, mime_type.to_owned(), None, Some(data))))
}

/// Which bytes of a file are read, and which of them are answered: a secret value may begin before a part or end after
/// it.
struct Span {
    start: u64,
    length: u64,
    /// How many bytes were read before the part.
    before: u64,
    most: u64,
}

impl Span {
    fn of(file: &FileAddress) -> Self {
        let Some(offset) = file.offset else {
            return Self {
                start: 0,
                length: MOST_WHOLE,
                before: 0,
                most: MOST_WHOLE,
            };
        };
        let around = secrets::longest() as u64;
        let before = offset.min(around);
        Self {
            start: offset - before,
            length: before + PART + around,
            before,
            most: PART,
        }
    }

    /// The bytes to answer, without secret values.
    fn masked(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        secrets::mask_in_place(&mut bytes);
        let bytes = bytes.into_iter();
        let bytes = bytes.skip(usize::try_from(self.before).unwrap_or(usize::MAX));
        let most = usize::try_from(self.most).unwrap_or(usize::MAX);
        bytes.take(most).collect()
    }
}

/// The type of a file, by its name.
pub(super) fn mime_of(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    let mut known = MIME_TYPES.iter();
    let found = known.find(|(known, _)| known.eq_ignore_ascii_case(ending));
    found.map_or("application/octet-stream", |(_, mime_type)| mime_type)
}

fn body(uri: &str, mime_type: String, text: Option<String>, blob: Option<String>) -> CallReply {
    CallReply {
        content: vec![Content::Resource(ResourceBody {
            uri: uri.to_owned(),
            mime_type,
            text,
            blob,
        })],
        ..CallReply::default()
    }
}

fn unknown(uri: &str) -> CallFailure {
    CallFailure::UnknownResource {
        uri: uri.to_owned(),
    }
}

/// In base64 it fits into one line to the client.
const MOST_WHOLE: u64 = 11 * 1024 * 1024;
const PART: u64 = 8 * 1024 * 1024;

const MIME_TYPES: [(&str, &str); 17] = [
    ("csv", "text/csv"),
    ("gif", "image/gif"),
    ("html", "text/html"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("md", "text/markdown"),
    ("mp4", "video/mp4"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("svg", "image/svg+xml"),
    ("txt", "text/plain"),
    ("webm", "video/webm"),
    ("webp", "image/webp"),
    ("xml", "text/xml"),
    ("zip", "application/zip"),
];

#[cfg(test)]
mod tests {
    use super::*;
    use tabmux_browser::OutputRoot;
    use tabmux_browser::files::{Destination, Files, Roots};

    #[tokio::test]
    async fn a_file_is_read_whole_or_in_parts_and_says_when_it_is_too_long() {
        let home = tempfile::tempdir().unwrap();
        let output = OutputRoot::at(home.path().join("output")).session();
        let files = Files::new(Roots::default(), output.clone());
        let save = async |name: &str, bytes: Vec<u8>| {
            let to = Destination::new(Some(name), Some(true), "");
            let files = files.clone().of_remote_client();
            files.save(to, bytes).await.unwrap();
        };
        save("a.txt", b"text".to_vec()).await;
        save("b.bin", vec![7; 9 * 1024 * 1024]).await;
        save("c.bin", vec![7; 12 * 1024 * 1024]).await;
        let read = async |number, offset| {
            let address = FileAddress { number, offset };
            let reply = file(&output, "tabmux://file/x", address).await?;
            Some(reply.unwrap())
        };
        let first = |reply: Option<CallReply>| match reply.unwrap().content.remove(0) {
            Content::Resource(body) => body,
            other => panic!("{other:?}"),
        };
        let text = first(read(1, None).await);
        assert_eq!(
            (text.text.as_deref(), &*text.mime_type),
            (Some("text"), "text/plain")
        );
        let blob = first(read(2, None).await).blob.unwrap();
        assert_eq!(blob.len(), 12 * 1024 * 1024);
        let refused = read(3, None).await.unwrap();
        let told = refused.content[0].as_text().unwrap();
        assert!(told.contains("?offset=8388608"), "{told}");
        let rest = first(read(3, Some(PART)).await).blob.unwrap();
        assert_eq!(BASE64_STANDARD.decode(rest).unwrap().len(), 4 * 1024 * 1024);
        assert!(read(3, Some(1 << 40)).await.unwrap().is_error);
        assert!(read(4, None).await.is_none());
    }

    #[tokio::test]
    async fn a_file_that_is_read_in_parts_is_masked() {
        let home = tempfile::tempdir().unwrap();
        let output = OutputRoot::at(home.path().join("output")).session();
        let files = Files::new(Roots::default(), output.clone()).of_remote_client();
        let part = usize::try_from(PART).unwrap();
        let text = format!("{}comet-value{}", "x".repeat(part - 5), "y".repeat(5));
        for (name, bytes) in [
            ("a.txt", text.clone().into_bytes()),
            ("b.bin", b"\0comet-value\xff".to_vec()),
        ] {
            let to = Destination::new(Some(name), Some(true), "");
            files.clone().save(to, bytes).await.unwrap();
        }
        // As a download is: masked only when it is read.
        secrets::hide(["comet-value"]).unwrap();
        let read = async |number, offset| {
            let address = FileAddress { number, offset };
            let reply = file(&output, "tabmux://file/x", address).await.unwrap();
            let Content::Resource(body) = reply.unwrap().content.remove(0) else {
                panic!("a file is a resource");
            };
            BASE64_STANDARD.decode(body.blob.unwrap()).unwrap()
        };
        assert_eq!(read(2, None).await, b"\0***********\xff");
        let first = read(1, Some(0)).await;
        assert_eq!(first.len(), part);
        assert!(first.ends_with(b"x*****"));
        assert_eq!(read(1, Some(PART)).await, b"******yyyyy");
        assert_eq!(read(1, Some(PART + 6)).await, b"yyyyy");
    }
}
