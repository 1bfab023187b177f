//! Time as data: the caller says what time it is, the core never looks.

use std::ops::Add;
use std::time::Duration;

/// A moment, counted from an arbitrary start that the driver chooses once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Time(Duration);

impl Time {
    /// The moment this long after the driver's start.
    pub const fn since_start(elapsed: Duration) -> Self {
        Self(elapsed)
    }

    /// How long after an earlier moment this is.
    pub(crate) fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }

    /// How long after the driver's start this is.
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
