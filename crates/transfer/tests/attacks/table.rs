//! The table of attacks on one connection.
//!
//! To add one, push an [`Attack`] in [`attacks`]: a name, the turn to rewrite, and a closure that
//! rewrites the turn's units. A test fails if the closure changes nothing.

use crate::attack::{Attack, Fake, at, end_after, put, reflect};
use crate::between::{
    ABORT, BYE, CHECK, DATA, DONE, END, FILE, HEAD, HEADER, Heard, OPEN, OPENED, PARTIAL, RECEIPT,
    START, Speech, Then, Turn, Unit, speech,
};
use crate::scene::Protection;
use oscope_transfer::Cover;
use oscope_transfer::protocol::VERSION;

/// All attacks on a transfer like `sample`, which is an earlier one of the same files.
pub(crate) fn attacks(sample: &Heard, protection: Protection) -> Vec<Attack> {
    let mut attacks = attacks_on_files(sample, protection);
    for (turn, speech) in sample {
        match turn {
            Turn::Greeting | Turn::Answer => {
                attacks.extend(on_first_words(*turn, speech, protection));
            }
            Turn::Files => {}
            _ => attacks.extend(on_frames(*turn, speech, protection)),
        }
        if !matches!(turn, Turn::Greeting | Turn::Answer) {
            attacks.extend(on_headers(*turn, speech));
            attacks.extend(on_identity(*turn, speech));
        }
    }
    attacks.extend(on_direction());
    attacks
}

/// Attacks that change or drop data, and so reach the method that stores it.
pub(crate) fn attacks_on_files(sample: &Heard, protection: Protection) -> Vec<Attack> {
    let files = speech(sample, Turn::Files).expect("files are sent");
    let mut attacks = on_data(&files.units, protection);
    attacks.extend(on_frames(Turn::Files, files, protection));
    attacks.extend(on_fake_ends(&files.units));
    attacks
}

/// Frames that are out of order, that end too early, or whose bodies change.
fn on_frames(turn: Turn, speech: &Speech, protection: Protection) -> Vec<Attack> {
    let mut attacks = on_order(turn, speech);
    attacks.extend(on_ends(turn, speech));
    attacks.extend(on_bodies(turn, speech, protection));
    attacks
}

/// The greeting and the answer: downgrades and changed proofs.
fn on_first_words(turn: Turn, sample: &Speech, protection: Protection) -> Vec<Attack> {
    let bytes = if turn == Turn::Greeting {
        let other_cipher = 3 - sample.units[0].0[11];
        vec![
            ("version 2", vec![(8, 2)]),
            ("version 3", vec![(8, 3)]),
            ("the next version", vec![(8, VERSION as u8 + 1)]),
            ("no cipher", vec![(11, 0)]),
            ("no cipher and only sums", vec![(10, 1), (11, 0)]),
            ("no cipher and nothing at all", vec![(10, 0), (11, 0)]),
            ("the other cipher", vec![(11, other_cipher)]),
            ("more connections", vec![(12, 2)]),
            ("another connection", vec![(12, 2), (14, 1)]),
            ("another session", vec![(16, 1), (17, 2), (18, 3)]),
            ("something where zeros are", vec![(63, 1)]),
        ]
    } else {
        vec![
            ("version 2", vec![(8, 2)]),
            ("another version", vec![(10, 1)]),
            ("a token is wanted", vec![(10, 2)]),
            ("there is no token", vec![(10, 3)]),
            ("busy", vec![(10, 4)]),
            ("unsealed", vec![(10, 5)]),
            ("sealed", vec![(10, 6)]),
            ("a stranger", vec![(10, 7)]),
            ("something where zeros are", vec![(40, 1)]),
        ]
    };
    let set = |(name, bytes): (&str, Vec<(usize, u8)>)| {
        at(turn, name, move |units| {
            for (place, byte) in &bytes {
                units[0].0[*place] = *byte;
            }
        })
    };
    let mut attacks: Vec<_> = bytes.into_iter().map(set).collect();
    if turn == Turn::Greeting {
        let covers = [Cover::Bare, Cover::Summed, Cover::Sealed].into_iter();
        for (cover, byte) in covers.zip(0..).filter(|it| it.0 != protection.cover) {
            attacks.push(at(turn, format!("contents are {cover:?}"), move |units| {
                units[0].0[10] = byte;
            }));
        }
        attacks.push(at(turn, "no token at all", |units| {
            units[0].0[10] = 1;
            units[0].0[11] = 0;
            units.truncate(1);
        }));
    } else {
        attacks.push(at(turn, "no proof", |units| units.truncate(1)));
    }
    let proof = sample.units[1].0.len();
    for place in [0, 31, 32, proof / 2, proof - 16, proof - 1] {
        attacks.push(at(
            turn,
            format!("byte {place} of the proof"),
            move |units| {
                units[1].0[place] ^= 0x10;
            },
        ));
    }
    let old = sample.units[1].clone();
    attacks.push(at(turn, "the proof of another session", move |units| {
        units[1] = old.clone();
    }));
    attacks.push(all_of_another_session(turn, sample));
    attacks
}

