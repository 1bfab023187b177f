//! One connection of the extension: both sides prove that they have the secret, then they exchange messages.

use super::relay::Relays;
use super::upgrade::upgrade;
use super::websocket::Socket;
use super::{Shared, status, text_of};
use crate::extension::{Greeting, Introduction, Nonce, Peer, PeerName, Secret};
use crate::handle::PersonHandle;
use crate::panel::PersonRequest;
use crate::pending_slots::PendingSlot;
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode, header};
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::pace::Pace;
use tabmux_protocol::extension::{
    EXTENSION_ID, EXTENSION_PROTOCOL, FromExtension, LONGEST_FRAME, ToExtension,
};
use tabmux_text::{decode_with, one_line};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

/// Answers a request for `/`, which only the tabmux extension may send.
pub(super) async fn answer(
    request: Request<Incoming>,
    host: String,
    shared: &Arc<Shared>,
) -> Response<String> {
    let origin = text_of(request.headers(), header::ORIGIN);
    let id = origin.and_then(|origin| origin.strip_prefix("chrome-extension://"));
    if id != Some(EXTENSION_ID) {
        let origin = one_line(origin.unwrap_or("none"), 200);
        tracing::warn!(
            origin,
            "refused an extension: its origin is not that of the tabmux extension"
        );
        return status(StatusCode::FORBIDDEN);
    }
    let Some(pending) = shared.unproved.enter().await else {
        return status(StatusCode::SERVICE_UNAVAILABLE);
    };
    let shared = Arc::clone(shared);
    // The proofs cover the host name of the request, so they are valid for no other server.
    upgrade(request, move |socket| async move {
        serve(socket, pending, &host, &shared).await;
    })
}

/// Serves an extension until it disconnects, is silent for too long, or the daemon stops.
pub(super) async fn serve(
    mut socket: Socket,
    pending: PendingSlot,
    host: &str,
    shared: &Arc<Shared>,
) {
    let greeting = tokio::time::timeout(PROOF_LIMIT, prove(&mut socket, host, shared));
    let greeted = tokio::select! {
        greeted = greeting => greeted,
        () = pending.evicted() => {
            tracing::warn!("closed an extension's connection without a proof: others need its slot");
            return;
        }
    };
    let (introduction, secret) = match greeted {
        Ok(Ok(known)) => known,
        Ok(Err(Unproved::Gone)) => return,
        Ok(Err(Unproved::Refused(reason))) => {
            return refuse_pending(socket, &reason, pending).await;
        }
        Err(_) => {
            let reason = "The extension did not send its proof in time.";
            return refuse_pending(socket, reason, pending).await;
        }
    };
    let (out, outbox) = mpsc::channel(OUTBOX);
    let relays = Relays::new(Arc::clone(shared), out.clone());
    let peer = Arc::new(Peer::new(introduction, out));
    let Ok(slot) = shared.hub.extensions.slot(Arc::clone(&peer)) else {
        let reason = "This installation of the extension is connected already.";
        return refuse_pending(socket, reason, pending).await;
    };
    drop(pending);
    socket.open(
        LONGEST_FRAME,
        shared.large_of_extensions.slot(&peer.instance.0),
    );
    if !send(&mut socket, &ToExtension::Welcome).await {
        return;
    }
    tracing::info!(name = peer.name, "an extension is connected");
    let person = shared.hub.meet_person(Arc::clone(&peer)).await;
    let outdated = exchange(&mut socket, outbox, &peer, &person, relays, &secret, shared).await;
    tracing::info!(name = peer.name, "an extension is gone");
    drop((person, slot));
    if let Ended::SecretChanged = outdated {
        refuse(
            socket,
            "The pairing secret has changed. Reload the extension.",
        )
        .await;
    }
}

/// Why an extension has not proved itself.
enum Unproved {
    Gone,
    Refused(String),
}

