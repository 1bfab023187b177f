//! Time as data: the caller passes the current time, the core reads no clock.

use std::ops::Add;
use std::time::Duration;

/// A point in time, counted from an arbitrary start that the driver chooses once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(Duration);

impl Time {
    /// The time this long after the start.
    pub const fn since_start(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// The duration since an earlier time.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// The duration since the start.
    pub const fn elapsed(self) -> Duration {
        self.0
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, later: Duration) -> Self {
        Self(self.0.saturating_add(later))
    }
}
