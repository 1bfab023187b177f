//! How to connect each browser, according to the sessions that use it.

use crate::options::BrowserPlan;
use std::collections::{HashMap, HashSet};
use tabmux_core::{BrowserKey, Core, SessionId};

/// The plans of sessions, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct Plans(HashMap<BrowserKey, Vec<Plan>>);

#[derive(Debug)]
struct Plan {
    /// `None` once its session is closed: the plan stays until another session gives one.
    by: Option<SessionId>,
    plan: BrowserPlan,
}

impl Plans {
    /// A session gives its plan for a browser.
    pub(crate) fn add(&mut self, session: SessionId, plan: BrowserPlan) {
        let plans = self.0.entry(plan.meant().key).or_default();
        // Headers and commands of a closed session must not be used for another one.
        plans.retain(|it| it.by.is_some());
        let by = Some(session);
        if plans.iter().all(|it| it.by != by) {
            plans.push(Plan { by, plan });
        }
    }

    /// The plan for a browser.
    pub(crate) fn get(&self, key: &BrowserKey) -> Option<&BrowserPlan> {
        let first = self.0.get(key)?.first()?;
        Some(&first.plan)
    }

    /// A session was closed.
    pub(crate) fn over(&mut self, session: SessionId) {
        for plans in self.0.values_mut() {
            match &mut plans[..] {
                [only] if only.by == Some(session) => only.by = None,
                _ => plans.retain(|it| it.by != Some(session)),
            }
        }
    }

    /// Forgets plans of browsers that no session uses and that are not connected.
    pub(crate) fn forget_unused(&mut self, core: &Core) {
        let known = core.browsers().map(|browser| browser.key.clone());
        self.keep_only(&known.collect());
    }

    fn keep_only(&mut self, keys: &HashSet<BrowserKey>) {
        self.0.retain(|key, _| keys.contains(key));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::SessionOptions;
    use tabmux_protocol::session as wire;

    const URL: &str = "ws://127.0.0.1:9222/devtools/browser/1";

    fn plan(token: &str) -> BrowserPlan {
        let address = wire::EndpointAddress::WebSocket {
            url: URL.into(),
            headers: vec![("Authorization".into(), token.into())],
        };
        let options = wire::SessionOptions {
            browser: wire::BrowserOptions {
                choice: wire::BrowserChoice::Endpoints {
                    endpoints: vec![address.into()],
                },
                ..wire::BrowserOptions::default()
            },
            ..wire::SessionOptions::default()
        };
        let options = SessionOptions::from_wire(options).unwrap();
        options.browsers[0].clone()
    }

    #[test]
    fn the_oldest_open_session_decides_and_closed_ones_do_not() {
        let [a, b, c] = [1, 2, 3].map(SessionId);
        let key = plan("a").meant().key;
        let mut plans = Plans::default();
        plans.add(a, plan("a"));
        plans.add(a, plan("again"));
        plans.add(b, plan("b"));
        assert_eq!(plans.get(&key), Some(&plan("a")));
        plans.over(a);
        assert_eq!(plans.get(&key), Some(&plan("b")));
        plans.over(b);
        assert_eq!(plans.get(&key), Some(&plan("b")), "it may be connected");
        plans.add(c, plan("c"));
        assert_eq!(plans.get(&key), Some(&plan("c")));
        plans.keep_only(&HashSet::new());
        assert_eq!(plans.get(&key), None);
    }
}
