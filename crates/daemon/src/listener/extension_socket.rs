//! One connection of the extension: first both sides prove themselves, then they talk.

use super::Shared;
use super::relay::Relays;
use super::websocket::Socket;
use crate::extension::{Greeting, Nonce, Peer, PeerName, Secret};
use crate::handle::PersonHandle;
use crate::lobby::Guest;
use crate::main_loop::Wish;
use std::sync::Arc;
use std::time::Duration;
use tabmux_browser::pace::Pace;
use tabmux_browser::text::{decode, one_line};
use tabmux_protocol::extension::{EXTENSION_PROTOCOL, FromExtension, LONGEST_FRAME, ToExtension};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::Message;

/// Serves an extension until it goes, falls silent, or the daemon stops.
pub(super) async fn serve(mut socket: Socket, guest: Guest, host: &str, shared: &Arc<Shared>) {
    let greeting = tokio::time::timeout(PROOF_LIMIT, greet(&mut socket, host, shared));
    let greeted = tokio::select! {
        greeted = greeting => greeted,
        () = guest.evicted() => {
            tracing::warn!("hung up on an extension without a proof: others need its place");
            return;
        }
    };
    let (instance, name, secret) = match greeted {
        Ok(Ok(known)) => known,
        Ok(Err(Unproved::Gone)) => return,
        Ok(Err(Unproved::Refused(reason))) => return refuse_guest(socket, &reason, guest).await,
        Err(_) => {
            let reason = "The extension did not prove itself in time.";
            return refuse_guest(socket, reason, guest).await;
        }
    };
    let (out, outbox) = mpsc::channel(OUTBOX);
    let relays = Relays::new(Arc::clone(shared), out.clone());
    let peer = Arc::new(Peer::new(instance, name, out));
    let Ok(slot) = shared.hub.extensions.slot(Arc::clone(&peer)) else {
        let reason = "This installation of the extension is connected already.";
        return refuse_guest(socket, reason, guest).await;
    };
    drop(guest);
    socket.open(
        LONGEST_FRAME,
        shared.large_of_extensions.slot(&peer.instance.0),
    );
    if !say(&mut socket, &ToExtension::Welcome).await {
        return;
    }
    tracing::info!(name = peer.name, "an extension is connected");
    let person = shared.hub.meet_person(Arc::clone(&peer)).await;
    let outdated = talk(&mut socket, outbox, &peer, &person, relays, &secret, shared).await;
    tracing::info!(name = peer.name, "an extension is gone");
    drop((person, slot));
    if let Ended::SecretChanged = outdated {
        refuse(socket, "The pairing secret is another one now.").await;
    }
}

/// Why there is no proof.
enum Unproved {
    Gone,
    Refused(String),
}

/// Sees whether the extension has the secret, after showing that we have it.
async fn greet(
    socket: &mut Socket,
    host: &str,
    shared: &Shared,
) -> Result<(PeerName, Option<String>, Secret), Unproved> {
    let refused = |reason: &str| Unproved::Refused(reason.to_owned());
    let FromExtension::Hello {
        version,
        nonce,
        instance,
        name,
    } = first_words(socket).await?
    else {
        return Err(refused("The first word of an extension is hello."));
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
    // Read anew each time, so that another secret counts at once.
    let secret = load_secret(shared)
        .await
        .map_err(|error| Unproved::Refused(format!("There is no secret to compare: {error}.")))?;
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
    if !say(socket, &challenge).await {
        return Err(Unproved::Gone);
    }
    let FromExtension::Proof { proof } = first_words(socket).await? else {
        return Err(refused("The second word of an extension is its proof."));
    };
    if !greeting.is_proved_by(&secret, &proof) {
        return Err(refused(
            "The proof is wrong. Run `tabmux extension install` again and reload the extension.",
        ));
    }
    let name = name
        .map(|name| one_line(&name, MOST_NAME))
        .filter(|name| !name.is_empty());
    Ok((PeerName(instance), name, secret))
}

/// The next message of somebody who has proved nothing. Only `ping` is answered, and not for ever.
async fn first_words(socket: &mut Socket) -> Result<FromExtension, Unproved> {
    for _ in 0..MOST_PINGS {
        match socket.recv().await {
            Some(Ok(Message::Text(text))) => match decode(&text) {
                Ok(FromExtension::Ping) => {
                    say(socket, &ToExtension::Pong).await;
                }
                Ok(message) => return Ok(message),
                Err(_) => break,
            },
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
            None | Some(Ok(Message::Close(_))) => return Err(Unproved::Gone),
            // What is too long is not even read.
            Some(Ok(_) | Err(_)) => break,
        }
    }
    Err(Unproved::Refused(
        "This is not how an extension speaks.".to_owned(),
    ))
}

/// Says why to somebody who has proved nothing, and hangs up; at once, if others need the place.
async fn refuse_guest(socket: Socket, reason: &str, guest: Guest) {
    tokio::select! {
        () = refuse(socket, reason) => {}
        () = guest.evicted() => {}
    }
}

/// Says why, and hangs up.
async fn refuse(mut socket: Socket, reason: &str) {
    tracing::warn!(reason, "refused an extension");
    let reason = reason.to_owned();
    say(&mut socket, &ToExtension::Refused { reason }).await;
    socket.close(UNPROVED).await;
}

/// Why a conversation is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Gone,
    SecretChanged,
}

