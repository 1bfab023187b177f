//! Values that an agent names, as `{{secret:NAME}}`, and never sees: which ones the current task may have typed, and on
//! which origins.
//!
//! Like the policy of sites, they belong to a session and not to a tab, so they are a task-local value.

use crate::error::ToolError;
use crate::origins::{BadPattern, OriginPattern, OriginPolicy, OriginRules, RuledBy};
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use tabmux_text::one_line;
use url::{Host, Url};

tokio::task_local! {
    static SECRETS: Arc<Secrets>;
}

/// The secrets of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Secrets(Vec<Secret>);

/// One secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    name: String,
    value: Arc<str>,
    origins: Vec<OriginPattern>,
}

/// Without the value.
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Secret").field(&self.name).finish()
    }
}

/// Runs `work` with these secrets.
pub async fn within<F: Future>(secrets: Arc<Secrets>, work: F) -> F::Output {
    SECRETS.scope(secrets, work).await
}

/// The secrets of the current task.
pub(crate) fn here() -> Arc<Secrets> {
    SECRETS.try_with(Arc::clone).unwrap_or_default()
}

/// The value to type for the text of an argument, if it names a secret; an error unless it may be typed into a document
/// of this origin. Nothing is typed by this.
pub(crate) fn named_by(text: &str, origin: &str) -> Result<Option<Arc<str>>, ToolError> {
    let secrets = here();
    let Some(name) = placeholder(text) else {
        return match secrets.0.is_empty() || !text.contains(OPENING) {
            true => Ok(None),
            false => Err(refused(format!(
                "{OPENING}NAME}}}} must be the whole value, so nothing was typed. Give it alone."
            ))),
        };
    };
    let secret = secrets.find(name)?;
    secret.check(origin)?;
    Ok(Some(Arc::clone(&secret.value)))
}

impl Secrets {
    /// Adds a secret, which needs at least one origin.
    ///
    /// # Errors
    /// When an origin cannot be parsed.
    pub fn add(&mut self, name: &str, value: &str, origins: &[String]) -> Result<(), BadPattern> {
        let origins = origins.iter().map(|text| OriginPattern::parse_all(text));
        let origins: Result<Vec<_>, _> = origins.collect();
        self.0.push(Secret {
            name: name.to_owned(),
            value: value.into(),
            origins: origins?.concat(),
        });
        Ok(())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All secrets, in the order of their file.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Secret> {
        self.0.iter()
    }

    fn find(&self, name: &str) -> Result<&Secret, ToolError> {
        let found = self.0.iter().find(|secret| secret.name == name);
        found.ok_or_else(|| {
            let name = one_line(name, 64);
            let names: Vec<_> = self.0.iter().map(|it| it.name.as_str()).collect();
            refused(match names.is_empty() {
                true => format!(
                    "This session has no secrets, so {OPENING}{name}}}}} was not typed. Ask the person to start tabmux \
                     with --secrets FILE."
                ),
                false => format!(
                    "There is no secret {name}; nothing was typed. Use one of: {}.",
                    names.join(", ")
                ),
            })
        })
    }
}

impl Secret {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Its origins, as its file names them.
    pub(crate) fn origins(&self) -> String {
        let origins: Vec<_> = self.origins.iter().map(ToString::to_string).collect();
        origins.join(", ")
    }

    /// Whether it may be typed into a document of this origin.
    pub(crate) fn check(&self, origin: &str) -> Result<(), ToolError> {
        let shown = one_line(origin, 200);
        // Without any origin, the policy would allow all.
        let is_bound = !self.origins.is_empty() && is_web(origin);
        if !is_bound || self.policy().check(origin).is_err() {
            return Err(refused(format!(
                "The secret {} may not be used on {shown} (allowed: {}); nothing was typed. Use it in a page or frame of \
                 an allowed origin.",
                self.name,
                self.origins()
            )));
        }
        match is_private(origin) {
            true => Ok(()),
            false => Err(refused(format!(
                "The secret {} was not typed: {shown} is not encrypted. Open the site with https.",
                self.name
            ))),
        }
    }

    fn policy(&self) -> OriginPolicy {
        OriginPolicy::of([OriginRules {
            by: RuledBy::Flags,
            allowed: self.origins.clone(),
            blocked: Vec::new(),
        }])
    }
}

/// The name in `{{secret:NAME}}`, if that is the whole text.
fn placeholder(text: &str) -> Option<&str> {
    let name = text.trim().strip_prefix(OPENING)?.strip_suffix("}}")?;
    (!name.contains(['{', '}'])).then(|| name.trim())
}

fn is_web(origin: &str) -> bool {
    origin.starts_with("https://") || origin.starts_with("http://")
}

/// Whether no other machine can read what is sent there.
fn is_private(origin: &str) -> bool {
    let Ok(url) = Url::parse(origin) else {
        return false;
    };
    let is_local = match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    };
    url.scheme() == "https" || is_local
}

fn refused(why: String) -> ToolError {
    ToolError::NotActionable { why }
}

const OPENING: &str = "{{secret:";

#[cfg(test)]
mod tests {
    use super::*;

    async fn named(text: &str, origin: &str) -> Result<Option<String>, String> {
        let mut secrets = Secrets::default();
        let app = [
            "https://app.example".to_owned(),
            "http://localhost:*".into(),
        ];
        secrets.add("PASSWORD", "correct-horse", &app).unwrap();
        let plain = ["http://plain.example".to_owned()];
        secrets.add("PLAIN", "battery-staple", &plain).unwrap();
        let named = async { named_by(text, origin) };
        let named = within(Arc::new(secrets), named).await;
        let named = named.map(|value| value.map(|value| value.to_string()));
        named.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn a_secret_is_typed_only_where_it_belongs() {
        let value = Ok(Some("correct-horse".to_owned()));
        for origin in ["https://app.example", "http://localhost:8080"] {
            assert_eq!(named("{{secret:PASSWORD}}", origin).await, value);
        }
        for origin in [
            "https://app.example.evil.test",
            "https://sub.app.example",
            "http://app.example",
            "https://app.example:444",
            "null",
            "",
            "about:blank",
            "file://",
            "data:text/html,x",
        ] {
            let error = named("{{secret:PASSWORD}}", origin).await.unwrap_err();
            let why = format!("may not be used on {origin} (allowed: https://app.example, ");
            assert!(error.contains(&why), "{origin}: {error}");
        }
        let error = named("{{secret:PLAIN}}", "http://plain.example").await;
        assert!(
            error
                .unwrap_err()
                .contains("is not encrypted. Open the site with https.")
        );
    }

    #[tokio::test]
    async fn only_a_whole_value_names_a_secret() {
        let here = "https://app.example";
        assert_eq!(named("hello", here).await, Ok(None));
        let error = named("{{secret:OTHER}}", here).await.unwrap_err();
        assert!(
            error.contains(
                "There is no secret OTHER; nothing was typed. Use one of: PASSWORD, PLAIN."
            )
        );
        for text in [
            "x{{secret:PASSWORD}}",
            "{{secret:PASSWORD}}{{secret:PLAIN}}",
            "{{secret:A",
        ] {
            let error = named(text, here).await.unwrap_err();
            assert!(error.contains("must be the whole value"), "{error}");
        }
    }

    #[test]
    fn a_session_without_secrets_types_none() {
        let error = named_by("{{secret:A}}", "https://app.example").unwrap_err();
        assert!(
            error
                .to_string()
                .contains("start tabmux with --secrets FILE")
        );
        assert_eq!(
            named_by("a {{secret:", "https://app.example").unwrap(),
            None
        );
    }
}
