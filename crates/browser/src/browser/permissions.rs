//! Permissions that pages of a launched browser have without asking, as the user configured.

use super::ContextId;
use tabmux_cdp::Session;
use tabmux_cdp::types::browser::{PermissionDescriptor, PermissionSetting, SetPermission};

/// Grants these for all sites of a context. Unknown ones are skipped.
pub(super) async fn grant(session: &Session, names: &[String], context: Option<ContextId>) {
    for name in names {
        let (plain, sysex) = match name.as_str() {
            "midi-sysex" => ("midi", Some(true)),
            other => (other, None),
        };
        let permission = PermissionDescriptor {
            name: plain.to_owned(),
            sysex,
            // Access to the clipboard without a click includes unsanitized contents.
            allow_without_sanitization: (plain == "clipboard-read").then_some(true),
            ..Default::default()
        };
        let set = SetPermission {
            permission,
            setting: PermissionSetting::GRANTED,
            browser_context_id: context.clone(),
            ..Default::default()
        };
        if let Err(error) = session.send(set).await {
            tracing::warn!(%error, permission = name, "could not grant a permission");
        }
    }
}