/// Checks that the extension has the secret, after proving that we have it.
async fn prove(
    socket: &mut Socket,
    host: &str,
    shared: &Shared,
) -> Result<(Introduction, Secret), Unproved> {
    let refused = |reason: &str| Unproved::Refused(reason.to_owned());
    let FromExtension::Hello {
        version,
        nonce,
        instance,
        name,
        extension_version,
    } = next_message(socket).await?
    else {
        return Err(refused("The first message must be hello."));
    };
    if version != EXTENSION_PROTOCOL {
        return Err(Unproved::Refused(format!(
            "This daemon speaks version {EXTENSION_PROTOCOL} of the extension's protocol, and the extension \
             version {version}. Run `tabmux extension install` again and reload the extension."
        )));
    }
    let (Some(theirs), Some(ours)) = (Nonce::parse(&nonce), Nonce::fresh()) else {
        return Err(refused("A nonce is 32 to 128 hex digits."));
    };
    if !(8..=100).contains(&instance.len()) || !instance.bytes().all(|b| b.is_ascii_alphanumeric())
    {
        return Err(refused("An instance is 8 to 100 letters and digits."));
    }
    // Read for each connection, so that a new secret takes effect at once.
    let secret = load_secret(shared).await.map_err(|error| {
        Unproved::Refused(format!(
            "The daemon cannot read the pairing secret: {error}."
        ))
    })?;
    let greeting = Greeting {
        theirs,
        ours,
        host: host.to_owned(),
    };
    let challenge = ToExtension::Challenge {
        version: EXTENSION_PROTOCOL,
        nonce: greeting.ours.as_str().to_owned(),
        proof: greeting.proof(&secret).unwrap_or_default(),
    };
    if !send(socket, &challenge).await {
        return Err(Unproved::Gone);
    }
    let FromExtension::Proof { proof } = next_message(socket).await? else {
        return Err(refused("The second message must be the proof."));
    };
    if !greeting.is_proved_by(&secret, &proof) {
        return Err(refused(
            "The proof is wrong. Run `tabmux extension install` again and reload the extension.",
        ));
    }
    let short = |text: Option<String>| {
        let text = one_line(&text?, MOST_NAME);
        (!text.is_empty()).then_some(text)
    };
    let introduction = Introduction {
        instance: PeerName(instance),
        name: short(name),
        version: short(extension_version),
    };
    Ok((introduction, secret))
}

/// The next message before the proof. Only a limited number of `ping` messages is answered.
async fn next_message(socket: &mut Socket) -> Result<FromExtension, Unproved> {
    for _ in 0..MOST_PINGS {
        match socket.recv().await {
            Some(Ok(Message::Text(text))) => match decode_with(&text, FromExtension::parse) {
                Ok(FromExtension::Ping) => {
                    send(socket, &ToExtension::Pong).await;
                }
                Ok(message) => return Ok(message),
                Err(_) => break,
            },
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            None | Some(Ok(Message::Close(_))) => return Err(Unproved::Gone),
            // A message that is too long is not read.
            Some(Ok(_) | Err(_)) => break,
        }
    }
    Err(Unproved::Refused(
        "Unexpected message during pairing.".to_owned(),
    ))
}

/// Sends the reason before the proof, and closes the connection; at once, if others need the slot.
async fn refuse_pending(socket: Socket, reason: &str, pending: PendingSlot) {
    tokio::select! {
        () = refuse(socket, reason) => {}
        () = pending.evicted() => {}
    }
}

/// Sends the reason and closes the connection.
async fn refuse(mut socket: Socket, reason: &str) {
    tracing::warn!(reason, "refused an extension");
    let reason = reason.to_owned();
    send(&mut socket, &ToExtension::Refused { reason }).await;
    socket.close(UNPROVED).await;
}

/// Why a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Gone,
    SecretChanged,
}

