//! See `steps` in `crates/daemon/src/steps/fuzzing.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tabmux_daemon::fuzzing::steps(data));
