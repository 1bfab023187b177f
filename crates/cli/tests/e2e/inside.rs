//! Runs scripts inside the extension: in its worker and its side panel.

use crate::user::User;
use serde_json::{Value, json};
use std::time::Duration;
use tabmux_cdp::Session;
use tabmux_cdp::types::target::{CloseTarget, CreateTarget, GetTargets, TargetInfo};
use tabmux_protocol::extension::EXTENSION_ID;
use tabmux_testkit::patiently;

/// A page or worker in which the test runs scripts.
pub(crate) struct Inside(Session);

impl Inside {
    /// The extension's worker.
    pub(crate) async fn worker(user: &mut User) -> Self {
        let worker = worker(user).await;
        Self(user.attach_to(worker.target_id).await.1)
    }

    /// The extension's worker for which the script is true: Chrome may be about to start another.
    pub(crate) async fn worker_that(user: &mut User, script: &str) -> Self {
        loop {
            let worker = Self::worker(user).await;
            let script = json!({"expression": script, "awaitPromise": true, "returnByValue": true});
            let asked = worker.0.send_raw("Runtime.evaluate", &script, PATIENCE);
            if asked
                .await
                .is_ok_and(|answer| answer.get().contains("\"value\":true"))
            {
                return worker;
            }
        }
    }

    /// The page of the side panel, in its own window.
    pub(crate) async fn panel(user: &mut User) -> Self {
        let create = CreateTarget {
            url: format!("chrome-extension://{EXTENSION_ID}/panel.html"),
            new_window: Some(true),
            ..Default::default()
        };
        let panel = user.browser().send(create).await.unwrap().target_id;
        let panel = Self(user.attach_to(panel).await.1);
        panel.until(SHOWN).await;
        panel
    }

    /// The real side panel, opened by the extension's button next to the tab that shows `url`.
    pub(crate) async fn side_panel(user: &mut User, url: &str) -> Self {
        let tab = user.tab_strip_target(url).await;
        let press = json!({"id": EXTENSION_ID, "targetId": tab});
        let pressed = user
            .browser()
            .send_raw("Extensions.triggerAction", &press, PATIENCE);
        pressed.await.unwrap();
        let looking = async {
            loop {
                let targets = user.browser().send(GetTargets::default()).await.unwrap();
                let mut pages = targets.target_infos.into_iter();
                if let Some(panel) = pages.find(|target| target.url.ends_with("/panel.html")) {
                    return panel.target_id;
                }
            }
        };
        let panel = patiently(looking, || "the side panel".to_owned()).await;
        let panel = Self(user.attach_to(panel).await.1);
        panel.until(SHOWN).await;
        panel
    }

    /// The result of a script.
    pub(crate) async fn eval(&self, script: &str) -> Value {
        let params = json!({"expression": script, "awaitPromise": true, "returnByValue": true});
        let answer = self.command("Runtime.evaluate", params).await;
        assert_eq!(
            answer["exceptionDetails"],
            Value::Null,
            "{script}: {answer:#}"
        );
        answer["result"]["value"].clone()
    }

    pub(crate) async fn command(&self, method: &str, params: Value) -> Value {
        let answer = self.0.send_raw(method, &params, PATIENCE).await;
        let answer = answer.unwrap_or_else(|error| panic!("{method}: {error}"));
        serde_json::from_str(answer.get()).unwrap()
    }

    /// Repeats a script until its result is true.
    pub(crate) async fn until(&self, script: &str) {
        let asking = async {
            while self.eval(script).await != true {
                tokio::task::yield_now().await;
            }
        };
        let story = async { self.eval("document.body?.innerText ?? ''").await };
        if tokio::time::timeout(PATIENCE, asking).await.is_err() {
            panic!("waited for: {script}\n{}", story.await);
        }
    }

    /// Waits until the panel's text contains this.
    pub(crate) async fn reads(&self, text: &str) {
        let text = Value::from(text);
        self.until(&format!("document.body.innerText.includes({text})"))
            .await;
    }

    /// Presses the button with this text by keyboard, as soon as it exists.
    pub(crate) async fn presses(&self, text: &str) {
        let text = Value::from(text);
        self.until(&format!(
            "(() => {{ const button = [...document.querySelectorAll('button')].find((it) => it.checkVisibility() && \
             (it.ariaLabel ?? it.innerText) === {text}); button?.focus(); return document.activeElement === button && !!button; }})()"
        ))
        .await;
        for kind in ["keyDown", "keyUp"] {
            let key = json!({"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"});
            self.command("Input.dispatchKeyEvent", key).await;
        }
    }

    /// Waits until the worker is attached to the tabs with these addresses.
    pub(crate) async fn until_held(&self, wanted: &[&str]) {
        let held = "chrome.debugger.getTargets().then((all) => all.filter((it) => it.attached && it.url.startsWith('http'))\
                    .map((it) => it.url).sort().join(' '))";
        let mut wanted = wanted.to_vec();
        wanted.sort_unstable();
        let wanted = wanted.join(" ");
        let mut latest = Value::Null;
        let asking = async {
            while latest != wanted {
                latest = self.eval(held).await;
            }
        };
        if tokio::time::timeout(PATIENCE, asking).await.is_err() {
            panic!("{wanted:?} should be held, and not {latest}");
        }
    }
}

/// Allows the extension in private windows, with the switch in `chrome://extensions`. Chrome restarts it.
pub(crate) async fn allow_in_private_windows(user: &mut User) {
    let private = json!({"extensionId": EXTENSION_ID, "incognitoAccess": true});
    let switch = format!("chrome.developerPrivate.updateExtensionConfiguration({private})");
    in_settings(user, &switch).await;
}

/// Clicks the reload arrow of the extension.
pub(crate) async fn reload(user: &mut User) {
    let reload = format!("chrome.developerPrivate.reload('{EXTENSION_ID}')");
    in_settings(user, &reload).await;
}

/// Runs a script in `chrome://extensions`.
async fn in_settings(user: &mut User, script: &str) {
    let page = user.opens("chrome://extensions/").await;
    let settings = Inside(user.attach_to(page.clone()).await.1);
    settings
        .until("typeof chrome.developerPrivate?.updateExtensionConfiguration === 'function'")
        .await;
    // Without developer mode Chrome does not restart an unpacked extension.
    let developer = "chrome.developerPrivate.updateProfileConfiguration({inDeveloperMode: true})";
    settings.eval(developer).await;
    settings.eval(script).await;
    let target_id = page;
    user.browser()
        .send(CloseTarget { target_id })
        .await
        .unwrap();
}

/// Ends the extension's worker, as Chrome does at any time.
pub(crate) async fn kill_worker(user: &User) {
    let target_id = worker(user).await.target_id;
    user.browser()
        .send(CloseTarget { target_id })
        .await
        .unwrap();
}

async fn worker(user: &User) -> TargetInfo {
    let looking = async {
        loop {
            let targets = user.browser().send(GetTargets::default()).await.unwrap();
            let mut workers = targets.target_infos.into_iter();
            let worker = workers.find(|target| target.r#type == "service_worker");
            if let Some(worker) = worker {
                return worker;
            }
        }
    };
    patiently(looking, || "the extension's worker".to_owned()).await
}

const PATIENCE: Duration = Duration::from_secs(30);

/// Checks the protocol too, because the blank page before the panel is also `complete`.
const SHOWN: &str =
    "location.protocol === 'chrome-extension:' && document.readyState === 'complete'";
