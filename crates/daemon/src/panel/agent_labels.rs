//! The labels under which people see agents: the client's name, a number if several clients share that name, and a
//! colour.

use std::collections::HashMap;
use tabmux_core::SessionId;
use tabmux_protocol::extension::Colour;
use tabmux_text::one_line;

/// The labels of all sessions.
#[derive(Debug, Default)]
pub(crate) struct AgentLabels(HashMap<SessionId, AgentLabel>);

/// The label of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AgentLabel {
    program: String,
    pub(crate) number: usize,
    pub(crate) colour: Colour,
}

impl AgentLabel {
    pub(crate) fn name(&self) -> String {
        match self.number {
            1 => self.program.clone(),
            number => format!("{} · {number}", self.program),
        }
    }
}

impl AgentLabels {
    /// Labels a session. It keeps its earlier number if that is free. The name comes from the client, so its length
    /// is limited.
    pub(crate) fn add(
        &mut self,
        id: SessionId,
        program: &str,
        session: &str,
        number: Option<usize>,
    ) {
        let program = match one_line(program, LONGEST_NAME) {
            empty if empty.is_empty() => NAMELESS.to_owned(),
            program => program,
        };
        let same = || self.0.values().filter(|label| label.program == program);
        let is_free = |number: &usize| same().all(|label| label.number != *number);
        let before = number.filter(|number| *number > 0 && is_free(number));
        let number = before.or_else(|| (1..).find(is_free)).unwrap_or(1);
        let colour = self.free_colour(session);
        let label = AgentLabel {
            program,
            number,
            colour,
        };
        self.0.insert(id, label);
    }

    pub(crate) fn remove(&mut self, id: SessionId) {
        self.0.remove(&id);
    }

    pub(crate) fn of(&self, id: SessionId) -> Option<&AgentLabel> {
        self.0.get(&id)
    }

    /// The number of an agent among those of the same name.
    pub(crate) fn number_of(&self, id: SessionId) -> usize {
        self.of(id).map_or(1, |label| label.number)
    }

    /// A colour that the fewest others have. The session's name decides first, so a session that is restored by a new
    /// daemon usually keeps its colour.
    fn free_colour(&self, session: &str) -> Colour {
        let sum: usize = session.bytes().map(usize::from).sum();
        let users = |colour: &Colour| {
            let labels = self.0.values();
            labels.filter(|label| label.colour == *colour).count()
        };
        let turned = Colour::ALL.iter().cycle();
        let turned = turned.skip(sum % Colour::ALL.len()).take(Colour::ALL.len());
        let least = turned.copied().min_by_key(users);
        least.unwrap_or(Colour::Blue)
    }
}

const LONGEST_NAME: usize = 40;
const NAMELESS: &str = "Agent";

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn agents_of_one_name_have_numbers_and_each_has_a_colour() {
        let mut labels = AgentLabels::default();
        for n in 0..8 {
            labels.add(SessionId(n), "Claude Code", "sess_same", None);
        }
        let name = |labels: &AgentLabels, n| labels.of(SessionId(n)).unwrap().name();
        assert_eq!(name(&labels, 0), "Claude Code");
        assert_eq!(name(&labels, 7), "Claude Code · 8");
        let colours: HashSet<_> = labels.0.values().map(|label| label.colour).collect();
        assert_eq!(colours.len(), 8, "none is used twice while others are free");
        labels.remove(SessionId(1));
        labels.add(SessionId(9), "Claude Code", "sess_x", Some(2));
        assert_eq!(name(&labels, 9), "Claude Code · 2");
    }

    #[test]
    fn a_session_that_is_taken_up_has_the_colour_that_it_had() {
        let colour = |session: &str| {
            let mut labels = AgentLabels::default();
            labels.add(SessionId(1), "a", session, None);
            labels.of(SessionId(1)).unwrap().colour
        };
        assert_eq!(colour("sess_1a2b"), colour("sess_1a2b"));
    }

    #[test]
    fn names_are_one_bounded_line() {
        let mut labels = AgentLabels::default();
        labels.add(SessionId(1), &"evil\n<b>".repeat(100), "s", None);
        labels.add(SessionId(2), " ", "s", Some(0));
        let name = labels.of(SessionId(1)).unwrap().name();
        assert!(!name.contains('\n') && name.chars().count() <= 41, "{name}");
        assert_eq!(labels.of(SessionId(2)).unwrap().name(), "Agent");
    }
}
