//! Finds out which tab of the page library is which tab of a browser: both report the same nonce.
//!
//! Our own script gives the nonce to the tab's document, and Chrome says which tab that is; the library reports it
//! over its worker's connection, whose origin is known from the handshake. A page that learns another page's nonce
//! gains nothing: the origins must match, and a nonce counts for one page, as long as that page is open. Either side
//! may report it again: a worker after a reconnect, or a browser that is attached again.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use tabmux_browser::page_tools::Mark;
use tabmux_core::{BrowserId, ConnectionId, DocumentId, Input, PageId, TargetId};

/// The reports of both sides.
#[derive(Debug, Default)]
pub(super) struct Joins {
    given: HashMap<(BrowserId, TargetId), Given>,
    told: BTreeMap<(ConnectionId, PageId), Claim>,
}

#[derive(Debug)]
struct Given {
    document: DocumentId,
    mark: Mark,
    /// The library's tab that is this browser tab.
    holder: Option<(ConnectionId, PageId)>,
}

#[derive(Debug)]
struct Claim {
    nonce: Arc<str>,
    origin: Arc<str>,
}

impl Joins {
    /// A browser reports that the document in a tab was given a nonce.
    pub(super) fn given(
        &mut self,
        browser: BrowserId,
        target: TargetId,
        document: DocumentId,
        mark: Mark,
    ) -> Option<Input> {
        let place = (browser, target);
        let before = self.given.remove(&place).filter(|it| it.mark == mark);
        let holder = before.and_then(|it| it.holder).or_else(|| {
            let mut claims = self.told.iter();
            let page = claims.find(|(_, claim)| claim.is_of(&mark));
            page.map(|(page, _)| page.clone())
        });
        let joined = holder.as_ref().map(|page| joined(page, &place, document));
        let given = Given {
            document,
            mark,
            holder,
        };
        self.given.insert(place, given);
        joined
    }

    /// A page of this origin reports a nonce.
    pub(super) fn report_nonce(
        &mut self,
        connection: ConnectionId,
        page: PageId,
        origin: &Arc<str>,
        nonce: &str,
    ) -> Option<Input> {
        if nonce.len() != NONCE || !nonce.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None; // Not one of our nonces.
        }
        let claim = Claim {
            nonce: nonce.into(),
            origin: Arc::clone(origin),
        };
        let mut given = self.given.iter_mut();
        let found = given.find(|(_, it)| claim.is_of(&it.mark));
        let page = (connection, page);
        self.told.insert(page.clone(), claim);
        let (place, given) = found?;
        // A worker may reconnect before the end of its old connection is noticed.
        let is_free = given.holder.as_ref().is_none_or(|it| it.1 == page.1);
        is_free.then(|| {
            let joined = joined(&page, place, given.document);
            given.holder = Some(page);
            joined
        })
    }

    pub(super) fn forget_page(&mut self, connection: ConnectionId, page: &PageId) {
        let page = (connection, page.clone());
        self.told.remove(&page);
        for given in self.given.values_mut() {
            given.holder.take_if(|holder| *holder == page);
        }
    }

    pub(super) fn forget_worker(&mut self, connection: ConnectionId) {
        self.told.retain(|(whose, _), _| *whose != connection);
        for given in self.given.values_mut() {
            given.holder.take_if(|(whose, _)| *whose == connection);
        }
    }

    pub(super) fn forget_tab(&mut self, browser: BrowserId, target: &TargetId) {
        self.given.remove(&(browser, target.clone()));
    }

    pub(super) fn forget_browser(&mut self, browser: BrowserId) {
        self.given.retain(|(whose, _), _| *whose != browser);
    }
}

fn joined(
    (connection, page): &(ConnectionId, PageId),
    (browser, target): &(BrowserId, TargetId),
    document: DocumentId,
) -> Input {
    Input::PageJoined {
        connection: *connection,
        page: page.clone(),
        browser: *browser,
        target: target.clone(),
        document,
    }
}

impl Claim {
    fn is_of(&self, mark: &Mark) -> bool {
        self.nonce == mark.nonce && self.origin == mark.origin
    }
}

