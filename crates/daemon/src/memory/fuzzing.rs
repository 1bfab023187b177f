//! Properties that hold for any contents of the session file.

use super::{Memory, Notes};
use tabmux_protocol::wire::{Resume, SessionId};

/// A daemon starts and reads this file.
///
/// # Panics
/// If it changes when it is parsed and written again, or a session is given to a client without its secret, or twice.
pub fn memory_file(data: &[u8]) {
    let Ok(notes) = serde_json::from_slice::<Notes>(data) else {
        return;
    };
    let written = serde_json::to_vec(&notes).expect("notes have a form");
    assert_eq!(serde_json::from_slice(&written).ok(), Some(notes.clone()));
    let mut memory = Memory {
        left: notes.sessions.clone(),
        last: notes.clone(),
        ..Memory::none()
    };
    let all: usize = notes.sessions.values().map(|it| it.tabs.len()).sum();
    assert!(memory.tabs().len() <= all);
    for (name, session) in &notes.sessions {
        let resume = |secret: String| Resume {
            session_id: SessionId(name.clone()),
            secret,
            told: false,
        };
        assert!(memory.number_of(name).is_none(), "no client has proved it");
        let guess = format!("{}x", session.secret);
        assert!(memory.take_up(&resume(guess)).is_none(), "a wrong secret");
        let given = memory.take_up(&resume(session.secret.clone()));
        let given = given.expect("its own secret");
        assert!(given.opened.len() <= session.tabs.len());
        assert!(given.bound.len() <= session.tabs.len());
        assert_eq!(memory.number_of(name), Some(session.number));
        let twice = memory.take_up(&resume(session.secret.clone()));
        assert!(twice.is_none(), "two clients have one session");
    }
    let abandoned = memory.take_abandoned();
    assert!(abandoned.len() <= all && memory.take_abandoned().is_empty());
}
