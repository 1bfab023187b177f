//! Properties that hold for any contents of the policy file.

use super::{OriginPolicy, origin_rules, parse, render};

/// The person's file has these contents.
///
/// # Panics
/// If the rules change when they are written and read again, or an unreadable file permits something.
pub fn policy_file(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let rules = match parse(text) {
        Ok(rules) => rules,
        Err(why) => {
            assert!(why.chars().count() <= 201, "a long complaint: {why}");
            let closed = OriginPolicy::of([origin_rules(&Err(super::Unreadable(why)))]);
            assert!(closed.check("https://app.example/").is_err());
            return;
        }
    };
    let written = render(&rules);
    let written = serde_json::to_string(&written).expect("rules have a form");
    assert_eq!(parse(&written).as_ref(), Ok(&rules), "{written}");
    let policy = OriginPolicy::of([origin_rules(&Ok(rules.clone()))]);
    let nothing_is_ruled = rules.allowed.is_empty() && rules.blocked.is_empty();
    assert_eq!(policy.is_open(), nothing_is_ruled);
}
