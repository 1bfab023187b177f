//! With any inputs in any order, every call is answered exactly once and in time.
//!
//! The inputs are arbitrary: late, repeated, contradictory, about things that never existed. The outputs are
//! only checked, not carried out. `PROPTEST_CASES` sets how many histories are tried.

mod chaos;
mod steps;

pub(super) use steps::{browser, target};

use chaos::Chaos;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use std::cell::Cell;
use steps::{beginning, step};

#[test]
fn every_call_is_answered_exactly_once() {
    let config = ProptestConfig {
        rng_seed: RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let (cases, ran, tools_ran) = (config.cases as usize, Cell::new(0), Cell::new(0));
    let histories = (
        prop::option::weighted(0.9, beginning()),
        prop::collection::vec(step(), 1..150),
    );
    let outcome = TestRunner::new(config).run(&histories, |(beginning, steps)| {
        let mut chaos = Chaos::new();
        for step in beginning.into_iter().flatten().chain(steps) {
            chaos.take(step);
        }
        chaos.run_out();
        chaos.everybody_leaves();
        ran.set(ran.get() + chaos.ran);
        tools_ran.set(tools_ran.get() + chaos.tools_ran);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let (ran, tools_ran) = (ran.get(), tools_ran.get());
    assert!(
        ran > cases / 2 && tools_ran > cases / 2,
        "{ran} page actions and {tools_ran} page tools in {cases} histories prove little"
    );
}
