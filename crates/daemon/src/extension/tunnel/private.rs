//! Tabs of private windows are hidden from agents, unless the person allows them.

use super::{Deliveries, Tunnels};
use tabmux_protocol::extension::ToExtension;

impl Tunnels {
    pub(in crate::extension) fn has_private(&self) -> bool {
        self.private
    }

    pub(in crate::extension) fn private_tabs(&self) -> Vec<u32> {
        let tabs = self.tabs.values().filter(|tab| tab.private);
        tabs.map(|tab| tab.id).collect()
    }

    /// Shows tabs of private windows from now on, or hides them.
    pub(in crate::extension) fn set_private(&mut self, allowed: bool) -> Deliveries {
        let mut deliveries = Deliveries::default();
        let out = &mut deliveries;
        self.private = allowed;
        out.to_extension.push(ToExtension::Connect {
            launch: None,
            private: Some(allowed),
        });
        if !allowed {
            for tab_id in self.private_tabs() {
                if self.is_held(tab_id) {
                    out.to_extension.push(ToExtension::Detach { tab_id });
                }
                self.forget(tab_id, out);
            }
        }
        deliveries
    }
}
