//! Reads the bodies of requests, and counts what is kept of them: each is bounded, and so are all of a token and all
//! together. A body counts until its request is answered.

use crate::answers::Refusal;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tabmux_mcp::http::Principal;

/// What is kept of all bodies.
#[derive(Debug, Default)]
pub(crate) struct Bodies {
    // Locked briefly.
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    total: usize,
    of: HashMap<Principal, usize>,
}

/// The bytes of one body, counted until this is dropped.
#[derive(Debug)]
pub(crate) struct Counted {
    bodies: Arc<Bodies>,
    principal: Principal,
    bytes: usize,
}

impl Bodies {
    /// The whole body of a request of this principal.
    pub(crate) async fn read<B: Body<Data = Bytes>>(
        self: &Arc<Self>,
        principal: &Principal,
        body: B,
    ) -> Result<(Bytes, Counted), Refusal> {
        let reading = self.read_to_end(principal, body);
        let read = tokio::time::timeout(READ_LIMIT, reading).await;
        read.unwrap_or(Err(Refusal::TooSlow))
    }

    async fn read_to_end<B: Body<Data = Bytes>>(
        self: &Arc<Self>,
        principal: &Principal,
        body: B,
    ) -> Result<(Bytes, Counted), Refusal> {
        let mut body = pin!(body);
        let mut read = BytesMut::new();
        let mut counted = Counted {
            bodies: Arc::clone(self),
            principal: principal.clone(),
            bytes: 0,
        };
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Refusal::NotJsonRpc)?;
            let Ok(part) = frame.into_data() else {
                continue;
            };
            if read.len() + part.len() > LONGEST {
                return Err(Refusal::TooLarge);
            }
            counted.add(part.len())?;
            read.extend_from_slice(&part);
        }
        Ok((read.freeze(), counted))
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counted {
    fn add(&mut self, bytes: usize) -> Result<(), Refusal> {
        let mut kept = self.bodies.lock();
        if kept.total + bytes > MOST {
            return Err(Refusal::TooMuchFromAll);
        }
        let own = kept.of.entry(self.principal.clone()).or_default();
        if *own + bytes > MOST_OF_ONE {
            return Err(Refusal::TooMuch);
        }
        *own += bytes;
        kept.total += bytes;
        self.bytes += bytes;
        Ok(())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut kept = self.bodies.lock();
        kept.total = kept.total.saturating_sub(self.bytes);
        if let Some(own) = kept.of.get_mut(&self.principal) {
            *own = own.saturating_sub(self.bytes);
            if *own == 0 {
                kept.of.remove(&self.principal);
            }
        }
    }
}

/// A call's arguments have as much at most.
pub(crate) const LONGEST: usize = 4 << 20;
/// The daemon keeps as much of the arguments of one session, and of all.
const MOST_OF_ONE: usize = 16 << 20;
const MOST: usize = 32 << 20;
/// For a whole body.
const READ_LIMIT: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{Full, StreamBody};
    use hyper::body::Frame;
    use std::convert::Infallible;

    fn principal(name: &str) -> Principal {
        Principal {
            name: name.into(),
            key: name.into(),
            limits: Arc::default(),
        }
    }

    fn full(bytes: usize) -> Full<Bytes> {
        Full::new(Bytes::from(vec![b'x'; bytes]))
    }

    #[tokio::test]
    async fn bodies_of_a_token_and_of_all_have_a_bound_until_their_requests_are_answered() {
        let bodies = Arc::new(Bodies::default());
        let (one, two, three) = (principal("one"), principal("two"), principal("three"));
        let too_large = bodies.read(&one, full(LONGEST + 1)).await;
        assert_eq!(too_large.unwrap_err(), Refusal::TooLarge);
        let mut kept = Vec::new();
        for principal in [&one, &two] {
            for _ in 0..MOST_OF_ONE / LONGEST {
                kept.push(bodies.read(principal, full(LONGEST)).await.unwrap());
            }
        }
        let refused = bodies.read(&three, full(1)).await;
        assert_eq!(refused.unwrap_err(), Refusal::TooMuchFromAll);
        kept.pop();
        bodies.read(&three, full(LONGEST)).await.unwrap();
        let refused = bodies.read(&one, full(1)).await;
        assert_eq!(refused.unwrap_err(), Refusal::TooMuch);
        kept.clear();
        assert!(bodies.lock().of.is_empty() && bodies.lock().total == 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_never_ends_is_given_up_and_nothing_of_it_is_kept() {
        let bodies = Arc::new(Bodies::default());
        let first = Ok::<_, Infallible>(Frame::data(Bytes::from_static(b"{")));
        let (sender, receiver) = tokio::sync::mpsc::channel(1);
        sender.send(first).await.unwrap();
        let mut receiver = receiver;
        let parts = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
        let refused = bodies.read(&principal("one"), StreamBody::new(parts)).await;
        assert_eq!(refused.unwrap_err(), Refusal::TooSlow);
        assert_eq!(bodies.lock().total, 0);
        drop(sender);
    }
}
