//! Whether a browser has the files of this machine.

use crate::acquire::Source;
use crate::endpoint;

/// Where a browser runs, as far as its files matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Machine {
    /// On this machine.
    #[default]
    This,
    /// At a loopback address that the user named: on this machine, or behind a forwarded port.
    Perhaps,
    /// On another machine.
    Other,
}

impl Source {
    /// Where its browser runs.
    pub(crate) fn machine(&self) -> Machine {
        let address = match self {
            Self::Launch(_) | Self::Running(_) => return Machine::This,
            Self::Url(address) | Self::WebSocket(address) => address,
            Self::Grid(grid) => &grid.address,
        };
        match endpoint::is_local(&address.url) {
            true => Machine::Perhaps,
            false => Machine::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquire::{Grid, GridPlace};

    #[test]
    fn a_loopback_address_may_be_a_forwarded_port() {
        let at = |url: &str| Source::Url(url.to_owned().into()).machine();
        assert_eq!(at("http://127.0.0.1:9222"), Machine::Perhaps);
        assert_eq!(at("https://browser.test"), Machine::Other);
        let grid = |url: &str| {
            let address = url.to_owned().into();
            let place = GridPlace::default();
            Source::Grid(Grid { address, place }).machine()
        };
        assert_eq!(grid("grid+http://localhost:4444"), Machine::Perhaps);
        assert_eq!(grid("grid+https://hub.test"), Machine::Other);
    }
}
