//! The browser crate against a real Chromium: each test with a browser and a profile of its own.

mod click;
mod consequences;
mod fill;
mod lab;
mod pick;
mod tabs;
