//! The rules by example, and their invariants.

use super::pattern::Origin;
use super::*;
use proptest::prelude::*;

#[test]
fn every_example_means_what_it_says() {
    let mut played = 0;
    for line in include_str!("vectors.txt").lines() {
        let words: Vec<_> = line.split_whitespace().collect();
        match words[..] {
            [] | ["#", ..] => continue,
            [pattern, "bad"] => {
                let error = pattern.parse::<OriginPattern>().expect_err(line);
                assert!(
                    error
                        .to_string()
                        .starts_with(&format!("`{pattern}` is not an origin: "))
                );
            }
            [pattern, answer @ ("yes" | "no"), address] => {
                let pattern: OriginPattern = pattern.parse().expect(line);
                let origin = Origin::of(&Url::parse(address).expect(line));
                let matches = origin.is_some_and(|origin| pattern.matches(&origin));
                assert_eq!(matches, answer == "yes", "{line}");
                assert_eq!(pattern.to_string().parse(), Ok(pattern), "{line}");
            }
            _ => panic!("no example: {line}"),
        }
        played += 1;
    }
    assert!(played > 90, "{played} examples");
}

#[test]
fn blocking_takes_precedence_and_every_rule_applies() {
    let flags = rules(RuledBy::Flags, "*.example.com", "bad.example.com");
    let person = rules(RuledBy::Person, "", "https://worse.example.com");
    let policy = OriginPolicy::of([flags, person]);
    let say = |url: &str| match policy.check(url) {
        Ok(()) => "fine".to_owned(),
        Err(blocked) => blocked.to_string(),
    };
    assert_eq!(say("https://a.example.com/x"), "fine");
    assert_eq!(
        say("https://bad.example.com/secret?token=1"),
        "https://bad.example.com is blocked by --blockedOrigins bad.example.com of this server. Use another site; \
         only the person can take it out of that flag."
    );
    assert_eq!(
        say("http://other.test:81/"),
        "http://other.test:81 is not among the --allowedOrigins of this server. Use another site; only the person \
         can add it to that flag."
    );
    assert_eq!(
        say("https://worse.example.com/"),
        "https://worse.example.com is blocked by the person who uses this machine. Use another site; only they \
         can run `tabmux policy remove 'https://worse.example.com'`."
    );
    let policy = OriginPolicy::of([rules(RuledBy::Person, "a.test", "")]);
    let error = policy.check("https://b.test/").unwrap_err().to_string();
    assert!(
        error.contains("`tabmux policy allow 'https://b.test'`"),
        "{error}"
    );
}

#[test]
fn addresses_without_an_origin_are_not_blocked() {
    let policy = OriginPolicy::of([rules(RuledBy::Flags, "a.test", "*")]);
    for url in [
        "",
        "about:blank",
        "data:text/html,x",
        "chrome-error://chromewebdata/",
    ] {
        assert_eq!(policy.check(url), Ok(()), "{url}");
    }
    assert!(policy.check("https://a.test/").is_err());
    assert!(policy.check("no address").is_err());
    assert!(policy.check("http://").is_err());
}

#[test]
fn rules_that_cannot_be_read_permit_nothing() {
    let why = "the file is damaged".into();
    let policy = OriginPolicy::of([rules(RuledBy::Unreadable { why }, "", "")]);
    let error = policy.check("https://a.test/x").unwrap_err().to_string();
    assert_eq!(
        error,
        "https://a.test is blocked, as every page is: the file is damaged. Ask the person to run `tabmux policy \
         list`."
    );
}

#[test]
fn without_rules_everything_is_open() {
    let policy = OriginPolicy::of([rules(RuledBy::Flags, "", "")]);
    assert!(policy.is_open());
    assert_eq!(policy.check("no address"), Ok(()));
}

proptest! {
    #[test]
    fn nothing_that_is_blocked_is_ever_permitted(
        allowed in prop::collection::vec(pattern(), 0..4),
        blocked in prop::collection::vec(pattern(), 1..4),
        origin in origin(),
    ) {
        let hit = |patterns: &[String]| {
            let url = Url::parse(&origin).unwrap();
            let origin = Origin::of(&url).unwrap();
            let mut patterns = patterns.iter().map(|it| it.parse::<OriginPattern>().unwrap());
            patterns.any(|pattern| pattern.matches(&origin))
        };
        let policy = OriginPolicy::of([rules(RuledBy::Flags, &allowed.join(";"), &blocked.join(";"))]);
        let permitted = policy.check(&origin).is_ok();
        prop_assert_eq!(permitted, !hit(&blocked) && (allowed.is_empty() || hit(&allowed)));
        // More rules never permit more.
        let more = policy.and(&OriginPolicy::of([rules(RuledBy::Person, "", "a.test")]));
        prop_assert!(permitted || more.check(&origin).is_err());
    }

    #[test]
    fn a_printed_pattern_parses_as_the_same(text in pattern()) {
        let pattern: OriginPattern = text.parse().unwrap();
        prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,60}", address in ".{0,60}") {
        let read = text.parse::<OriginPattern>();
        if let Ok(pattern) = read {
            prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
        }
        let policy = OriginPolicy::of([rules(RuledBy::Flags, "a.test", "")]);
        let _ = policy.check(&address);
    }

    #[test]
    fn a_reported_origin_can_be_allowed(origin in origin()) {
        let closed = OriginPolicy::of([rules(RuledBy::Flags, "nobody.test", "")]);
        if let Err(blocked) = closed.check(&origin) {
            let open = OriginPolicy::of([rules(RuledBy::Flags, &blocked.origin, "")]);
            prop_assert_eq!(open.check(&origin), Ok(()));
        }
    }
}

fn rules(by: RuledBy, allowed: &str, blocked: &str) -> OriginRules {
    let read = |text: &str| match text {
        "" => Vec::new(),
        text => OriginPattern::parse_all(text).unwrap(),
    };
    OriginRules {
        by,
        allowed: read(allowed),
        blocked: read(blocked),
    }
}

fn pattern() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec!["", "http://", "https://", "*://"]);
    let host = prop::sample::select(vec![
        "*",
        "a.test",
        "*.a.test",
        "b.a.test",
        "*.test",
        "127.0.0.1",
        "[::1]",
        "localhost",
        "bücher.test",
    ]);
    let port = prop::sample::select(vec!["", ":*", ":80", ":443", ":8080"]);
    (scheme, host, port).prop_map(|(scheme, host, port)| format!("{scheme}{host}{port}"))
}

fn origin() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec!["http", "https"]);
    let host = prop::sample::select(vec![
        "a.test",
        "b.a.test",
        "c.b.a.test",
        "A.TEST.",
        "test",
        "127.1",
        "[::1]",
        "localhost",
        "xn--bcher-kva.test",
    ]);
    let port = prop::sample::select(vec!["", ":80", ":443", ":8080", ":1"]);
    (scheme, host, port).prop_map(|(scheme, host, port)| format!("{scheme}://{host}{port}/"))
}
