//! Attacks as data: hostile pages, floods and calls, and what must hold while they last.
//!
//! The end-to-end tests play all of them beside a session that has nothing to do with it, and
//! `cargo xtask bench --bystander` measures what that session notices.

mod bystander;
mod calls;
mod doors;
mod library;
mod playing;
mod port;
mod table;

pub use bystander::{Bystander, Lost};
pub use calls::Answer;
pub use playing::{Outcome, Playing, Turns};
pub use table::ATTACKS;

use serde_json::Value;

/// One attack.
///
/// StateFiles what it says itself, this must always hold: the bystander's calls succeed with the right answers, during
/// the attack and after; its tab and its state are there; the daemon is the same process, and has never more than
/// [`MOST_MEMORY`]; every call of the attacker's own session is answered, and that session keeps its own tab.
#[derive(Debug)]
pub struct Attack {
    /// What it does, in a few words.
    pub name: &'static str,
    /// What it is about.
    pub group: Group,
    /// How it attacks.
    pub means: Means,
    /// What the attacker's session calls meanwhile, one after the other.
    pub calls: &'static [Call],
    /// What must hold beside that.
    pub holds: &'static [Hold],
}

/// What attacks are about. Those of one group are played in one browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// What a page says: console, errors.
    Console,
    /// Tools that a page offers.
    PageTools,
    /// What a page is: its document, frames and scripts.
    Documents,
    /// What a page does with the browser: addresses, requests, workers, downloads.
    Browsing,
    /// Connections to the loopback port.
    Connections,
    /// What an agent calls.
    Calls,
}

/// How an attack is made.
#[derive(Debug)]
pub enum Means {
    /// The attacker's session opens this page of `fixtures/hostile`.
    Page(&'static str),
    /// Somebody poses as workers of the page library.
    Library(Library),
    /// Somebody connects to the loopback port and says too little or too much.
    Port(Port),
    /// The attacker's session only calls.
    Calls,
    /// There is a named pipe, `fifo`, in the folder that the clients work in.
    Fifo,
    /// The attacker's session makes so many calls without waiting for an answer.
    Burst(usize),
}

/// What the library's connections do.
#[derive(Clone, Copy, Debug)]
pub enum Library {
    /// Register tools of 58 kB without end, over so many connections.
    Registrations(usize),
    /// Register and unregister tabs without end.
    Tabs,
    /// Take so many places, all for one origin.
    Places(usize),
    /// Offer tools that answer twice, never, for others, or with far too much.
    Answers,
}

/// What connections to the port do.
#[derive(Clone, Copy, Debug)]
pub enum Port {
    /// So many are open and say nothing.
    Idle(usize),
    /// So many send their request head byte by byte.
    SlowHeads(usize),
    /// So many have the extension's origin and prove nothing.
    Unproved(usize),
    /// So many send a frame of 24 MB before anything else.
    BigFrames(usize),
    /// Requests that nobody should make, and noise, without end.
    Noise,
}

/// A call with its arguments.
#[derive(Debug)]
pub struct Call(pub &'static str, pub Arguments);

/// The arguments of a call.
#[derive(Debug)]
pub enum Arguments {
    /// This JSON.
    Json(&'static str),
    /// Too much to write down.
    Made(fn() -> Value),
}

/// What else must hold while an attack lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// One more client gets a session, and `tabmux status` is answered.
    ClientsComeIn,
    /// A page of another origin is welcomed.
    PagesComeIn,
    /// An extension that says hello is challenged, as a first step.
    ExtensionsComeIn,
    /// No character that people cannot see is in what the attacker's session reads, and all its calls read something.
    NoHiddenText,
    /// The last of the attacker's calls succeeds, whatever those before it did.
    LastSucceeds,
    /// StateFiles the browser's profile, no more than so many bytes are on the disk.
    Disk(u64),
}

/// What the daemon may have resident at any moment, in bytes, whatever happens.
pub const MOST_MEMORY: u64 = 150_000_000;
