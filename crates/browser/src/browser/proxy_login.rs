//! Sends the credentials that a proxy asks for, in a launched browser.
//!
//! Chrome asks us only for paused requests. We pause requests for documents, and only if the proxy has a password:
//! once it was accepted, Chrome uses it for all other requests.

use super::BrowserEvent;
use super::actor::Actor;
use crate::proxy::Proxy;
use std::collections::VecDeque;
use tabmux_cdp::types::fetch::{
    self, AuthChallengeResponse, AuthChallengeResponseResponse, AuthChallengeSource, RequestId,
    RequestStage,
};
use tabmux_cdp::types::network::ResourceType;

/// The credentials, and what was already sent.
#[derive(Debug, Default)]
pub(super) struct ProxyLogin {
    proxy: Option<Proxy>,
    /// Requests for which the password was sent. A proxy that asks again has rejected it.
    told: VecDeque<RequestId>,
}

impl ProxyLogin {
    pub(super) fn to(proxy: Option<Proxy>) -> Self {
        Self {
            proxy,
            told: VecDeque::new(),
        }
    }

    /// The response to a challenge.
    fn answer(&mut self, asked: &fetch::AuthRequired) -> AuthChallengeResponse {
        let challenge = &asked.auth_challenge;
        let is_proxy = challenge.source == Some(AuthChallengeSource::PROXY);
        let proxy = self.proxy.as_ref().filter(|_| is_proxy);
        // A site's own password is between the site and the user.
        let Some(known) = proxy.and_then(|proxy| proxy.credentials_for(&challenge.origin)) else {
            return simply(AuthChallengeResponseResponse::DEFAULT);
        };
        if self.told.contains(&asked.request_id) {
            return simply(AuthChallengeResponseResponse::CANCEL_AUTH);
        }
        self.told.push_back(asked.request_id.clone());
        if self.told.len() > MOST_TOLD {
            self.told.pop_front();
        }
        AuthChallengeResponse {
            response: AuthChallengeResponseResponse::PROVIDE_CREDENTIALS,
            username: Some(known.user.clone()),
            password: Some(known.password.clone()),
        }
    }
}

fn simply(response: AuthChallengeResponseResponse) -> AuthChallengeResponse {
    AuthChallengeResponse {
        response,
        ..Default::default()
    }
}

/// Makes Chrome pause all requests for documents, and ask us for passwords if `asks` is set.
pub(super) fn stop_documents(asks: bool) -> fetch::Enable {
    let documents = fetch::RequestPattern {
        url_pattern: Some("*".into()),
        resource_type: Some(ResourceType::DOCUMENT),
        request_stage: Some(RequestStage::REQUEST),
    };
    fetch::Enable {
        patterns: Some(vec![documents]),
        handle_auth_requests: asks.then_some(true),
    }
}

impl<E: From<(u32, BrowserEvent)> + Send + 'static> Actor<E> {
    /// Sets the credentials for the proxy.
    pub(super) fn signing_in(mut self, proxy_login: ProxyLogin) -> Self {
        self.proxy_login = proxy_login;
        self
    }

    /// A server asks for credentials. Every challenge is answered; without an answer the request would hang forever.
    pub(super) fn handle_auth(&mut self, asked: fetch::AuthRequired) {
        let auth_challenge_response = self.proxy_login.answer(&asked);
        self.session.post(fetch::ContinueWithAuth {
            request_id: asked.request_id,
            auth_challenge_response,
        });
    }
}

/// A proxy never has more requests in flight.
const MOST_TOLD: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn asked(id: &str, source: &str, origin: &str) -> fetch::AuthRequired {
        let challenge =
            json!({"source": source, "origin": origin, "scheme": "basic", "realm": "r"});
        let asked = json!({"requestId": id, "authChallenge": challenge});
        serde_json::from_value(asked).unwrap()
    }

    #[test]
    fn a_proxy_gets_its_password_once_and_sites_get_none() {
        let proxy = Proxy::parse("http://me:pw@host:1").unwrap();
        let mut login = ProxyLogin::to(Some(proxy));
        let mut answer = |id, source, origin| {
            let answer = login.answer(&asked(id, source, origin));
            (answer.response.as_str().to_owned(), answer.password)
        };
        let cancel = ("CancelAuth".to_owned(), None);
        let default = ("Default".to_owned(), None);
        let given = ("ProvideCredentials".to_owned(), Some("pw".to_owned()));
        assert_eq!(answer("1", "Proxy", "http://host:1"), given);
        assert_eq!(answer("2", "Proxy", "http://host:1"), given);
        assert_eq!(answer("1", "Proxy", "http://host:1"), cancel);
        assert_eq!(answer("3", "Server", "http://host:1"), default);
        assert_eq!(answer("4", "Proxy", "http://elsewhere:1"), default);
    }
}
