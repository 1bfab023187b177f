//! A raw client on one side, a scripted backend on the other, the real server in between.

mod asking;
mod calls;
mod changes;
mod ending;
mod eras;
mod garbage;
mod order;
mod resources;
mod roots;
mod server_harness;
