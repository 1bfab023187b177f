//! Rules for the requests of a tab's pages, and the decision on each paused request.

use super::guard::Guard;
use super::site_logins::SiteLogins;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tabmux_cdp::types::fetch::{self, HeaderEntry, RequestStage};
use tabmux_cdp::types::network::{ErrorReason, ResourceType};
use tabmux_cdp::{CdpError, Command, Event, RawEvent, Session, TooLarge};

/// The rules of one tab, shared by its tools and by the setup of its frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules {
    list: Arc<Mutex<Vec<Rule>>>,
    /// Workers of the tab's pages; the tab itself knows its frames.
    workers: Arc<Mutex<Vec<Session>>>,
    guard: Guard,
    logins: SiteLogins,
}

/// What to do with matching requests.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Rule {
    pub(crate) pattern: Pattern,
    pub(crate) action: Action,
}

/// Addresses, with `*` for any text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern(pub(crate) String);

/// What to do with a request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Action {
    /// Make the request fail.
    Block,
    /// Answer it instead of the server.
    Mock {
        status: u16,
        headers: HeaderChanges,
        body: Arc<[u8]>,
    },
    /// Send it with other headers.
    Change {
        request: HeaderChanges,
        response: HeaderChanges,
    },
}

/// Headers to set; an empty value removes one.
pub(crate) type HeaderChanges = BTreeMap<String, String>;

impl Rules {
    /// No rules yet, except those of the guard.
    pub(super) fn guarded(guard: Guard) -> Self {
        Self {
            guard,
            ..Self::default()
        }
    }

    /// What blocks the tab from some sites.
    pub(crate) fn guard(&self) -> &Guard {
        &self.guard
    }

    /// The passwords of sites.
    pub(crate) fn logins(&self) -> &SiteLogins {
        &self.logins
    }

    /// The active rules. The last one that matches a request decides.
    pub(crate) fn now(&self) -> Vec<Rule> {
        self.lock().clone()
    }

    /// Replaces the rules, for all requests from now on.
    pub(crate) fn set(&self, rules: Vec<Rule>) {
        *self.lock() = rules;
    }

    /// The running workers.
    pub(crate) fn workers(&self) -> Vec<Session> {
        self.lock_workers().clone()
    }

    /// Adds a worker.
    pub(super) fn add_worker(&self, worker: &Session) {
        self.lock_workers().push(worker.clone());
    }

    /// Removes a worker.
    pub(super) fn remove_worker(&self, worker: &Session) {
        self.lock_workers().retain(|it| it.id() != worker.id());
    }

    /// Makes a session pause the requests that have rules.
    pub(crate) async fn tell(&self, session: &Session) -> Result<(), CdpError> {
        match self.stopping() {
            Some(enable) => session.send(enable).await.map(drop),
            None => session.send(fetch::Disable::default()).await.map(drop),
        }
    }

    /// Applies the rules to a new session.
    pub(super) fn join(&self, session: &Session) {
        if let Some(enable) = self.stopping() {
            session.post(enable);
        }
    }

