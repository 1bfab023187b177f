//! Permissions of sites: those that the user configured, and those that agents set through tabs. Chrome keeps them for a
//! whole browser context and does not tell what was there before, so there is one table of them for each browser.

use crate::browser::ContextId;
use crate::error::ToolError;
use futures_util::future::join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tabmux_cdp::types::browser::{
    PermissionDescriptor, PermissionSetting, ResetPermissions, SetPermission,
};
use tabmux_cdp::{CdpError, Session};
use tokio::sync::Mutex;

/// The permissions of one browser. Shared by the handle, the actor and the tabs.
#[derive(Clone, Debug)]
pub(crate) struct Grants(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// The browser's own session. The end of a tab's session would reset all permissions of its context.
    root: Session,
    /// What all pages have without asking.
    configured: Arc<[String]>,
    /// Whether that holds in all contexts.
    everywhere: bool,
    /// Locked while Chrome is told, so that one change ends before the next begins.
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// The contexts that we created. They have the configured permissions, too.
    made: Vec<ContextId>,
    /// What agents have set, the latest last.
    set: Vec<Grant>,
}

#[derive(Debug)]
struct Grant {
    tab: Arc<Holder>,
    context: ContextId,
    permission: Permission,
}

/// A permission of an origin.
#[derive(Clone, Debug)]
pub(crate) struct Permission {
    pub(crate) origin: String,
    pub(crate) name: String,
    pub(crate) setting: PermissionSetting,
}

/// Permissions that were set through one tab. They end with it.
#[derive(Debug)]
pub(crate) struct TabPermissions {
    grants: Grants,
    holder: Arc<Holder>,
}

#[derive(Debug)]
struct Holder {
    /// The context of the tab, if the browser told it.
    context: Option<ContextId>,
    has_ended: AtomicBool,
}

impl Grants {
    /// None yet. With `everywhere`, the default context has the configured ones.
    pub(crate) fn new(root: Session, configured: Arc<[String]>, everywhere: bool) -> Self {
        Self(Arc::new(Shared {
            root,
            configured,
            everywhere,
            table: Mutex::default(),
        }))
    }

    /// Gives a new context the configured permissions.
    pub(crate) async fn begin(&self, context: &ContextId) {
        let mut table = self.0.table.lock().await;
        table.made.push(context.clone());
        configure(&self.0.root, &self.0.configured, Some(context.clone())).await;
    }

    /// A context has ended, and its permissions with it.
    pub(crate) async fn end(&self, context: &ContextId) {
        let mut table = self.0.table.lock().await;
        table.made.retain(|it| it != context);
        table.set.retain(|it| it.context != *context);
    }

    /// Those of a tab in this context.
    pub(crate) fn of_tab(&self, context: Option<ContextId>) -> TabPermissions {
        TabPermissions {
            grants: self.clone(),
            holder: Arc::new(Holder {
                context,
                has_ended: AtomicBool::new(false),
            }),
        }
    }

    async fn set(self, tab: Arc<Holder>, permission: Permission) -> Result<(), ToolError> {
        let context = tab.context.clone();
        // Without one, Chrome would set it in the default context.
        let context = context.ok_or_else(|| refused(&permission.name))?;
        let mut table = self.0.table.lock().await;
        if tab.has_ended.load(Ordering::Relaxed) {
            return Err(ToolError::DocumentGone);
        }
        let is_same = |it: &Grant| {
            let (old, new) = (&it.permission, &permission);
            Arc::ptr_eq(&it.tab, &tab) && old.origin == new.origin && old.name == new.name
        };
        let mine = table.set.iter().filter(|it| Arc::ptr_eq(&it.tab, &tab));
        if mine.filter(|it| !is_same(it)).count() >= MOST {
            return Err(ToolError::Arguments(
                "This tab has set 50 permissions already. Close it, or use another tab.".into(),
            ));
        }
        let told = self.0.root.send(permission.command(&context)).await;
        if let Err(CdpError::Rejected { .. }) = told {
            return Err(refused(&permission.name));
        }
        // Also after a timeout: it may be set.
        table.set.retain(|it| !is_same(it));
        table.set.push(Grant {
            tab,
            context,
            permission,
        });
        told?;
        Ok(())
    }

