//! Emulation of another network, processor, location, browser, screen or language.

#[cfg(test)]
mod tests;

use super::{Access, Category, Tool, ToolOutput, ToolResult};
use crate::devices::Device;
use crate::error::ToolError;
use crate::run::Page;
use crate::tab::{Conditions, Emulation, Tab, Viewport};
use schemars::JsonSchema;
use serde::Deserialize;
use tabmux_cdp::types::{Command, browser, emulation};
use tabmux_text::one_line;

/// Changes the emulation of the tab.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Emulate {
    /// Offline, Slow 3G, Fast 3G, Slow 4G, Fast 4G or No throttling.
    network_conditions: Option<String>,
    /// 1 to 20; 1 is no slowdown.
    cpu_throttling_rate: Option<f64>,
    /// "latitude,longitude"
    geolocation: Option<String>,
    user_agent: Option<String>,
    /// dark, light or auto.
    color_scheme: Option<String>,
    /// "390x844x3,mobile,touch,landscape"; all after the height is optional.
    viewport: Option<String>,
    /// Such as de-DE.
    locale: Option<String>,
    /// Such as Europe/Berlin.
    timezone: Option<String>,
    /// A JSON object of headers, sent with every request.
    extra_http_headers: Option<String>,
    /// A preset of viewport and user agent, such as "iPhone 15" or "Pixel 7 landscape".
    #[schemars(extend("unlisted" = true))]
    device: Option<String>,
    // Further arguments of chrome-devtools-mcp.
    /// active or none.
    #[schemars(extend("unlisted" = true))]
    forced_colors: Option<String>,
    /// more, less, custom or no-preference.
    #[schemars(extend("unlisted" = true))]
    prefers_contrast: Option<String>,
    /// reduce or no-preference.
    #[schemars(extend("unlisted" = true))]
    prefers_reduced_motion: Option<String>,
}

impl Tool for Emulate {
    const NAME: &'static str = "emulate";
    const DESCRIPTION: &'static str = "Emulate network, CPU, location, browser, screen or language in this tab. Changes \
                                       only the given settings; an empty string resets one.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Emulation;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        let nothing = Emulation::default();
        self.applied_to(&nothing, &nothing).map(drop)
    }

    async fn run(self, page: Page) -> ToolResult {
        let tab = &page.tab;
        let before = tab.emulation().now();
        let wanted = self.applied_to(&before, &tab.usual_emulation());
        let mut wanted = wanted.map_err(ToolError::Arguments)?;
        if wanted.own_user_agent.is_empty() && wanted.locale.is_some() {
            let version = tab.session().send(browser::GetVersion::default()).await?;
            wanted.own_user_agent = version.user_agent;
        }
        if let Err(error) = apply(tab, &before, &wanted).await {
            // All or nothing: undo what was applied before the error.
            let _ = apply(tab, &wanted, &before).await;
            return Err(error);
        }
        tab.emulation().set(wanted.clone());
        Ok(ToolOutput::text(describe(&wanted)))
    }
}

/// Changes the size of the page.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ResizePage {
    width: u32,
    height: u32,
}

impl Tool for ResizePage {
    const NAME: &'static str = "resize_page";
    const DESCRIPTION: &'static str = "Set the size of the page, in CSS pixels.";
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Emulation;
    const PROGRESSIVE: bool = false;

    fn check(&self) -> Result<(), String> {
        check_size(self.width, self.height)
    }

    async fn run(self, page: Page) -> ToolResult {
        let before = page.tab.emulation().now();
        let viewport = before.viewport.unwrap_or(Viewport {
            width: 0,
            height: 0,
            density: 0.0,
            mobile: false,
            touch: false,
            landscape: false,
        });
        let wanted = Emulation {
            viewport: Some(Viewport {
                width: self.width,
                height: self.height,
                ..viewport
            }),
            ..before.clone()
        };
        apply(&page.tab, &before, &wanted).await?;
        page.tab.emulation().set(wanted);
        let text = format!("The page is now {}x{} pixels.", self.width, self.height);
        Ok(ToolOutput::text(text))
    }
}

