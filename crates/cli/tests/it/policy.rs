//! `tabmux policy`: its output when nothing can be changed or read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[test]
fn removing_a_missing_rule_keeps_the_others() {
    let home = tempfile::tempdir().unwrap();
    assert!(
        policy(home.path(), &["block", "bank.test"])
            .status
            .success()
    );
    let output = policy(home.path(), &["remove", "example.com"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        complaint(&output),
        "tabmux: There is no rule about example.com. `tabmux policy list` shows the rules.\n"
    );
    let rules = policy(home.path(), &["list"]);
    assert!(String::from_utf8_lossy(&rules.stdout).contains("bank.test"));
}

#[test]
fn the_list_of_rules_does_not_contradict_itself() {
    let home = tempfile::tempdir().unwrap();
    let told = |arguments: &[&str]| {
        let output = policy(home.path(), arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(told(&["list"]), "Agents may see every site.\n");
    let but = "Agents may see every site but:\n  bank.test\n";
    assert_eq!(told(&["block", "bank.test"]), but);
    let both = "Agents may see only:\n  *.test\nbut not:\n  bank.test\n";
    assert_eq!(told(&["allow", "*.test"]), both);
    let library = "Pages of this machine may offer tools with the page library, and those of:\n  \
                   https://bank.test (agents may not see this site, so its tools are not offered)\n";
    let added = told(&["page-origins", "add", "https://bank.test"]);
    assert_eq!(added, library);
    told(&["page-origins", "remove", "https://bank.test"]);
    let every = "`*` is allowed. Agents may see every site but:\n  bank.test\n";
    assert_eq!(told(&["allow", "*"]), every);
    told(&["remove", "bank.test"]);
    assert_eq!(
        told(&["list"]),
        "Agents may see every site: `*` is allowed.\n"
    );
    assert_eq!(
        told(&["block", "*"]),
        "Agents may see no site: `*` is blocked.\n"
    );
}

#[test]
fn adding_too_many_rules_keeps_the_existing_ones() {
    let home = tempfile::tempdir().unwrap();
    let many: Vec<String> = (0..1_000).map(|number| format!("a{number}.test")).collect();
    write_rules(
        home.path(),
        &serde_json::json!({ "blocked": many }).to_string(),
    );
    let output = policy(home.path(), &["block", "b.test"]);
    assert_eq!(
        complaint(&output),
        "tabmux: There are 1000 rules already. Remove some.\n"
    );
}

#[test]
fn a_damaged_file_is_reported_with_advice_in_both_formats() {
    let home = tempfile::tempdir().unwrap();
    let file = write_rules(home.path(), "{");
    for arguments in [&["list"][..], &["list", "--json"], &["block", "a.test"]] {
        let output = policy(home.path(), arguments);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let told = complaint(&output);
        let beginning = format!("tabmux: {} is damaged (", file.display());
        assert!(told.starts_with(&beginning), "{told}");
        assert!(told.ends_with("). Fix or remove it.\n"), "{told}");
    }
    assert_eq!(fs::read_to_string(file).unwrap(), "{");
}

/// Spec: decisions 23.
#[test]
fn page_origins_are_kept_and_listed_with_the_other_rules() {
    let home = tempfile::tempdir().unwrap();
    let told = |arguments: &[&str]| {
        let output = policy(home.path(), arguments);
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let only = "Only pages of this machine may offer tools with the page library.\n";
    assert_eq!(told(&["page-origins", "list"]), only);
    let with = "Pages of this machine may offer tools with the page library, and those of:\n  https://a.test\n";
    assert_eq!(told(&["page-origins", "add", "https://A.test/"]), with);
    assert_eq!(told(&["page-origins", "add", "https://a.test"]), with);
    assert_eq!(
        told(&["list"]),
        format!("Agents may see every site.\n{with}")
    );
    let json: serde_json::Value = serde_json::from_str(&told(&["list", "--json"])).unwrap();
    assert_eq!(json["pageOrigins"], serde_json::json!(["https://a.test"]));
    let none = policy(home.path(), &["page-origins", "remove", "https://b.test"]);
    assert_eq!(
        complaint(&none),
        "tabmux: Pages of https://b.test were not allowed. `tabmux policy page-origins list` shows which are.\n"
    );
    assert_eq!(told(&["page-origins", "remove", "https://a.test"]), only);
    let wrong = policy(home.path(), &["page-origins", "add", "a.test"]);
    assert!(complaint(&wrong).contains("write it like https://example.com"));
}

fn write_rules(home: &Path, text: &str) -> PathBuf {
    let folder = home.join("tabmux");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("policy.json");
    fs::write(&file, text).unwrap();
    file
}

fn policy(home: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabmux"));
    command.arg("policy").args(arguments);
    command.env_clear().env("HOME", home);
    command.env("XDG_DATA_HOME", home).output().unwrap()
}

fn complaint(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
