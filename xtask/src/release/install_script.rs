//! The script that people pipe into a shell; it knows the version and the place of its release.

use anyhow::{Result, ensure};

use super::files::Made;
use super::project::Project;

pub(super) fn make(project: &Project) -> Result<Made> {
    let text = project.text_file("packaging/install.sh")?;
    let text = text.replace("@VERSION@", &project.version);
    let text = text.replace("@REPOSITORY@", &project.repository);
    ensure!(
        !text.contains('@'),
        "packaging/install.sh has a placeholder that is not known"
    );
    Ok(Made {
        name: "install.sh".to_owned(),
        bytes: text.into_bytes(),
    })
}
