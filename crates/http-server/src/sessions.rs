//! Whose session an id is, what is running, and since when nobody used it.

use crate::bodies::Counted;
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;
use tabmux_mcp::http::Principal;
use tokio::time::Instant;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, SizeHint};
use std::convert::Infallible;
use tabmux_mcp::http::HttpResponse;

/// The sessions that began with a handshake, and the running requests of everybody.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    // Locked briefly.
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: HashMap<String, Open>,
    running: HashMap<Principal, usize>,
}

#[derive(Debug)]
struct Open {
    principal: Principal,
    /// Whether its client has used it since the handshake.
    is_in_use: bool,
    /// Requests without an answer, and streams.
    running: usize,
    used: Instant,
}

/// A request that has not been answered completely.
#[derive(Debug)]
pub(crate) struct Running {
    sessions: Arc<Sessions>,
    principal: Principal,
    session: Option<String>,
    /// Its body.
    counted: Option<Counted>,
}

/// What became of a new session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Began {
    Alone,
    /// This one, which its client had not used, made room and has to end.
    InsteadOf(String),
    /// Others took the last place in the meantime.
    NoRoom,
}

impl Sessions {
    /// Whether the session is this principal's.
    pub(crate) fn is_of(&self, id: &str, principal: &Principal) -> bool {
        let state = self.lock();
        state
            .open
            .get(id)
            .is_some_and(|open| open.principal == *principal)
    }

    /// Whether the principal may open one more session.
    pub(crate) fn has_room(&self, principal: &Principal) -> bool {
        self.lock().has_room(principal)
    }

    /// Notes a new session.
    pub(crate) fn begin(&self, id: String, principal: Principal) -> Began {
        let mut state = self.lock();
        let abandoned = match state.is_full_for(&principal) {
            false => None,
            true => match state.abandoned(&principal) {
                Some(abandoned) => Some(abandoned),
                None => return Began::NoRoom,
            },
        };
        if let Some(abandoned) = &abandoned {
            state.open.remove(abandoned);
        }
        let open = Open {
            principal,
            is_in_use: false,
            running: 0,
            used: Instant::now(),
        };
        state.open.insert(id, open);
        abandoned.map_or(Began::Alone, Began::InsteadOf)
    }

    /// In the text format of Prometheus.
    pub(crate) fn metrics(&self) -> String {
        let state = self.lock();
        let running: usize = state.running.values().sum();
        let open = state.open.len();
        format!(
            "# HELP tabmux_http_requests Running requests and open streams.\n\
             # TYPE tabmux_http_requests gauge\ntabmux_http_requests {running}\n\
             # HELP tabmux_http_sessions Sessions over HTTP that began with a handshake.\n\
             # TYPE tabmux_http_sessions gauge\ntabmux_http_sessions {open}\n"
        )
    }

    pub(crate) fn end(&self, id: &str) {
        self.lock().open.remove(id);
    }

    /// Counts a request until its answer has ended; `None` if too many are running.
    pub(crate) fn run(
        self: &Arc<Self>,
        principal: &Principal,
        session: Option<&str>,
    ) -> Option<Running> {
        let mut state = self.lock();
        let running = state.running.entry(principal.clone()).or_default();
        if *running >= MOST_RUNNING {
            return None;
        }
        *running += 1;
        if let Some(open) = session.and_then(|id| state.open.get_mut(id)) {
            open.running += 1;
            open.is_in_use = true;
        }
        Some(Running {
            sessions: Arc::clone(self),
            principal: principal.clone(),
            session: session.map(str::to_owned),
            counted: None,
        })
    }

    /// Removes and returns the sessions that nobody has used for so long, and those of principals that may no longer
    /// connect.
    pub(crate) fn ended(&self, limit: Duration, may: impl Fn(&Principal) -> bool) -> Vec<String> {
        let mut state = self.lock();
        let is_over = |open: &Open| {
            let limit = match open.is_in_use {
                true => limit,
                false => limit.min(HANDSHAKE_LIMIT),
            };
            (open.running == 0 && open.used.elapsed() >= limit) || !may(&open.principal)
        };
        let over = state.open.extract_if(|_, open| is_over(open));
        over.map(|(id, _)| id).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn has_room(&self, principal: &Principal) -> bool {
        !self.is_full_for(principal) || self.abandoned(principal).is_some()
    }

    fn is_full_for(&self, principal: &Principal) -> bool {
        self.has_all_of_its_places(principal) || self.open.len() >= MOST_SESSIONS
    }

    fn has_all_of_its_places(&self, principal: &Principal) -> bool {
        let own = self.open.values();
        own.filter(|open| open.principal == *principal).count() >= MOST_OF_ONE
    }

    /// The oldest session that nobody has used since its handshake: of the principal if it has all of its places, and
    /// else of anybody.
    fn abandoned(&self, principal: &Principal) -> Option<String> {
        let only_own = self.has_all_of_its_places(principal);
        let unused = self
            .open
            .iter()
            .filter(|(_, open)| !open.is_in_use && (!only_own || open.principal == *principal));
        let oldest = unused.min_by_key(|(_, open)| open.used);
        oldest.map(|(id, _)| id.clone())
    }
}

impl Running {
    /// Counts the body of the request as long as the request.
    pub(crate) fn keep(&mut self, counted: Counted) {
        self.counted = Some(counted);
    }

