//! When a connection ends, the extension detaches the tabs that no other connection uses.

use super::{Deliveries, PendingKind, Tunnels};
use std::collections::BTreeSet;
use tabmux_protocol::extension::ToExtension;

impl Tunnels {
    /// Closes a connection: detaches the tabs that no other connection uses, also those that are still being
    /// attached.
    pub(in crate::extension) fn close(&mut self, number: u32) -> Deliveries {
        let mut deliveries = Deliveries::default();
        let attaching = self.attaching_for(number);
        self.pending.retain(|_, pending| pending.tunnel != number);
        let Some(tunnel) = self.open.remove(&number) else {
            return deliveries;
        };
        let held: BTreeSet<u32> = tunnel.held.into_keys().chain(attaching).collect();
        for tab_id in held {
            if !self.is_held(tab_id) {
                deliveries.to_extension.push(ToExtension::Detach { tab_id });
            }
        }
        deliveries
    }

    /// The tabs that the extension is attaching for this connection. If another connection asked first, Chrome
    /// attaches the tab for that one and refuses this one.
    fn attaching_for(&self, number: u32) -> Vec<u32> {
        let mut asked: Vec<_> = self
            .pending
            .iter()
            .filter_map(|(request, pending)| match pending.kind {
                PendingKind::Attach { tab } => Some((*request, tab, pending.tunnel)),
                _ => None,
            })
            .collect();
        asked.sort_unstable();
        let mut seen = BTreeSet::new();
        asked.retain(|(_, tab, _)| seen.insert(*tab));
        let first = asked.into_iter();
        first
            .filter(|(.., tunnel)| *tunnel == number)
            .map(|(_, tab, _)| tab)
            .collect()
    }
}
