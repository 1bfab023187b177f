//! The minimum deadline of calls, which tests can shorten.

use std::time::Duration;
use tabmux_core::Config;

/// The default, or the value of the environment if that is shorter.
pub(super) fn least_deadline() -> Duration {
    shortened(std::env::var("TABMUX_CALL_SECONDS").ok().as_deref())
}

fn shortened(told: Option<&str>) -> Duration {
    let usual = Config::default().least_deadline;
    let told = told.and_then(|told| told.parse().ok());
    let told = told.map(Duration::from_secs);
    told.filter(|told| (SHORTEST..usual).contains(told))
        .unwrap_or(usual)
}

const SHORTEST: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_thirty_seconds_unless_the_environment_says_less() {
        assert_eq!(shortened(Some("2")).as_secs(), 2);
        for told in [
            None,
            Some(""),
            Some("0"),
            Some("31"),
            Some("-1"),
            Some("soon"),
        ] {
            assert_eq!(shortened(told).as_secs(), 30, "{told:?}");
        }
    }
}
