//! What a tab emulates: the active settings, and the commands that apply them.

use crate::devices::Device;
use serde::Serialize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tabmux_cdp::Session;
use tabmux_cdp::types::{Command, Empty, Json, emulation, network};

/// The settings of one tab, shared by its tools and by the setup of its frames.
#[derive(Clone, Debug, Default)]
pub(crate) struct Emulating(Arc<Mutex<Emulation>>);

/// Settings that differ from the real browser.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Emulation {
    pub(crate) network: Option<Conditions>,
    pub(crate) cpu: Option<f64>,
    pub(crate) geolocation: Option<(f64, f64)>,
    pub(crate) user_agent: Option<String>,
    /// The browser's own user agent, which a locale override needs.
    pub(crate) own_user_agent: String,
    /// Media features and their values, such as `prefers-color-scheme` and `dark`.
    pub(crate) media: Vec<(&'static str, String)>,
    pub(crate) viewport: Option<Viewport>,
    pub(crate) locale: Option<String>,
    pub(crate) timezone: Option<String>,
    pub(crate) headers: Vec<(String, String)>,
}

/// A kind of network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Conditions {
    pub(crate) name: &'static str,
    pub(crate) offline: bool,
    /// Milliseconds.
    pub(crate) latency: f64,
    /// Bytes per second.
    pub(crate) down: f64,
    pub(crate) up: f64,
}

/// An emulated screen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Viewport {
    pub(crate) width: u32,
    pub(crate) height: u32,
    /// Device pixels per CSS pixel; 0 is the screen's own.
    pub(crate) density: f64,
    pub(crate) mobile: bool,
    pub(crate) touch: bool,
    pub(crate) landscape: bool,
}

impl Emulating {
    /// Starts with these settings.
    pub(super) fn begin(emulation: Emulation) -> Self {
        Self(Arc::new(Mutex::new(emulation)))
    }

    /// The active settings.
    pub(crate) fn now(&self) -> Emulation {
        self.lock().clone()
    }

    /// Changes the settings for all frames from now on.
    pub(crate) fn set(&self, emulation: Emulation) {
        *self.lock() = emulation;
    }

