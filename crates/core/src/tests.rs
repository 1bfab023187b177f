//! Tests of the whole state machine, in virtual time.
//!
//! `Spec:` comments name the lines of `docs/specification` that a test proves.

mod browser;
mod pages;
mod rng;
mod shorthand;
mod sim;

mod states;

mod close_tab;
mod connect_browser;
mod focus_tab;
mod list_tabs;
mod more_tools;
mod open_tab;
mod page_actions;

mod several;

mod library_tools;
mod lists_rest;
mod page_bounds;
mod page_calls;
mod page_lists;
mod page_names;
mod page_tabs;
mod routing;

mod adoption;
mod binding;
mod isolation;
mod losses;
mod page_numbers;
mod reconnect;
mod restored_tabs;
mod static_list;
mod waiting;

mod deadlines;
mod edges;
mod notices;
mod person;
mod policies;
mod refusal_tools;
mod refusals;
mod reroute;
mod session_end;
mod sharing;
mod site_filters;
mod turns;

mod model;
mod once;
mod own_browsers;
mod page_inputs;
mod static_model;
mod static_walks;
mod walks;
