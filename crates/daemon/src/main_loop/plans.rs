//! How to come by each browser: as those sessions say that mean it.

use super::MainLoop;
use crate::options::BrowserPlan;
use std::collections::{HashMap, HashSet};
use tabmux_core::{BrowserKey, SessionId};

/// What sessions said, the first one's word before the others'.
#[derive(Debug, Default)]
pub(super) struct Plans(HashMap<BrowserKey, Vec<Said>>);

#[derive(Debug)]
struct Said {
    /// Nobody, once its session is over: it holds until another one says how.
    by: Option<SessionId>,
    plan: BrowserPlan,
}

impl Plans {
    /// A session says how to come by a browser.
    pub(super) fn say(&mut self, session: SessionId, plan: BrowserPlan) {
        let said = self.0.entry(plan.meant().key).or_default();
        // Headers and commands of a client that has gone are not for the one that comes.
        said.retain(|it| it.by.is_some());
        let by = Some(session);
        if said.iter().all(|it| it.by != by) {
            said.push(Said { by, plan });
        }
    }

    /// How to come by a browser.
    pub(super) fn get(&self, key: &BrowserKey) -> Option<&BrowserPlan> {
        let first = self.0.get(key)?.first()?;
        Some(&first.plan)
    }

    /// A session is over.
    pub(super) fn over(&mut self, session: SessionId) {
        for said in self.0.values_mut() {
            match &mut said[..] {
                [only] if only.by == Some(session) => only.by = None,
                _ => said.retain(|it| it.by != Some(session)),
            }
        }
    }

    fn keep_only(&mut self, keys: &HashSet<BrowserKey>) {
        self.0.retain(|key, _| keys.contains(key));
    }
}

impl MainLoop {
    /// Forgets how to come by browsers that nobody means and nobody is connected to.
    pub(super) fn forget_plans(&mut self) {
        let known = self.core.browsers().map(|browser| browser.key.clone());
        let known = known.collect();
        self.plans.keep_only(&known);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::SessionOptions;
    use tabmux_protocol::session::{self as wire, Endpoint};

    const URL: &str = "ws://127.0.0.1:9222/devtools/browser/1";

    fn plan(token: &str) -> BrowserPlan {
        let options = wire::SessionOptions {
            browser: wire::BrowserOptions {
                endpoints: vec![Endpoint {
                    address: URL.into(),
                    web_socket: true,
                    headers: vec![("Authorization".into(), token.into())],
                    ..Endpoint::default()
                }],
                ..wire::BrowserOptions::default()
            },
            ..wire::SessionOptions::default()
        };
        let options = SessionOptions::from_wire(options).unwrap();
        options.browsers[0].clone()
    }

    #[test]
    fn the_first_who_is_there_says_how_and_whoever_has_gone_does_not() {
        let [a, b, c] = [1, 2, 3].map(SessionId);
        let key = plan("a").meant().key;
        let mut plans = Plans::default();
        plans.say(a, plan("a"));
        plans.say(a, plan("again"));
        plans.say(b, plan("b"));
        assert_eq!(plans.get(&key), Some(&plan("a")));
        plans.over(a);
        assert_eq!(plans.get(&key), Some(&plan("b")));
        plans.over(b);
        assert_eq!(plans.get(&key), Some(&plan("b")), "it may be connected");
        plans.say(c, plan("c"));
        assert_eq!(plans.get(&key), Some(&plan("c")));
        plans.keep_only(&HashSet::new());
        assert_eq!(plans.get(&key), None);
    }
}
