//! Project tasks: `cargo xtask bench [--against BINARY | --peers | --bystander | --agents]`, `cargo xtask codegen [--check]`, `cargo xtask dist`, `cargo xtask licenses`, `cargo xtask npm-audit`, `cargo xtask proofs` and `cargo xtask tidy`.

mod bench;
mod codegen;
mod files;
mod licenses;
mod npm_audit;
mod proofs;
mod release;
mod tidy;

use std::{env, process::ExitCode};

use anyhow::{Context, Result, bail};

use crate::bench::{AgentsWanted, Wanted, What};
use crate::codegen::Mode;

fn main() -> ExitCode {
    match run(&env::args().skip(1).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["bench"] => bench::run(What::Tabmux),
        ["bench", "--against", earlier] => bench::run(What::Builds(None, earlier.into())),
        ["bench", "--against", earlier, "--binary", later] => {
            bench::run(What::Builds(Some(later.into()), earlier.into()))
        }
        ["bench", "--peers"] => bench::run(What::Peers),
        ["bench", "--bystander", rest @ ..] => {
            bench::run(What::Bystander(Wanted::read(rest).context(USAGE)?))
        }
        ["bench", "--agents", rest @ ..] => {
            bench::run(What::Agents(AgentsWanted::read(rest).context(USAGE)?))
        }
        ["codegen", rest @ ..] => codegen::run(codegen_mode(rest)?),
        ["licenses"] => licenses::run(),
        ["npm-audit"] => npm_audit::run(),
        ["dist", rest @ ..] => release::run(rest),
        ["proofs"] => proofs::run(),
        ["tidy"] => tidy::run(),
        _ => bail!("{USAGE}"),
    }
}

fn codegen_mode(flags: &[&str]) -> Result<Mode> {
    match flags {
        [] => Ok(Mode::Write),
        ["--check"] => Ok(Mode::Check),
        _ => None.context(USAGE),
    }
}

/// Prints a line to the terminal.
#[expect(
    clippy::print_stderr,
    reason = "a task reports to the person who ran it"
)]
fn say(line: &str) {
    eprintln!("{line}");
}

const USAGE: &str =
    "usage: cargo xtask bench               measure a release build and print the numbers
       cargo xtask bench --against BINARY   compare it with another build, which takes turns with it
           [--binary PATH]             another build instead of this one
       cargo xtask bench --peers       compare it with other servers, write docs/benchmarks.md
       cargo xtask bench --bystander   measure how attacks affect other sessions, and write it there
           [--binary PATH] [--save FILE] [--before FILE] [--attack PART]
                                       another build; save the numbers; compare with saved ones; only some attacks
       cargo xtask bench --agents      play the same tasks through tabmux and other servers, and write it there
           [--binary PATH] [--task PART] [--server PART]
                                       another build; only some tasks or servers
       cargo xtask codegen [--check]   rewrite generated files, or say which are stale
       cargo xtask licenses            check that deny.toml accepts the license of every dependency
       cargo xtask npm-audit           check the packages from npm for known vulnerabilities
       cargo xtask dist                make everything that a release needs, in dist/
           [--target TRIPLE | --index] [--binary PATH] [--out FOLDER]
                                       only one target; only what concerns all; another build; another folder
       cargo xtask proofs              rewrite docs/proofs.md, which links the specification to its tests
       cargo xtask tidy                check the project rules";