    /// Decides on a paused request, and answers those for passwords. Every paused request needs an answer; without one
    /// it would hang forever. Returns whether the event is one of these.
    pub(super) fn answer(&self, session: &Session, event: &RawEvent) -> bool {
        if let Some(asked) = event.decode::<fetch::AuthRequired>() {
            self.logins.answer(session, asked);
            return true;
        }
        if event.method() == fetch::AuthRequired::METHOD {
            if let Some(cut) = event.too_large() {
                cancel_auth(session, cut);
            }
            return true;
        }
        if event.method() != fetch::RequestPaused::METHOD {
            return false;
        }
        if let Some(cut) = event.too_large() {
            self.answer_cut(session, cut);
            return true;
        }
        let Some(paused) = event.decode::<fetch::RequestPaused>() else {
            return true;
        };
        if paused.resource_type == ResourceType::DOCUMENT
            && self.guard.stop(&paused.frame_id, &paused.request.url)
        {
            // The frame keeps its document, as if there had been no navigation.
            session.post(fetch::FailRequest {
                request_id: paused.request_id,
                error_reason: ErrorReason::ABORTED,
            });
            return true;
        }
        let rules = self.lock();
        let rule = rules
            .iter()
            .rfind(|rule| rule.pattern.matches(&paused.request.url));
        let answered =
            paused.response_status_code.is_some() || paused.response_error_reason.is_some();
        match rule.map(|rule| &rule.action) {
            Some(Action::Block) if !answered => session.post(fetch::FailRequest {
                request_id: paused.request_id,
                error_reason: ErrorReason::BLOCKED_BY_CLIENT,
            }),
            Some(Action::Mock {
                status,
                headers,
                body,
            }) if !answered => send_or_fail(
                session,
                paused.request_id.clone(),
                fetch::FulfillRequest {
                    request_id: paused.request_id,
                    response_code: (*status).into(),
                    response_headers: Some(changed(Vec::new(), headers)),
                    body: Some(BASE64_STANDARD.encode(body)),
                    ..Default::default()
                },
            ),
            Some(Action::Change { request, .. }) if !answered => send_or_fail(
                session,
                paused.request_id.clone(),
                fetch::ContinueRequest {
                    request_id: paused.request_id,
                    headers: (!request.is_empty())
                        .then(|| changed(sent(&paused.request.headers), request)),
                    ..Default::default()
                },
            ),
            Some(Action::Change { response, .. }) if paused.response_status_code.is_some() => {
                let headers = paused.response_headers.unwrap_or_default();
                send_or_fail(
                    session,
                    paused.request_id.clone(),
                    fetch::ContinueResponse {
                        request_id: paused.request_id,
                        response_code: paused.response_status_code,
                        response_headers: Some(changed(headers, response)),
                        ..Default::default()
                    },
                )
            }
            _ => session.post(fetch::ContinueRequest {
                request_id: paused.request_id,
                ..Default::default()
            }),
        }
        true
    }

    /// Decides on a request whose body is too large to be delivered. It continues unchanged if its address is
    /// permitted. It fails if a rule would need the request itself, or if its address is missing.
    fn answer_cut(&self, session: &Session, cut: &TooLarge) {
        let Some(request_id) = cut.find("requestId").map(fetch::RequestId::from) else {
            tracing::warn!("a paused request is too large to be parsed; blocking it");
            return;
        };
        // Chrome names the resource type after the body.
        let url = cut
            .find("url")
            .filter(|url| !(self.guard.stops() && self.guard.policy().check(url).is_err()));
        let rules = self.lock();
        let goes_on = url.is_some_and(|url| {
            let rule = rules.iter().rfind(|rule| rule.pattern.matches(&url));
            match rule.map(|rule| &rule.action) {
                None => true,
                Some(Action::Change { request, .. }) => request.is_empty(),
                Some(_) => false,
            }
        });
        match goes_on {
            true => session.post(fetch::ContinueRequest {
                request_id,
                ..Default::default()
            }),
            false => session.post(fetch::FailRequest {
                request_id,
                error_reason: ErrorReason::BLOCKED_BY_CLIENT,
            }),
        }
    }

