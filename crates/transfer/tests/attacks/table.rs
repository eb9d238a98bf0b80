//! The table of attacks on one connection.
//!
//! To add one, push an [`Attack`] in [`attacks`]: a name, the turn to rewrite, and a closure that
//! rewrites the turn's units. A test fails if the closure changes nothing.

use crate::attack::{Attack, Fake, Heard, at, end_after, put, reflect};
use crate::between::{
    ABORT, BYE, CHECK, DATA, DONE, END, FILE, HEAD, HEADER, OPEN, OPENED, PARTIAL, RECEIPT, START,
    Speech, Then, Turn, Unit,
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
            _ => {
                if *turn != Turn::Files {
                    attacks.extend(on_order(*turn, speech));
                    attacks.extend(on_ends(*turn, speech));
                    attacks.extend(on_bodies(*turn, speech, protection));
                }
                attacks.extend(on_headers(*turn, speech));
                attacks.extend(on_identity(*turn, speech));
            }
        }
    }
    attacks.extend(on_direction());
    attacks
}

/// Attacks that change or drop data, and so reach the method that stores it.
pub(crate) fn attacks_on_files(sample: &Heard, protection: Protection) -> Vec<Attack> {
    let mut attacks = on_data(sample, protection);
    for (turn, speech) in sample.iter().filter(|(turn, _)| *turn == Turn::Files) {
        attacks.extend(on_order(*turn, speech));
        attacks.extend(on_ends(*turn, speech));
        attacks.extend(on_bodies(*turn, speech, protection));
    }
    attacks
}

/// The greeting and the answer: downgrades and changed proofs.
fn on_first_words(turn: Turn, sample: &Speech, protection: Protection) -> Vec<Attack> {
    let mut attacks = Vec::new();
    let mut set = |name: &str, bytes: &'static [(usize, u8)]| {
        attacks.push(at(turn, name, move |units| {
            for (place, byte) in bytes {
                units[0].0[*place] = *byte;
            }
        }));
    };
    if turn == Turn::Greeting {
        set("version 2", &[(8, 2)]);
        set("version 3", &[(8, 3)]);
        set("the next version", &[(8, VERSION as u8 + 1)]);
        for_covers(protection.cover, &mut set);
        set("no cipher", &[(11, 0)]);
        set("no cipher and only sums", &[(10, 1), (11, 0)]);
        set("no cipher and nothing at all", &[(10, 0), (11, 0)]);
        set("more connections", &[(12, 2)]);
        set("another connection", &[(12, 2), (14, 1)]);
        set("another session", &[(16, 1), (17, 2), (18, 3)]);
        set("something where zeros are", &[(63, 1)]);
        let other_cipher = 3 - sample.units[0].0[11];
        attacks.push(at(turn, "the other cipher", move |units| {
            units[0].0[11] = other_cipher;
        }));
        attacks.push(at(turn, "no token at all", |units| {
            units[0].0[10] = 1;
            units[0].0[11] = 0;
            units.truncate(1);
        }));
    } else {
        set("version 2", &[(8, 2)]);
        set("another version", &[(10, 1)]);
        set("a token is wanted", &[(10, 2)]);
        set("there is no token", &[(10, 3)]);
        set("busy", &[(10, 4)]);
        set("unsealed", &[(10, 5)]);
        set("sealed", &[(10, 6)]);
        set("a stranger", &[(10, 7)]);
        set("something where zeros are", &[(40, 1)]);
        attacks.push(at(turn, "no proof", |units| units.truncate(1)));
    }
    let proof = sample.units[1].0.len();
    for place in [0, 31, 32, proof / 2, proof - 16, proof - 1] {
        attacks.push(at(
            turn,
            &format!("byte {place} of the proof"),
            move |units| {
                units[1].0[place] ^= 0x10;
            },
        ));
    }
    let old = sample.clone();
    attacks.push(at(turn, "the proof of another session", move |units| {
        units[1] = old.units[1].clone();
    }));
    let old = sample.clone();
    attacks.push(at(turn, "all of another session", move |units| {
        units.clone_from(&old.units);
    }));
    attacks
}