fn all_of_another_session(turn: Turn, sample: &Speech) -> Attack {
    let old = sample.units.clone();
    at(turn, "all of another session", move |units| {
        units.clone_from(&old);
    })
}

/// Frames that are left out, repeated, swapped, or taken from another session.
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
            let old = Fake::Recorded(unit.clone());
            attacks.push(put(turn, &name(deed), index, replaced, old));
        }
        for other in index + 1..count {
            let name = format!("exchange units {index} and {other}");
            attacks.push(at(turn, name, move |units| units.swap(index, other)));
        }
    }
    if count > 1 {
        attacks.push(at(turn, "everything backwards", |units| units.reverse()));
        attacks.push(all_of_another_session(turn, sample));
    }
    attacks
}

/// Connections that end too early.
fn on_ends(turn: Turn, sample: &Speech) -> Vec<Attack> {
    // After the last frame, the end of the connection is legitimate.
    let is_last = matches!(turn, Turn::Bye | Turn::Done);
    let most = sample.units.len() - usize::from(is_last);
    let kept = (0..=most).flat_map(|kept| [Then::Finish, Then::Cut].map(|then| (kept, then)));
    kept.map(|(kept, then)| end_after(turn, kept, then, None))
        .collect()
}

/// Ends of files that come too early, and are made up or taken from another session.
fn on_fake_ends(files: &[Unit]) -> Vec<Attack> {
    let turn = Turn::Files;
    let mut attacks = Vec::new();
    let ends = files.iter().filter(|unit| unit.kind() == END);
    let ends: Vec<_> = ends.map(|end| Fake::Recorded(end.clone())).collect();
    for kept in 1..files.len() {
        let number = 1 + kept as u64;
        let made_up = [
            Fake::Summed(number, END, 0, Vec::new()),
            Fake::Summed(number, END, 200_000, Vec::new()),
            Fake::Summed(number, ABORT, 0, b"never mind".to_vec()),
        ];
        for fake in made_up.into_iter().chain(ends.clone()) {
            let name = format!("fake end after {kept} units");
            attacks.push(put(turn, &name, kept, 0, fake.clone()));
            attacks.push(end_after(turn, kept, Then::Finish, Some(fake)));
        }
        // The true end of this session, at the wrong position.
        let next_end = files[kept..].iter().position(|unit| unit.kind() == END);
        if let Some(next_end) = next_end.filter(|after| *after > 0) {
            let name = format!("the true end after {kept} units already");
            attacks.push(at(turn, name, move |units| {
                units.drain(kept..kept + next_end);
            }));
        }
    }
    attacks
}

