//! How the tabs of one browser are set up.

use super::Emulation;
use crate::address::AddressPolicy;
use crate::devices::Device;
use crate::init_scripts::InitScripts;
use crate::machine::Machine;
use std::sync::Arc;

/// How tabs are set up in this browser.
#[derive(Clone, Debug)]
pub struct TabSettings {
    /// The size of pages, if the user set one.
    pub viewport: Option<(u32, u32)>,
    /// The device that tabs emulate by default.
    pub device: Option<Device>,
    /// Which pages tools may use.
    pub policy: AddressPolicy,
    /// Whether pages get `document.modelContext` if the browser has none.
    pub shim: bool,
    /// Scripts that run in every page before its own.
    pub scripts: InitScripts,
    /// Permissions that pages have without asking.
    pub permissions: Arc<[String]>,
    /// Where the browser runs. Connecting sets it.
    pub machine: Machine,
}

impl Default for TabSettings {
    fn default() -> Self {
        Self {
            viewport: None,
            device: None,
            policy: AddressPolicy::default(),
            shim: true,
            scripts: InitScripts::default(),
            permissions: Arc::default(),
            machine: Machine::default(),
        }
    }
}

impl TabSettings {
    /// The default emulation of a tab.
    pub(crate) fn emulation(&self) -> Emulation {
        self.device
            .as_ref()
            .map(Emulation::from)
            .unwrap_or_default()
    }
}
