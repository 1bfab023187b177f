//! `tabmux skill`: a description for agents that use the command line instead of MCP.

use crate::say::{print, say};
use anyhow::{Context, bail};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Teach agents that prefer a command line to use tabmux from the shell.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Args {
    /// Write the skill where agents look for skills.
    Install(SkillFolder),
    /// Print the skill.
    Show,
    /// Remove the skill.
    Uninstall(SkillFolder),
}

#[derive(Debug, clap::Args)]
pub(crate) struct SkillFolder {
    /// A folder of skills. Default: `~/.agents/skills`, and `~/.claude/skills` if Claude Code is used here.
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args {
        Args::Install(folder) => folder.files()?.iter().try_for_each(|file| install(file))?,
        Args::Uninstall(folder) => folder
            .files()?
            .iter()
            .try_for_each(|file| uninstall(file))?,
        Args::Show => print(SKILL)?,
    }
    Ok(ExitCode::SUCCESS)
}

impl SkillFolder {
    /// The files of the skill, in each folder of skills.
    fn files(self) -> anyhow::Result<Vec<PathBuf>> {
        let folders = match self.folder {
            Some(folder) => vec![folder],
            None => {
                let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
                let home = home.context("there is no home folder; set HOME, or use --folder")?;
                usual_folders(Path::new(&home))
            }
        };
        Ok(folders
            .iter()
            .map(|folder| folder.join("tabmux/SKILL.md"))
            .collect())
    }
}

fn usual_folders(home: &Path) -> Vec<PathBuf> {
    let mut folders = vec![home.join(".agents/skills")];
    if home.join(".claude").is_dir() {
        folders.push(home.join(".claude/skills"));
    }
    folders
}

fn install(file: &Path) -> anyhow::Result<()> {
    let shown = file.display();
    match fs::read_to_string(file) {
        Ok(text) if text == SKILL => return Ok(say(format!("{shown} already has it."))?),
        Ok(text) if !is_ours(&text) => {
            bail!("{shown} is not from tabmux, so it was kept; move it away, or use --folder")
        }
        _ => {}
    }
    let failed = || format!("{shown} cannot be written");
    let folder = file.parent().unwrap_or(file);
    fs::create_dir_all(folder).with_context(failed)?;
    fs::write(file, SKILL).with_context(failed)?;
    Ok(say(format!(
        "{shown} was written. Agents see it in their next session."
    ))?)
}

fn uninstall(file: &Path) -> anyhow::Result<()> {
    let shown = file.display();
    match fs::read_to_string(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(say(format!("{shown} does not exist."))?);
        }
        Err(error) => return Err(error).with_context(|| format!("{shown} cannot be read")),
        Ok(text) if !is_ours(&text) => bail!("{shown} is not from tabmux, so it was kept"),
        Ok(_) => {}
    }
    fs::remove_file(file).with_context(|| format!("{shown} cannot be removed"))?;
    // Only if nothing else is in it.
    let _ = file.parent().map(fs::remove_dir);
    Ok(say(format!("{shown} was removed."))?)
}

/// Whether a version of tabmux wrote it.
fn is_ours(text: &str) -> bool {
    text.starts_with("---\nname: tabmux\n")
}

const SKILL: &str = include_str!("skill/SKILL.md");
