//! The server's process, its stderr and its exit.

use std::{
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
};
use tokio::{
    io::AsyncReadExt as _,
    process::{ChildStderr, ChildStdin, ChildStdout, Command},
};

#[derive(Debug)]
pub(super) struct Child {
    process: tokio::process::Child,
    pid: u32,
    stderr: Arc<Mutex<Vec<u8>>>,
}

pub(super) fn spawn(mut command: Command) -> (Child, ChildStdout, ChildStdin) {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut process = command
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"));
    let stdin = process.stdin.take().expect("stdin is piped");
    let stdout = process.stdout.take().expect("stdout is piped");
    let stderr = process.stderr.take().expect("stderr is piped");
    let pid = process.id().expect("a process that was just started");
    let kept = Arc::default();
    tokio::spawn(keep(stderr, Arc::clone(&kept)));
    let child = Child {
        process,
        pid,
        stderr: kept,
    };
    (child, stdout, stdin)
}

impl Child {
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    pub(super) fn stderr(&self) -> String {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }

    pub(super) async fn wait(&mut self) -> ExitStatus {
        self.process
            .wait()
            .await
            .expect("a child can be waited for")
    }
}

async fn keep(mut stderr: ChildStderr, kept: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 4096];
    while let Ok(n @ 1..) = stderr.read(&mut buffer).await {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(&buffer[..n]);
    }
}
