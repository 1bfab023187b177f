//! Connects to a browser: launches one, or attaches to a running one.

use super::actor::Actor;
use super::downloads::Staging;
use super::heartbeat::Heartbeat;
use super::private::Privacy;
use super::proxy_login::{ProxyLogin, stop_documents};
use super::states::States;
use super::stuck_pages::StuckPages;
use super::{Browser, BrowserEvent, BrowserInfo, Inner, TabFacts};
use crate::acquire::{self, Acquired, ConnectError, Ownership, Source};
use crate::files::OutputRoot;
use crate::permissions;
use crate::proxy::Proxy;
use crate::tab::{TabSettings, TargetId};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tabmux_cdp::types::{browser, target};
use tabmux_cdp::{CdpError, Events, Session, Transport};
use tokio::sync::{OnceCell, mpsc};

/// A connected browser. Its events are queued until [`Connected::follow`].
#[derive(Debug)]
pub struct Connected {
    /// What is known about it.
    pub info: BrowserInfo,
    session: Session,
    events: Events,
    ownership: Ownership,
    settings: TabSettings,
    heartbeat: Heartbeat,
    targets: Vec<target::TargetInfo>,
    privacy: Privacy,
    staging: Option<(Staging, OutputRoot)>,
    /// The proxy that needs a password.
    proxy: Option<Proxy>,
}

impl Connected {
    /// Hides private windows, in a browser that we did not launch.
    pub(super) async fn guarded(mut self) -> Self {
        if self.info.launched {
            return self;
        }
        // A browser that does not know contexts has no private ones.
        let asked = target::GetBrowserContexts::default();
        let told = self.session.send_within(asked, FIRST_ANSWER_LIMIT).await;
        self.privacy = Privacy::of(told.unwrap_or_default(), &self.targets);
        self.with_private(false)
    }

    /// Answers a proxy that asks for a password.
    async fn behind(mut self, source: &Source) -> Result<Self, ConnectError> {
        let proxy = match source {
            Source::Launch(options) => options.proxy.as_ref(),
            _ => None,
        };
        if let Some(proxy) = proxy.filter(|proxy| proxy.wants_login()) {
            let asked = self.session.send(stop_documents(true)).await;
            asked.map_err(ConnectError::FailedAtStartup)?;
            self.proxy = Some(proxy.clone());
        }
        Ok(self)
    }

    /// Sets whether the tabs of private windows are visible. By default they are not.
    pub fn with_private(mut self, allowed: bool) -> Self {
        self.privacy.allow(allowed);
        (self.info.tabs, self.info.front) = seen(&self.targets, &self.privacy);
        self
    }

    /// Sets how often the browser is probed.
    pub fn with_heartbeat(self, heartbeat: Heartbeat) -> Self {
        Self { heartbeat, ..self }
    }

    /// Follows the browser. Events go to `report`, each with `tag`; none is lost between [`BrowserInfo::tabs`] and
    /// the first event.
    pub fn follow<E>(self, tag: u32, report: mpsc::Sender<E>) -> Browser
    where
        E: From<(u32, BrowserEvent)> + Send + 'static,
    {
        let Self {
            info,
            session,
            events,
            ownership,
            settings,
            heartbeat,
            targets,
            privacy,
            staging,
            proxy,
        } = self;
        let pages = targets.iter().filter(|info| info.r#type == "page");
        let hidden = pages.filter(|info| privacy.hides(info.browser_context_id.as_ref()));
        let hidden = hidden.map(TabFacts::from).collect();
        let (launched, personal) = (ownership.is_launched(), ownership.is_person());
        let (to_actor, requests) = mpsc::channel(64);
        let weak = to_actor.downgrade();
        let actor = Actor::new(
            session.clone(),
            settings,
            ownership,
            &info.tabs,
            tag,
            report,
            weak,
        );
        let grants = actor.grants.clone();
        let place = staging.as_ref().map(|(staging, _)| staging.clone());
        let signs_in = proxy.is_some();
        let actor = actor.staging(staging).signing_in(ProxyLogin::to(proxy));
        let states = States::default();
        let actor = actor.guarding(privacy.clone(), hidden);
        let actor = actor.noting(states.clone());
        tokio::spawn(actor.run(events, requests, heartbeat));
        Browser(Arc::new(Inner {
            session,
            launched,
            personal,
            privacy,
            states,
            staging: place,
            requests: to_actor,
            stuck: StuckPages::default(),
            web_mcp: OnceLock::new(),
            signs_in,
            grants,
            holding: OnceCell::new(),
        }))
    }
}

impl Browser {
    /// Connects to a browser and reads its tabs. Downloads of a launched one go to `output`.
    pub async fn connect(
        source: &Source,
        settings: TabSettings,
        output: &OutputRoot,
    ) -> Result<Connected, ConnectError> {
        Self::connect_saying(source, settings, output, &|_| {}).await
    }