async fn talk(
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
    if !say(socket, &connect).await {
        return Ended::Gone;
    }
    let mut pulse = tokio::time::interval(PULSE);
    let mut secret_check = tokio::time::interval(SECRET_CHECK);
    // One look at a time: a file system that does not answer costs one thread, and what was so stays so.
    let mut looking: Option<JoinHandle<bool>> = None;
    let mut heard_at = Instant::now();
    let mut pace = Pace::new(MESSAGES_PER_SECOND, BURST);
    loop {
        let going_on = tokio::select! {
            () = shared.stop.cancelled() => false,
            heard = tokio::time::timeout_at(heard_at + SILENCE_LIMIT, socket.recv()) => match heard {
                Ok(Some(Ok(Message::Text(text)))) => {
                    heard_at = Instant::now();
                    match decode(&text) {
                        Ok(FromExtension::Ping) => say(socket, &ToExtension::Pong).await,
                        Ok(message) => {
                            pace.next(1).await;
                            match relays.hear(message) {
                                Some(message) => hear(message, peer, person).await,
                                None => true,
                            }
                        }
                        Err(error) => {
                            tracing::debug!(%error, "ignored what an extension said");
                            true
                        }
                    }
                }
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => true,
                _ => false,
            },
            message = outbox.recv() => match message {
                Some(message) => say(socket, &message).await,
                None => false,
            },
            // A message, because Chrome does not count the websocket's own pings as life.
            _ = pulse.tick() => say(socket, &ToExtension::Ping).await,
            // Whoever proved an older secret has proved nothing.
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

/// What concerns tabs is the peer's business, and what the person wants is the main loop's. "Cancel" in
/// Chrome's bar is both.
async fn hear(message: FromExtension, peer: &Peer, person: &PersonHandle) -> bool {
    let wish = Wish::in_message(&message);
    let goes_on = peer.hear(message).await;
    match wish {
        Some(wish) => person.wants(wish).await && goes_on,
        None => goes_on,
    }
}

/// Reads the file with the secret beside the runtime's workers: few at a time, because before a proof anybody can
/// have it done. Who waits is ended by the limit for proofs.
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

/// What a look brought, if there is one.
async fn answered(looking: &mut Option<JoinHandle<bool>>) -> bool {
    match looking {
        Some(looking) => looking.await.unwrap_or(false),
        None => std::future::pending().await,
    }
}

async fn say(socket: &mut Socket, message: &ToExtension) -> bool {
    let Ok(text) = serde_json::to_string(message) else {
        return true;
    };
    let sent = socket.send(Message::Text(text.into()));
    matches!(tokio::time::timeout(SEND_LIMIT, sent).await, Ok(Ok(())))
}

/// A browser has much to tell while a page loads.
const BURST: u32 = 100_000;
const MESSAGES_PER_SECOND: u32 = 20_000;
const OUTBOX: usize = 512;
const PROOF_LIMIT: Duration = Duration::from_secs(10);
const MOST_PINGS: usize = 20;
const MOST_NAME: usize = 60;
/// The code of a connection that is closed because it proved nothing.
const UNPROVED: u16 = 4001;
/// Chrome ends an extension's worker after 30 s without a message.
const PULSE: Duration = Duration::from_secs(20);
const SILENCE_LIMIT: Duration = Duration::from_secs(60);
/// How soon another secret ends the connections of the one before.
const SECRET_CHECK: Duration = Duration::from_secs(1);
const SEND_LIMIT: Duration = Duration::from_secs(10);
