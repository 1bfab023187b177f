//! The pointer of a tab: trusted mouse input. It goes to the tab's session, whatever frame is under the pointer; none is
//! sent to a point that shows a forbidden frame.

use super::Tab;
use crate::disallowed_frames;
use crate::error::ToolError;
use crate::script;
use futures_util::future::try_join_all;
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

    /// Clicks `times` times at the pointer's position. Returns when the page has handled it.
    pub(crate) async fn click(&self, x: f64, y: f64, times: i64) -> Result<(), ToolError> {
        disallowed_frames::refuse_point(self, x, y).await?;
        // Sent together and in order, so that the page cannot change anything in between.
        let events = (1..=times).flat_map(|count| clicked(x, y, count));
        let sent = events.map(|event| self.session().send_within(event, script::LONGEST));
        script::in_page(try_join_all(sent)).await?;
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

/// A pressed mouse button. Dropping this releases it.
pub(crate) struct HeldButton {
    session: Session,
    /// Where to release it; none once that is done.
    place: Option<(f64, f64)>,
}

impl HeldButton {
    /// Presses the button at the pointer's position and moves a little, until pages treat it as a drag.
    pub(crate) async fn press(tab: &Tab, (x, y): (f64, f64)) -> Result<Self, ToolError> {
        disallowed_frames::refuse_point(tab, x, y).await?;
        let grip = Self {
            session: tab.session().clone(),
            place: Some((x, y)),
        };
        let press = DispatchMouseEvent {
            button: Some(MouseButton::LEFT),
            buttons: Some(1),
            click_count: Some(1),
            ..event(DispatchMouseEventType::MOUSE_PRESSED, x, y)
        };
        let events = [press, held(x + 4.0, y + 4.0), held(x + 8.0, y + 8.0)];
        one_by_one(&grip.session, events).await?;
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
        self.place = Some(to);
        Ok(())
    }

    /// Releases the button where it was pressed, so that nothing is dropped.
    pub(crate) async fn cancel(self, start: (f64, f64)) -> Result<(), ToolError> {
        let cancel = self.session.send(CancelDragging::default());
        // Fails if no drag is in progress, which is fine.
        let _ = cancel.await;
        let mut grip = self;
        one_by_one(&grip.session, [held(start.0, start.1)]).await?;
        grip.place = Some(start);
        grip.release().await
    }

    /// Releases the button. Returns when the page has handled it.
    pub(crate) async fn release(mut self) -> Result<(), ToolError> {
        let Some(place) = self.place.take() else {
            return Ok(());
        };
        let released = self.session.send_within(released(place), script::LONGEST);
        script::in_page(released).await?;
        Ok(())
    }
}

impl Drop for HeldButton {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.session.post(released(place));
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

fn released((x, y): (f64, f64)) -> DispatchMouseEvent {
    DispatchMouseEvent {
        button: Some(MouseButton::LEFT),
        buttons: Some(0),
        click_count: Some(1),
        ..event(DispatchMouseEventType::MOUSE_RELEASED, x, y)
    }
}

fn held(x: f64, y: f64) -> DispatchMouseEvent {
    DispatchMouseEvent {
        button: Some(MouseButton::LEFT),
        buttons: Some(1),
        ..event(DispatchMouseEventType::MOUSE_MOVED, x, y)
    }
}

/// The events of one click.
fn clicked(x: f64, y: f64, count: i64) -> [DispatchMouseEvent; 2] {
    [
        (DispatchMouseEventType::MOUSE_PRESSED, 1),
        (DispatchMouseEventType::MOUSE_RELEASED, 0),
    ]
    .map(|(kind, buttons)| DispatchMouseEvent {
        button: Some(MouseButton::LEFT),
        buttons: Some(buttons),
        click_count: Some(count),
        ..event(kind, x, y)
    })
}

fn event(kind: DispatchMouseEventType, x: f64, y: f64) -> DispatchMouseEvent {
    DispatchMouseEvent {
        r#type: kind,
        x,
        y,
        ..Default::default()
    }
}

const DRAG_STEPS: u32 = 8;
