//! Values that are masked, in all their spellings.

use super::*;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;

fn hidden(values: &[&str]) -> Search {
    let values: Vec<_> = values.iter().map(|&value| value.into()).collect();
    Search::of(&values).unwrap()
}

#[test]
fn every_common_spelling_is_masked() {
    let value = r#"p&ss w"ö/<r'd>+%"#;
    let hidden = hidden(&[value]);
    let json = json!(value).to_string();
    let mut texts = vec![
        value.to_owned(),
        json!(json).to_string(),
        json,
        r#"p&ss w\"\u00f6/<r'd>+%"#.to_owned(),
        "p%26ss%20w%22%C3%B6%2F%3Cr'd%3E%2B%25".to_owned(),
        "p%26ss+w%22%C3%B6%2F%3Cr%27d%3E%2B%25".to_owned(),
        "p%26ss%20w%22%c3%b6%2f%3cr'd%3e%2b%25".to_owned(),
        "p&amp;ss w\"ö/&lt;r'd&gt;+%".to_owned(),
        "p&amp;ss w&quot;ö/&lt;r&#39;d&gt;+%".to_owned(),
    ];
    for user in ["", "u", "us", "use", "user:"] {
        texts.push(BASE64_STANDARD.encode(format!("{user}{value}")));
        texts.push(BASE64_STANDARD.encode(format!("{user}{value}!")));
    }
    let mut query = url(value);
    texts.append(&mut query);
    for text in texts {
        let masked = hidden.masked(&text);
        assert!(masked.contains(MASK), "{text} became {masked}");
        assert!(
            !masked.contains("w%22") && !masked.contains("r'd"),
            "{masked}"
        );
    }
}

/// As a browser writes it in the query, the fragment and the path.
fn url(value: &str) -> Vec<String> {
    let by_browser = |text: &str| {
        text.replace(' ', "%20")
            .replace('ö', "%C3%B6")
            .replace('"', "%22")
    };
    let value = by_browser(value).replace('<', "%3C").replace('>', "%3E");
    vec![
        format!("?q={}", value.replace('\'', "%27")),
        format!("#{value}"),
    ]
}

#[test]
fn a_value_is_masked_behind_several_escapes() {
    let value = "p&ss \"ö/<𝄞>";
    let hidden = hidden(&[value]);
    for text in [
        r#"p&amp;ss \"\u00f6/&lt;\ud834\udd1e&gt;"#,
        r#"p&amp;amp;ss \\\"\u00f6/&amp;lt;𝄞&amp;gt;"#,
        "p%2526ss%2520%2522%25C3%25B6%252F%253C%25F0%259D%2584%259E%253E",
        r"p\x26ss &#34;&#xf6;\/&#60;𝄞&#x3E;",
    ] {
        let around = format!("é%{text}\\&");
        assert_eq!(hidden.masked(&around), "é%•••\\&", "{text}");
    }
    for odd in [
        "%",
        "%2",
        "%zz",
        "\\",
        "\\u12",
        "\\ud834",
        "&",
        "&#;",
        "&#x110000;",
        "%C3",
    ] {
        assert_eq!(hidden.masked(odd), odd);
    }
}

#[test]
fn values_inside_of_each_other_leave_nothing() {
    let hidden = hidden(&["secret", "secret-longer", "longer-tail"]);
    assert_eq!(hidden.masked("a secret-longer-tail b"), "a ••• b");
    assert_eq!(hidden.masked("secretsecret"), "••••••");
    assert_eq!(hidden.masked("secre"), "secre");
}

#[test]
fn a_value_that_was_cut_is_masked() {
    let hidden = hidden(&["correct-horse"]);
    assert_eq!(hidden.masked("x correct-ho… y"), "x •••… y");
    assert_eq!(hidden.masked("correct-correct…"), "correct-•••…");
    assert_eq!(hidden.masked("corre…"), "corre…");
    assert_eq!(hidden.masked("öcorrect-hors…"), "ö•••…");
    assert_eq!(hidden.masked("correct-house…"), "correct-house…");
}

#[test]
fn a_value_that_was_cut_while_it_was_encoded_is_masked() {
    let hidden = hidden(&["hunter2222@corp-login", "pass word long"]);
    let base64 = BASE64_STANDARD.encode("hunter2222@corp-login");
    for (text, expected) in [
        ("?p=hunter2222%40corp-lo…", "?p=•••…"),
        ("?p=hunter2222%4…", "?p=•••…"),
        ("?p=hunter2222%2540cor…", "?p=•••…"),
        ("\"hunter2222\\u0040co… x", "\"•••… x"),
        ("q=pass+word…", "q=•••…"),
        ("q=pass%20wor…", "q=•••…"),
        (&format!("Basic {}…", &base64[..12]), "Basic •••…"),
        ("?p=hunter%20…", "?p=hunter%20…"),
    ] {
        assert_eq!(hidden.masked(text), expected, "{text}");
    }
}

