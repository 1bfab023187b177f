//! Tokens are made, found and revoked.

use super::*;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;

fn file() -> (tempfile::TempDir, TokenFile) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tabmux/tokens.json");
    (folder, TokenFile::at(path))
}

fn name(text: &str) -> TokenName {
    text.parse().unwrap()
}

fn holder(tokens: &Tokens, token: &str) -> Option<TokenName> {
    tokens.holder(token).map(|entry| entry.name.clone())
}

#[test]
fn a_new_token_of_the_same_name_is_another_one() {
    let (_folder, file) = file();
    let old = file.add(name("ci"), None, TokenLimits::default()).unwrap();
    file.revoke(&name("ci")).unwrap();
    let new = file.add(name("ci"), None, TokenLimits::default()).unwrap();
    let tokens = file.read().unwrap();
    assert!(tokens.has(&hash(&new)) && !tokens.has(&hash(&old)));
}

#[test]
fn a_token_is_known_until_it_is_revoked_and_the_file_does_not_have_it() {
    let (_folder, file) = file();
    assert_eq!(file.read().unwrap(), Tokens::default());
    let one = file.add(name("one"), None, TokenLimits::default()).unwrap();
    let two = file.add(name("two"), None, TokenLimits::default()).unwrap();
    assert!(
        one.starts_with("tabmux_") && one.len() == "tabmux_".len() + 43,
        "{one}"
    );
    let tokens = file.read().unwrap();
    assert_eq!(holder(&tokens, &one), Some(name("one")));
    assert_eq!(holder(&tokens, &two), Some(name("two")));
    assert_eq!(tokens.holder(&one[..one.len() - 1]), None);
    assert_eq!(tokens.holder(""), None);
    let text = fs::read_to_string(file.path()).unwrap();
    assert!(!text.contains(&one["tabmux_".len()..]), "{text}");
    let mode = fs::metadata(file.path()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    file.revoke(&name("one")).unwrap();
    let tokens = file.read().unwrap();
    assert_eq!(
        (holder(&tokens, &one), tokens.has(&hash(&one))),
        (None, false)
    );
    assert_eq!(holder(&tokens, &two), Some(name("two")));
}

#[test]
fn a_token_that_has_expired_is_unknown() {
    let (_folder, file) = file();
    let dead = file
        .add(name("dead"), Some(Duration::ZERO), TokenLimits::default())
        .unwrap();
    let alive = file
        .add(
            name("alive"),
            Some(Duration::from_secs(3600)),
            TokenLimits::default(),
        )
        .unwrap();
    let tokens = file.read().unwrap();
    assert_eq!(
        (holder(&tokens, &dead), tokens.has(&hash(&dead))),
        (None, false)
    );
    assert_eq!(holder(&tokens, &alive), Some(name("alive")));
}

#[test]
fn what_cannot_be_done_says_what_to_do() {
    let (_folder, file) = file();
    file.add(name("ci"), None, TokenLimits::default()).unwrap();
    let said = file
        .add(name("ci"), None, TokenLimits::default())
        .unwrap_err()
        .to_string();
    assert_eq!(
        said,
        "there is a token `ci` already; revoke it first with `tabmux token revoke ci`"
    );
    let said = file.revoke(&name("cj")).unwrap_err().to_string();
    assert_eq!(
        said,
        "there is no token `cj`; `tabmux token list` shows the tokens"
    );
    for bad in ["", "a b", "a/b", &"x".repeat(65)] {
        bad.parse::<TokenName>().unwrap_err();
    }
    fs::set_permissions(file.path(), Permissions::from_mode(0o644)).unwrap();
    let said = file.read().unwrap_err().to_string();
    assert!(
        said.ends_with("must belong to you alone; run `chmod 600` on it"),
        "{said}"
    );
    fs::set_permissions(file.path(), Permissions::from_mode(0o600)).unwrap();
    fs::write(file.path(), "{").unwrap();
    let said = file.read().unwrap_err().to_string();
    assert!(
        said.contains("is damaged") && said.ends_with("add the tokens again"),
        "{said}"
    );
}

#[test]
fn tokens_that_are_added_at_the_same_time_are_all_there() {
    let (_folder, file) = file();
    std::thread::scope(|scope| {
        for number in 0..16 {
            let file = &file;
            scope.spawn(move || {
                file.add(name(&format!("ci-{number}")), None, TokenLimits::default())
                    .unwrap()
            });
        }
    });
    assert_eq!(file.read().unwrap().tokens.len(), 16);
}

#[test]
fn times_that_nobody_can_write_are_the_last_ones() {
    let (_folder, file) = file();
    file.add(
        name("ci"),
        Some(Duration::from_secs(u64::MAX)),
        TokenLimits::default(),
    )
    .unwrap();
    let text = fs::read_to_string(file.path()).unwrap();
    assert!(text.contains(&u64::MAX.to_string()), "{text}");
    let tokens = file.read().unwrap();
    let end = tokens.tokens[0].expires().unwrap();
    assert!(end.duration_since(UNIX_EPOCH).unwrap() < Duration::from_secs(1 << 38));
}

#[test]
fn what_a_token_allows_is_kept_and_older_files_have_tokens_for_everything() {
    let (_folder, file) = file();
    let limits = TokenLimits {
        read_only: true,
        origins: vec!["https://a.example.com".into()],
        browsers: vec!["work".into()],
    };
    file.add(name("some"), None, limits.clone()).unwrap();
    assert_eq!(file.read().unwrap().tokens[0].limits, limits);
    let old = r#"{"tokens": [{"name": "old", "hash": "x", "created": 1}]}"#;
    fs::write(file.path(), old).unwrap();
    let tokens = file.read().unwrap().tokens;
    assert_eq!(tokens[0].limits, TokenLimits::default());
}
