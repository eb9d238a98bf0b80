//! The table of attacks on one connection.
//!
//! To add one, push an [`Attack`] in [`attacks`]: a name, the turn to rewrite, and a closure that
//! rewrites the turn's units. A test fails if the closure changes nothing.

use crate::between::{
    ABORT, Act, BYE, CHECK, DATA, DONE, END, FILE, HEAD, HEADER, Heard, OPENED, RECEIPT, Speech,
    Then, Turn, Unit, speech,
};
use crate::scene::Protection;
use oscope_transfer::Cover;
use oscope_transfer::protocol::VERSION;
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
    name: impl AsRef<str>,
    act: impl Fn(&mut Speech, &Heard) + Send + Sync + 'static,
) -> Attack {
    Attack {
        name: format!("{turn:?}: {}", name.as_ref()),
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
    rewrite(turn, name, move |speech, _| act(&mut speech.units))
}

/// A frame that the attacker makes: with the checksums that a connection with this greeting and
/// without a token would have, as frame `number` of its direction.
fn summed(heard: &Heard, number: usize, (kind, value, body): (u8, u64, &[u8])) -> Unit {
    let greeting = &heard[0].1.units[0].0;
    Unit::summed(greeting, number as u64, kind, value, body)
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

/// All attacks on a transfer like `sample`, which is an earlier one of the same session and files.
pub(crate) fn attacks(sample: &Heard, protection: Protection) -> Vec<Attack> {
    let mut attacks = attacks_on_files(sample, protection);
    for (turn, speech) in sample {
        if matches!(turn, Turn::Greeting | Turn::Answer) {
            attacks.extend(on_first_words(*turn, speech));
            continue;
        }
        if *turn != Turn::Files {
            attacks.extend(on_frames(*turn, speech, protection));
        }
        attacks.extend(on_identity(*turn, speech));
    }
    attacks.extend(on_direction());
    attacks
}

/// Attacks that change or drop data, and so reach the method that stores it.
pub(crate) fn attacks_on_files(sample: &Heard, protection: Protection) -> Vec<Attack> {
    let files = speech(sample, Turn::Files).expect("files are sent");
    let mut attacks = on_frames(Turn::Files, files, protection);
    attacks.extend(on_fake_ends(&files.units));
    if protection.cover == Cover::Sealed {
        attacks.extend(on_bodies(&files.units));
    }
    attacks
}

/// The greeting and the answer: downgrades and proofs that are missing or of another connection.
fn on_first_words(turn: Turn, sample: &Speech) -> Vec<Attack> {
    type Bytes = &'static [(usize, u8)];
    const GREETINGS: &[(&str, Bytes)] = &[
        ("version 2", &[(8, 2)]),
        ("version 3", &[(8, 3)]),
        ("the next version", &[(8, VERSION as u8 + 1)]),
        ("bare contents", &[(10, 0)]),
        ("summed contents", &[(10, 1)]),
        ("sealed contents", &[(10, 2)]),
        ("no cipher", &[(11, 0)]),
        ("the first cipher", &[(11, 1)]),
        ("the second cipher", &[(11, 2)]),
        ("no cipher and only sums", &[(10, 1), (11, 0)]),
        ("no cipher and nothing at all", &[(10, 0), (11, 0)]),
        ("more connections", &[(12, 2)]),
        ("another connection", &[(12, 2), (14, 1)]),
        ("another session", &[(16, 1), (17, 2), (18, 3)]),
        ("something where zeros are", &[(63, 1)]),
    ];
    const ANSWERS: &[(&str, Bytes)] = &[
        ("version 2", &[(8, 2)]),
        ("another version", &[(10, 1)]),
        ("a token is wanted", &[(10, 2)]),
        ("there is no token", &[(10, 3)]),
        ("busy", &[(10, 4)]),
        ("unsealed", &[(10, 5)]),
        ("sealed", &[(10, 6)]),
        ("a stranger", &[(10, 7)]),
        ("something where zeros are", &[(40, 1)]),
    ];
    let is_greeting = turn == Turn::Greeting;
    let rows = if is_greeting { GREETINGS } else { ANSWERS };
    // The connection may have some of these bytes.
    let changes = |(place, byte): &(usize, u8)| sample.units[0].0[*place] != *byte;
    let rows = rows.iter().filter(|(_, bytes)| bytes.iter().any(changes));
    let set = |(name, bytes): &(&str, Bytes)| {
        let bytes = *bytes;
        at(turn, name, move |units| {
            for (place, byte) in bytes {
                units[0].0[*place] = *byte;
            }
        })
    };
    let mut attacks: Vec<_> = rows.map(set).collect();
    attacks.push(at(turn, "no proof", move |units| {
        units.truncate(1);
        if is_greeting {
            (units[0].0[10], units[0].0[11]) = (1, 0);
        }
    }));
    let old = sample.units[1].clone();
    attacks.push(at(turn, "the proof of another connection", move |units| {
        units[1] = old.clone();
    }));
    attacks
}

/// Frames that are out of order or changed, and connections that end too early.
fn on_frames(turn: Turn, sample: &Speech, protection: Protection) -> Vec<Attack> {
    let mut attacks = on_order(turn, sample);
    attacks.extend(on_bits(turn, sample, protection));
    // After the last frame, the end of the connection is legitimate.
    let is_last = matches!(turn, Turn::Bye | Turn::Done);
    let most = sample.units.len() - usize::from(is_last);
    for kept in 0..=most {
        for then in [Then::Finish, Then::Cut] {
            let name = format!("{then:?} after {kept} units");
            attacks.push(rewrite(turn, name, move |speech, _| {
                speech.units.truncate(kept);
                speech.then = then;
            }));
        }
    }
    attacks
}

/// Frames that are left out, repeated, swapped, or taken from another connection.
pub(crate) fn on_order(turn: Turn, sample: &Speech) -> Vec<Attack> {
    let mut attacks = Vec::new();
    let count = sample.units.len();
    for (index, unit) in sample.units.iter().enumerate() {
        let name = |deed: &str| format!("{deed} unit {index}, of kind {}", unit.kind());
        attacks.push(at(turn, name("leave out"), move |units| {
            units.remove(index);
        }));
        let mut repeat = at(turn, name("repeat"), move |units| {
            units.insert(index, units[index].clone());
        });
        // Nobody reads beyond the last frame.
        repeat.is_harmless = matches!(turn, Turn::Bye | Turn::Done);
        attacks.push(repeat);
        for (deed, replaced) in [("replay", 1), ("bring in", 0)] {
            let old = unit.clone();
            attacks.push(at(turn, name(deed), move |units| {
                let end = (index + replaced).min(units.len());
                units.splice(index.min(end)..end, [old.clone()]);
            }));
        }
        for other in index + 1..count {
            let name = format!("exchange units {index} and {other}");
            attacks.push(at(turn, name, move |units| units.swap(index, other)));
        }
    }
    if count > 1 {
        attacks.push(at(turn, "everything backwards", |units| units.reverse()));
        let old = sample.units.clone();
        attacks.push(at(turn, "all of another connection", move |units| {
            units.clone_from(&old);
        }));
    }
    attacks
}

/// One bit in each field of each frame and in its checks, except unprotected data. `flips` has the
/// bits in between.
pub(crate) fn on_bits(turn: Turn, sample: &Speech, protection: Protection) -> Vec<Attack> {
    /// Kind, flags, zeros, length, value and check of a header, and the beginning of the body.
    const PLACES: [usize; 9] = [0, 1, 2, 4, 8, 15, HEADER, HEAD - 1, HEAD];
    let mut attacks = Vec::new();
    for (index, unit) in sample.units.iter().enumerate() {
        let is_open = unit.kind() == DATA && protection.cover != Cover::Sealed;
        let len = if is_open { HEAD } else { unit.0.len() };
        let ends = [len - CHECK - 1, len - 1];
        let places = PLACES
            .into_iter()
            .chain(ends.into_iter().filter(|end| *end > HEAD));
        for place in places.filter(|place| *place < len) {
            let name = format!("byte {place} of unit {index}, of kind {}", unit.kind());
            attacks.push(at(turn, name, move |units| units[index].0[place] ^= 1));
        }
    }
    attacks
}

/// Ends of files that come too early, and are made up or taken from another connection.
fn on_fake_ends(files: &[Unit]) -> Vec<Attack> {
    const MADE_UP: [(u8, u64, &[u8]); 3] = [
        (END, 0, b""),
        (END, 200_000, b""),
        (ABORT, 0, b"never mind"),
    ];
    let mut attacks = Vec::new();
    for kept in 1..files.len() {
        for made_up in MADE_UP {
            attacks.extend(fake_ends(kept, move |heard| {
                summed(heard, 1 + kept, made_up)
            }));
        }
        for end in files.iter().filter(|unit| unit.kind() == END) {
            let end = end.clone();
            attacks.extend(fake_ends(kept, move |_| end.clone()));
        }
        // The true end of this connection, at the wrong position.
        let next_end = files[kept..].iter().position(|unit| unit.kind() == END);
        if let Some(next_end) = next_end.filter(|after| *after > 0) {
            let name = format!("the true end after {kept} units already");
            attacks.push(at(Turn::Files, name, move |units| {
                units.drain(kept..kept + next_end);
            }));
        }
    }
    attacks
}

/// A fake unit after the first `kept`: in front of the rest, and in place of it.
fn fake_ends(
    kept: usize,
    fake: impl Fn(&Heard) -> Unit + Clone + Send + Sync + 'static,
) -> [Attack; 2] {
    [Then::GoOn, Then::Finish].map(|then| {
        let fake = fake.clone();
        let name = format!("fake end after {kept} units, {then:?}");
        rewrite(Turn::Files, name, move |speech, heard| {
            let rest = speech.units.split_off(kept.min(speech.units.len()));
            speech.units.push(fake(heard));
            speech.then = then;
            if then == Then::GoOn {
                speech.units.extend(rest);
            }
        })
    })
}

/// Frames whose checks were made without the token.
fn on_identity(turn: Turn, sample: &Speech) -> Vec<Attack> {
    let before = usize::from(!matches!(turn, Turn::Open | Turn::Opened));
    let only_summed = |(index, unit): (usize, &Unit)| {
        let (kind, value, len) = (unit.kind(), unit.value(), unit.len() as usize);
        let body = unit.0[HEAD..(HEAD + len).min(unit.0.len())].to_vec();
        let name = format!("unit {index}, of kind {kind}, only summed");
        rewrite(turn, name, move |speech, heard| {
            speech.units[index] = summed(heard, before + index, (kind, value, &body));
        })
    };
    sample.units.iter().enumerate().map(only_summed).collect()
}

/// Data under the head of other data: frames with equal lengths still have different numbers in
/// their checks.
fn on_bodies(files: &[Unit]) -> Vec<Attack> {
    let places = (0..files.len()).filter(|index| files[*index].kind() == DATA);
    let places: Vec<_> = places.collect();
    let exchange = |pair: &[usize]| {
        let (first, second) = (pair[0], pair[1]);
        let name = format!("the bodies of units {first} and {second}");
        at(Turn::Files, name, move |units| {
            let [body, other] = [first, second].map(|at| units[at].0.split_off(HEAD));
            units[first].0.extend(other);
            units[second].0.extend(body);
        })
    };
    places.windows(2).map(exchange).collect()
}

/// Frames that are reflected to their author, or passed to the other side as its own.
fn on_direction() -> Vec<Attack> {
    use Turn::{Bye, Done, Files, Open, Opened, Receipts};
    let reflections = [
        (Opened, (Open, 0), None),
        (Opened, (Open, 0), Some(OPENED)),
        (Files, (Opened, 0), None),
        (Files, (Opened, 0), Some(FILE)),
        (Files, (Open, 0), None),
        (Receipts, (Opened, 0), None),
        (Receipts, (Files, 0), None),
        (Receipts, (Files, 0), Some(RECEIPT)),
        (Receipts, (Files, 4), Some(RECEIPT)),
        (Bye, (Receipts, 0), None),
        (Bye, (Open, 0), Some(BYE)),
        (Done, (Bye, 0), Some(DONE)),
        (Done, (Receipts, 1), Some(DONE)),
    ];
    let reflect = |(turn, from, kind): (Turn, (Turn, usize), Option<u8>)| {
        let name = format!("unit 0 is what was said as {from:?}, as kind {kind:?}");
        rewrite(turn, name, move |now, heard| {
            let said = speech(heard, from.0);
            if let Some(unit) = said.and_then(|said| said.units.get(from.1)) {
                now.units[0] = unit.clone();
                now.units[0].0[0] = kind.unwrap_or(unit.kind());
            }
        })
    };
    reflections.into_iter().map(reflect).collect()
}
