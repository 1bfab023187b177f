//! `tabmux close`: ends the session that commands of a shell work in.

use super::ask::ask_daemon;
use super::call::DEFAULT_SESSION;
use super::common_flags::Socket;
use crate::say::{complain, say};
use anyhow::bail;
use std::process::ExitCode;
use tabmux_protocol::wire::{FromClient, FromDaemon};

/// End the shell's session and close its tabs.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The session.
    #[arg(long, value_name = "NAME", env = "TABMUX_SESSION", default_value = DEFAULT_SESSION)]
    session: String,

    #[command(flatten)]
    socket: Socket,
}

pub(crate) fn run(args: Args) -> anyhow::Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let socket_path = args.socket.path();
    let name = args.session;
    let end = FromClient::End {
        id: "close".into(),
        name: name.clone(),
    };
    match runtime.block_on(ask_daemon(&socket_path, &end))? {
        Some(FromDaemon::Ended { was_open: true, .. }) => {
            say(format!("Session `{name}` has ended."))?;
            Ok(ExitCode::SUCCESS)
        }
        None | Some(FromDaemon::Ended { .. }) => {
            complain(format!(
                "tabmux: no session `{name}` is open. `tabmux sessions` shows which are."
            ));
            Ok(ExitCode::FAILURE)
        }
        Some(_) => bail!(
            "the process listening at {} is not a tabmux daemon of this version; run `tabmux doctor`",
            socket_path.socket().display()
        ),
    }
}
