//! Tests of the whole state machine, in virtual time.
//!
//! Names that begin with a requirement's id prove that line of the requirements.

mod browser;
mod rng;
mod sim;

mod states;

mod close_tab;
mod connect_browser;
mod focus_tab;
mod list_tabs;
mod open_tab;
mod page_actions;

mod deadlines;
mod edges;
mod notices;
mod refusals;
mod sharing;

mod model;
mod once;
mod walks;
