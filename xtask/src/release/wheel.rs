//! The Python package: a wheel whose only script is the program.

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::files::{Binary, Entry, Made, Parts};
use super::project::{DESCRIPTION, Project};
use super::target::Target;
use super::{build, npm, zip};

pub(super) fn make(parts: &Parts<'_>) -> Result<Made> {
    let version = &parts.project.version;
    let tag = format!("py3-none-{}", platform_tag(parts.target, parts.binary));
    let info = format!("tabmux-{version}.dist-info");
    let mut entries = vec![Entry::program(
        format!("tabmux-{version}.data/scripts/tabmux"),
        parts.binary.bytes.clone(),
    )];
    for license in parts.license_files()? {
        entries.push(license.within("licenses").within(&info));
    }
    let about = format!(
        "Wheel-Version: 1.0\nGenerator: tabmux xtask\nRoot-Is-Purelib: false\nTag: {tag}\n"
    );
    entries.push(Entry::text(
        format!("{info}/METADATA"),
        metadata(parts.project)?,
    ));
    entries.push(Entry::text(format!("{info}/WHEEL"), about));
    entries.push(record(&entries, &info));
    Ok(Made {
        name: format!("tabmux-{version}-{tag}.whl"),
        bytes: zip::make(&entries, parts.level)?,
    })
}

/// The systems that the wheel can be installed on. The tag of Linux says which glibc the binary needs.
fn platform_tag(target: &Target, binary: &Binary) -> String {
    let machine = target.machine;
    match (&binary.floor, target.os) {
        (Some(floor), _) => {
            let (major, minor) = floor.version.max((2, 17));
            format!("manylinux_{major}_{minor}_{machine}")
        }
        (None, "darwin") => format!("macosx_{}_{machine}", build::MACOS.replace('.', "_")),
        // A static binary runs with any musl; 1.1 is the oldest that installers know.
        (None, _) => format!("musllinux_1_1_{machine}"),
    }
}

fn metadata(project: &Project) -> Result<String> {
    let Project {
        version,
        repository,
        ..
    } = project;
    Ok(format!(
        "Metadata-Version: 2.4\nName: tabmux\nVersion: {version}\nSummary: {DESCRIPTION}\n\
         License-Expression: MIT OR Apache-2.0\nLicense-File: LICENSE\nLicense-File: LICENSE-APACHE\n\
         License-File: LICENSE-MIT\nLicense-File: THIRD-PARTY-LICENSES.txt\n\
         Keywords: mcp,browser,chrome,agents,webmcp\nProject-URL: Source, {repository}\n\
         Project-URL: Changelog, {repository}/blob/main/CHANGELOG.md\nRequires-Python: >=3.8\n\
         Description-Content-Type: text/markdown\n\n{}",
        npm::readme(project)?
    ))
}

/// The list of all files with their checksums, which installers check.
fn record(entries: &[Entry], info: &str) -> Entry {
    let path = format!("{info}/RECORD");
    let mut text = String::new();
    for entry in entries {
        let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(&entry.bytes));
        text += &format!("{},sha256={sum},{}\n", entry.path, entry.bytes.len());
    }
    text += &format!("{path},,\n");
    Entry::text(path, text)
}