    /// Forgets what was set through a tab. Chrome then has what the user chose, what is configured, and what was set
    /// through other tabs.
    async fn clear(self, tab: Arc<Holder>) {
        let mut table = self.0.table.lock().await;
        let before = table.set.len();
        table.set.retain(|it| !Arc::ptr_eq(&it.tab, &tab));
        if table.set.len() == before {
            return;
        }
        let Some(context) = tab.context.clone() else {
            return;
        };
        let reset = self.0.root.send(ResetPermissions {
            browser_context_id: Some(context.clone()),
        });
        let is_configured = self.0.everywhere || table.made.contains(&context);
        let configured = is_configured.then_some(&self.0.configured);
        let configured = configured.iter().flat_map(|it| it.iter());
        let again = configured.map(|name| everywhere(name, Some(context.clone())));
        let others = table.set.iter().filter(|it| it.context == context);
        let again = again.chain(others.map(|it| it.permission.command(&context)));
        // Sent at once, in this order, so that the other ones are missing for a moment only.
        let again = again.map(|set| self.0.root.send(set));
        let (reset, again) = tokio::join!(reset, join_all(again));
        let told = again.into_iter().map(|it| it.map(drop));
        for error in told.chain([reset.map(drop)]).filter_map(Result::err) {
            tracing::debug!(%error, "the permissions of a context were not restored");
        }
    }
}

impl TabPermissions {
    /// Sets a permission until the tab is released or ends.
    pub(crate) async fn set(&self, permission: Permission) -> Result<(), ToolError> {
        let set = self
            .grants
            .clone()
            .set(Arc::clone(&self.holder), permission);
        // A task of its own: if the call is cancelled meanwhile, the table must still know it.
        let set = tokio::spawn(set).await;
        set.map_err(|_| ToolError::BrowserGone)?
    }

    /// Others for the same tab, which do not replace these; the call has to end them.
    pub(crate) fn for_one_call(&self) -> Self {
        self.grants.of_tab(self.holder.context.clone())
    }

    /// Undoes all that were set through this tab.
    pub(crate) async fn clear(&self) {
        let clear = self.grants.clone().clear(Arc::clone(&self.holder));
        let _ = tokio::spawn(clear).await;
    }

    /// The tab has ended: undoes them, and sets no more.
    pub(crate) fn end(&self) {
        if !self.holder.has_ended.swap(true, Ordering::Relaxed) {
            tokio::spawn(self.grants.clone().clear(Arc::clone(&self.holder)));
        }
    }
}

impl Permission {
    fn command(&self, context: &ContextId) -> SetPermission {
        SetPermission {
            permission: descriptor(&self.name),
            setting: self.setting.clone(),
            origin: Some(self.origin.clone()),
            browser_context_id: Some(context.clone()),
            ..Default::default()
        }
    }
}

/// Grants these for all sites of a context. Unknown ones are skipped.
pub(crate) async fn configure(session: &Session, names: &[String], context: Option<ContextId>) {
    for name in names {
        if let Err(error) = session.send(everywhere(name, context.clone())).await {
            tracing::warn!(%error, permission = name, "could not grant a permission");
        }
    }
}

/// Grants one for all sites.
fn everywhere(name: &str, context: Option<ContextId>) -> SetPermission {
    SetPermission {
        permission: descriptor(name),
        setting: PermissionSetting::GRANTED,
        browser_context_id: context,
        ..Default::default()
    }
}

fn descriptor(name: &str) -> PermissionDescriptor {
    let (plain, sysex) = match name {
        "midi-sysex" => ("midi", Some(true)),
        other => (other, None),
    };
    PermissionDescriptor {
        name: plain.to_owned(),
        sysex,
        // Access to the clipboard without a click includes unsanitized contents.
        allow_without_sanitization: (plain == "clipboard-read").then_some(true),
        ..Default::default()
    }
}

fn refused(name: &str) -> ToolError {
    ToolError::NotActionable {
        why: format!(
            "Chrome did not set the permission {name}: it does not know it, or this browser is reached through the \
             extension, which may not set permissions. Use another name, or a browser that tabmux starts."
        ),
    }
}

