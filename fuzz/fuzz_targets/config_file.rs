//! See `config_file` in `crates/config/src/fuzzing.rs`.

#![no_main]

use tabmux_config::MCP;
use tabmux_config::fuzzing::config_file;
use tabmux_stdio_proxy::Args;

libfuzzer_sys::fuzz_target!(|data: &[u8]| config_file(data, MCP, Args::parser));
