//! Permissions of sites, such as for the camera.

use super::{check_origin, origin};
use crate::permissions::Permission;
use crate::run::Page;
use crate::tools::{Access, Category, Tool, ToolOutput, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;
use tabmux_cdp::types::browser::PermissionSetting;

/// Sets a permission.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(in crate::tools) struct SetPermission {
    /// Such as geolocation, notifications, camera, microphone or clipboard-read.
    name: String,
    state: PermissionState,
    /// Default: the page's.
    origin: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum PermissionState {
    Granted,
    Denied,
    Prompt,
}

impl Tool for SetPermission {
    const NAME: &'static str = "set_permission";
    const DESCRIPTION: &'static str =
        "Grant or deny a permission to a site, until this tab is released.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Advanced;
    const OPT_IN: bool = true;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        let known = |character: char| character.is_ascii_lowercase() || character == '-';
        if !(1..=40).contains(&self.name.len()) || !self.name.chars().all(known) {
            return Err("`name` is one such as geolocation or clipboard-read".into());
        }
        self.origin.as_deref().map_or(Ok(()), check_origin)
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let origin = origin(tab, self.origin.as_deref())?;
        let (setting, done) = match self.state {
            PermissionState::Granted => (PermissionSetting::GRANTED, "is granted"),
            PermissionState::Denied => (PermissionSetting::DENIED, "is denied"),
            PermissionState::Prompt => (PermissionSetting::PROMPT, "has to be asked for again"),
        };
        let said = format!("{} {done} for {origin}.", self.name);
        let permission = Permission {
            origin,
            name: self.name,
            setting,
        };
        tab.permissions().set(permission).await?;
        Ok(ToolOutput::text(said))
    }
}
