//! Screenshots: of the visible part, of the whole page, or of one element.

mod marks;
mod repaint;

pub(super) use repaint::repaint;

use super::act::{self, Drawing, Element, Rect};
use super::shown_secrets::{self, PictureOf};
use super::{Access, Block, Category, Tool, ToolOutput, ToolResult};
use crate::disallowed_frames::HiddenFrames;
use crate::error::ToolError;
use crate::files::Destination;
use crate::run::Page;
use crate::tab::Tab;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use marks::Marks;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;
use tabmux_cdp::CdpError;
use tabmux_cdp::types::page::{self, CaptureScreenshotFormat};

/// Takes a screenshot.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct TakeScreenshot {
    /// Default: png.
    format: Option<Format>,
    /// 0 to 100, for jpeg and webp.
    #[schemars(range(max = 100))]
    quality: Option<u8>,
    /// Only this element.
    uid: Option<String>,
    /// The whole page instead of the visible part.
    full_page: Option<bool>,
    /// Save it to this file, in full size.
    file_path: Option<String>,
    overwrite: Option<bool>,
    /// interactive, or a list of up to 60 uids: draw their uids on the picture, as png, and list their boxes.
    #[schemars(extend("unlisted" = true))]
    marks: Option<Marks>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Format {
    Png,
    Jpeg,
    Webp,
}

impl Tool for TakeScreenshot {
    const NAME: &'static str = "take_screenshot";
    const DESCRIPTION: &'static str = "Take a screenshot of the page or an element, scaled down if it is large. To \
                                       read or act, take_snapshot is better.";
    // Scrolls to an element, and two screenshots of one tab would disturb each other.
    const ACCESS: Access = Access::Act;
    const CATEGORY: Category = Category::Debugging;

    fn check(&self) -> Result<(), String> {
        if self.uid.is_some() && self.full_page == Some(true) {
            return Err("`uid` and `fullPage` exclude each other".into());
        }
        if let Some(marks) = self.marks.as_ref().filter(|marks| marks.are_wanted()) {
            marks.check()?;
            if self.full_page == Some(true) || self.uid.is_some() {
                return Err("marks need the viewport; omit `fullPage` and `uid`".into());
            }
            if self.format() != Format::Png {
                return Err("marks are drawn on png only; omit `format`".into());
            }
        }
        match (self.quality, self.format.unwrap_or(Format::Png)) {
            (None, _) => Ok(()),
            (Some(_), Format::Png) => Err("`quality` is for jpeg and webp only".into()),
            (Some(0..=100), _) => Ok(()),
            (Some(_), _) => Err("`quality` must be between 0 and 100".into()),
        }
    }

    async fn run(self, page: Page) -> ToolResult {
        let found = match self.marks.as_ref().filter(|marks| marks.are_wanted()) {
            Some(marks) => Some(marks.find(&page.tab).await?),
            None => None,
        };
        let cover = HiddenFrames::begin(&page.tab).await?;
        let part = self.part(&page.tab).await?;
        let scale = match self.file_path {
            Some(_) => 1.0,
            None => part.scale_to(MAX_SIDE),
        };
        // A long page would be illegible when scaled down: it goes to a file in full size.
        let illegible = self.full_page == Some(true) && scale < MIN_SCALE;
        let scale = if illegible { 1.0 } else { scale };
        let inline = self.file_path.is_none() && !illegible;
        let taking = async {
            match inline {
                true => self.capture_to_show(&page.tab, &part, scale).await,
                false => self.capture(&page.tab, &part, scale, false).await,
            }
        };
        let picture = shown_secrets::covered(&page.tab, self.picture_of(&part), taking).await?;
        cover.end(&page.tab).await?;
        let size = part.describe(scale);
        let (picture, legend) = match &found {
            Some(found) => {
                let drawn = found.draw(&picture, part.width).await?;
                (drawn, format!("\n{}", found.legend()))
            }
            None => (picture, String::new()),
        };
        if inline && bytes_of(&picture) <= MAX_BYTES {
            let image = Block::Image {
                base64: picture,
                mime_type: self.format().mime_type(),
            };
            return Ok(ToolOutput {
                blocks: vec![Block::Text(size + &legend), image],
                ..ToolOutput::default()
            });
        }
        let place = self.keep(&page, &picture).await?;
        let why = if self.file_path.is_some() {
            ""
        } else {
            " It is too large to be shown here."
        };
        Ok(ToolOutput::text(format!(
            "{size} Saved to {}.{why}{legend}",
            place.display()
        )))
    }
}

