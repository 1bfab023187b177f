//! The extension's folder: the files that Chrome loads, and the pairing with this user's daemon.

use crate::commands::daemon::DEFAULT_PORT;
use anyhow::Context;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use tabmux_browser::profile::{data_home, private_dir};
use tabmux_daemon::extension::Secret;
use tabmux_platform::files::SafeOptions;

/// The folder of the extension.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    #[cfg(test)]
    pub(crate) fn at(path: PathBuf) -> Self {
        Self(path)
    }

    pub(crate) fn of_user() -> Self {
        Self(data_home().join("extension"))
    }

    /// The secret and the port in it, if the file is complete.
    pub(crate) fn pairing(&self) -> Option<(String, u16)> {
        let pairing = self.written()?;
        let port = port_in(&pairing)?;
        Some((pairing["secret"].as_str()?.to_owned(), port))
    }

    fn written(&self) -> Option<Value> {
        let text = fs::read_to_string(self.0.join(PAIRING)).ok()?;
        serde_json::from_str(&text).ok()
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn is_installed(&self) -> bool {
        self.0.join(PAIRING).exists()
    }

    /// Whether the files are those of this program.
    pub(crate) fn is_up_to_date(&self) -> bool {
        let mut files = FILES.iter();
        files.all(|(name, bytes)| fs::read(self.0.join(name)).is_ok_and(|there| there == *bytes))
    }

    /// Writes all files, over those of another version. Without a new port or name the old
    /// one is kept; an empty name removes the old one. Returns the port.
    pub(crate) fn write(
        &self,
        secret: &Secret,
        port: Option<u16>,
        name: Option<&str>,
    ) -> anyhow::Result<u16> {
        let failed = || format!("{} cannot be written", self.0.display());
        let before = self.written().unwrap_or_default();
        let port = port.or_else(|| port_in(&before)).unwrap_or(DEFAULT_PORT);
        let name = name.or_else(|| before["name"].as_str());
        let name = name.filter(|name| !name.is_empty());
        private_dir(&self.0).with_context(failed)?;
        let pairing = json!({"secret": secret.to_hex(), "port": port, "name": name});
        for (file, bytes) in FILES {
            write_private(&self.0.join(file), bytes).with_context(failed)?;
        }
        write_private(&self.0.join(PAIRING), format!("{pairing:#}\n").as_bytes())
            .with_context(failed)?;
        Ok(port)
    }

    /// Replaces the secret.
    pub(super) fn replace_secret(&self, secret: &Secret) -> anyhow::Result<()> {
        let path = self.0.join(PAIRING);
        let failed = || {
            format!(
                "{} is damaged; run `tabmux extension install`",
                path.display()
            )
        };
        let text = fs::read_to_string(&path).with_context(failed)?;
        let mut pairing: Value = serde_json::from_str(&text).with_context(failed)?;
        if let Some(pairing) = pairing.as_object_mut() {
            pairing.insert("secret".to_owned(), secret.to_hex().into());
        }
        write_private(&path, format!("{pairing:#}\n").as_bytes()).with_context(failed)
    }

    /// Removes our files, and the folder if nothing else is in it.
    pub(super) fn remove(&self) -> anyhow::Result<()> {
        let names = FILES.iter().map(|(name, _)| *name).chain([PAIRING]);
        for name in names {
            match fs::remove_file(self.0.join(name)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error.into()),
                _ => {}
            }
        }
        let _ = fs::remove_dir(&self.0);
        Ok(())
    }
}

fn port_in(pairing: &Value) -> Option<u16> {
    u16::try_from(pairing["port"].as_u64()?).ok()
}

/// Writes atomically: Chrome may read the file at any moment.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let draft = path.with_extension("new");
    let mut options = fs::OpenOptions::new();
    let options = options.write(true).create(true).truncate(true).private();
    let mut file = options.open(&draft)?;
    file.write_all(bytes)?;
    fs::rename(&draft, path)
}

const PAIRING: &str = "pairing.json";

