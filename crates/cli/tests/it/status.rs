//! `tabmux status` and `tabmux daemon stop`, where no daemon can be.

use std::fs;
use std::process::Command;

#[test]
fn a_file_in_the_sockets_place_is_told_as_what_it_is() {
    let home = tempfile::tempdir().unwrap();
    let socket = home.path().join("daemon.sock");
    fs::write(&socket, "").unwrap();
    for arguments in [
        &["status"][..],
        &["tabs"],
        &["daemon", "stop"],
        &["extension", "status"],
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
        command.args(arguments).arg("--socket").arg(&socket);
        let output = command
            .env_clear()
            .env("HOME", home.path())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        assert_eq!(
            String::from_utf8_lossy(&output.stderr),
            format!(
                "tabmux: {} is in the way: it is not a socket. Remove it, or name another place with --socket.\n",
                socket.display()
            )
        );
    }
}