/// Covers other than the agreed one.
fn for_covers(cover: Cover, set: &mut impl FnMut(&str, &'static [(usize, u8)])) {
    if cover != Cover::Bare {
        set("contents are bare", &[(10, 0)]);
    }
    if cover != Cover::Summed {
        set("contents are summed", &[(10, 1)]);
    }
    if cover != Cover::Sealed {
        set("contents are sealed", &[(10, 2)]);
    }
}

/// Frames that are left out, repeated, swapped, or taken from another session.
pub(crate) fn on_order(turn: Turn, sample: &Speech) -> Vec<Attack> {
    let mut attacks = Vec::new();
    let count = sample.units.len();
    for index in 0..count {
        let kind = sample.units[index].kind();
        let name = |deed: &str| format!("{deed} unit {index}, of kind {kind}");
        attacks.push(at(turn, &name("leave out"), move |units| {
            units.remove(index);
        }));
        let mut repeat = at(turn, &name("repeat"), move |units| {
            units.insert(index, units[index].clone());
        });
        // Nobody reads beyond the last frame.
        repeat.is_harmless = matches!(turn, Turn::Bye | Turn::Done);
        attacks.push(repeat);
        let old = sample.units[index].clone();
        attacks.push(at(turn, &name("replay"), move |units| {
            units[index] = old.clone();
        }));
        let old = sample.units[index].clone();
        attacks.push(at(turn, &name("bring in"), move |units| {
            units.insert(index, old.clone());
        }));
        for other in index + 1..count {
            attacks.push(at(
                turn,
                &format!("exchange units {index} and {other}"),
                move |units| {
                    units.swap(index, other);
                },
            ));
        }
    }
    if count > 1 {
        attacks.push(at(turn, "everything backwards", |units| units.reverse()));
        let old = sample.clone();
        attacks.push(at(turn, "everything of another session", move |units| {
            units.clone_from(&old.units);
        }));
    }
    attacks
}

/// Connections that end too early, with or without a fake end.
fn on_ends(turn: Turn, sample: &Speech) -> Vec<Attack> {
    let mut attacks = Vec::new();
    let count = sample.units.len();
    for kept in 0..=count {
        for then in [Then::Finish, Then::Cut] {
            // After the last frame, the end of the connection is legitimate.
            if kept == count && matches!(turn, Turn::Bye | Turn::Done) {
                continue;
            }
            attacks.push(end_after(turn, kept, then, "cut", None));
        }
    }
    if turn != Turn::Files {
        return attacks;
    }
    let ends: Vec<_> = sample
        .units
        .iter()
        .filter(|unit| unit.kind() == END)
        .collect();
    for kept in 1..count {
        let number = 1 + kept as u64;
        let mut fakes = vec![
            Fake::Summed(number, END, 0, Vec::new()),
            Fake::Summed(number, END, 200_000, Vec::new()),
            Fake::Summed(number, ABORT, 0, b"never mind".to_vec()),
        ];
        fakes.extend(ends.iter().map(|end| Fake::Recorded((*end).clone())));
        for (index, fake) in fakes.into_iter().enumerate() {
            let name = format!("fake end {index}");
            attacks.push(end_after(
                turn,
                kept,
                Then::Finish,
                &name,
                Some(fake.clone()),
            ));
            attacks.push(put(
                turn,
                &format!("{name} after {kept} units"),
                kept,
                0,
                fake,
            ));
        }
        // The true end of this session, at the wrong position.
        let next_end = sample.units[kept..]
            .iter()
            .position(|unit| unit.kind() == END);
        let Some(next_end) = next_end.filter(|after| *after > 0) else {
            continue;
        };
        attacks.push(at(
            turn,
            &format!("the true end after {kept} units already"),
            move |units| {
                units.drain(kept..kept + next_end);
            },
        ));
    }
    attacks
}

/// Fields of every frame's header.
pub(crate) fn on_headers(turn: Turn, sample: &Speech) -> Vec<Attack> {
    type Edit = fn(&mut Unit);
    const EDITS: [(&str, Edit); 18] = [
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
                attacks.push(at(turn, &name, move |units| edit(&mut units[index])));
            }
        }
        for other in KINDS.into_iter().filter(|other| *other != kind) {
            let name = format!("unit {index}, of kind {kind}, is of kind {other}");
            attacks.push(at(turn, &name, move |units| units[index].0[0] = other));
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
            attacks.push(at(turn, &name, move |units| units[index].0[place] ^= 1));
        }
        attacks.push(at(
            turn,
            &format!("one check of unit {index} for the other"),
            move |units| {
                units[index].0.copy_within(HEADER..HEAD, len - CHECK);
            },
        ));
        attacks.push(at(
            turn,
            &format!("unit {index} without its last check"),
            move |units| {
                units[index].0.truncate(len - CHECK);
            },
        ));
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
        attacks.push(put(
            turn,
            &format!("unit {index}, of kind {kind}, only summed"),
            index,
            1,
            fake,
        ));
    }
    attacks
}

