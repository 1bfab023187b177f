//! See `cdp_frames` in `crates/cdp/src/fuzzing.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tabmux_cdp::fuzzing::cdp_frames(data));
