//! An attack: a rewriting of one turn of the traffic.

use crate::between::{Act, Heard, Speech, Then, Turn, Unit, speech};
use std::sync::{Arc, Mutex};

/// Rewrites a turn, given everything said before.
type Rewrite = dyn Fn(&mut Speech, &Heard) + Send + Sync;

/// One way of rewriting the traffic.
pub(crate) struct Attack {
    pub(crate) name: String,
    turn: Turn,
    /// The attack may go through as long as the files stay intact, like one on the traffic after
    /// the end.
    pub(crate) is_harmless: bool,
    act: Box<Rewrite>,
}

fn rewrite(
    turn: Turn,
    name: &str,
    act: impl Fn(&mut Speech, &Heard) + Send + Sync + 'static,
) -> Attack {
    Attack {
        name: format!("{turn:?}: {name}"),
        turn,
        is_harmless: false,
        act: Box::new(act),
    }
}

/// Rewrites the units of one turn.
pub(crate) fn at(
    turn: Turn,
    name: impl AsRef<str>,
    act: impl Fn(&mut Vec<Unit>) + Send + Sync + 'static,
) -> Attack {
    rewrite(turn, name.as_ref(), move |speech, _| act(&mut speech.units))
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
    rewrite(turn, name, move |speech, heard| {
        let end = (index + replaced).min(speech.units.len());
        speech.units.splice(index.min(end)..end, [fake.make(heard)]);
    })
}

/// Keeps the first `count` units of a turn, adds a fake one, and ends the connection.
pub(crate) fn end_after(turn: Turn, count: usize, then: Then, fake: Option<Fake>) -> Attack {
    let name = format!(
        "end after {count} units and a fake: {}, {then:?}",
        fake.is_some()
    );
    rewrite(turn, &name, move |speech, heard| {
        speech.units.truncate(count);
        speech
            .units
            .extend(fake.iter().map(|fake| fake.make(heard)));
        speech.then = then;
    })
}

/// Replaces a unit by one heard earlier on this connection.
pub(crate) fn reflect(turn: Turn, index: usize, from: (Turn, usize), kind: Option<u8>) -> Attack {
    let name = format!("unit {index} is what was said as {from:?}, as kind {kind:?}");
    rewrite(turn, &name, move |now, heard| {
        let said = speech(heard, from.0);
        if let Some(unit) = said.and_then(|said| said.units.get(from.1)) {
            now.units[index] = unit.clone();
            if let Some(kind) = kind {
                now.units[index].0[0] = kind;
            }
        }
    })
}

/// The attacker's function for an attack on the first connection.
pub(crate) fn carry_out(attack: &Arc<Attack>) -> Arc<Act> {
    let (heard, attack) = (Mutex::new(Vec::new()), Arc::clone(attack));
    Arc::new(move |_, turn, speech: &mut Speech| {
        let mut heard = heard.lock().expect("nobody panics");
        let said = speech.clone();
        // After an early end, there may be nothing left to attack.
        if turn == attack.turn && !said.units.is_empty() {
            (attack.act)(speech, &heard);
        }
        heard.push((turn, said));
    })
}