/// Fields of every frame's header.
pub(crate) fn on_headers(turn: Turn, sample: &Speech) -> Vec<Attack> {
    type OfUnit = fn(&mut Unit);
    const EDITS: [(&str, OfUnit); 18] = [
        ("value 0", |unit| unit.set_value(0)),
        ("value 1", |unit| unit.set_value(1)),
        ("value + 4096", |unit| unit.set_value(unit.value() + 4096)),
        ("value / 2", |unit| unit.set_value(unit.value() / 2)),
        ("the largest value", |unit| unit.set_value(u64::MAX)),
        ("the other resuming", |unit| unit.0[1] ^= 1),
        ("the other following", |unit| unit.0[1] ^= 2),
        ("the other kind of file", |unit| unit.0[1] ^= 4),
        ("the other keeping", |unit| unit.0[1] ^= 8),
        ("something where zeros are", |unit| unit.0[2] = 1),
        ("a longer body", |unit| unit.set_len(unit.len() + 1)),
        ("a shorter body", |unit| {
            unit.set_len(unit.len().saturating_sub(1));
        }),
        ("no body", |unit| {
            unit.set_len(0);
            unit.0.truncate(HEAD);
        }),
        ("a body that is really longer", |unit| {
            unit.set_len(unit.len() + 1);
            unit.0.insert(HEAD, 0);
        }),
        ("a body that is really shorter", |unit| {
            if unit.len() > 0 {
                unit.set_len(unit.len() - 1);
                unit.0.remove(HEAD);
            }
        }),
        ("the check", |unit| unit.0[HEADER] ^= 1),
        ("the check's end", |unit| unit.0[HEAD - 1] ^= 0x80),
        ("no check", |unit| unit.0[HEADER..HEAD].fill(0)),
    ];
    const KINDS: [u8; 11] = [
        FILE, START, DATA, END, ABORT, BYE, OPEN, PARTIAL, RECEIPT, DONE, OPENED,
    ];
    let mut attacks = Vec::new();
    for (index, unit) in sample.units.iter().enumerate() {
        let kind = unit.kind();
        for (name, edit) in EDITS {
            let mut edited = unit.clone();
            edit(&mut edited);
            // Some frames already have that value.
            if edited != *unit {
                let name = format!("{name} in unit {index}, of kind {kind}");
                attacks.push(at(turn, name, move |units| edit(&mut units[index])));
            }
        }
        for other in KINDS.into_iter().filter(|other| *other != kind) {
            let name = format!("unit {index}, of kind {kind}, is of kind {other}");
            attacks.push(at(turn, name, move |units| units[index].0[0] = other));
        }
    }
    attacks
}

/// Bodies and their checks, of every frame except unprotected data.
pub(crate) fn on_bodies(turn: Turn, sample: &Speech, protection: Protection) -> Vec<Attack> {
    let mut attacks = Vec::new();
    let is_open = |unit: &Unit| unit.kind() == DATA && protection.cover != Cover::Sealed;
    for (index, unit) in sample.units.iter().enumerate() {
        let len = unit.0.len();
        if len == HEAD || is_open(unit) {
            continue;
        }
        // Among them size, number of parts, mode, seconds, nanoseconds and name of a file.
        let places = [0, 7, 8, 10, 14, 15, 22, 26, 29];
        let inside = places.into_iter().map(|place| HEAD + place);
        let behind = [len - CHECK - 1, len - CHECK, len - 1];
        for place in inside.filter(|place| *place < len).chain(behind) {
            let name = format!("byte {place} of unit {index}, of kind {}", unit.kind());
            attacks.push(at(turn, name, move |units| units[index].0[place] ^= 1));
        }
        let name = format!("one check of unit {index} for the other");
        attacks.push(at(turn, name, move |units| {
            units[index].0.copy_within(HEADER..HEAD, len - CHECK);
        }));
        let name = format!("unit {index} without its last check");
        attacks.push(at(turn, name, move |units| {
            units[index].0.truncate(len - CHECK);
        }));
    }
    attacks
}

/// Frames whose checks were made without the token.
fn on_identity(turn: Turn, sample: &Speech) -> Vec<Attack> {
    let before = u64::from(!matches!(turn, Turn::Open | Turn::Opened));
    let mut attacks = Vec::new();
    for (index, unit) in sample.units.iter().enumerate() {
        let (kind, value, len) = (unit.kind(), unit.value(), unit.len() as usize);
        let end = (HEAD + len).min(unit.0.len());
        let body = unit.0[HEAD..end].to_vec();
        let fake = Fake::Summed(before + index as u64, kind, value, body);
        let name = format!("unit {index}, of kind {kind}, only summed");
        attacks.push(put(turn, &name, index, 1, fake));
    }
    attacks
}

