//! Engines other than Chrome that implement its protocol, such as Lightpanda: their pages can be read, too.

use crate::harness::BrowserHarness;
use crate::snapshot::without_numbers;
use serde_json::json;
use tabmux_cdp::types::{page, runtime};

/// Moves or removes what other engines have in another place or lack. Runs in our world before our scripts.
const OTHER_ENGINE: &str = r#"
    const move = (from, to, name) => {
      const own = Object.getOwnPropertyDescriptor(from.prototype, name);
      delete from.prototype[name];
      Object.defineProperty(to.prototype, name, own);
    };
    move(Document, HTMLDocument, "title");
    move(Document, HTMLDocument, "activeElement");
    move(Document, Node, "getElementById");
    move(Element, Node, "getAttributeNames");
    move(Element, Node, "localName");
    move(Node, EventTarget, "firstChild");
    move(HTMLFormElement, HTMLElement, "elements");
    delete Text.prototype.assignedSlot;
    const { matches } = Element.prototype;
    Element.prototype.matches = function (selector) {
      if (selector === ":modal" || selector === ":user-invalid") throw new DOMException("no such state", "SyntaxError");
      return matches.call(this, selector);
    };
"#;

#[tokio::test]
async fn engines_with_other_prototypes_are_read_alike() {
    let Some(harness) = BrowserHarness::start().await else {
        return;
    };
    let mut read = Vec::new();
    for engine in ["", OTHER_ENGINE] {
        let tab = harness.open("snapshot.html").await;
        let frame = tab.state().frames.main().cloned().unwrap();
        let create = page::CreateIsolatedWorld {
            frame_id: frame.id.clone(),
            world_name: Some("tabmux".into()),
            ..Default::default()
        };
        let world = frame.session.send(create).await.unwrap();
        let changed = runtime::Evaluate {
            expression: format!("{{ {engine} }} 'title' in Document.prototype"),
            context_id: Some(world.execution_context_id),
            return_by_value: Some(true),
            ..Default::default()
        };
        let changed = frame.session.send(changed).await.unwrap();
        let usual: bool = changed.result.value.unwrap().decode().unwrap();
        assert_eq!(usual, engine.is_empty());
        let snapshot = harness.text(&tab, "take_snapshot", json!({})).await;
        let (_, lines) = snapshot.split_once('\n').unwrap();
        read.push(without_numbers(lines));
    }
    assert_eq!(read[1], read[0], "\n{}\n", read[1]);
    harness.browser.shut_down().await;
}