    /// Applies the settings to a new session, except for the viewport, which only the tab itself has.
    pub(super) fn join(&self, session: &Session) {
        let now = self.lock();
        if now.network.is_some() {
            session.post(now.network_command());
        }
        if now.geolocation.is_some() {
            session.post(now.geolocation_command());
        }
        if now.user_agent.is_some() || now.locale.is_some() {
            session.post(now.user_agent_command());
        }
        if !now.media.is_empty() {
            session.post(now.media_command());
        }
        if now.locale.is_some() {
            session.post(now.locale_command());
        }
        if now.timezone.is_some() {
            session.post(now.timezone_command());
        }
        if !now.headers.is_empty() {
            session.post(now.headers_command());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Emulation> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl From<&Device> for Emulation {
    fn from(device: &Device) -> Self {
        Self {
            viewport: Some(device.viewport()),
            user_agent: device.user_agent(),
            ..Self::default()
        }
    }
}

impl Emulation {
    pub(crate) fn network_command(&self) -> EmulateNetworkConditions {
        match &self.network {
            Some(conditions) => EmulateNetworkConditions {
                offline: conditions.offline,
                latency: conditions.latency,
                download_throughput: conditions.down,
                upload_throughput: conditions.up,
            },
            None => EmulateNetworkConditions {
                offline: false,
                latency: 0.0,
                download_throughput: -1.0,
                upload_throughput: -1.0,
            },
        }
    }

    pub(crate) fn cpu_command(&self) -> emulation::SetCPUThrottlingRate {
        emulation::SetCPUThrottlingRate {
            rate: self.cpu.unwrap_or(1.0),
        }
    }

    pub(crate) fn geolocation_command(&self) -> emulation::SetGeolocationOverride {
        let (latitude, longitude) = self.geolocation.unzip();
        emulation::SetGeolocationOverride {
            latitude,
            longitude,
            accuracy: latitude.map(|_| 1.0),
            ..Default::default()
        }
    }

    /// User agent and language are set by one command.
    pub(crate) fn user_agent_command(&self) -> emulation::SetUserAgentOverride {
        emulation::SetUserAgentOverride {
            user_agent: match &self.user_agent {
                Some(name) => name.clone(),
                None if self.locale.is_some() => self.own_user_agent.clone(),
                None => String::new(),
            },
            accept_language: self.locale.clone(),
            ..Default::default()
        }
    }

    pub(crate) fn media_command(&self) -> emulation::SetEmulatedMedia {
        let features = self
            .media
            .iter()
            .map(|(name, value)| emulation::MediaFeature {
                name: (*name).into(),
                value: value.clone(),
            });
        emulation::SetEmulatedMedia {
            features: Some(features.collect()),
            ..Default::default()
        }
    }

    pub(crate) fn locale_command(&self) -> emulation::SetLocaleOverride {
        emulation::SetLocaleOverride {
            locale: self.locale.as_ref().map(|locale| locale.replace('-', "_")),
        }
    }

    pub(crate) fn timezone_command(&self) -> emulation::SetTimezoneOverride {
        emulation::SetTimezoneOverride {
            timezone_id: self.timezone.clone().unwrap_or_default(),
        }
    }

    pub(crate) fn headers_command(&self) -> network::SetExtraHTTPHeaders {
        let map: serde_json::Map<_, _> = self
            .headers
            .iter()
            .map(|(name, value)| (name.clone(), value.clone().into()))
            .collect();
        network::SetExtraHTTPHeaders {
            headers: Json::encode(&map).unwrap_or_default(),
        }
    }

    /// All active settings as text.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        words.extend(self.network.map(|it| format!("network {}", it.name)));
        words.extend(self.cpu.map(|rate| format!("CPU {rate} times slower")));
        words.extend(
            self.geolocation
                .map(|(latitude, longitude)| format!("geolocation {latitude},{longitude}")),
        );
        words.extend(
            self.user_agent
                .as_ref()
                .map(|it| format!("user agent \"{it}\"")),
        );
        for (name, value) in &self.media {
            words.push(format!(
                "{} {value}",
                name.trim_start_matches("prefers-").replace('-', " ")
            ));
        }
        words.extend(self.viewport.map(|it| format!("viewport {it}")));
        words.extend(self.locale.as_ref().map(|it| format!("locale {it}")));
        words.extend(self.timezone.as_ref().map(|it| format!("timezone {it}")));
        if !self.headers.is_empty() {
            let names: Vec<_> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
            words.push(format!("extra headers {}", names.join(", ")));
        }
        words
    }
}

impl Viewport {
    pub(crate) fn command(&self) -> emulation::SetDeviceMetricsOverride {
        emulation::SetDeviceMetricsOverride {
            width: self.width.into(),
            height: self.height.into(),
            device_scale_factor: self.density,
            mobile: self.mobile,
            screen_orientation: self.mobile.then_some(emulation::ScreenOrientation {
                r#type: match self.landscape {
                    true => emulation::ScreenOrientationType::LANDSCAPE_PRIMARY,
                    false => emulation::ScreenOrientationType::PORTRAIT_PRIMARY,
                },
                angle: if self.landscape { 90 } else { 0 },
            }),
            ..Default::default()
        }
    }
}

impl Viewport {
    pub(crate) fn touch_command(viewport: Option<Self>) -> emulation::SetTouchEmulationEnabled {
        let touch = viewport.is_some_and(|viewport| viewport.touch);
        emulation::SetTouchEmulationEnabled {
            enabled: touch,
            max_touch_points: touch.then_some(5),
        }
    }
}

impl std::fmt::Display for Viewport {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}x{}", self.width, self.height)?;
        if self.density > 0.0 {
            write!(f, "x{}", self.density)?;
        }
        for (is_so, word) in [
            (self.mobile, ",mobile"),
            (self.touch, ",touch"),
            (self.landscape, ",landscape"),
        ] {
            if is_so {
                f.write_str(word)?;
            }
        }
        Ok(())
    }
}

/// The older of two commands: every browser supports it.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EmulateNetworkConditions {
    offline: bool,
    latency: f64,
    download_throughput: f64,
    upload_throughput: f64,
}

impl Command for EmulateNetworkConditions {
    const METHOD: &'static str = "Network.emulateNetworkConditions";
    type Response = Empty;
}
