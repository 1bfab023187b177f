//! The daemon's socket, spoken to as other programs would.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod arguments;
mod comes_back;
mod confirm;
mod crowd;
mod crowding;
mod deadlines;
mod endpoint;
mod extension;
mod fake_extension;
mod first_words;
mod full_disk;
mod idle;
mod library_lists;
mod other_users;
mod page_desk;
mod page_documents;
mod page_door;
mod page_floods;
mod page_lists;
mod page_load;
mod page_text;
mod pages;
mod panel;
mod patience;
mod peers;
mod person;
mod relayed;
mod remote;
mod server;
mod silence;
mod strangers;
mod succession;
mod tunnel;
mod versions;
mod wire;