const FILES: [(&str, &[u8]); 11] = [
    (
        "manifest.json",
        include_bytes!("../../../extension/manifest.json"),
    ),
    (
        "worker.js",
        include_bytes!("../../../extension/dist/worker.js"),
    ),
    (
        "panel.html",
        include_bytes!("../../../extension/panel.html"),
    ),
    ("panel.css", include_bytes!("../../../extension/panel.css")),
    (
        "panel-sections.css",
        include_bytes!("../../../extension/panel-sections.css"),
    ),
    (
        "relay.js",
        include_bytes!("../../../extension/dist/relay.js"),
    ),
    (
        "panel.js",
        include_bytes!("../../../extension/dist/panel.js"),
    ),
    (
        "icon-16.png",
        include_bytes!("../../../extension/icons/icon-16.png"),
    ),
    (
        "icon-32.png",
        include_bytes!("../../../extension/icons/icon-32.png"),
    ),
    (
        "icon-48.png",
        include_bytes!("../../../extension/icons/icon-48.png"),
    ),
    (
        "icon-128.png",
        include_bytes!("../../../extension/icons/icon-128.png"),
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn the_folder_is_private_and_foreign_files_in_it_stay() {
        let home = tempfile::tempdir().unwrap();
        let secret = Secret::load_or_make(&home.path().join("s")).unwrap();
        let folder = Folder(home.path().join("extension"));
        assert!(!folder.is_installed());
        folder.write(&secret, None, Some("Work")).unwrap();
        assert!(folder.is_installed() && folder.is_up_to_date());
        assert_eq!(fs::metadata(folder.path()).unwrap().mode() & 0o777, 0o700);
        for entry in fs::read_dir(folder.path()).unwrap() {
            assert_eq!(entry.unwrap().metadata().unwrap().mode() & 0o777, 0o600);
        }
        let pairing = || -> Value {
            serde_json::from_str(&fs::read_to_string(folder.path().join(PAIRING)).unwrap()).unwrap()
        };
        assert_eq!(
            pairing(),
            json!({"secret": secret.to_hex(), "port": 8765, "name": "Work"})
        );
        let other = Secret::rotate(&home.path().join("s")).unwrap();
        folder.replace_secret(&other).unwrap();
        assert_eq!(
            pairing(),
            json!({"secret": other.to_hex(), "port": 8765, "name": "Work"})
        );
        fs::write(folder.path().join("worker.js"), "old").unwrap();
        assert!(!folder.is_up_to_date());
        fs::write(folder.path().join("mine.txt"), "mine").unwrap();
        folder.remove().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        folder.remove().unwrap();
    }

    #[test]
    fn every_icon_that_the_manifest_names_is_there() {
        let file = |wanted: &str| FILES.iter().find(|(name, _)| *name == wanted);
        let manifest: Value = serde_json::from_slice(file("manifest.json").unwrap().1).unwrap();
        let named = [&manifest["icons"], &manifest["action"]["default_icon"]];
        let named = named
            .into_iter()
            .flat_map(|icons| icons.as_object().unwrap());
        for (size, icon) in named {
            let (_, bytes) = file(icon.as_str().unwrap()).unwrap();
            // The first chunk of a PNG has its width.
            let width = u32::from_be_bytes(bytes[16..20].try_into().unwrap());
            assert_eq!(width.to_string(), *size);
        }
    }

    #[test]
    fn writing_it_again_keeps_the_name_and_the_port_that_are_not_given() {
        let home = tempfile::tempdir().unwrap();
        let secret = Secret::load_or_make(&home.path().join("s")).unwrap();
        let folder = Folder(home.path().join("extension"));
        let known = || {
            let pairing = folder.written().unwrap();
            (pairing["port"].clone(), pairing["name"].clone())
        };
        assert_eq!(folder.write(&secret, None, None).unwrap(), DEFAULT_PORT);
        folder.write(&secret, Some(9001), Some("Work")).unwrap();
        assert_eq!(folder.write(&secret, None, None).unwrap(), 9001);
        assert_eq!(known(), (json!(9001), json!("Work")));
        folder.write(&secret, Some(9002), None).unwrap();
        folder.write(&secret, None, Some("Home")).unwrap();
        assert_eq!(known(), (json!(9002), json!("Home")));
        folder.write(&secret, None, Some("")).unwrap();
        assert_eq!(known(), (json!(9002), json!(null)));
        fs::write(folder.path().join(PAIRING), "{").unwrap();
        assert_eq!(folder.write(&secret, None, None).unwrap(), DEFAULT_PORT);
    }
}
