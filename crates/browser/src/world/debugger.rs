//! What only the debugger can tell our scripts about a document: which elements listen for clicks, the contents of
//! closed shadow roots, which frame an element contains.

use super::World;
use crate::error::ToolError;
use crate::script;
use crate::tab::FrameId;
use futures_util::future::join_all;
use indexmap::IndexMap;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{MutexGuard, PoisonError};
use tabmux_cdp::types::dom::{self, BackendNodeId, ShadowRootType};
use tabmux_cdp::types::dom_debugger::{EventListener, GetEventListeners};
use tabmux_cdp::types::runtime::{self, RemoteObjectId, ScriptId};

impl World {
    /// Tells our scripts which elements listen for clicks, so that a snapshot shows them. Returns whether any of them
    /// would have been missed.
    pub(crate) async fn learn_listeners(&self) -> Result<bool, ToolError> {
        let ask = GetEventListeners {
            object_id: self.document_object().await?,
            depth: Some(-1),
            pierce: Some(true),
        };
        let listeners = script::in_page(self.session.send(ask)).await;
        let listeners = listeners.map_err(script::document_gone_or)?.listeners;
        let mut any_news = false;
        // The result of the first round may make more listeners of the same kind interesting.
        for _ in 0..2 {
            let plan = self.told().plan(&listeners);
            self.told().known.extend(nodes_of(&listeners));
            if plan.is_empty() {
                break;
            }
            for (place, nodes) in plan {
                let news = match self.mark_listeners(&nodes).await {
                    Err(ToolError::DocumentGone) => return Err(ToolError::DocumentGone),
                    marked => marked.unwrap_or_default(),
                };
                self.told().note(place, nodes, news);
                any_news |= news;
            }
        }
        Ok(any_news)
    }

    /// Opens the closed shadow roots of these elements. Returns whether there were any.
    pub(crate) async fn open_closed_roots(&self, hosts: &[u32]) -> Result<bool, ToolError> {
        let group = Group::new(self);
        let mut pairs = Vec::new();
        for (host, node) in self.describe(hosts, &group).await?.into_iter().flatten() {
            let roots = node.shadow_roots.into_iter().flatten();
            let closed = |root: &dom::Node| root.shadow_root_type == Some(ShadowRootType::CLOSED);
            if let Some(root) = roots.into_iter().find(closed) {
                pairs.push((host, root.backend_node_id));
            }
        }
        if pairs.is_empty() {
            return Ok(false);
        }
        let (hosts, roots): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
        let roots = self.resolve(&roots, &group).await;
        let mut arguments = Vec::new();
        for (host, root) in hosts.into_iter().zip(roots) {
            arguments.extend(root.map(|root| [host, root]).into_iter().flatten());
        }
        let adopted = self.hand_over("tabmux.adoptClosedRoots", arguments).await?;
        Ok(adopted > 0.0)
    }

    /// The frames that these elements contain.
    pub(crate) async fn frames_of(
        &self,
        elements: &[u32],
    ) -> Result<Vec<Option<FrameId>>, ToolError> {
        if elements.is_empty() {
            return Ok(Vec::new());
        }
        let nodes = self.describe(elements, &Group::new(self)).await?;
        let frames = nodes.into_iter().map(|node| node?.1.frame_id);
        Ok(frames.collect())
    }

    /// The document as an object of the page's own world: Chromium crashes sooner or later when it is asked for the
    /// listeners below an object of an isolated world.
    async fn document_object(&self) -> Result<RemoteObjectId, ToolError> {
        if let Some(document) = self.told().document.clone() {
            return Ok(document);
        }
        let group = Group::new(self);
        let evaluate = runtime::Evaluate {
            expression: "document".into(),
            context_id: Some(self.context),
            object_group: Some(group.name.clone()),
            ..Default::default()
        };
        let answer = script::in_page(self.session.send(evaluate)).await;
        let describe = dom::DescribeNode {
            object_id: answer.map_err(script::document_gone_or)?.result.object_id,
            ..Default::default()
        };
        let node = self.session.send(describe).await?.node;
        let resolve = dom::ResolveNode {
            backend_node_id: Some(node.backend_node_id),
            ..Default::default()
        };
        let document = self.session.send(resolve).await?.object.object_id;
        let document = document.ok_or(ToolError::DocumentGone)?;
        self.told().document = Some(document.clone());
        Ok(document)
    }

    /// Marks these nodes. Returns whether any of them would have been missed.
    async fn mark_listeners(&self, nodes: &[BackendNodeId]) -> Result<bool, ToolError> {
        let group = Group::new(self);
        // Nodes of child frames cannot be resolved here; their own world gets them.
        let objects = self.resolve(nodes, &group).await;
        let objects: Vec<_> = objects.into_iter().flatten().collect();
        if objects.is_empty() {
            return Ok(false);
        }
        let news = self.hand_over("tabmux.markListeners", objects).await?;
        Ok(news > 0.0)
    }

