//! The pointer of a tab: trusted mouse input. It goes to the tab's session, whatever frame is under the pointer; none is
//! sent to a point that shows a forbidden frame.

use super::Tab;
use crate::disallowed_frames;
use crate::error::ToolError;
use crate::script;
use futures_util::future::try_join_all;
use std::time::Duration;
use tabmux_cdp::Session;
use tabmux_cdp::types::input::{
    CancelDragging, DispatchMouseEvent, DispatchMouseEventType, MouseButton,
};

impl Tab {
    /// Moves the pointer to a point.
    pub(crate) async fn move_pointer(&self, x: f64, y: f64) -> Result<(), ToolError> {
        let moved = event(DispatchMouseEventType::MOUSE_MOVED, x, y);
        self.point(moved).await
    }

    /// Clicks at the pointer's position. Returns when the page has handled it.
    pub(crate) async fn click(&self, x: f64, y: f64, clicks: Clicks) -> Result<(), ToolError> {
        disallowed_frames::refuse_point(self, x, y).await?;
        if !clicks.hold.is_zero() {
            return self.click_slowly((x, y), clicks).await;
        }
        // Sent together and in order, so that the page cannot change anything in between.
        let events = (1..=clicks.times).flat_map(|count| clicks.events((x, y), count));
        let sent = events.map(|event| self.session().send_within(event, script::LONGEST));
        script::in_page(try_join_all(sent)).await?;
        Ok(())
    }

    /// Clicks, and holds the button for a while each time. Pages may move things meanwhile.
    async fn click_slowly(&self, at: (f64, f64), clicks: Clicks) -> Result<(), ToolError> {
        for count in 1..=clicks.times {
            disallowed_frames::refuse_point(self, at.0, at.1).await?;
            let [press, release] = clicks.events(at, count);
            let mut grip = HeldButton {
                session: self.session().clone(),
                release: Some(release),
            };
            one_by_one(&grip.session, [press]).await?;
            tokio::time::sleep(clicks.hold).await;
            if let Err(refused) = disallowed_frames::refuse_point(self, at.0, at.1).await {
                grip.move_release(OUTSIDE);
                grip.release().await?;
                return Err(refused);
            }
            grip.release().await?;
        }
        Ok(())
    }

    /// Scrolls the wheel with the pointer at a point.
    pub(crate) async fn turn_wheel(&self, x: f64, y: f64, by: (f64, f64)) -> Result<(), ToolError> {
        let turned = DispatchMouseEvent {
            delta_x: Some(by.0),
            delta_y: Some(by.1),
            ..event(DispatchMouseEventType::MOUSE_WHEEL, x, y)
        };
        self.point(turned).await
    }

    async fn point(&self, event: DispatchMouseEvent) -> Result<(), ToolError> {
        disallowed_frames::refuse_point(self, event.x, event.y).await?;
        one_by_one(self.session(), [event]).await
    }
}

/// How to click.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Clicks {
    pub(crate) button: Button,
    pub(crate) times: u8,
    /// The bits of Alt, Control, Meta and Shift.
    pub(crate) modifiers: i64,
    /// For how long the button is pressed each time.
    pub(crate) hold: Duration,
}

/// A button of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Button {
    Left,
    Middle,
    Right,
}

impl Clicks {
    /// Clicks of the left button.
    pub(crate) fn left(times: u8) -> Self {
        Self {
            button: Button::Left,
            times,
            modifiers: 0,
            hold: Duration::ZERO,
        }
    }

    /// The events of one click.
    fn events(&self, (x, y): (f64, f64), count: u8) -> [DispatchMouseEvent; 2] {
        let (button, bit) = match self.button {
            Button::Left => (MouseButton::LEFT, 1),
            Button::Right => (MouseButton::RIGHT, 2),
            Button::Middle => (MouseButton::MIDDLE, 4),
        };
        [
            (DispatchMouseEventType::MOUSE_PRESSED, bit),
            (DispatchMouseEventType::MOUSE_RELEASED, 0),
        ]
        .map(|(kind, buttons)| DispatchMouseEvent {
            button: Some(button.clone()),
            buttons: Some(buttons),
            modifiers: Some(self.modifiers),
            click_count: Some(count.into()),
            ..event(kind, x, y)
        })
    }
}

