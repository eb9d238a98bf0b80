//! The greeting, the handshake and the answer are rewritten: downgrades, and proofs that are missing or of
//! another connection.

use super::{ANSWER, GREETING, OPENING, Scene};
use crate::common::proxy::{Change, Mischief, Proxy, Ways};
use oscope_transfer::Cover;
use oscope_transfer::protocol::VERSION;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use testing::wait_until;

/// Places in a greeting or an answer, and other bytes for them.
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

/// The changes of the first words of one side, given those of an earlier connection.
fn changes(rows: &'static [(&str, Bytes)], old: &[u8]) -> Vec<(&'static str, Change)> {
    // The connection may have some of these bytes.
    let changes = |(place, byte): &(usize, u8)| old[*place] != *byte;
    let rows = rows.iter().filter(|(_, bytes)| bytes.iter().any(changes));
    let mut all: Vec<(_, Change)> = Vec::new();
    for &(name, bytes) in rows {
        let set =
            move |words: &mut Vec<u8>| bytes.iter().for_each(|(place, byte)| words[*place] = *byte);
        all.push((name, Arc::new(set)));
    }
    let proof = old[GREETING..].to_vec();
    let replace = move |words: &mut Vec<u8>| {
        words.truncate(GREETING);
        words.extend(&proof);
    };
    all.push(("the proof of another connection", Arc::new(replace)));
    all
}

/// Checks that no side accepts a connection whose bytes are treated in this way.
fn assert_refused(scene: &Scene, name: &str, ways: &Ways) {
    let case = format!("{name}, {:?}", scene.sender.cover);
    // On a busy machine a side may give up before the attack.
    wait_until(&case, || {
        scene.served.log.lock().expect("nobody panics").clear();
        let proxy = Proxy::start(scene.served.address, vec![ways.clone()]);
        assert!(scene.connect(proxy.address).is_err(), "{case}");
        scene.served.wait_for_ends(1);
        let log = scene.served.log();
        assert!(!log.contains("began"), "{case}: {log}");
        proxy.traffic.is_attacked.load(Ordering::Acquire)
    });
}

#[test]
fn the_first_words_cannot_be_rewritten() {
    for cover in [Cover::Sealed, Cover::Summed, Cover::Bare] {
        let scene = Scene::new(cover);
        let [there, back] = scene.record();
        let no_proof: Change = Arc::new(|words| {
            words.truncate(GREETING);
            (words[10], words[11]) = (1, 0);
        });
        let no_answer: Change = Arc::new(|words| words.truncate(GREETING));
        let greetings = changes(GREETINGS, &there[..OPENING]).into_iter();
        for (name, change) in greetings.chain([("no proof", no_proof)]) {
            assert_refused(&scene, name, &Mischief::Rewrite(OPENING, change).into());
        }
        let answers = changes(ANSWERS, &back[..ANSWER]).into_iter();
        for (name, change) in answers.chain([("no proof", no_answer)]) {
            assert_refused(&scene, name, &Ways::back(Mischief::Rewrite(ANSWER, change)));
        }
    }
}
