//! Generated tools: which ones a page gets, what they do, and when the page is read again.

mod actions;
mod apps;
mod follow;
mod forms;
mod harness;
mod lists;
mod reach;
mod secrets;

pub(crate) use harness::OFFLINE;