/// Rewrites the units of a turn.
type Edit = Box<dyn Fn(&mut Vec<Unit>) + Send + Sync>;

/// Data that is moved, cut or extended, so that the same bytes land at another offset.
fn on_data(files: &[Unit], protection: Protection) -> Vec<Attack> {
    let is_bare = protection.cover == Cover::Bare;
    let behind = if is_bare { 0 } else { CHECK };
    let mut attacks = Vec::new();
    let places = (0..files.len()).filter(|index| files[*index].kind() == DATA);
    let places: Vec<_> = places.collect();
    for pair in places.windows(2) {
        let (first, second) = (pair[0], pair[1]);
        let mut add = |deed: &str, act: Edit| {
            let name = format!("{deed} of units {first} and {second}");
            attacks.push(at(Turn::Files, name, act));
        };
        add(
            "eight zeros less, and no hole",
            Box::new(move |units| {
                let end = units[first].0.len() - behind;
                units[first].0.drain(end - 8..end);
                let len = units[first].len();
                units[first].set_len(len - 8);
                units[second].set_value(0);
            }),
        );
        add(
            "no hole between",
            Box::new(move |units| {
                let end = units[first].value() + u64::from(units[first].len());
                units[second].set_value(end);
            }),
        );
        add(
            "the hole's zeros as data",
            Box::new(move |units| {
                let end = units[first].0.len() - behind;
                units[first].0.splice(end..end, [0; 4096]);
                let len = units[first].len();
                units[first].set_len(len + 4096);
            }),
        );
        // Frames with equal lengths and offsets still have different numbers in their checks.
        add(
            "the heads",
            Box::new(move |units| {
                let [head, other] = [first, second].map(|at| units[at].0[..HEAD].to_vec());
                units[first].0.splice(..HEAD, other);
                units[second].0.splice(..HEAD, head);
            }),
        );
        if protection.cover == Cover::Sealed {
            add(
                "the bodies",
                Box::new(move |units| {
                    let [body, other] = [first, second].map(|at| units[at].0.split_off(HEAD));
                    units[first].0.extend(other);
                    units[second].0.extend(body);
                }),
            );
        }
        add(
            "both in one frame",
            Box::new(move |units| {
                let body = units.remove(second).0.split_off(HEAD);
                let end = units[first].0.len() - behind;
                units[first].0.truncate(end);
                units[first].0.extend(body);
                let len = units[first].0.len() - HEAD - behind;
                units[first].set_len(len as u32);
            }),
        );
    }
    attacks
}

/// Frames that are reflected to their author, or passed to the other side as its own.
fn on_direction() -> Vec<Attack> {
    vec![
        reflect(Turn::Opened, 0, (Turn::Open, 0), None),
        reflect(Turn::Opened, 0, (Turn::Open, 0), Some(OPENED)),
        reflect(Turn::Files, 0, (Turn::Opened, 0), None),
        reflect(Turn::Files, 0, (Turn::Opened, 0), Some(FILE)),
        reflect(Turn::Files, 0, (Turn::Open, 0), None),
        reflect(Turn::Receipts, 0, (Turn::Opened, 0), None),
        reflect(Turn::Receipts, 0, (Turn::Files, 0), None),
        reflect(Turn::Receipts, 0, (Turn::Files, 0), Some(RECEIPT)),
        reflect(Turn::Receipts, 0, (Turn::Files, 4), Some(RECEIPT)),
        reflect(Turn::Bye, 0, (Turn::Receipts, 0), None),
        reflect(Turn::Bye, 0, (Turn::Open, 0), Some(BYE)),
        reflect(Turn::Done, 0, (Turn::Bye, 0), Some(DONE)),
        reflect(Turn::Done, 0, (Turn::Receipts, 1), Some(DONE)),
    ]
}
