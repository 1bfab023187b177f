//! The `tabmux` binary.

fn main() {}
