//! The whole product, as a client sees it: the real binary over stdio, with a real browser.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod agent;
mod crashed;
mod crowd;
mod desk;
mod model;
mod over_extension;
mod somebody;
mod user;

mod attach;
mod bad_input;
mod edges;
mod eras;
mod extension;
mod fixed_list;
mod fresh_tabs;
mod generated;
mod groups;
mod hidden;
mod hookup;
mod idle;
mod inside;
mod kills;
mod letting_go;
mod lifecycle;
mod load;
mod looping;
mod migrating;
mod outliving;
mod own_browser;
mod page_tools;
mod panel;
mod panel_pictures;
mod panel_questions;
mod panel_sites;
mod peers;
mod policy;
mod private;
mod profile_names;
mod random_walk;
mod registry;
mod served;
mod sessions;
mod several;
mod walk;
