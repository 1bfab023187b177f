//! Tools that are generated from pages: what they are, what they do, and when a page is read again.

mod actions;
mod apps;
mod follow;
mod forms;
mod lists;
mod reach;
mod secrets;
mod stand;

pub(crate) use stand::OFFLINE;
