//! How many long resources are in memory at once: a read has a place until its answer has been written, or dropped.

use super::{HttpResponse, Principal};
use bytes::{Buf, Bytes};
use http::Request;
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use http_body_util::combinators::BoxBody;
use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// The places of all principals.
#[derive(Debug)]
pub(super) struct Places {
    all: Arc<Semaphore>,
    // Locked briefly.
    of: Mutex<HashMap<Arc<str>, Weak<Semaphore>>>,
}

/// The place of one read.
#[derive(Debug)]
pub(super) struct ReadPlace {
    _of_principal: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

/// Where the place of a request is kept until its answer has ended; in the extensions of the request.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept(Arc<Mutex<Option<ReadPlace>>>);

impl Default for Places {
    fn default() -> Self {
        Self {
            all: Arc::new(Semaphore::new(MOST)),
            of: Mutex::default(),
        }
    }
}

impl Places {
    /// Waits until there is a place. The error is a sentence.
    pub(super) async fn take(&self, principal: &Principal) -> Result<ReadPlace, String> {
        let own = self.own(principal);
        let all = Arc::clone(&self.all);
        let taking = async {
            let of_principal = own.acquire_owned().await.ok()?;
            let of_all = all.acquire_owned().await.ok()?;
            Some(ReadPlace {
                _of_principal: of_principal,
                _of_all: of_all,
            })
        };
        let taken = timeout(LONGEST_WAIT, taking).await;
        taken.ok().flatten().ok_or_else(|| {
            format!(
                "Too many files are being read: at most {MOST_OF_ONE} at once with one token, and {MOST} in all. Read \
                 the answers of other reads, then try again."
            )
        })
    }

    fn own(&self, principal: &Principal) -> Arc<Semaphore> {
        let mut of = lock(&self.of);
        if let Some(known) = of.get(&principal.key).and_then(Weak::upgrade) {
            return known;
        }
        of.retain(|_, known| known.strong_count() > 0);
        let own = Arc::new(Semaphore::new(MOST_OF_ONE));
        of.insert(Arc::clone(&principal.key), Arc::downgrade(&own));
        own
    }
}

impl Kept {
    /// For the answer of this request.
    pub(super) fn of<T>(request: &mut Request<T>) -> Self {
        let kept = Self::default();
        request.extensions_mut().insert(kept.clone());
        kept
    }

    pub(super) fn keep(&self, place: ReadPlace) {
        *lock(&self.0) = Some(place);
    }

    /// The response, whose end ends the place. A stream can begin before its request takes one.
    pub(super) fn until_end_of(self, response: HttpResponse) -> HttpResponse {
        response.map(|body| {
            BodyExt::boxed(InParts {
                body,
                rest: Bytes::new(),
                kept: self,
            })
        })
    }
}

/// A body in small parts. The connection takes the next one only when it has written most of those before, so this is
/// not dropped before the answer is written.
struct InParts {
    body: BoxBody<Bytes, Infallible>,
    rest: Bytes,
    kept: Kept,
}

impl Body for InParts {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            let next = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(Some(Ok(frame))) => frame.into_data(),
                other => return other,
            };
            match next {
                Ok(data) if lock(&self.kept.0).is_none() => {
                    return Poll::Ready(Some(Ok(Frame::data(data))));
                }
                Ok(data) => self.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        let part = self.rest.len().min(PART);
        // A copy: a part of the whole would keep all of it in memory.
        let data = self.rest.copy_to_bytes(part).to_vec();
        Poll::Ready(Some(Ok(Frame::data(data.into()))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let rest = self.rest.len() as u64;
        let body = self.body.size_hint();
        let mut hint = SizeHint::new();
        hint.set_lower(body.lower() + rest);
        if let Some(upper) = body.upper() {
            hint.set_upper(upper + rest);
        }
        hint
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Each read has several copies of at most 15 MB in this process and in the daemon.
const MOST: usize = 8;
const MOST_OF_ONE: usize = 4;
const LONGEST_WAIT: Duration = Duration::from_secs(10);
const PART: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use http::Response;
    use http_body_util::Full;

    fn principal(key: &str) -> Principal {
        Principal {
            name: key.into(),
            key: key.into(),
            limits: Arc::default(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_read_waits_for_a_place_of_its_token_and_is_refused_in_the_end() {
        let places = Places::default();
        let (one, two, three) = (principal("one"), principal("two"), principal("three"));
        let mut taken = Vec::new();
        for who in [&one, &two] {
            for _ in 0..MOST_OF_ONE {
                taken.push(places.take(who).await.unwrap());
            }
        }
        for who in [&one, &three] {
            let why = places.take(who).await.unwrap_err();
            assert!(why.contains("at most 4"), "{why}");
        }
        let first = taken.remove(0);
        let (again, ()) = tokio::join!(places.take(&one), async { drop(first) });
        again.unwrap();
        drop(taken);
        places.take(&three).await.unwrap();
        assert_eq!(lock(&places.of).len(), 1, "others are forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_has_its_place_until_its_last_part_is_taken() {
        let places = Places::default();
        let mut request = Request::new(());
        let kept = Kept::of(&mut request);
        let in_handler = request.extensions().get::<Kept>().unwrap();
        in_handler.keep(places.take(&principal("one")).await.unwrap());
        drop(request);
        let whole = Bytes::from(vec![7; 3 * PART + 1]);
        let body = Full::new(whole.clone()).boxed();
        let mut body = kept.until_end_of(Response::new(body)).into_body();
        assert_eq!(body.size_hint().exact(), Some(whole.len() as u64));
        let mut read = Vec::new();
        while let Some(frame) = body.frame().await {
            let data = frame.unwrap().into_data().unwrap();
            assert!(data.len() <= PART);
            read.extend_from_slice(&data);
            assert_eq!(places.all.available_permits(), MOST - 1);
        }
        assert_eq!(read, whole);
        drop(body);
        assert_eq!(places.all.available_permits(), MOST);
    }
}
