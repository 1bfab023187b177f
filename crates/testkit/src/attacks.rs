//! Attacks as data: hostile pages, floods and calls, and what must hold meanwhile.
//!
//! The end-to-end tests run all of them next to an unrelated session, the bystander, and `cargo xtask bench
//! --bystander` measures how they affect it.

mod access;
mod bystander;
mod calls;
mod library;
mod port;
mod running;
mod table;

pub use bystander::{Bystander, Lost};
pub use calls::Answer;
pub use running::{Outcome, RunningAttack, Turns};
pub use table::ATTACKS;

use serde_json::Value;

/// One attack.
///
/// Besides its own conditions, this must always hold: the bystander's calls succeed with the right answers, during
/// the attack and after; its tab and its state are unchanged; the daemon is the same process, and never has more than
/// [`MOST_MEMORY`]; every call of the attacker's own session is answered, and that session keeps its own tab.
#[derive(Debug)]
pub struct Attack {
    /// What it does, in a few words.
    pub name: &'static str,
    /// Its topic.
    pub group: Group,
    /// How it attacks.
    pub means: Means,
    /// The calls of the attacker's session meanwhile, one after the other.
    pub calls: &'static [Call],
    /// What else must hold.
    pub holds: &'static [Hold],
}

/// Topics of attacks. Those of one group run in one browser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// What a page logs: console, errors.
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
    /// A client poses as workers of the page library.
    Library(Library),
    /// A client connects to the loopback port and sends too little or too much.
    Port(Port),
    /// The attacker's session only makes calls.
    Calls,
    /// There is a named pipe, `fifo`, in the clients' working folder.
    Fifo,
    /// The attacker's session makes so many calls without waiting for an answer.
    Burst(usize),
}

/// What the library's connections do.
#[derive(Clone, Copy, Debug)]
pub enum Library {
    /// Register tools of 58 kB endlessly, over so many connections.
    Registrations(usize),
    /// Register and unregister tabs endlessly.
    Tabs,
    /// Register so many tabs, all for one origin.
    Places(usize),
    /// Offer tools that answer twice, never, for others, or with far too much.
    Answers,
}

/// What connections to the port do.
#[derive(Clone, Copy, Debug)]
pub enum Port {
    /// So many are open and send nothing.
    Idle(usize),
    /// So many send their request head byte by byte.
    SlowHeads(usize),
    /// So many have the extension's origin and prove nothing.
    Unproved(usize),
    /// So many send a frame of 24 MB before anything else.
    BigFrames(usize),
    /// Invalid requests and noise, endlessly.
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
    /// Too long to write down.
    Made(fn() -> Value),
}

/// What else must hold during an attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// A new client gets a session, and `tabmux status` is answered.
    ClientsComeIn,
    /// A page of another origin can connect.
    PagesComeIn,
    /// An extension that says hello gets a challenge, as a first step.
    ExtensionsComeIn,
    /// The attacker's session reads no invisible characters, and all its calls return some text.
    NoHiddenText,
    /// The last of the attacker's calls succeeds, whatever the earlier ones did.
    LastSucceeds,
    /// Besides the browser's profile, no more than so many bytes are on the disk.
    Disk(u64),
}

/// The limit of the daemon's resident memory at any moment, in bytes.
pub const MOST_MEMORY: u64 = 150_000_000;
