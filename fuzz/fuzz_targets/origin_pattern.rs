//! See `origin_pattern` in `crates/browser/src/fuzzing.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tabmux_browser::fuzzing::origin_pattern(data));