impl TakeScreenshot {
    /// Saves the visible part, in full size, to a file.
    pub(super) async fn save(&self, page: &Page) -> Result<PathBuf, ToolError> {
        let cover = HiddenFrames::begin(&page.tab).await?;
        let part = self.part(&page.tab).await?;
        let taking = self.capture(&page.tab, &part, 1.0, true);
        let picture = shown_secrets::covered(&page.tab, self.picture_of(&part), taking).await?;
        cover.end(&page.tab).await?;
        self.keep(page, &picture).await
    }

    /// Writes the image to its file.
    async fn keep(&self, page: &Page, picture: &str) -> Result<PathBuf, ToolError> {
        let decoded = BASE64_STANDARD.decode(picture);
        let picture = decoded.map_err(|error| ToolError::Internal {
            detail: error.to_string(),
        })?;
        let extension = self.format().extension();
        let to = Destination::new(self.file_path.as_deref(), self.overwrite, extension);
        page.files.save(to, picture).await
    }

    fn picture_of(&self, part: &Part) -> PictureOf {
        PictureOf {
            x: part.x,
            y: part.y,
            width: part.width,
            is_paintable: self.format() == Format::Png && !part.beyond,
        }
    }

    fn format(&self) -> Format {
        self.format.unwrap_or(Format::Png)
    }

    /// The part of the page to capture.
    async fn part(&self, tab: &Tab) -> Result<Part, ToolError> {
        let element = match &self.uid {
            Some(uid) => Some(element_box(tab, uid).await?),
            None => None,
        };
        let metrics = tab.layout().await?;
        let view = &metrics.css_visual_viewport;
        let visible = Part {
            x: view.page_x,
            y: view.page_y,
            width: view.client_width,
            height: view.client_height,
            density: density(&metrics),
            beyond: false,
            cut: false,
        };
        if self.full_page == Some(true) {
            let whole = &metrics.css_content_size;
            let all = Part {
                x: 0.0,
                y: 0.0,
                width: whole.width,
                height: whole.height,
                beyond: true,
                ..visible
            };
            return Ok(all.within_limits());
        }
        let Some(element) = element else {
            return Ok(visible);
        };
        let (width, height) = (element.width, element.height);
        let part = Part {
            x: element.x + visible.x,
            y: element.y + visible.y,
            width,
            height,
            ..visible
        };
        let inside = element.x >= 0.0
            && element.y >= 0.0
            && element.x + element.width <= visible.width
            && element.y + element.height <= visible.height;
        Ok(Part {
            beyond: !inside,
            ..part
        }
        .within_limits())
    }

    /// An image for the answer: encoded quickly, and smaller only if that is needed to fit.
    async fn capture_to_show(
        &self,
        tab: &Tab,
        part: &Part,
        scale: f64,
    ) -> Result<String, ToolError> {
        let picture = self.capture(tab, part, scale, true).await?;
        match bytes_of(&picture) {
            size if size > MAX_BYTES && size <= QUICK_FACTOR * MAX_BYTES => {
                self.capture(tab, part, scale, false).await
            }
            _ => Ok(picture),
        }
    }

    /// Takes the screenshot; base64, as Chrome sends it.
    async fn capture(
        &self,
        tab: &Tab,
        part: &Part,
        scale: f64,
        quick: bool,
    ) -> Result<String, ToolError> {
        let capture = page::CaptureScreenshot {
            format: Some(self.format().chrome()),
            quality: self.quality.map(Into::into),
            clip: Some(page::Viewport {
                x: part.x,
                y: part.y,
                width: part.width,
                height: part.height,
                scale,
            }),
            capture_beyond_viewport: Some(part.beyond),
            optimize_for_speed: Some(quick),
            ..Default::default()
        };
        let taking = std::pin::pin!(tab.capture(capture));
        match while_drawn(tab, taking).await {
            Ok(picture) => Ok(picture),
            Err(CdpError::TooLarge { bytes, .. }) => Err(ToolError::NotActionable {
                why: format!(
                    "The picture has {} MB, which is over the limit. Take it as jpeg, or take a part of the page with \
                     `uid`.",
                    bytes / 4 * 3 / 1_000_000
                ),
            }),
            Err(error) => Err(error.into()),
        }
    }
}

