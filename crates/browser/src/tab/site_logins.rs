//! Passwords that a tab's sites get when they ask for HTTP authentication.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tabmux_cdp::Session;
use tabmux_cdp::types::fetch::{
    self, AuthChallengeResponse, AuthChallengeResponseResponse, AuthChallengeSource, RequestId,
};

/// The passwords of one tab, by origin.
#[derive(Clone, Debug, Default)]
pub(crate) struct SiteLogins(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    logins: Vec<(String, SiteLogin)>,
    /// Requests for which a password was sent. A site that asks again has rejected it.
    sent: VecDeque<RequestId>,
}

/// A name and a password. `Debug` shows neither.
#[derive(Clone)]
pub(crate) struct SiteLogin {
    username: String,
    password: String,
}

impl SiteLogin {
    pub(crate) fn new(username: String, password: String) -> Self {
        Self { username, password }
    }
}

impl fmt::Debug for SiteLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SiteLogin(…)")
    }
}

impl SiteLogins {
    /// Sets or forgets the password of an origin; false if there are too many.
    pub(crate) fn set(&self, origin: &str, login: Option<SiteLogin>) -> bool {
        let mut known = self.lock();
        known.logins.retain(|(other, _)| other != origin);
        match login {
            Some(_) if known.logins.len() >= MOST => return false,
            Some(login) => known.logins.push((origin.to_owned(), login)),
            None => {}
        }
        true
    }

    /// Forgets all; whether there were any.
    pub(crate) fn clear(&self) -> bool {
        let known = std::mem::take(&mut *self.lock());
        !known.logins.is_empty()
    }

    /// Their origins.
    pub(super) fn origins(&self) -> Vec<String> {
        let known = self.lock();
        known
            .logins
            .iter()
            .map(|(origin, _)| origin.clone())
            .collect()
    }

    /// Answers a challenge. Every challenge needs an answer; without one the request would hang forever.
    pub(super) fn answer(&self, session: &Session, asked: fetch::AuthRequired) {
        let auth_challenge_response = self.response(&asked);
        session.post(fetch::ContinueWithAuth {
            request_id: asked.request_id,
            auth_challenge_response,
        });
    }

    fn response(&self, asked: &fetch::AuthRequired) -> AuthChallengeResponse {
        let mut known = self.lock();
        let challenge = &asked.auth_challenge;
        let of_site = challenge.source != Some(AuthChallengeSource::PROXY);
        let mut logins = known.logins.iter().filter(|_| of_site);
        let login = logins.find(|(origin, _)| *origin == challenge.origin);
        let Some(login) = login.map(|(_, login)| login.clone()) else {
            return simply(AuthChallengeResponseResponse::DEFAULT);
        };
        if known.sent.contains(&asked.request_id) {
            return simply(AuthChallengeResponseResponse::CANCEL_AUTH);
        }
        known.sent.push_back(asked.request_id.clone());
        if known.sent.len() > MOST_SENT {
            known.sent.pop_front();
        }
        AuthChallengeResponse {
            response: AuthChallengeResponseResponse::PROVIDE_CREDENTIALS,
            username: Some(login.username),
            password: Some(login.password),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn simply(response: AuthChallengeResponseResponse) -> AuthChallengeResponse {
    AuthChallengeResponse {
        response,
        ..Default::default()
    }
}

const MOST: usize = 20;
/// A tab never has more such requests in flight.
const MOST_SENT: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asked(id: &str, source: &str, origin: &str) -> fetch::AuthRequired {
        let challenge =
            json!({"source": source, "origin": origin, "scheme": "basic", "realm": "r"});
        serde_json::from_value(json!({"requestId": id, "authChallenge": challenge})).unwrap()
    }

    #[test]
    fn a_site_gets_its_password_once_and_others_none() {
        let logins = SiteLogins::default();
        let login = SiteLogin::new("me".into(), "pw-17".into());
        assert!(!format!("{login:?}").contains("pw-17"));
        assert!(logins.set("https://a.example", Some(login)));
        assert!(!format!("{logins:?}").contains("pw-17"));
        let answer = |id, source, origin| {
            let answer = logins.response(&asked(id, source, origin));
            (answer.response.as_str().to_owned(), answer.password)
        };
        let given = ("ProvideCredentials".to_owned(), Some("pw-17".to_owned()));
        let default = ("Default".to_owned(), None);
        assert_eq!(answer("1", "Server", "https://a.example"), given);
        assert_eq!(
            answer("1", "Server", "https://a.example"),
            ("CancelAuth".to_owned(), None)
        );
        assert_eq!(answer("2", "Server", "http://a.example"), default);
        assert_eq!(answer("3", "Proxy", "https://a.example"), default);
        assert!(logins.clear() && !logins.clear());
        assert_eq!(answer("4", "Server", "https://a.example"), default);
    }
}
