//! Tools that are generated from pages: what they are, what they do, and when a page is read again.

mod actions;
mod apps;
mod follow;
mod forms;
mod harness;
mod lists;
mod reach;
mod secrets;

pub(crate) use harness::OFFLINE;