    /// Nodes as objects of this world.
    async fn resolve(
        &self,
        nodes: &[BackendNodeId],
        group: &Group<'_>,
    ) -> Vec<Option<RemoteObjectId>> {
        let resolved = nodes.iter().map(|node| async move {
            let resolve = dom::ResolveNode {
                backend_node_id: Some(*node),
                execution_context_id: Some(self.context),
                object_group: Some(group.name.clone()),
                ..Default::default()
            };
            self.session.send(resolve).await.ok()?.object.object_id
        });
        join_all(resolved).await
    }

    /// What the debugger reports about these elements, if they still exist.
    async fn describe(
        &self,
        elements: &[u32],
        group: &Group<'_>,
    ) -> Result<Vec<Option<(RemoteObjectId, dom::Node)>>, ToolError> {
        let objects = self.objects(elements, group).await?;
        let nodes = objects.into_iter().map(|object| async {
            let describe = dom::DescribeNode {
                object_id: Some(object.clone()?),
                ..Default::default()
            };
            let described = self.session.send(describe).await.ok()?;
            Some((object?, described.node))
        });
        Ok(join_all(nodes).await)
    }

    /// Elements by their numbers, in the same order.
    async fn objects(
        &self,
        elements: &[u32],
        group: &Group<'_>,
    ) -> Result<Vec<Option<RemoteObjectId>>, ToolError> {
        let evaluate = runtime::Evaluate {
            expression: format!("tabmux.elementsOf({elements:?})"),
            context_id: Some(self.context),
            object_group: Some(group.name.clone()),
            ..Default::default()
        };
        let answer = script::in_page(self.session.send(evaluate)).await;
        let list = answer.map_err(script::document_gone_or)?.result.object_id;
        let ask = runtime::GetProperties {
            object_id: list.ok_or(ToolError::DocumentGone)?,
            own_properties: Some(true),
            ..Default::default()
        };
        let mut objects = vec![None; elements.len()];
        for property in self.session.send(ask).await?.result {
            let Ok(at) = property.name.parse::<usize>() else {
                continue;
            };
            if let Some(place) = objects.get_mut(at) {
                *place = property.value.and_then(|value| value.object_id);
            }
        }
        Ok(objects)
    }

    /// Calls one of our functions with objects of this world; it returns a number.
    async fn hand_over(
        &self,
        function: &str,
        objects: Vec<RemoteObjectId>,
    ) -> Result<f64, ToolError> {
        let arguments = objects.into_iter().map(|object| runtime::CallArgument {
            object_id: Some(object),
            ..Default::default()
        });
        let call = runtime::CallFunctionOn {
            function_declaration: format!(
                "function (...objects) {{ return {function}(...objects); }}"
            ),
            execution_context_id: Some(self.context),
            arguments: Some(arguments.collect()),
            return_by_value: Some(true),
            ..Default::default()
        };
        let answer = script::in_page(self.session.send(call)).await;
        let answer = answer.map_err(script::document_gone_or)?;
        if let Some(exception) = answer.exception_details {
            return Err(ToolError::Internal {
                detail: script::describe(&exception),
            });
        }
        let value = answer.result.value.and_then(|value| value.decode().ok());
        Ok(value.unwrap_or_default())
    }

    fn told(&self) -> MutexGuard<'_, SentListeners> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Objects that are released together.
struct Group<'a> {
    name: String,
    world: &'a World,
}

impl<'a> Group<'a> {
    fn new(world: &'a World) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("tabmux-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        Self { name, world }
    }
}

impl Drop for Group<'_> {
    fn drop(&mut self) {
        self.world.session.post(runtime::ReleaseObjectGroup {
            object_group: self.name.clone(),
        });
    }
}

/// What our scripts have been told about one document.
#[derive(Debug, Default)]
pub(super) struct SentListeners {
    document: Option<RemoteObjectId>,
    listening: HashSet<BackendNodeId>,
    /// All that listened at the last look, whether our scripts were told or not.
    known: HashSet<BackendNodeId>,
    places: HashMap<ListenerPosition, Tally>,
}

/// Where a listener was defined: listeners of one kind come from one place.
type ListenerPosition = (ScriptId, i64, i64);

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    asked: usize,
    news: bool,
}

