//! See `extension_message` in `crates/daemon/src/fuzzing.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tabmux_daemon::fuzzing::extension_message(data));