    /// The same. While it waits for a browser of a grid, it tells `say` so.
    pub async fn connect_saying(
        source: &Source,
        settings: TabSettings,
        output: &OutputRoot,
        say: &(dyn Fn(String) + Send + Sync),
    ) -> Result<Connected, ConnectError> {
        let settings = TabSettings {
            machine: source.machine(),
            ..settings
        };
        let mut launches = 1;
        let connected = loop {
            let acquired = acquire::acquire(source, say).await?;
            match Self::meet(acquired, settings.clone(), Some(output)).await {
                // A browser of a killed daemon may still be starting: it has locked the profile and exits now, and a
                // second browser that finds the profile locked exits at once.
                Err(ConnectError::FailedAtStartup(CdpError::Disconnected { .. }))
                    if launches < MOST_LAUNCHES =>
                {
                    tracing::warn!("the browser exited during startup; starting it again");
                    launches += 1;
                }
                met => break met?,
            }
        };
        Ok(connected.behind(source).await?.guarded().await)
    }

    /// Connects to a person's own browser over the transport of its extension.
    pub async fn connect_over(
        transport: impl Transport,
        settings: TabSettings,
    ) -> Result<Connected, ConnectError> {
        Self::meet(acquire::extension::acquire(transport), settings, None).await
    }

    async fn meet(
        acquired: Acquired,
        settings: TabSettings,
        output: Option<&OutputRoot>,
    ) -> Result<Connected, ConnectError> {
        let Acquired {
            session,
            events,
            ownership,
            replaces,
        } = acquired;
        let launched = ownership.is_launched();
        let staging = match output.filter(|_| launched) {
            Some(output) => Some((Staging::make(output).await, output.clone())),
            None => None,
        };
        let place = staging.as_ref().map(|(staging, _)| staging);
        let introduced = introduce(&session, launched, place);
        let introduced = tokio::time::timeout(FIRST_ANSWER_LIMIT, introduced).await;
        let introduced = introduced.unwrap_or_else(|_| {
            Err(CdpError::TimedOut {
                method: "Target.getTargets".into(),
                limit: FIRST_ANSWER_LIMIT,
            })
        });
        let (info, targets) = match introduced {
            Ok((info, targets)) => (BrowserInfo { replaces, ..info }, targets),
            Err(error) => {
                ownership.release(Duration::ZERO).await;
                if let Some((staging, output)) = staging {
                    staging.remove(&output).await;
                }
                return Err(match launched {
                    true => ConnectError::FailedAtStartup(error),
                    false => ConnectError::Unresponsive(error),
                });
            }
        };
        if launched {
            permissions::configure(&session, &settings.permissions, None).await;
        }
        let heartbeat = match ownership.is_of_grid() {
            true => Heartbeat::of_grids(),
            false => Heartbeat::default(),
        };
        Ok(Connected {
            info,
            session,
            events,
            ownership,
            settings,
            heartbeat,
            targets,
            privacy: Privacy::default(),
            staging,
            proxy: None,
        })
    }
}

/// Asks the browser for its name and tabs, and subscribes to changes.
async fn introduce(
    session: &Session,
    launched: bool,
    staging: Option<&Staging>,
) -> Result<(BrowserInfo, Vec<target::TargetInfo>), CdpError> {
    let discover = target::SetDiscoverTargets {
        discover: true,
        filter: Some(crate::tab::only("page")),
    };
    // In a launched browser every tab is attached before its first script; in other browsers only those that a
    // session uses.
    let attach = async {
        if launched {
            session.send(attach_tabs()).await?;
        }
        Ok::<_, CdpError>(())
    };
    // Downloads of a launched browser go to our folder; those of other browsers stay where their user wants them.
    let theirs = || browser::SetDownloadBehavior {
        behavior: browser::SetDownloadBehaviorBehavior::DEFAULT,
        events_enabled: Some(true),
        ..Default::default()
    };
    let downloads = staging.map_or_else(theirs, |staging| staging.behavior(None));
    let (version, discovering, attaching, _) = tokio::join!(
        session.send(browser::GetVersion::default()),
        session.send(discover),
        attach,
        session.send(downloads),
    );
    discovering?;
    attaching?;
    let targets = pages_and_tabs(session).await?;
    let (name, version) = product(&version?.product);
    let (tabs, front) = seen(&targets, &Privacy::default());
    let info = BrowserInfo {
        name,
        version,
        launched,
        tabs,
        front,
        replaces: false,
    };
    Ok((info, targets))
}

/// The tabs that agents can see, and the one of them that is in front.
fn seen(targets: &[target::TargetInfo], privacy: &Privacy) -> (Vec<TabFacts>, Option<TargetId>) {
    let is_seen = |info: &&target::TargetInfo| !privacy.hides(info.browser_context_id.as_ref());
    let seen: Vec<_> = targets.iter().filter(is_seen).cloned().collect();
    let pages = seen.iter().filter(|info| info.r#type == "page");
    (pages.map(TabFacts::from).collect(), in_front(&seen))
}

pub(super) async fn pages_and_tabs(session: &Session) -> Result<Vec<target::TargetInfo>, CdpError> {
    let filter = ["page", "tab"].map(|kind| target::FilterEntry {
        r#type: Some(kind.into()),
        exclude: Some(false),
    });
    let targets = target::GetTargets {
        filter: Some(filter.into()),
    };
    Ok(session.send(targets).await?.target_infos)
}

/// The page that the user has in front. Chrome reports this for `tab` targets, whose ids differ from those of pages.
/// A page is matched by address and title; if several match, the result is `None`.
pub(super) fn in_front(targets: &[target::TargetInfo]) -> Option<TargetId> {
    let is_active = |info: &&target::TargetInfo| {
        let data = info.embedder_data.as_ref();
        let data = data.and_then(|data| data.decode::<serde_json::Value>().ok());
        info.r#type == "tab" && data.is_some_and(|data| data["tabActive"] == true)
    };
    // Every window has an active tab; with several windows it is unknown which is in front.
    let [front] = targets.iter().filter(is_active).collect::<Vec<_>>()[..] else {
        return None;
    };
    let shows_it = |info: &&target::TargetInfo| {
        info.r#type == "page" && info.url == front.url && info.title == front.title
    };
    match targets.iter().filter(shows_it).collect::<Vec<_>>()[..] {
        [page] => Some(page.target_id.clone()),
        _ => None,
    }
}

fn attach_tabs() -> target::SetAutoAttach {
    target::SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: Some(true),
        filter: Some(crate::tab::only("page")),
    }
}

/// `Chrome/156.0.8078.79` as name and version; headless Chrome is Chrome.
fn product(text: &str) -> (String, String) {
    let (name, version) = text.split_once('/').unwrap_or((text, ""));
    let name = match name {
        "HeadlessChrome" | "" => "Chrome",
        "Edg" | "HeadlessEdg" => "Edge",
        other => other,
    };
    (name.to_owned(), version.to_owned())
}

const FIRST_ANSWER_LIMIT: Duration = Duration::from_secs(30);
/// How often a browser that exits during startup is started. Two is enough for one whose profile was locked for a
/// moment, and few for one that cannot start at all.
const MOST_LAUNCHES: usize = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquire::LaunchOptions;
    use serde_json::json;

