//! Custom sliders of a page: moved by arrow keys, as a user would.

use super::Call;
use crate::error::ToolError;
use crate::tools::act::Chord;
use serde::Deserialize;
use serde_json::{Value, json};
use tabmux_text::one_line;

#[derive(Deserialize)]
struct SliderPosition {
    /// None if it does not report its position, or cannot be focused.
    at: Option<f64>,
}

impl Call<'_> {
    pub(super) async fn slide(&self, n: u32, label: &str, value: &Value) -> Result<(), ToolError> {
        let text = value.as_str().and_then(|text| text.trim().parse().ok());
        let wanted = value.as_f64().or(text);
        let wanted = wanted.ok_or_else(|| super::missing(label, "a number"))?;
        let label = one_line(label, 60);
        let mut at = self.place(n, None).await?.ok_or_else(|| {
            refused(format!(
                "\"{label}\" cannot be focused, or does not report its position. Use drag."
            ))
        })?;
        self.page.acting();
        for _ in 0..MAX_STEPS {
            if is_same(at, wanted) {
                return Ok(());
            }
            let key = if at < wanted {
                "ArrowRight"
            } else {
                "ArrowLeft"
            };
            let key = Chord::parse(key).map_err(ToolError::Arguments)?;
            key.press(&self.page.tab).await?;
            let now = self.place(n, Some(at)).await?.unwrap_or(at);
            if is_same(now, at) {
                return Err(refused(format!(
                    "\"{label}\" is at {at}, and the arrow keys do not move it. Use drag."
                )));
            }
            if !is_same(now, wanted) && (now > wanted) != (at > wanted) {
                return Err(refused(format!(
                    "\"{label}\" has steps at {at} and {now}, but not at {wanted}. It is at {now} now."
                )));
            }
            if (now - wanted).abs() > (at - wanted).abs() {
                return Err(refused(format!(
                    "\"{label}\" went from {at} to {now}, away from {wanted}. Use drag."
                )));
            }
            at = now;
        }
        Err(refused(format!(
            "\"{label}\" is at {at} after {MAX_STEPS} steps, and {wanted} is farther. Call the tool again, or use \
             drag."
        )))
    }

    /// Its position, once it differs from `from`. Without `from`, focuses it first.
    async fn place(&self, n: u32, from: Option<f64>) -> Result<Option<f64>, ToolError> {
        let ask = json!({ "n": n, "from": from });
        let place: SliderPosition = self.world.call("tabmux.sliderAt", ask).await?;
        Ok(place.at)
    }
}

/// Pages use steps such as 0.1, whose sums are not exact.
fn is_same(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
}

fn refused(why: String) -> ToolError {
    ToolError::NotActionable { why }
}

const MAX_STEPS: usize = 300;