async fn exchange(
    socket: &mut Socket,
    mut outbox: mpsc::Receiver<ToExtension>,
    peer: &Peer,
    person: &PersonHandle,
    mut relays: Relays,
    secret: &Secret,
    shared: &Shared,
) -> Ended {
    let connect = ToExtension::Connect {
        launch: None,
        private: None,
    };
    if !send(socket, &connect).await {
        return Ended::Gone;
    }
    let mut pulse = tokio::time::interval(PULSE);
    let mut secret_check = tokio::time::interval(SECRET_CHECK);
    // One check at a time: a file system that hangs blocks one thread, and the last result stays valid.
    let mut looking: Option<JoinHandle<bool>> = None;
    let mut received_at = Instant::now();
    let mut pace = Pace::new(MESSAGES_PER_SECOND, BURST);
    loop {
        let going_on = tokio::select! {
            () = shared.stop.cancelled() => false,
            received = tokio::time::timeout_at(received_at + SILENCE_LIMIT, socket.recv()) => match received {
                Ok(Some(Ok(Message::Text(text)))) => {
                    received_at = Instant::now();
                    match decode_with(&text, FromExtension::parse) {
                        Ok(FromExtension::Ping) => send(socket, &ToExtension::Pong).await,
                        Ok(message) => {
                            pace.next(1).await;
                            match relays.handle(message) {
                                Some(message) => handle(message, peer, person).await,
                                None => true,
                            }
                        }
                        Err(error) => {
                            tracing::debug!(%error, "ignored an invalid message of an extension");
                            true
                        }
                    }
                }
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => true,
                _ => false,
            },
            message = outbox.recv() => match message {
                Some(message) => send(socket, &message).await,
                None => false,
            },
            // A message, because Chrome does not count websocket pings as activity.
            _ = pulse.tick() => send(socket, &ToExtension::Ping).await,
            // A proof with an old secret is no longer valid.
            _ = secret_check.tick(), if looking.is_none() => {
                let (path, known) = (shared.secret.clone(), secret.clone());
                let look = move || Secret::load(&path).is_ok_and(|now| now == known);
                looking = Some(tokio::task::spawn_blocking(look));
                true
            }
            is_same = answered(&mut looking) => {
                looking = None;
                if !is_same {
                    return Ended::SecretChanged;
                }
                true
            }
        };
        if !going_on {
            return Ended::Gone;
        }
    }
}

/// The peer handles messages about tabs, and the main loop handles requests of the person. "Cancel" in Chrome's
/// debugging bar goes to both.
async fn handle(message: FromExtension, peer: &Peer, person: &PersonHandle) -> bool {
    let request = PersonRequest::in_message(&message);
    let goes_on = peer.handle(message).await;
    match request {
        Some(request) => person.request(request).await && goes_on,
        None => goes_on,
    }
}

/// Reads the file with the secret outside of the runtime's worker threads. Few reads run at once, because any
/// connection can cause one before its proof. The proof timeout also ends this wait.
async fn load_secret(shared: &Shared) -> Result<Secret, String> {
    let turn = Arc::clone(&shared.secret_turns).acquire_owned().await;
    let path = shared.secret.clone();
    let work = tokio::task::spawn_blocking(move || {
        let secret = Secret::load_or_make(&path);
        drop(turn);
        secret
    });
    let secret = work.await.map_err(|error| error.to_string())?;
    secret.map_err(|error| error.to_string())
}

/// The result of the pending check, if there is one.
async fn answered(looking: &mut Option<JoinHandle<bool>>) -> bool {
    match looking {
        Some(looking) => looking.await.unwrap_or(false),
        None => std::future::pending().await,
    }
}

async fn send(socket: &mut Socket, message: &ToExtension) -> bool {
    let Ok(text) = serde_json::to_string(message) else {
        return true;
    };
    let sent = socket.send(Message::Text(text.into()));
    matches!(tokio::time::timeout(SEND_LIMIT, sent).await, Ok(Ok(())))
}

/// A browser sends many events while a page loads.
const BURST: u32 = 100_000;
const MESSAGES_PER_SECOND: u32 = 20_000;
const OUTBOX: usize = 512;
const PROOF_LIMIT: Duration = Duration::from_secs(10);
const MOST_PINGS: usize = 20;
const MOST_NAME: usize = 60;
/// The close code for a connection without a proof.
const UNPROVED: u16 = 4001;
/// Chrome ends an extension's worker after 30 s without a message.
const PULSE: Duration = Duration::from_secs(20);
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
/// How soon a new secret ends the connections that used the old one.
const SECRET_CHECK: Duration = Duration::from_secs(1);
const SEND_LIMIT: Duration = Duration::from_secs(10);