/// How many a tab can set.
const MOST: usize = 50;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::{self, Asked, FakeBrowser};
    use crate::tab::TargetId;
    use serde_json::{Value, json};

    fn info(context: Option<&str>) -> Value {
        let mut info = fake::target_info(fake::TAB);
        info["browserContextId"] = context.into();
        info
    }

    /// Like [`fake::usual`], with a tab of this context.
    fn in_context(context: Option<&'static str>) -> impl FnMut(&Asked) -> Vec<Value> {
        move |asked| match asked.method.as_str() {
            "Target.getTargets" => vec![asked.answer(json!({"targetInfos": [info(context)]}))],
            "Target.attachToTarget" => {
                let attached = json!({
                    "sessionId": fake::SESSION, "targetInfo": info(context), "waitingForDebugger": false
                });
                let attached = fake::browser_event("Target.attachedToTarget", attached);
                vec![attached, asked.answer(json!({"sessionId": fake::SESSION}))]
            }
            // As if Chrome did not answer about a tab that is about to close.
            "Target.getTargetInfo" => vec![asked.refuse("No target")],
            "Browser.setPermission" if asked.params["permission"]["name"] == "flying" => {
                vec![asked.refuse("Unknown permission")]
            }
            _ => fake::usual(asked),
        }
    }

    fn grant(name: &str) -> Value {
        json!({"name": name, "state": "granted"})
    }

    #[tokio::test(start_paused = true)]
    async fn a_permission_ends_with_its_tab() {
        for detached in [true, false] {
            let mut harness = FakeBrowser::new(in_context(Some("CONTEXT"))).await;
            let set = harness.run("set_permission", grant("geolocation"));
            set.await.unwrap();
            let set = harness.fake.hears("Browser.setPermission").await.unwrap();
            assert_eq!(set.session_id, None);
            assert_eq!(set.params["browserContextId"], "CONTEXT");
            match detached {
                true => harness.browser.detach(&TargetId::from(fake::TAB)).await,
                false => {
                    let gone = json!({"targetId": fake::TAB});
                    let gone = fake::browser_event("Target.targetDestroyed", gone);
                    harness.fake.say(gone).await;
                }
            }
            let reset = harness.fake.hears("Browser.resetPermissions").await;
            let reset = reset.expect("reset");
            assert_eq!(reset.session_id, None);
            assert_eq!(reset.params["browserContextId"], "CONTEXT");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_configured_and_what_other_tabs_set_is_set_again() {
        let mut harness = FakeBrowser::new(in_context(Some("C"))).await;
        let root = harness.tab().await.unwrap();
        let root = root.session().connection().root();
        let grants = Grants::new(root, Arc::from(["camera".to_owned()]), true);
        let context = Some(ContextId::from("C"));
        let (one, other) = (grants.of_tab(context.clone()), grants.of_tab(context));
        let permission = |setting| Permission {
            origin: "http://a.test".into(),
            name: "camera".into(),
            setting,
        };
        let denied = permission(PermissionSetting::DENIED);
        one.set(denied).await.unwrap();
        let asked = permission(PermissionSetting::PROMPT);
        other.set(asked).await.unwrap();
        harness.fake.heard_so_far();
        other.clear().await;
        let told = harness.fake.heard_so_far().into_iter();
        let told = told.filter(|it| it.method.starts_with("Browser."));
        let told = told.map(|it| {
            let setting = it.params["setting"].as_str().unwrap_or_default();
            let origin = it.params["origin"].as_str().unwrap_or_default();
            [it.method.as_str(), setting, origin].join(" ")
        });
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                "Browser.resetPermissions  ",
                "Browser.setPermission granted ",
                "Browser.setPermission denied http://a.test",
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_known_context_nothing_is_set() {
        let mut harness = FakeBrowser::new(in_context(None)).await;
        let set = harness.run("set_permission", grant("geolocation")).await;
        let error = set.unwrap_err().to_string();
        assert!(error.contains("did not set the permission"), "{error}");
        let heard = harness.fake.heard_so_far();
        let mut methods = heard.iter().map(|it| it.method.as_str());
        assert!(methods.all(|it| it != "Browser.setPermission"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_permission_is_not_remembered() {
        let mut harness = FakeBrowser::new(in_context(Some("CONTEXT"))).await;
        let tab = harness.tab().await.unwrap();
        let set = harness.run("set_permission", grant("flying")).await;
        assert!(set.is_err());
        tab.permissions().clear().await;
        let heard = harness.fake.heard_so_far();
        let mut methods = heard.iter().map(|it| it.method.as_str());
        assert!(methods.all(|it| it != "Browser.resetPermissions"));
    }
}
