//! See `json_rpc_line` in `crates/mcp/src/fuzzing.rs`.

#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| tabmux_mcp::fuzzing::json_rpc_line(data));
