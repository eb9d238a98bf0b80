//! An attack: a rewriting of one turn of the traffic.

use crate::between::{Act, Speech, Then, Turn, Unit};
use std::sync::{Arc, Mutex};

/// Everything said so far over this connection, unchanged.
pub(crate) type Heard = [(Turn, Speech)];

/// Rewrites one turn, given everything said before.
type Rewrite = dyn Fn(Turn, &mut Speech, &Heard) + Send + Sync;

/// One way of rewriting the traffic.
pub(crate) struct Attack {
    pub(crate) name: String,
    /// The attack may go through as long as the files stay intact, like one on the traffic after
    /// the end.
    pub(crate) is_harmless: bool,
    act: Box<Rewrite>,
}

/// Rewrites one turn.
pub(crate) fn at(
    turn: Turn,
    name: &str,
    act: impl Fn(&mut Vec<Unit>) + Send + Sync + 'static,
) -> Attack {
    Attack {
        name: format!("{turn:?}: {name}"),
        is_harmless: false,
        act: Box::new(move |now, speech, _| {
            if now == turn {
                act(&mut speech.units);
            }
        }),
    }
}

/// A unit that the attacker makes: a recorded one, or one with the checksums that a connection with
/// this greeting and without a token would have.
#[derive(Clone)]
pub(crate) enum Fake {
    Recorded(Unit),
    Summed(u64, u8, u64, Vec<u8>),
}

impl Fake {
    fn make(&self, heard: &Heard) -> Unit {
        match self {
            Self::Recorded(unit) => unit.clone(),
            Self::Summed(number, kind, value, body) => {
                let greeting = &heard[0].1.units[0].0;
                Unit::summed(greeting, *number, *kind, *value, body)
            }
        }
    }
}

/// Replaces `replaced` units by a fake.
pub(crate) fn put(turn: Turn, name: &str, index: usize, replaced: usize, fake: Fake) -> Attack {
    Attack {
        name: format!("{turn:?}: {name}"),
        is_harmless: false,
        act: Box::new(move |now, speech, heard| {
            if now == turn {
                let end = (index + replaced).min(speech.units.len());
                speech.units.splice(index.min(end)..end, [fake.make(heard)]);
            }
        }),
    }
}

/// Keeps the first `count` units of a turn, adds some, and ends the connection.
pub(crate) fn end_after(
    turn: Turn,
    count: usize,
    then: Then,
    name: &str,
    more: Option<Fake>,
) -> Attack {
    Attack {
        name: format!("{turn:?}: {name} after {count} units, then {then:?}"),
        is_harmless: false,
        act: Box::new(move |now, speech, heard| {
            if now == turn {
                speech.units.truncate(count);
                speech
                    .units
                    .extend(more.iter().map(|fake| fake.make(heard)));
                speech.then = then;
            }
        }),
    }
}

/// Replaces a unit by one heard earlier on this connection.
pub(crate) fn reflect(turn: Turn, index: usize, from: (Turn, usize), kind: Option<u8>) -> Attack {
    Attack {
        name: format!("{turn:?}: unit {index} is what was said as {from:?}, as kind {kind:?}"),
        is_harmless: false,
        act: Box::new(move |now, speech, heard| {
            let said = heard.iter().find(|(turn, _)| *turn == from.0);
            let unit = said.and_then(|(_, speech)| speech.units.get(from.1));
            if let (true, Some(unit)) = (now == turn, unit) {
                speech.units[index] = unit.clone();
                if let Some(kind) = kind {
                    speech.units[index].0[0] = kind;
                }
            }
        }),
    }
}

/// The attacker's function for an attack on the first connection.
pub(crate) fn carry_out(attack: &Arc<Attack>) -> Arc<Act> {
    let (heard, attack) = (Mutex::new(Vec::new()), Arc::clone(attack));
    Arc::new(move |_, turn, speech: &mut Speech| {
        let mut heard = heard.lock().expect("nobody panics with it");
        let said = speech.clone();
        // After an early end, there may be nothing left to attack.
        if !said.units.is_empty() {
            (attack.act)(turn, speech, &heard);
        }
        heard.push((turn, said));
    })
}
