//! What holds for any arguments of `run_steps`.

use super::placeholders::MOST_BYTES;
use super::plan::{MOST_CALLS, MOST_STEPS, Plan};

/// The arguments of `run_steps`.
///
/// # Panics
/// If more is planned than is allowed, or a refusal is too long.
pub fn steps(arguments: &[u8]) {
    let Ok(arguments) = str::from_utf8(arguments) else {
        return;
    };
    if let Err(why) = Plan::read(arguments).and_then(|plan| check(&plan)) {
        assert!(!why.is_empty() && why.len() <= 1_000, "{why}");
    }
}

fn check(plan: &Plan) -> Result<(), String> {
    assert!((1..=MOST_STEPS).contains(&plan.steps.len()));
    assert!((1..=MOST_CALLS).contains(&plan.most_calls()));
    assert!(plan.limit.as_secs() <= 600);
    let calls = plan.calls()?;
    // Each step and the whole may have an `until`.
    assert!(calls.len() <= plan.most_calls() + plan.steps.len() + 1);
    for call in &calls {
        assert!((1..=plan.steps.len()).contains(&call.step));
    }
    let sizes = calls.iter().map(|call| call.arguments.len());
    assert!(sizes.sum::<usize>() <= MOST_BYTES);
    Ok(())
}
