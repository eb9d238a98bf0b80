//! The greeting, the handshake and the answer are rewritten: downgrades, and proofs that are missing or of
//! another connection.

use super::{ANSWER, GREETING, OPENING, Scene};
use crate::common::proxy::{Change, Mischief, Proxy, Ways};
use oscope_transfer::Cover;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use testing::wait_until;

/// Places of the version, the protection or the verdict, the cipher, the number of connections and of this one, the
/// session, and of zeros.
const PLACES: [usize; 7] = [8, 10, 11, 12, 14, 16, 63];

/// Changes of the first words of one side, given those of an earlier connection: other numbers, and the proof of
/// that connection.
fn changes(old: &[u8]) -> Vec<(String, Change)> {
    let mut all: Vec<(_, Change)> = Vec::new();
    for place in PLACES {
        // With them, a protection becomes each other one.
        for bits in 1..=3 {
            let flip: Change = Arc::new(move |words| words[place] ^= bits);
            all.push((format!("byte {place} with bits {bits} flipped"), flip));
        }
    }
    let proof = old[GREETING..].to_vec();
    let replace: Change = Arc::new(move |words| {
        words.truncate(GREETING);
        words.extend(&proof);
    });
    all.push(("the proof of another connection".into(), replace));
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
        let no_proof = [("no proof".to_owned(), no_proof)];
        for (name, change) in changes(&there[..OPENING]).into_iter().chain(no_proof) {
            assert_refused(&scene, &name, &Mischief::Rewrite(OPENING, change).into());
        }
        let no_answer = [("no proof".to_owned(), no_answer)];
        for (name, change) in changes(&back[..ANSWER]).into_iter().chain(no_answer) {
            assert_refused(
                &scene,
                &name,
                &Ways::back(Mischief::Rewrite(ANSWER, change)),
            );
        }
    }
}