    fn front(targets: serde_json::Value) -> Option<String> {
        let targets: Vec<target::TargetInfo> = serde_json::from_value(targets).unwrap();
        in_front(&targets).map(|id| id.to_string())
    }

    #[test]
    fn the_page_in_front_is_reported_only_if_certain() {
        let page =
            |id: &str, url: &str| json!({"targetId": id, "type": "page", "url": url, "title": "t"});
        let tab = |url: &str, active: bool| {
            let data = json!({"tabActive": active});
            json!({"targetId": "x", "type": "tab", "url": url, "title": "t", "embedderData": data})
        };
        let two = [page("1", "http://a/"), page("2", "http://b/")];
        let with = |tabs: Vec<serde_json::Value>| front(json!([two.to_vec(), tabs].concat()));
        assert_eq!(
            with(vec![tab("http://a/", false), tab("http://b/", true)]).as_deref(),
            Some("2")
        );
        assert_eq!(
            with(vec![tab("http://a/", true), tab("http://b/", true)]),
            None
        );
        assert_eq!(with(vec![]), None);
        let twins = json!([
            page("1", "http://a/"),
            page("2", "http://a/"),
            tab("http://a/", true)
        ]);
        assert_eq!(front(twins), None);
    }

    #[tokio::test]
    async fn a_browser_that_fails_to_start_leaves_no_downloads_folder() {
        let home = tempfile::tempdir().unwrap();
        let output = OutputRoot::at(home.path().join("output"));
        let mut options = LaunchOptions {
            profile: crate::profile::ProfileChoice::At(home.path().join("profile")),
            ..LaunchOptions::default()
        };
        options.wanted.executable = Some("/bin/false".into());
        let source = Source::Launch(options);
        let connected = Browser::connect(&source, TabSettings::default(), &output).await;
        assert!(matches!(connected, Err(ConnectError::FailedAtStartup(_))));
        // Besides the one that is created only now.
        let folders = output.make().unwrap().parent().map(std::fs::read_dir);
        assert_eq!(folders.unwrap().unwrap().count(), 1);
    }

    #[test]
    fn a_private_window_is_neither_visible_nor_in_front() {
        let target = |kind: &str, url: &str, context: &str| {
            json!({
                "targetId": format!("{kind} {url}"), "type": kind, "url": url, "title": "t",
                "browserContextId": context, "embedderData": {"tabActive": true},
            })
        };
        let (near, far) = ("http://a/", "http://b/");
        let targets = json!([
            target("page", near, "D"),
            target("tab", near, "D"),
            target("page", far, "P"),
            target("tab", far, "P"),
        ]);
        let targets: Vec<target::TargetInfo> = serde_json::from_value(targets).unwrap();
        let told = json!({"browserContextIds": [], "defaultBrowserContextId": "D"});
        let privacy = Privacy::of(serde_json::from_value(told).unwrap(), &targets);
        let (tabs, front) = seen(&targets, &privacy);
        assert_eq!(tabs.len(), 1);
        assert_eq!(front.unwrap().as_str(), "page http://a/");
        privacy.allow(true);
        let (tabs, front) = seen(&targets, &privacy);
        assert_eq!((tabs.len(), front), (2, None), "there are two windows");
    }
}
