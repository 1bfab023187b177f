//! What people call agents: the name that a program gives itself, a number where there are several of that
//! name, and a colour.

use std::collections::HashMap;
use tabmux_browser::text::one_line;
use tabmux_core::SessionId;
use tabmux_protocol::extension::Colour;

/// All agents' names and colours.
#[derive(Debug, Default)]
pub(crate) struct AgentLabels(HashMap<SessionId, Nameplate>);

/// How one agent is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Nameplate {
    program: String,
    pub(crate) number: usize,
    pub(crate) colour: Colour,
}

impl Nameplate {
    pub(crate) fn name(&self) -> String {
        match self.number {
            1 => self.program.clone(),
            number => format!("{} · {number}", self.program),
        }
    }
}

impl AgentLabels {
    /// Names a session; it keeps the number that it had, if that is free. What programs call themselves is
    /// somebody else's word, so it is bounded.
    pub(crate) fn put_up(
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
        let same = || self.0.values().filter(|plate| plate.program == program);
        let is_free = |number: &usize| same().all(|plate| plate.number != *number);
        let before = number.filter(|number| *number > 0 && is_free(number));
        let number = before.or_else(|| (1..).find(is_free)).unwrap_or(1);
        let colour = self.free_colour(session);
        let plate = Nameplate {
            program,
            number,
            colour,
        };
        self.0.insert(id, plate);
    }

    pub(crate) fn take_down(&mut self, id: SessionId) {
        self.0.remove(&id);
    }

    pub(crate) fn of(&self, id: SessionId) -> Option<&Nameplate> {
        self.0.get(&id)
    }

    /// A colour that the fewest others have. It depends on the session's own name first, so that a session
    /// which a new daemon takes up mostly has the colour that it had.
    fn free_colour(&self, session: &str) -> Colour {
        let sum: usize = session.bytes().map(usize::from).sum();
        let users = |colour: &Colour| {
            let plates = self.0.values();
            plates.filter(|plate| plate.colour == *colour).count()
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
        let mut plates = AgentLabels::default();
        for n in 0..8 {
            plates.put_up(SessionId(n), "Claude Code", "sess_same", None);
        }
        let name = |plates: &AgentLabels, n| plates.of(SessionId(n)).unwrap().name();
        assert_eq!(name(&plates, 0), "Claude Code");
        assert_eq!(name(&plates, 7), "Claude Code · 8");
        let colours: HashSet<_> = plates.0.values().map(|plate| plate.colour).collect();
        assert_eq!(colours.len(), 8, "none is used twice while others are free");
        plates.take_down(SessionId(1));
        plates.put_up(SessionId(9), "Claude Code", "sess_x", Some(2));
        assert_eq!(name(&plates, 9), "Claude Code · 2");
    }

    #[test]
    fn a_session_that_is_taken_up_has_the_colour_that_it_had() {
        let colour = |session: &str| {
            let mut plates = AgentLabels::default();
            plates.put_up(SessionId(1), "a", session, None);
            plates.of(SessionId(1)).unwrap().colour
        };
        assert_eq!(colour("sess_1a2b"), colour("sess_1a2b"));
    }

    #[test]
    fn names_are_one_bounded_line() {
        let mut plates = AgentLabels::default();
        plates.put_up(SessionId(1), &"evil\n<b>".repeat(100), "s", None);
        plates.put_up(SessionId(2), " ", "s", Some(0));
        let name = plates.of(SessionId(1)).unwrap().name();
        assert!(!name.contains('\n') && name.chars().count() <= 41, "{name}");
        assert_eq!(plates.of(SessionId(2)).unwrap().name(), "Agent");
    }
}
