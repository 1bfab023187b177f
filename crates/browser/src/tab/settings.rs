//! How the tabs of one browser are set up.

use super::Emulation;
use crate::address::AddressPolicy;
use crate::devices::Device;
use crate::init_scripts::InitScripts;
use std::sync::Arc;

/// How tabs are set up in this browser.
#[derive(Clone, Debug)]
pub struct TabSettings {
    /// The size of pages, where the user fixed it.
    pub viewport: Option<(u32, u32)>,
    /// What tabs pretend to be, unless somebody asks for something else.
    pub device: Option<Device>,
    /// Which pages tools may touch.
    pub policy: AddressPolicy,
    /// Whether pages get `document.modelContext` where the browser has none.
    pub shim: bool,
    /// What runs in every page before its own scripts.
    pub scripts: InitScripts,
    /// What pages need not ask for.
    pub permissions: Arc<[String]>,
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
        }
    }
}

impl TabSettings {
    /// What a tab emulates where nobody asks for anything.
    pub(crate) fn emulation(&self) -> Emulation {
        self.device
            .as_ref()
            .map(Emulation::from)
            .unwrap_or_default()
    }
}
