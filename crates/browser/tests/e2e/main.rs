//! The browser crate against a real Chromium: each test with a browser and a profile of its own.

mod lab;
mod tabs;
