//! Names keep their meaning as long as the document lives: a name is never given to another thing.

use super::draft::{Draft, ToolAction};
use super::naming::snake;
use std::collections::{BTreeSet, HashMap};

/// What each name means. It belongs to one main document, and only grows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meanings(HashMap<String, Meaning>);

/// What a name was made for.
#[derive(Clone, Debug)]
struct Meaning {
    kind: &'static str,
    /// What a person reads: what the tool does, and where. Numbers are left out, because pages count in their titles.
    said: String,
    arguments: BTreeSet<String>,
    element: u32,
    /// Whether several things claimed the name at once. It then belongs to the element alone.
    is_ambiguous: bool,
}

impl Meanings {
    /// Gives each draft a name of its own, in order. Drafts for which there is none are dropped.
    pub(crate) fn name<T>(&mut self, drafts: Vec<(T, Draft)>) -> Vec<(T, Draft)> {
        let all: Vec<_> = drafts.iter().map(|(_, draft)| Meaning::of(draft)).collect();
        let wanted: Vec<_> = drafts.iter().map(|(_, draft)| draft.name.clone()).collect();
        let mut taken = BTreeSet::new();
        let mut named = Vec::with_capacity(drafts.len());
        for ((place, mut draft), mut meaning) in drafts.into_iter().zip(all.clone()) {
            let alike = wanted.iter().zip(&all);
            let alike =
                alike.filter(|(name, other)| **name == draft.name && other.reads_as(&meaning));
            meaning.is_ambiguous = alike.count() > 1;
            let longer = (!meaning.is_ambiguous).then(|| longer(&draft)).flatten();
            let mut names = [Some(draft.name.clone()), longer].into_iter().flatten();
            let name = names.find(|name| !taken.contains(name) && self.claim(name, &meaning));
            if let Some(name) = name {
                taken.insert(name.clone());
                draft.name = name;
                named.push((place, draft));
            }
        }
        named
    }

    /// Whether a thing may have a name: if the name is new, or was made for the same thing.
    fn claim(&mut self, name: &str, meaning: &Meaning) -> bool {
        let is_full = self.0.len() >= MOST_NAMES;
        match self.0.get_mut(name) {
            None => {
                let may_have = is_understandable(name) && !is_full;
                may_have.then(|| self.0.insert(name.to_owned(), meaning.clone()));
                may_have
            }
            Some(known) => {
                let is_ambiguous = known.is_ambiguous || meaning.is_ambiguous;
                let is_same = known.is_same(meaning, is_ambiguous);
                if is_same {
                    *known = Meaning {
                        is_ambiguous,
                        ..meaning.clone()
                    };
                }
                is_same
            }
        }
    }
}

impl Meaning {
    fn of(draft: &Draft) -> Self {
        let arguments = match &draft.action {
            ToolAction::Fill { arguments, .. } => arguments.as_slice(),
            _ => &[],
        };
        let arguments = arguments.iter().map(|argument| argument.name.clone());
        Self {
            kind: draft.key.1,
            said: draft
                .description
                .chars()
                .filter(|c| !c.is_numeric())
                .collect(),
            arguments: arguments.collect(),
            element: draft.key.0,
            is_ambiguous: false,
        }
    }

    fn reads_as(&self, other: &Self) -> bool {
        self.kind == other.kind && self.said == other.said && self.arguments == other.arguments
    }

    /// Whether both are the same thing: they read alike, or it is the same element with mostly the same fields.
    fn is_same(&self, other: &Self, is_ambiguous: bool) -> bool {
        let is_element = self.element == other.element && self.kind == other.kind;
        let shared = self.arguments.intersection(&other.arguments).count();
        let most = self.arguments.len().max(other.arguments.len());
        let is_similar = is_element && self.said == other.said && shared * 2 > most;
        match is_ambiguous {
            true => is_element && self.reads_as(other),
            false => self.reads_as(other) || is_similar,
        }
    }
}

/// For forms with the same name: the name with that of their first field.
fn longer(draft: &Draft) -> Option<String> {
    let ToolAction::Fill { arguments, .. } = &draft.action else {
        return None;
    };
    let first = snake(&arguments.first()?.label, 3);
    let name = format!("{}_with_{first}", draft.name);
    (!first.is_empty() && name.len() <= LONGEST).then_some(name)
}

/// Whether a person understands a name: it has a word, and no identifier that a program generated.
fn is_understandable(name: &str) -> bool {
    let is_made_up = |word: &str| {
        let digits: Vec<_> = word.bytes().map(|byte| byte.is_ascii_digit()).collect();
        let changes = digits
            .windows(2)
            .filter(|two| two.first() != two.last())
            .count();
        let is_hex = word.len() >= 7 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
        changes >= 3 || is_hex && digits.contains(&true)
    };
    let is_word = |word: &str| word.bytes().filter(u8::is_ascii_alphabetic).count() >= 2;
    let mut words = name.split('_');
    words.clone().any(is_word) && !words.any(is_made_up)
}

/// The limit for a page that keeps generating names: after it, the page gets no more tools.
const MOST_NAMES: usize = 1_000;
const LONGEST: usize = 60;

#[cfg(test)]
mod tests;