    /// The command that makes Chrome pause requests; `None` without rules.
    fn stopping(&self) -> Option<fetch::Enable> {
        let rules = self.lock();
        let stop = |rule: &Rule, stage| fetch::RequestPattern {
            url_pattern: Some(rule.pattern.for_chrome()),
            request_stage: Some(stage),
            ..Default::default()
        };
        let mut patterns = Vec::new();
        if self.guard.stops() {
            patterns.push(fetch::RequestPattern {
                url_pattern: Some("*".into()),
                resource_type: Some(ResourceType::DOCUMENT),
                request_stage: Some(RequestStage::REQUEST),
            });
        }
        for rule in rules.iter() {
            patterns.push(stop(rule, RequestStage::REQUEST));
            if matches!(&rule.action, Action::Change { response, .. } if !response.is_empty()) {
                patterns.push(stop(rule, RequestStage::RESPONSE));
            }
        }
        // Chrome asks us for passwords of paused requests only.
        let origins = self.logins.origins();
        patterns.extend(origins.iter().map(|origin| fetch::RequestPattern {
            url_pattern: Some(format!("{origin}/*")),
            request_stage: Some(RequestStage::REQUEST),
            ..Default::default()
        }));
        (!patterns.is_empty()).then_some(fetch::Enable {
            patterns: Some(patterns),
            handle_auth_requests: (!origins.is_empty()).then_some(true),
        })
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Rule>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_workers(&self) -> MutexGuard<'_, Vec<Session>> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pattern {
    /// Whether the whole address matches the pattern.
    pub(crate) fn matches(&self, url: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else {
            return self.0 == url;
        };
        let Some(mut url) = url.strip_prefix(first) else {
            return false;
        };
        let mut parts: Vec<_> = rest.split('*').collect();
        let last = parts.pop().unwrap_or_default();
        // Matching each part as early as possible leaves the most text for the following ones.
        for part in parts {
            let Some((_, behind)) = url.split_once(part) else {
                return false;
            };
            url = behind;
        }
        url.ends_with(last)
    }

    /// Chrome has another wildcard, `?`, which is a plain character in addresses.
    fn for_chrome(&self) -> String {
        self.0.replace('\\', "\\\\").replace('?', "\\?")
    }
}

/// Sends a decision that Chrome may refuse. Then the request fails at once: otherwise it would hang forever, and it
/// must not continue without what the rule says.
fn send_or_fail(session: &Session, request_id: fetch::RequestId, decision: impl Command + 'static) {
    let session = session.clone();
    tokio::spawn(async move {
        if let Err(CdpError::Rejected { message, .. }) = session.send(decision).await {
            tracing::warn!(message, "Chrome refused to apply a rule to a request");
            session.post(fetch::FailRequest {
                request_id,
                error_reason: ErrorReason::FAILED,
            });
        }
    });
}

/// Answers a challenge for a request that is too large to be delivered: it ends with the server's error page.
pub(crate) fn cancel_auth(session: &Session, cut: &TooLarge) {
    let Some(request_id) = cut.find("requestId").map(fetch::RequestId::from) else {
        tracing::warn!("a challenge for a password is too large to be parsed");
        return;
    };
    session.post(fetch::ContinueWithAuth {
        request_id,
        auth_challenge_response: fetch::AuthChallengeResponse {
            response: fetch::AuthChallengeResponseResponse::CANCEL_AUTH,
            ..Default::default()
        },
    });
}

fn sent(headers: &tabmux_cdp::types::Json) -> Vec<HeaderEntry> {
    let headers: BTreeMap<String, String> = headers.decode().unwrap_or_default();
    headers
        .into_iter()
        .map(|(name, value)| HeaderEntry { name, value })
        .collect()
}

fn changed(mut headers: Vec<HeaderEntry>, changes: &HeaderChanges) -> Vec<HeaderEntry> {
    headers.retain(|header| {
        !changes
            .keys()
            .any(|name| name.eq_ignore_ascii_case(&header.name))
    });
    let set = changes.iter().filter(|(_, value)| !value.is_empty());
    headers.extend(set.map(|(name, value)| HeaderEntry {
        name: name.clone(),
        value: value.clone(),
    }));
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_matches_any_text_and_everything_else_itself() {
        let matches = |pattern: &str, url: &str| Pattern(pattern.into()).matches(url);
        assert!(matches("http://a/x", "http://a/x"));
        assert!(!matches("http://a/x", "http://a/xy"));
        assert!(matches("http://a/*", "http://a/"));
        assert!(matches("*", "anything"));
        assert!(matches("*/api/*.json", "http://a/api/b/c.json"));
        assert!(matches("*.js*.js", "http://a/a.js.js.js"));
        assert!(!matches("*/api/*.json", "http://a/api/b.json?x"));
        assert!(matches("*?id=*", "http://a/?id=1"));
        assert!(!matches("*?id=*", "http://a/xid=1"));
        assert!(!matches("ab*ba", "aba"));
    }

    #[test]
    fn headers_are_replaced_whatever_their_case_and_removed_where_empty() {
        let entry = |name: &str, value: &str| HeaderEntry {
            name: name.into(),
            value: value.into(),
        };
        let before = vec![entry("Accept", "*/*"), entry("X-Gone", "1")];
        let changes = HeaderChanges::from([
            ("accept".into(), "text/plain".into()),
            ("x-gone".into(), String::new()),
        ]);
        let after: Vec<_> = changed(before, &changes)
            .into_iter()
            .map(|it| (it.name, it.value))
            .collect();
        assert_eq!(after, [("accept".to_owned(), "text/plain".to_owned())]);
    }
}