    /// The response, whose end ends the request.
    pub(crate) fn until_end_of(self, response: HttpResponse) -> HttpResponse {
        response.map(|body| {
            BodyExt::boxed(CountedBody {
                body,
                _running: self,
            })
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = self.sessions.lock();
        if let Some(running) = state.running.get_mut(&self.principal) {
            *running = running.saturating_sub(1);
            if *running == 0 {
                state.running.remove(&self.principal);
            }
        }
        if let Some(open) = self.session.as_ref().and_then(|id| state.open.get_mut(id)) {
            open.running = open.running.saturating_sub(1);
            open.used = Instant::now();
        }
    }
}

/// A body that counts as running.
struct CountedBody<B> {
    body: B,
    _running: Running,
}

impl<B: Body<Data = Bytes, Error = Infallible> + Unpin> Body for CountedBody<B> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The daemon has 100 sessions; with as many without a handshake, this leaves some to clients on this machine.
const MOST_SESSIONS: usize = 32;
const MOST_OF_ONE: usize = 16;
/// For the first request after a handshake, which clients send at once.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(30);
/// Running calls and open streams of one token.
const MOST_RUNNING: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    fn principal(name: &str) -> Principal {
        Principal {
            name: name.into(),
            key: name.into(),
            limits: Arc::default(),
        }
    }

    fn begin(sessions: &Sessions, id: &str, principal: &Principal) {
        assert_eq!(sessions.begin(id.into(), principal.clone()), Began::Alone);
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_is_its_principals_and_ends_when_nobody_uses_it() {
        let sessions = Arc::new(Sessions::default());
        let (one, two) = (principal("one"), principal("two"));
        begin(&sessions, "a", &one);
        begin(&sessions, "b", &two);
        drop(sessions.run(&two, Some("b")));
        assert!(sessions.is_of("a", &one) && !sessions.is_of("a", &two));
        assert!(!sessions.is_of("c", &one));

        let limit = Duration::from_secs(60);
        let running = sessions.run(&one, Some("a")).unwrap();
        tokio::time::advance(limit).await;
        assert_eq!(sessions.ended(limit, |_| true), ["b"]);
        drop(running);
        assert!(sessions.ended(limit, |_| true).is_empty());
        tokio::time::advance(limit).await;
        assert_eq!(sessions.ended(limit, |_| true), ["a"]);
    }

    #[test]
    fn sessions_of_a_revoked_token_end_even_if_they_are_used() {
        let sessions = Arc::new(Sessions::default());
        let (one, two) = (principal("one"), principal("two"));
        begin(&sessions, "a", &one);
        begin(&sessions, "b", &two);
        let _running = sessions.run(&one, Some("a")).unwrap();
        let left = sessions.ended(Duration::MAX, |principal| *principal != one);
        assert_eq!(left, ["a"]);
    }

    #[test]
    fn what_a_token_may_use_is_limited_and_others_are_unharmed() {
        let sessions = Arc::new(Sessions::default());
        let (one, two) = (principal("one"), principal("two"));
        let running: Vec<_> = std::iter::from_fn(|| sessions.run(&one, None)).collect();
        assert_eq!(running.len(), MOST_RUNNING);
        assert!(sessions.run(&two, None).is_some());
        drop(running);
        assert!(sessions.run(&one, None).is_some());
        for id in 0..MOST_OF_ONE {
            assert!(sessions.has_room(&one), "{id}");
            begin(&sessions, &id.to_string(), &one);
            drop(sessions.run(&one, Some(&id.to_string())));
        }
        assert!(!sessions.has_room(&one) && sessions.has_room(&two));
        let late = sessions.begin("late".into(), one);
        assert_eq!(late, Began::NoRoom, "others came first");
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_that_its_client_never_used_ends_soon() {
        let sessions = Arc::new(Sessions::default());
        let one = principal("one");
        begin(&sessions, "used", &one);
        begin(&sessions, "abandoned", &one);
        drop(sessions.run(&one, Some("used")));
        tokio::time::advance(HANDSHAKE_LIMIT).await;
        assert_eq!(sessions.ended(Duration::MAX, |_| true), ["abandoned"]);
    }

    #[tokio::test(start_paused = true)]
    async fn the_oldest_session_that_its_client_never_used_makes_room() {
        let sessions = Arc::new(Sessions::default());
        let all = ["one", "two", "three"].map(principal);
        for principal in &all[..2] {
            for id in 0..MOST_OF_ONE {
                begin(&sessions, &format!("{}-{id}", principal.name), principal);
                tokio::time::advance(Duration::from_millis(1)).await;
            }
        }
        let began = |id: &str, principal: &Principal| sessions.begin(id.into(), principal.clone());
        // A token without a place left gives up its own, others take the oldest one.
        assert_eq!(began("late", &all[1]), Began::InsteadOf("two-0".into()));
        assert_eq!(began("new", &all[2]), Began::InsteadOf("one-0".into()));
        for (id, principal) in [("late", &all[1]), ("new", &all[2])] {
            drop(sessions.run(principal, Some(id)));
            assert!(sessions.is_of(id, principal));
        }
    }
}
