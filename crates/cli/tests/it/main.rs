//! Commands as a person runs them: exit code, output and what is left behind.

mod demo;
