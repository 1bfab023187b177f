//! What all acting tools share: reaching an element, sending trusted input, telling what came of it.

mod after;
mod drawing;
mod keys;
mod mouse;
mod reach;

pub(super) use after::{Before, settle, with_snapshot};
pub(super) use drawing::Drawing;
pub(super) use keys::{Chord, insert, type_characters};
pub(super) use mouse::{Grip, click, move_to, wheel};
pub(super) use reach::{
    Element, Outcome, Patience, Reached, Rect, WAIT_MS, frame_matrices, reach, show,
};
