//! Shared by all acting tools: reaching an element, sending trusted input, reporting the effects.

mod after;
mod drawing;
mod keys;
mod point;
mod press;
mod reach;

pub(super) use after::{Before, settle, with_snapshot};
pub(super) use drawing::Drawing;
pub(super) use keys::{Chord, Modifier, type_characters};
pub(super) use point::at;
pub(super) use press::{aim, click, held};
pub(super) use reach::{
    Element, Outcome, ReachMode, Reached, Rect, Spot, WAIT_MS, frame_matrices, reach, show,
};
pub(crate) use reach::{owner_number, shown_frame};