/// A pressed mouse button. Dropping this releases it.
pub(crate) struct HeldButton {
    session: Session,
    /// The event that releases it; none once that is done.
    release: Option<DispatchMouseEvent>,
}

impl HeldButton {
    /// Presses the button at the pointer's position and moves a little, until pages treat it as a drag.
    pub(crate) async fn press(tab: &Tab, (x, y): (f64, f64)) -> Result<Self, ToolError> {
        let grip = Self::begin(tab, (x, y)).await?;
        let events = [held(x + 4.0, y + 4.0), held(x + 8.0, y + 8.0)];
        one_by_one(&grip.session, events).await?;
        Ok(grip)
    }

    /// Presses the button at the pointer's position.
    pub(crate) async fn begin(tab: &Tab, (x, y): (f64, f64)) -> Result<Self, ToolError> {
        disallowed_frames::refuse_point(tab, x, y).await?;
        let [press, release] = Clicks::left(1).events((x, y), 1);
        let grip = Self {
            session: tab.session().clone(),
            release: Some(release),
        };
        one_by_one(&grip.session, [press]).await?;
        Ok(grip)
    }

    /// Moves with the button pressed, in steps.
    pub(crate) async fn drag_to(
        &mut self,
        from: (f64, f64),
        to: (f64, f64),
    ) -> Result<(), ToolError> {
        let steps = (1..=DRAG_STEPS).map(|step| {
            let part = f64::from(step) / f64::from(DRAG_STEPS);
            held(
                from.0 + (to.0 - from.0) * part,
                from.1 + (to.1 - from.1) * part,
            )
        });
        // Some pages process a move only when another one follows.
        let steps = steps.chain([held(to.0, to.1)]);
        one_by_one(&self.session, steps).await?;
        self.move_release(to);
        Ok(())
    }

    /// Releases the button where it was pressed, so that nothing is dropped.
    pub(crate) async fn cancel(self, start: (f64, f64)) -> Result<(), ToolError> {
        let cancel = self.session.send(CancelDragging::default());
        // Fails if no drag is in progress, which is fine.
        let _ = cancel.await;
        let mut grip = self;
        one_by_one(&grip.session, [held(start.0, start.1)]).await?;
        grip.move_release(start);
        grip.release().await
    }

    /// Releases the button. Returns when the page has handled it.
    pub(crate) async fn release(mut self) -> Result<(), ToolError> {
        let Some(release) = self.release.take() else {
            return Ok(());
        };
        let released = self.session.send_within(release, script::LONGEST);
        script::in_page(released).await?;
        Ok(())
    }

    fn move_release(&mut self, (x, y): (f64, f64)) {
        if let Some(release) = &mut self.release {
            (release.x, release.y) = (x, y);
        }
    }
}

impl Drop for HeldButton {
    fn drop(&mut self) {
        if let Some(release) = self.release.take() {
            self.session.post(release);
        }
    }
}

/// The page must receive each move; moves that are sent together are merged into one.
async fn one_by_one(
    session: &Session,
    events: impl IntoIterator<Item = DispatchMouseEvent>,
) -> Result<(), ToolError> {
    for event in events {
        script::in_page(session.send_within(event, script::LONGEST)).await?;
    }
    Ok(())
}

fn held(x: f64, y: f64) -> DispatchMouseEvent {
    DispatchMouseEvent {
        button: Some(MouseButton::LEFT),
        buttons: Some(1),
        ..event(DispatchMouseEventType::MOUSE_MOVED, x, y)
    }
}

fn event(kind: DispatchMouseEventType, x: f64, y: f64) -> DispatchMouseEvent {
    DispatchMouseEvent {
        r#type: kind,
        x,
        y,
        ..Default::default()
    }
}

/// A point of no frame.
const OUTSIDE: (f64, f64) = (-1.0, -1.0);
const DRAG_STEPS: u32 = 8;