/// Data that is moved, cut or extended, so that the same bytes land at another offset.
fn on_data(sample: &Heard, protection: Protection) -> Vec<Attack> {
    let files = sample.iter().find(|(turn, _)| *turn == Turn::Files);
    let files = &files.expect("files are sent").1.units;
    let places: Vec<_> = (0..files.len())
        .filter(|index| files[*index].kind() == DATA)
        .collect();
    let behind = if protection.cover == Cover::Bare {
        0
    } else {
        CHECK
    };
    let mut attacks = Vec::new();
    for pair in places.windows(2) {
        let (first, second) = (pair[0], pair[1]);
        let name = |deed: &str| format!("{deed} of units {first} and {second}");
        attacks.push(at(
            Turn::Files,
            &name("eight zeros less, and no hole"),
            move |units| {
                let end = units[first].0.len() - behind;
                units[first].0.drain(end - 8..end);
                let len = units[first].len();
                units[first].set_len(len - 8);
                units[second].set_value(0);
            },
        ));
        attacks.push(at(Turn::Files, &name("no hole between"), move |units| {
            let end = units[first].value() + u64::from(units[first].len());
            units[second].set_value(end);
        }));
        attacks.push(at(
            Turn::Files,
            &name("the hole's zeros as data"),
            move |units| {
                let end = units[first].0.len() - behind;
                units[first].0.splice(end..end, [0; 4096]);
                let len = units[first].len();
                units[first].set_len(len + 4096);
            },
        ));
        attacks.push(at(Turn::Files, &name("the heads"), move |units| {
            let head = units[first].0[..HEAD].to_vec();
            let other = units[second].0[..HEAD].to_vec();
            // Frames with equal lengths and offsets still have different numbers in their checks.
            units[first].0.splice(..HEAD, other);
            units[second].0.splice(..HEAD, head);
        }));
        if protection.cover == Cover::Sealed {
            attacks.push(at(Turn::Files, &name("the bodies"), move |units| {
                let body = units[first].0.split_off(HEAD);
                let other = units[second].0.split_off(HEAD);
                units[first].0.extend(other);
                units[second].0.extend(body);
            }));
        }
        attacks.push(at(Turn::Files, &name("both in one frame"), move |units| {
            let body = units.remove(second).0.split_off(HEAD);
            let end = units[first].0.len() - behind;
            units[first].0.truncate(end);
            units[first].0.extend(body);
            let len = units[first].0.len() - HEAD - behind;
            units[first].set_len(len as u32);
        }));
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
