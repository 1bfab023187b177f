//! Gives a proxy the user and the password that it asks for, in a browser that we launched.
//!
//! Chrome asks us only if we have it stop requests. It stops those for documents, and only where the proxy has a
//! password: once it was right, Chrome knows it for everything else.

use super::BrowserEvent;
use super::actor::Actor;
use crate::proxy::Proxy;
use std::collections::VecDeque;
use tabmux_cdp::types::fetch::{
    self, AuthChallengeResponse, AuthChallengeResponseResponse, AuthChallengeSource, RequestId,
    RequestStage,
};
use tabmux_cdp::types::network::ResourceType;

/// What proxies were told.
#[derive(Debug, Default)]
pub(super) struct ProxyLogin {
    proxy: Option<Proxy>,
    /// Requests for which the password was given. A proxy that asks again does not take it.
    told: VecDeque<RequestId>,
}

impl ProxyLogin {
    pub(super) fn to(proxy: Option<Proxy>) -> Self {
        Self {
            proxy,
            told: VecDeque::new(),
        }
    }

    /// What to answer to who asks.
    fn answer(&mut self, asked: &fetch::AuthRequired) -> AuthChallengeResponse {
        let challenge = &asked.auth_challenge;
        let is_proxy = challenge.source == Some(AuthChallengeSource::PROXY);
        let proxy = self.proxy.as_ref().filter(|_| is_proxy);
        // What a site wants to know is between it and the user.
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

/// Has Chrome stop all requests for documents, and ask us for passwords if so wanted.
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
    /// The same, behind a proxy that asks for a password.
    pub(super) fn signing_in(mut self, proxy_login: ProxyLogin) -> Self {
        self.proxy_login = proxy_login;
        self
    }

    /// Somebody wants to know who we are. Each is answered, or it would wait for ever.
    pub(super) fn handle_auth(&mut self, asked: fetch::AuthRequired) {
        let auth_challenge_response = self.proxy_login.answer(&asked);
        self.session.post(fetch::ContinueWithAuth {
            request_id: asked.request_id,
            auth_challenge_response,
        });
    }
}

/// More requests are never on their way to one proxy at a time.
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