impl Emulate {
    /// The wanted emulation, given the current one. An empty argument restores the value in `usual`.
    fn applied_to(&self, now: &Emulation, usual: &Emulation) -> Result<Emulation, String> {
        let mut wanted = now.clone();
        if let Some(name) = &self.device {
            let device = some(name).map(Device::named).transpose()?;
            let device = device
                .as_ref()
                .map_or_else(|| usual.clone(), Emulation::from);
            (wanted.viewport, wanted.user_agent) = (device.viewport, device.user_agent);
        }
        if let Some(name) = &self.network_conditions {
            wanted.network = match name.as_str() {
                "" | "No throttling" | "No emulation" => None,
                name => Some(network(name)?),
            };
        }
        if let Some(rate) = self.cpu_throttling_rate {
            if !(1.0..=20.0).contains(&rate) {
                return Err("`cpuThrottlingRate` must be between 1 and 20".into());
            }
            wanted.cpu = Some(rate).filter(|rate| *rate > 1.0);
        }
        if let Some(text) = &self.geolocation {
            wanted.geolocation = some(text).map(place).transpose()?;
        }
        if let Some(text) = &self.user_agent {
            let named = some(&plain("userAgent", text)?).map(Into::into);
            wanted.user_agent = named.or_else(|| usual.user_agent.clone());
        }
        for (named, (argument, feature, values)) in [
            &self.color_scheme,
            &self.forced_colors,
            &self.prefers_contrast,
            &self.prefers_reduced_motion,
        ]
        .into_iter()
        .zip(MEDIA)
        {
            let Some(value) = named else { continue };
            wanted.media.retain(|(name, _)| *name != feature);
            match value.as_str() {
                "" | "auto" => {}
                value if values.contains(&value) => wanted.media.push((feature, value.into())),
                _ => return Err(format!("`{argument}` is {} or auto", values.join(", "))),
            }
        }
        if let Some(text) = &self.viewport {
            wanted.viewport = some(text).map(viewport).transpose()?.or(usual.viewport);
        }
        if let Some(text) = &self.locale {
            wanted.locale = some(&plain("locale", text)?).map(Into::into);
        }
        if let Some(text) = &self.timezone {
            wanted.timezone = some(&plain("timezone", text)?).map(Into::into);
        }
        if let Some(text) = &self.extra_http_headers {
            wanted.headers = match some(text) {
                Some(text) => headers(text)?,
                None => Vec::new(),
            };
        }
        Ok(wanted)
    }
}

/// Arguments that are media features, in the order of [`Emulate::applied_to`], with their values.
const MEDIA: [(&str, &str, &[&str]); 4] = [
    ("colorScheme", "prefers-color-scheme", &["dark", "light"]),
    ("forcedColors", "forced-colors", &["active", "none"]),
    (
        "prefersContrast",
        "prefers-contrast",
        &["more", "less", "custom", "no-preference"],
    ),
    (
        "prefersReducedMotion",
        "prefers-reduced-motion",
        &["reduce", "no-preference"],
    ),
];

/// Resets the emulation of a tab that no session holds any more.
pub(super) async fn reset(tab: &Tab) -> Result<(), ToolError> {
    let (before, usual) = (tab.emulation().now(), tab.usual_emulation());
    tab.emulation().set(usual.clone());
    apply(tab, &before, &usual).await
}

/// Applies the differences, to every frame concerned.
async fn apply(tab: &Tab, before: &Emulation, wanted: &Emulation) -> Result<(), ToolError> {
    if before.viewport != wanted.viewport {
        resize(tab, wanted.viewport).await?;
    }
    if before.cpu != wanted.cpu {
        send(tab, &wanted.cpu_command()).await?;
    }
    if before.network != wanted.network {
        send(tab, &wanted.network_command()).await?;
    }
    if before.geolocation != wanted.geolocation {
        match wanted.geolocation {
            Some(_) => send(tab, &wanted.geolocation_command()).await?,
            None => send(tab, &emulation::ClearGeolocationOverride::default()).await?,
        }
    }
    if before.timezone != wanted.timezone {
        // Chrome requires the old one to be cleared before it accepts another.
        if before.timezone.is_some() && wanted.timezone.is_some() {
            send(tab, &Emulation::default().timezone_command()).await?;
        }
        send(tab, &wanted.timezone_command()).await?;
    }
    if before.locale != wanted.locale {
        if before.locale.is_some() && wanted.locale.is_some() {
            send(tab, &Emulation::default().locale_command()).await?;
        }
        send(tab, &wanted.locale_command()).await?;
    }
    if before.user_agent != wanted.user_agent || before.locale != wanted.locale {
        send(tab, &wanted.user_agent_command()).await?;
    }
    if before.media != wanted.media {
        send(tab, &wanted.media_command()).await?;
    }
    if before.headers != wanted.headers {
        send(tab, &wanted.headers_command()).await?;
    }
    Ok(())
}

async fn resize(tab: &Tab, viewport: Option<Viewport>) -> Result<(), ToolError> {
    let session = tab.session();
    let metrics = match (viewport, tab.usual_size()) {
        (Some(viewport), _) => Some(viewport.command()),
        (None, Some((width, height))) => Some(emulation::SetDeviceMetricsOverride {
            width: width.into(),
            height: height.into(),
            ..Default::default()
        }),
        (None, None) => None,
    };
    match metrics {
        Some(metrics) => session.send(metrics).await.map(drop)?,
        None => {
            let clear = emulation::ClearDeviceMetricsOverride::default();
            session.send(clear).await.map(drop)?;
        }
    }
    session.send(Viewport::touch_command(viewport)).await?;
    Ok(())
}

