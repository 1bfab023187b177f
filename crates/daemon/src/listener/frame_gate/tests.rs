//! Frames that arrive in pieces of any size are judged as if they were whole.

use super::super::large_messages::LargeMessages;
use super::*;
use futures_util::{SinkExt, StreamExt};
use proptest::prelude::*;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};

const LONGEST: usize = 1024 * 1024;

type Client = WebSocketStream<DuplexStream>;
type Server = WebSocketStream<Gate<DuplexStream>>;

/// Two ends with a pipe of this many bytes between them.
async fn ends(longest: usize, buffered: usize) -> (Client, Server) {
    let (near, far) = tokio::io::duplex(buffered);
    // The websocket has no limits of its own here.
    let config = WebSocketConfig::default()
        .max_message_size(None)
        .max_frame_size(None);
    let gate = Gate::new(far, longest);
    (
        WebSocketStream::from_raw_socket(near, Role::Client, None).await,
        WebSocketStream::from_raw_socket(gate, Role::Server, Some(config)).await,
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn messages_arrive_as_they_were_sent(
        sizes in prop::collection::vec(prop_oneof![0..200_usize, 60_000..200_000_usize], 1..8),
        buffered in prop_oneof![1..40_usize, 1_000..100_000_usize],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (mut client, mut server) = ends(LONGEST, buffered.max(16)).await;
            let messages: Vec<_> = sizes.iter().enumerate().map(|(number, size)| {
                let text: String = (0..*size).map(|i| char::from(b'a' + ((i + number) % 26) as u8)).collect();
                match number % 3 {
                    0 => Message::text(text),
                    1 => Message::binary(text.into_bytes()),
                    _ => Message::Ping(text.into_bytes()[..*size.min(&125)].to_vec().into()),
                }
            }).collect();
            let sent = messages.clone();
            let sending = async {
                for message in sent {
                    client.send(message).await.unwrap();
                }
                client
            };
            let receiving = async {
                let mut received = Vec::new();
                while received.len() < messages.len() {
                    received.push(server.next().await.unwrap().unwrap());
                    server.get_mut().release();
                }
                received
            };
            let (_client, received) = tokio::join!(sending, receiving);
            assert_eq!(received, messages);
        });
    }
}

/// A client's frame with a mask of zeros, which announces the length `says`.
fn frame(flags: u8, says: u64, payload: usize) -> Vec<u8> {
    let mut bytes = vec![flags, MASKED | 127];
    bytes.extend(says.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(vec![b'x'; payload]);
    bytes
}

#[tokio::test]
async fn a_message_that_is_too_long_is_refused_by_its_header() {
    let (text, more, ping) = (0x01, 0x00, 0x09);
    let refused: [Vec<Vec<u8>>; 5] = [
        vec![frame(text | FIN, 2_001, 0)],
        vec![frame(text | FIN, u64::MAX, 0)],
        // Also in several frames, with a control frame between them.
        vec![frame(text, 1_500, 1_500), frame(more | FIN, 501, 0)],
        vec![
            frame(text, 1_500, 1_500),
            frame(ping | FIN, 100, 100),
            frame(more, 501, 0),
        ],
        vec![frame(ping | FIN, 126, 0)],
    ];
    for frames in refused {
        let (mut near, far) = tokio::io::duplex(100_000);
        let mut gate = Gate::new(far, 2_000);
        near.write_all(&frames.concat()).await.unwrap();
        let mut passed = vec![0; 10_000];
        let error = loop {
            match gate.read(&mut passed).await {
                Ok(count) => assert!(count > 0, "{frames:?}"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.to_string(), "the message is too long");
    }
}

#[tokio::test]
async fn as_long_as_allowed_is_fine_and_the_limit_can_grow() {
    let (mut client, mut server) = ends(2_000, 1_000_000).await;
    let large = Arc::new(LargeMessages::new(1));
    for size in [2_000, 2_000, 2_000] {
        client.send(Message::text("x".repeat(size))).await.unwrap();
    }
    for _ in 0..3 {
        assert_eq!(server.next().await.unwrap().unwrap().len(), 2_000);
    }
    server.get_mut().open(LONGEST, large.slot("http://a"));
    let message = Message::text("x".repeat(LONGEST / 2));
    client.send(message.clone()).await.unwrap();
    assert_eq!(server.next().await.unwrap().unwrap(), message);
}

#[tokio::test(start_paused = true)]
async fn a_large_message_waits_for_its_turn_and_not_for_ever() {
    let large = Arc::new(LargeMessages::new(2));
    let (mut slow, mut first) = ends(2_000, 1_000_000).await;
    let (mut other, mut second) = ends(2_000, 1_000_000).await;
    let (mut same, mut third) = ends(2_000, 1_000_000).await;
    first.get_mut().open(LONGEST, large.slot("http://a"));
    second.get_mut().open(LONGEST, large.slot("http://b"));
    third.get_mut().open(LONGEST, large.slot("http://a"));
    // A frame that is not the last one.
    slow.get_mut()
        .write_all(&frame(0x81, 500_000, 70_000))
        .await
        .unwrap();
    let begun = tokio::time::timeout(Duration::from_millis(1), first.next()).await;
    assert!(begun.is_err());
    // Another origin has a free slot, the same origin has not; small messages need none.
    let message = Message::text("x".repeat(500_000));
    other.send(message.clone()).await.unwrap();
    assert_eq!(second.next().await.unwrap().unwrap(), message);
    same.send(Message::text("small")).await.unwrap();
    same.send(message.clone()).await.unwrap();
    assert_eq!(third.next().await.unwrap().unwrap(), Message::text("small"));
    let waits = tokio::time::timeout(Duration::from_millis(1), third.next()).await;
    assert!(waits.is_err());
    let (late, given) = tokio::join!(first.next(), third.next());
    let error = late.unwrap().unwrap_err().to_string();
    assert!(error.contains("the message took too long"), "{error}");
    assert!(given.is_some_and(|given| given.is_ok_and(|given| given == message)));
}