/// Waits for a screenshot. A foreground tab draws by itself, which is faster; a background tab may need [`Drawing`],
/// which then is active for the next screenshots, too.
async fn while_drawn<T>(tab: &Tab, mut taking: impl Future<Output = T> + Unpin) -> T {
    if !tab.hides() {
        match tokio::time::timeout(SELF_DRAWN_LIMIT, &mut taking).await {
            Ok(taken) => return taken,
            Err(_) => tab.note_hidden(),
        }
    }
    let _drawing = Drawing::of(tab);
    taking.await
}

/// The decoded size of this base64 text.
fn bytes_of(base64: &str) -> usize {
    base64.len() / 4 * 3
}

/// A part of the page, in CSS pixels from its top left corner.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    /// Image pixels per CSS pixel.
    density: f64,
    /// Whether part of it is outside of the viewport.
    beyond: bool,
    /// Whether it was cut to the limit.
    cut: bool,
}

impl Part {
    /// Chrome limits the length of a side.
    fn within_limits(self) -> Self {
        let cut = self.width > MAX_PIXELS || self.height > MAX_PIXELS;
        let (width, height) = (
            self.width.clamp(1.0, MAX_PIXELS),
            self.height.clamp(1.0, MAX_PIXELS),
        );
        Self {
            width,
            height,
            cut,
            ..self
        }
    }

    fn scale_to(&self, longest: f64) -> f64 {
        (longest / (self.width.max(self.height) * self.density)).min(1.0)
    }

    fn describe(&self, scale: f64) -> String {
        let (width, height) = (self.width * self.density, self.height * self.density);
        let mut words = match scale < 1.0 {
            true => format!(
                "The picture is {:.0} × {:.0}, scaled from {width:.0} × {height:.0}.",
                width * scale,
                height * scale
            ),
            false => format!("The picture is {width:.0} × {height:.0}."),
        };
        if self.cut {
            words.push_str(" It does not show the whole page.");
        }
        words
    }
}

/// The element's box in the tab's viewport, after scrolling to it.
async fn element_box(tab: &Tab, uid: &str) -> Result<Rect, ToolError> {
    let element = Element::find(tab, uid).await?;
    let shown = act::show(tab, &element).await?;
    let matrices = act::frame_matrices(tab, &element.world.frame).await?;
    Ok(bounds_of(shown.rect, &matrices))
}

/// The bounds of a box after it was mapped to the frames around it, innermost first.
pub(super) fn bounds_of(rect: Rect, matrices: &[[f64; 6]]) -> Rect {
    let corners = [
        (rect.x, rect.y),
        (rect.x + rect.width, rect.y),
        (rect.x, rect.y + rect.height),
        (rect.x + rect.width, rect.y + rect.height),
    ];
    let corners = corners.map(|corner| {
        matrices.iter().fold(corner, |(x, y), [a, b, c, d, e, f]| {
            (a * x + c * y + e, b * x + d * y + f)
        })
    });
    let xs = corners.map(|(x, _)| x);
    let ys = corners.map(|(_, y)| y);
    let least = |values: [f64; 4]| values.into_iter().fold(f64::INFINITY, f64::min);
    let most = |values: [f64; 4]| values.into_iter().fold(f64::NEG_INFINITY, f64::max);
    let (x, y) = (least(xs), least(ys));
    Rect {
        x,
        y,
        width: most(xs) - x,
        height: most(ys) - y,
    }
}

/// Image pixels per CSS pixel.
fn density(metrics: &page::GetLayoutMetricsResponse) -> f64 {
    let (pixels, css) = (&metrics.visual_viewport, &metrics.css_visual_viewport);
    if pixels.client_width > 0.0 && css.client_width > 0.0 {
        pixels.client_width / css.client_width
    } else {
        1.0
    }
}

impl Format {
    fn chrome(self) -> CaptureScreenshotFormat {
        match self {
            Self::Png => CaptureScreenshotFormat::PNG,
            Self::Jpeg => CaptureScreenshotFormat::JPEG,
            Self::Webp => CaptureScreenshotFormat::WEBP,
        }
    }

    fn mime_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Jpeg => "jpeg",
            Self::Webp => "webp",
        }
    }
}

const MAX_SIDE: f64 = 1_568.0;
const MIN_SCALE: f64 = 0.25;
const MAX_PIXELS: f64 = 16_000.0;
const MAX_BYTES: usize = 1_000_000;
/// A tab that draws by itself has delivered by then, unless the machine is very busy.
const SELF_DRAWN_LIMIT: Duration = Duration::from_millis(60);
/// How much smaller a PNG becomes with Chrome's slow encoder.
const QUICK_FACTOR: usize = 3;