async fn send<C: Command + Clone>(tab: &Tab, command: &C) -> Result<(), ToolError> {
    // An error of the tab's own session counts; a frame may be going away.
    tab.session().send(command.clone()).await?;
    for session in tab.sessions().into_iter().skip(1) {
        let _ = session.send(command.clone()).await;
    }
    Ok(())
}

fn describe(emulation: &Emulation) -> String {
    match emulation.words().as_slice() {
        [] => "Nothing is emulated in this tab.".into(),
        words => format!("Active in this tab: {}.", words.join("; ")),
    }
}

fn some(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn plain(name: &str, text: &str) -> Result<String, String> {
    match text.len() > 1_000 || text.chars().any(char::is_control) {
        true => Err(format!("`{name}` is too long or has control characters")),
        false => Ok(text.to_owned()),
    }
}

fn network(wanted: &str) -> Result<Conditions, String> {
    NETWORKS
        .into_iter()
        .find(|conditions| conditions.name == wanted)
        .ok_or_else(|| {
            let names = NETWORKS.map(|conditions| conditions.name).join(", ");
            format!("`networkConditions` is one of {names} and No throttling")
        })
}

fn place(text: &str) -> Result<(f64, f64), String> {
    let parts = text.split_once([',', 'x']);
    let numbers = parts.and_then(|(latitude, longitude)| {
        let latitude: f64 = latitude.trim().parse().ok()?;
        let longitude: f64 = longitude.trim().parse().ok()?;
        Some((latitude, longitude))
    });
    numbers
        .filter(|(latitude, longitude)| latitude.abs() <= 90.0 && longitude.abs() <= 180.0)
        .ok_or_else(|| "`geolocation` is \"latitude,longitude\", such as \"52.5,13.4\"".into())
}

fn viewport(text: &str) -> Result<Viewport, String> {
    let wrong = || "`viewport` is \"WIDTHxHEIGHT\", \"WIDTHxHEIGHTxDENSITY\", then \",mobile\", \",touch\", \",landscape\"";
    let mut parts = text.split(',');
    let size = parts.next().unwrap_or_default();
    let mut numbers = size.split('x');
    let mut side = || numbers.next()?.trim().parse::<u32>().ok();
    let (width, height) = (side().ok_or_else(wrong)?, side().ok_or_else(wrong)?);
    let density: f64 = match numbers.next() {
        Some(text) => text.trim().parse().map_err(|_| wrong())?,
        None => 0.0,
    };
    if numbers.next().is_some() || !(0.0..=10.0).contains(&density) {
        return Err(wrong().into());
    }
    check_size(width, height)?;
    let mut viewport = Viewport {
        width,
        height,
        density,
        mobile: false,
        touch: false,
        landscape: false,
    };
    for word in parts {
        match word.trim() {
            "mobile" => viewport.mobile = true,
            "touch" => viewport.touch = true,
            "landscape" => viewport.landscape = true,
            _ => return Err(wrong().into()),
        }
    }
    Ok(viewport)
}

fn check_size(width: u32, height: u32) -> Result<(), String> {
    match (1..=10_000).contains(&width) && (1..=10_000).contains(&height) {
        true => Ok(()),
        false => Err("width and height must be between 1 and 10000".into()),
    }
}

fn headers(text: &str) -> Result<Vec<(String, String)>, String> {
    let wrong =
        || "`extraHttpHeaders` is a JSON object of strings, such as {\"X-Test\": \"1\"}".to_owned();
    let map: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(text).map_err(|_| wrong())?;
    if map.len() > 50 {
        return Err("`extraHttpHeaders` has more than 50 headers".into());
    }
    map.into_iter()
        .map(|(name, value)| {
            let value = value.as_str().ok_or_else(wrong)?.to_owned();
            let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
            match !name.is_empty()
                && name.chars().all(token)
                && !value.chars().any(char::is_control)
            {
                true => Ok((name, value)),
                false => Err(format!("\"{}\" is not a header", one_line(&name, 60))),
            }
        })
        .collect()
}

/// The presets of DevTools: latency in milliseconds, throughput in bytes per second.
const NETWORKS: [Conditions; 5] = [
    Conditions {
        name: "Offline",
        offline: true,
        latency: 0.0,
        down: 0.0,
        up: 0.0,
    },
    Conditions {
        name: "Slow 3G",
        offline: false,
        latency: 2_000.0,
        down: 50_000.0,
        up: 50_000.0,
    },
    Conditions {
        name: "Fast 3G",
        offline: false,
        latency: 562.5,
        down: 180_000.0,
        up: 84_375.0,
    },
    Conditions {
        name: "Slow 4G",
        offline: false,
        latency: 562.5,
        down: 180_000.0,
        up: 84_375.0,
    },
    Conditions {
        name: "Fast 4G",
        offline: false,
        latency: 165.0,
        down: 1_012_500.0,
        up: 168_750.0,
    },
];
