//! See `page_answer` in `crates/daemon/src/fuzzing.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tabmux_daemon::fuzzing::page_answer(data));