impl SentListeners {
    /// Which nodes to resolve now. Resolving one costs time, and most listeners are on buttons that are known anyway:
    /// so of many listeners of one kind, a sample decides about the rest.
    fn plan(&self, listeners: &[EventListener]) -> Vec<(ListenerPosition, Vec<BackendNodeId>)> {
        let mut places: IndexMap<ListenerPosition, Vec<BackendNodeId>> = IndexMap::new();
        let mut planned = HashSet::new();
        let mut load: HashMap<BackendNodeId, usize> = HashMap::new();
        for node in nodes_of(listeners) {
            *load.entry(node).or_default() += 1;
        }
        for listener in listeners {
            let Some(node) = listener.backend_node_id else {
                continue;
            };
            let wanted =
                PRESSES.contains(&listener.r#type.as_str()) && load[&node] <= MOST_LISTENERS;
            if wanted && !self.listening.contains(&node) && planned.insert(node) {
                let place = (
                    listener.script_id.clone(),
                    listener.line_number,
                    listener.column_number,
                );
                places.entry(place).or_default().push(node);
            }
        }
        let mut room = MOST_AT_ONCE;
        let chosen = places.into_iter().filter_map(|(place, nodes)| {
            let tally = self.places.get(&place).copied().unwrap_or_default();
            let most = if tally.news {
                room
            } else {
                SAMPLE.saturating_sub(tally.asked).min(room)
            };
            let mut chosen = spread(&nodes, most);
            // What has begun to listen since the last look is of another kind more often than not.
            if chosen.is_empty() && !self.known.is_empty() {
                let fresh = nodes.into_iter().filter(|node| !self.known.contains(node));
                chosen = spread(&fresh.collect::<Vec<_>>(), SAMPLE.min(room));
            }
            let nodes = chosen;
            room -= nodes.len();
            (!nodes.is_empty()).then_some((place, nodes))
        });
        chosen.collect()
    }

    fn note(&mut self, place: ListenerPosition, nodes: Vec<BackendNodeId>, news: bool) {
        let tally = self.places.entry(place).or_default();
        tally.asked += nodes.len();
        tally.news |= news;
        self.listening.extend(nodes);
    }
}

fn nodes_of(listeners: &[EventListener]) -> impl Iterator<Item = BackendNodeId> {
    let nodes = listeners.iter().map(|listener| listener.backend_node_id);
    nodes.flatten()
}

/// At most `most` of `nodes`, evenly spread.
fn spread(nodes: &[BackendNodeId], most: usize) -> Vec<BackendNodeId> {
    if nodes.len() <= most {
        return nodes.to_vec();
    }
    (0..most).map(|at| nodes[at * nodes.len() / most]).collect()
}

/// Events that a mouse press or a touch causes.
const PRESSES: [&str; 9] = [
    "auxclick",
    "click",
    "dblclick",
    "mousedown",
    "mouseup",
    "pointerdown",
    "pointerup",
    "touchend",
    "touchstart",
];
/// An element that listens for more events than this listens on behalf of its children, as roots of frameworks do.
const MOST_LISTENERS: usize = 20;
const SAMPLE: usize = 60;
const MOST_AT_ONCE: usize = 600;

#[cfg(test)]
mod tests {
    use super::*;

    fn listeners(line: i64, kind: &str, nodes: impl Iterator<Item = i64>) -> Vec<EventListener> {
        let listener = |node| EventListener {
            r#type: kind.into(),
            line_number: line,
            backend_node_id: Some(BackendNodeId(node)),
            ..Default::default()
        };
        nodes.map(listener).collect()
    }

    fn planned(told: &SentListeners, listeners: &[EventListener]) -> usize {
        told.plan(listeners)
            .iter()
            .map(|(_, nodes)| nodes.len())
            .sum()
    }

    #[test]
    fn few_listeners_are_all_resolved_once() {
        let mut told = SentListeners::default();
        let all = [listeners(1, "click", 1..10), listeners(2, "scroll", 20..30)].concat();
        assert_eq!(planned(&told, &all), 9);
        for (place, nodes) in told.plan(&all) {
            told.note(place, nodes, false);
        }
        assert_eq!(planned(&told, &all), 0);
    }

    #[test]
    fn what_begins_to_listen_later_is_resolved() {
        let mut told = SentListeners::default();
        let mut all = listeners(1, "click", 0..1500);
        let (place, sample) = told.plan(&all).remove(0);
        told.note(place, sample, false);
        told.known.extend(nodes_of(&all));
        all.extend(listeners(1, "click", 2000..2010));
        assert_eq!(planned(&told, &all), 10);
    }

    #[test]
    fn an_element_that_listens_for_everything_is_not_a_target() {
        let all: Vec<_> = (0..80)
            .flat_map(|line| listeners(line, "click", 1..2))
            .collect();
        assert_eq!(planned(&SentListeners::default(), &all), 0);
    }

    #[test]
    fn of_many_listeners_from_one_place_a_sample_decides() {
        let mut told = SentListeners::default();
        let all = listeners(1, "click", 0..1500);
        let (place, sample) = told.plan(&all).remove(0);
        assert_eq!(sample.len(), SAMPLE);
        assert!(sample.iter().any(|node| node.0 > 1400), "spread over all");
        told.note(place.clone(), sample, false);
        assert_eq!(
            planned(&told, &all),
            0,
            "none was news, so the rest is not asked about"
        );
        told.note(place, Vec::new(), true);
        assert_eq!(
            planned(&told, &all),
            MOST_AT_ONCE,
            "one was news, so the rest is"
        );
    }
}