#[test]
fn a_value_with_an_invisible_character_is_masked_without_it_too() {
    let value = "pass\u{200b}word-x";
    let hidden = hidden(&[value]);
    for text in [value, "password-x", "password%2Dx"] {
        assert_eq!(hidden.masked(text), MASK, "{text}");
    }
}

#[test]
fn no_value_is_given_up_for_another_one() {
    let name = |n: usize| format!("value-{n:05}");
    let all: Vec<_> = (0..MOST).map(name).collect();
    let (full, is_new) = with(&[], all.iter().map(String::as_str)).unwrap();
    assert!(is_new && full.len() == MOST);
    let known = with(&full, ["value-00007", "short"]).unwrap();
    assert_eq!(known, (full.clone(), false));
    let why = with(&full, ["value-00007", "one-more"]).unwrap_err();
    assert_eq!(why, NotMasked::Full);
    assert!(
        why.to_string().contains("Run `tabmux daemon stop`"),
        "{why}"
    );
}

#[test]
fn every_text_of_json_is_masked() {
    let hidden = hidden(&["123456", "hunter22"]);
    let mut value = json!({"a": [{"hunter22": "is hunter22"}, 123_456], "b": 7});
    hidden.mask_json(&mut value);
    assert_eq!(value, json!({"a": [{"•••": "is •••"}, "•••"], "b": 7}));
}

#[test]
fn the_secrets_of_the_process_are_masked_in_streams() {
    hide(["of-the-process", "short"]).unwrap();
    assert!(exist() && are_in("of-the-process") && !are_in("short"));
    let text = "x".repeat(70_000) + "of-the-process" + &"y".repeat(70_000);
    assert!(are_in_bytes(text.as_bytes()).unwrap());
    assert!(!are_in_bytes("nothing".as_bytes()).unwrap());
    let mut copy = Vec::new();
    copy_masked(text.as_bytes(), &mut copy, Masking::Shown).unwrap();
    let expected = text.replace("of-the-process", MASK);
    assert!(copy == expected.as_bytes());
}

#[test]
fn streams_leave_no_part_of_values_inside_of_each_other() {
    let hidden = hidden(&["secret", "secret-longer", "longer-tail"]);
    let copied = |text: &str| {
        let mut copy = Vec::new();
        hidden
            .copy_masked(text.as_bytes(), &mut copy, Masking::Shown)
            .unwrap();
        String::from_utf8(copy).unwrap()
    };
    assert_eq!(copied("a secret-longer b"), "a ••• b");
    assert_eq!(copied(""), "");
    // Wherever the parts end.
    for before in 262_144 - 30..=262_144 + 2 {
        let text = "x".repeat(before) + "secret-longer-tail, secret";
        let expected = "x".repeat(before) + "•••, •••";
        assert!(copied(&text) == expected, "{before}");
    }
}

#[test]
fn values_in_utf16_are_masked_in_bytes() {
    let value = "h&shed-\"é𝄞";
    let hidden = hidden(&[value]);
    for text in [value, "h&shed-\\\"é𝄞", "h&amp;shed-\"é𝄞"] {
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for spelling in [little, big] {
            let around = [&b"\0\xffab"[..], &spelling, b"cd\xfe"].concat();
            let mut bytes = around.clone();
            assert!(hidden.mask_in_place(&mut bytes), "{text}");
            let stars = vec![b'*'; spelling.len()];
            let expected = [&b"\0\xffab"[..], &stars, b"cd\xfe"].concat();
            assert_eq!(bytes, expected);
            let mut copy = Vec::new();
            let copied = hidden.copy_masked(&around[..], &mut copy, Masking::InPlace);
            copied.unwrap();
            assert_eq!(copy, expected);
        }
    }
}

#[test]
fn bytes_masked_in_place_keep_their_places() {
    let hidden = hidden(&["secret", "secret-longer", "longer-tail"]);
    let mut bytes = *b"\0a secret-longer-tail, secret \xff";
    assert!(hidden.mask_in_place(&mut bytes));
    assert_eq!(&bytes, b"\0a ******************, ****** \xff");
    let mut copy = Vec::new();
    let text = &b"a secret-longer-tail, secret"[..];
    let copied = hidden.copy_masked(text, &mut copy, Masking::InPlace);
    copied.unwrap();
    assert_eq!(copy, b"a ******************, ******");
    assert!(!hidden.mask_in_place(&mut [0, 1, 2]));
}
