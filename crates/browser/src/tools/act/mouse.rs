//! Trusted mouse input. It goes to the tab's own session, whatever the frame under the pointer.

use crate::error::ToolError;
use crate::script;
use crate::tab::Tab;
use futures_util::future::try_join_all;
use tabmux_cdp::types::input::{DispatchMouseEvent, DispatchMouseEventType, MouseButton};

/// Moves the pointer there and clicks `times` times. Resolves when the page has handled it.
pub(in crate::tools) async fn click(
    tab: &Tab,
    x: f64,
    y: f64,
    times: i64,
) -> Result<(), ToolError> {
    let mut events = vec![event(DispatchMouseEventType::MOUSE_MOVED, x, y)];
    for count in 1..=times {
        for (kind, buttons) in [
            (DispatchMouseEventType::MOUSE_PRESSED, 1),
            (DispatchMouseEventType::MOUSE_RELEASED, 0),
        ] {
            events.push(DispatchMouseEvent {
                button: Some(MouseButton::LEFT),
                buttons: Some(buttons),
                click_count: Some(count),
                ..event(kind, x, y)
            });
        }
    }
    // All at once, in order: nothing on the page can come in between.
    let sent = events
        .into_iter()
        .map(|event| tab.session().send_within(event, script::LONGEST));
    script::in_page(try_join_all(sent)).await?;
    Ok(())
}

/// Moves the pointer there.
pub(in crate::tools) async fn move_to(tab: &Tab, x: f64, y: f64) -> Result<(), ToolError> {
    let moved = event(DispatchMouseEventType::MOUSE_MOVED, x, y);
    script::in_page(tab.session().send_within(moved, script::LONGEST)).await?;
    Ok(())
}

/// Turns the wheel with the pointer there.
pub(in crate::tools) async fn wheel(
    tab: &Tab,
    x: f64,
    y: f64,
    by: (f64, f64),
) -> Result<(), ToolError> {
    let turned = DispatchMouseEvent {
        delta_x: Some(by.0),
        delta_y: Some(by.1),
        ..event(DispatchMouseEventType::MOUSE_WHEEL, x, y)
    };
    script::in_page(tab.session().send_within(turned, script::LONGEST)).await?;
    Ok(())
}

fn event(kind: DispatchMouseEventType, x: f64, y: f64) -> DispatchMouseEvent {
    DispatchMouseEvent {
        r#type: kind,
        x,
        y,
        ..Default::default()
    }
}
