//! Files of secrets: both formats, and what is refused.

use super::*;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

const DOTENV: &str = "# For tests.\n\
    # origins: https://app.example, https://*.app.example\n\
    USER=somebody\n\
    export PASSWORD=\"p\\\"w#d \\\\ x\"\n\
    \n\
    # origins: http://localhost:*\n\
    LOCAL='single \"quoted\"'\n";

#[test]
fn both_formats_mean_the_same() {
    let json = r#"{"LOCAL": {"value": "single \"quoted\"", "origins": ["http://localhost:*"]},
        "PASSWORD": {"value": "p\"w#d \\ x", "origins": ["https://app.example", "https://*.app.example"]},
        "USER": {"value": "somebody", "origins": ["https://app.example", "https://*.app.example"]}}"#;
    let mut dotenv = format::parse(DOTENV).unwrap();
    dotenv.sort_by(|one, other| one.name.cmp(&other.name));
    // Equal, but not printed: these would be values.
    assert!(dotenv == format::parse(json).unwrap());
}

#[test]
fn a_wrong_secret_is_refused_without_its_value() {
    for (text, why) in [
        ("", "there is no secret in it"),
        ("A=s3cret-value", "the secret A names no origins"),
        (
            "# origins: https://a.example\n\nA=s3cret-value",
            "the secret A names no origins",
        ),
        (
            "# origins: https://a.example\ns3cret-value",
            "line 2 is not NAME=value",
        ),
        (
            "# origins: https://a.example\nA=s3c",
            "the value of A has 3 characters",
        ),
        (
            "# origins: https://a.example\nA=s3cret-1\nA=s3cret-2",
            "the secret A is there twice",
        ),
        (
            "# origins: https://a.example\nA B=s3cret-1",
            "a name is not made of",
        ),
        (r#"{"A": "s3cret-value"}"#, "the JSON is wrong at line 1"),
        (
            r#"{"A": {"value": "s3cret-value"}}"#,
            "the secret A names no origins",
        ),
        (
            r#"{"A": {"value": "s3cret\nvalue", "origins": ["https://a.example"]}}"#,
            "a line break",
        ),
    ] {
        let error = format::parse(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
        assert!(!error.contains("s3c"), "{error}");
    }
}

#[test]
fn a_secret_for_every_origin_is_refused() {
    let read: ReadOrigins = |text| Ok(vec![text.to_owned()]);
    for origin in ["*", "https://*", "https://*:443", "*:443", "http://*:*"] {
        let secret = SecretDefinition {
            name: "A".into(),
            value: "some-value".into(),
            origins: vec![origin.into()],
        };
        let error = with_origins(secret, read).unwrap_err().to_string();
        assert!(error.contains("names every origin"), "{error}");
    }
}

#[test]
fn a_file_that_others_can_read_is_refused() {
    let file = temporary("secrets.env");
    fs::write(&file, DOTENV).unwrap();
    for mode in [0o644, 0o640, 0o604, 0o620] {
        fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        let error = content_of(&file).unwrap_err().to_string();
        assert!(
            error.contains(&format!("(mode {mode:04o}). Run `chmod 600`")),
            "{error}"
        );
    }
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    assert!(content_of(&file).unwrap() == DOTENV.as_bytes());
    fs::remove_file(&file).unwrap();
    let error = content_of(Path::new("/dev/null")).unwrap_err().to_string();
    assert!(error.contains("is not a regular file"), "{error}");
    assert!(content_of(&file).is_err());
}

#[test]
fn a_command_prints_secrets_within_its_limits() {
    let run = |command: &str| printed_by(OsStr::new(command), Duration::from_secs(20));
    assert_eq!(run("printf 'A=%s' x").unwrap(), b"A=x");
    let error = run("echo s3cret; exit 3").unwrap_err().to_string();
    assert!(
        error.contains("the command failed (exit status: 3)"),
        "{error}"
    );
    let error = format!("{:#}", run("yes").unwrap_err());
    assert!(error.contains("more than 262144 bytes"), "{error}");
    for command in ["sleep 1000", "exec >&-; sleep 1000"] {
        let hanging = printed_by(OsStr::new(command), Duration::from_millis(50));
        let error = hanging.unwrap_err().to_string();
        assert!(error.contains("did not end within"), "{error}");
    }
}

fn temporary(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("tabmux-{}-{name}", std::process::id()))
}