/// The number of hex digits.
const NONCE: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ORIGINS: [&str; 2] = ["http://localhost:5173", "https://evil.example"];

    fn mark(nonce: u8, origin: usize) -> Mark {
        Mark {
            nonce: format!("{nonce:032x}").into(),
            origin: ORIGINS[origin].into(),
        }
    }

    fn given(joins: &mut Joins, tab: u8, nonce: u8, origin: usize) -> Option<Input> {
        let target = TargetId(format!("tab {tab}").into());
        joins.given(BrowserId(1), target, DocumentId(1), mark(nonce, origin))
    }

    fn reported(
        joins: &mut Joins,
        worker: u64,
        page: u8,
        nonce: u8,
        origin: usize,
    ) -> Option<Input> {
        let page = PageId(format!("page {page}").into());
        let mark = mark(nonce, origin);
        joins.report_nonce(ConnectionId(worker), page, &mark.origin, &mark.nonce)
    }

    #[test]
    fn both_sides_are_joined_in_either_order() {
        let joined = Some(Input::PageJoined {
            connection: ConnectionId(1),
            page: PageId("page 1".into()),
            browser: BrowserId(1),
            target: TargetId("tab 1".into()),
            document: DocumentId(1),
        });
        let mut joins = Joins::default();
        assert_eq!(given(&mut joins, 1, 7, 0), None);
        assert_eq!(reported(&mut joins, 1, 1, 7, 0), joined);
        let mut joins = Joins::default();
        assert_eq!(reported(&mut joins, 1, 1, 7, 0), None);
        assert_eq!(given(&mut joins, 1, 7, 0), joined);
    }

    #[test]
    fn invalid_nonces_are_not_kept() {
        let mut joins = Joins::default();
        for nonce in ["", "7", &"x".repeat(32), &"0".repeat(33), &"é".repeat(16)] {
            let page = PageId("page".into());
            let told = joins.report_nonce(ConnectionId(1), page, &ORIGINS[0].into(), nonce);
            assert_eq!(told, None);
        }
        assert!(joins.told.is_empty());
    }

    #[test]
    fn a_page_of_another_origin_that_reports_first_gains_nothing() {
        let mut joins = Joins::default();
        assert_eq!(reported(&mut joins, 2, 2, 7, 1), None);
        assert_eq!(given(&mut joins, 1, 7, 0), None);
        assert_eq!(reported(&mut joins, 2, 2, 7, 1), None);
        assert!(reported(&mut joins, 1, 1, 7, 0).is_some());
        assert_eq!(
            reported(&mut joins, 1, 3, 7, 0),
            None,
            "it counts for one at a time"
        );
        joins.forget_page(ConnectionId(1), &PageId("page 1".into()));
        assert!(reported(&mut joins, 1, 3, 7, 0).is_some());
    }

    #[test]
    fn reconnected_sides_are_joined_again() {
        let mut joins = Joins::default();
        assert_eq!(given(&mut joins, 1, 7, 0), None);
        assert!(reported(&mut joins, 1, 1, 7, 0).is_some());
        // A worker on another connection, also before the end of the first one is noticed.
        assert!(reported(&mut joins, 2, 1, 7, 0).is_some());
        joins.forget_worker(ConnectionId(1));
        joins.forget_worker(ConnectionId(2));
        assert!(reported(&mut joins, 3, 1, 7, 0).is_some());
        // A browser, too, until the tab shows another document.
        joins.forget_browser(BrowserId(1));
        assert!(given(&mut joins, 1, 7, 0).is_some());
        joins.forget_tab(BrowserId(1), &TargetId("tab 1".into()));
        assert_eq!(reported(&mut joins, 3, 1, 7, 0), None);
    }

    proptest! {
        /// Whatever is reported: only tabs and pages of the same origin are joined, by the tab's latest nonce.
        #[test]
        fn tabs_of_different_origins_are_never_joined(
            // Whether a browser or a page reports; tab and page number, nonce, origin.
            steps in prop::collection::vec((any::<bool>(), 0..3_u8, 0..4_u8, 0..2_usize), 1..60)
        ) {
            let mut joins = Joins::default();
            let mut given_now: HashMap<u8, (u8, usize)> = HashMap::new();
            for (by_tab, who, nonce, origin) in steps {
                let input = match by_tab {
                    true => {
                        given_now.insert(who, (nonce, origin));
                        given(&mut joins, who, nonce, origin)
                    }
                    // A worker has one origin.
                    false => reported(&mut joins, u64::try_from(origin).unwrap(), who, nonce, origin),
                };
                let Some(Input::PageJoined { connection, target, .. }) = input else {
                    continue;
                };
                let tab = target.0.strip_prefix("tab ").unwrap().parse::<u8>().unwrap();
                let origin = usize::try_from(connection.0).unwrap();
                prop_assert_eq!(given_now.get(&tab), Some(&(nonce, origin)));
            }
        }
    }
}
