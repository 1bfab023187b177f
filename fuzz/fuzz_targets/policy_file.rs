//! See `policy_file` in `crates/daemon/src/fuzzing.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tabmux_daemon::fuzzing::policy_file(data));
