//! Attacks on one connection: each of the table, and those on a failure and on a partial file.

use crate::between::{HEAD, Heard, Line, Turn, Unit, recorder, speech};
use crate::common::{KEEPING, open, receive_methods, set_mode};
use crate::scene::{PATIENCE, Protection, SEALED, Scene};
use crate::table::{Attack, at, attacks, attacks_on_files, carry_out, on_bits, on_order};
use oscope_transfer::Cover;
use oscope_transfer::method::ReceiveMethod;
use oscope_transfer::sender::Plan;
use std::fs::{self, File};
use std::io::{Read, copy};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// More threads than processors, because most attacks make one side wait for a moment.
const THREADS: usize = 6;

/// Carries out all attacks of a table, and complains about each that was not refused.
fn none_goes_through(
    protection: Protection,
    method: ReceiveMethod,
    table: fn(&Heard, Protection) -> Vec<Attack>,
) {
    let sample = Scene::patient(protection, method).record();
    let attacks = table(&sample, protection).into_iter().map(Arc::new);
    let attacks: Vec<_> = attacks.collect();
    let next = AtomicUsize::new(0);
    let complaints = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let scene = Scene::new(protection, method);
                while let Some(attack) = attacks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (ended, has_changed) =
                        scene.until_changed(|| scene.send_again(carry_out(attack)));
                    let complaint = match has_changed {
                        false => Some(format!("it was not carried out: {ended:?}")),
                        true if attack.is_harmless => scene.judge_harm(&ended),
                        true => scene.judge(&ended),
                    };
                    scene.clear();
                    if let Some(complaint) = complaint {
                        let complaint = format!("{}: {complaint}", attack.name);
                        complaints.lock().expect("nobody panics").push(complaint);
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("nobody panics");
    println!("{} attacks on {protection:?} by {method}", attacks.len());
    assert!(
        complaints.is_empty(),
        "{} of {} attacks on {protection:?} by {method}:\n{}",
        complaints.len(),
        attacks.len(),
        complaints.join("\n")
    );
}

#[test]
fn sealed_frames_cannot_be_rewritten_by_any_method_of_storing() {
    for method in receive_methods() {
        match method {
            ReceiveMethod::File => none_goes_through(SEALED, method, attacks),
            ReceiveMethod::Splice => {}
            ReceiveMethod::Mmap | ReceiveMethod::Uring => {
                none_goes_through(SEALED, method, attacks_on_files);
            }
        }
    }
}

#[test]
fn of_contents_that_are_not_sealed_the_frames_cannot_be_rewritten() {
    let unsealed = |cover| Protection {
        has_token: true,
        cover,
    };
    none_goes_through(unsealed(Cover::Summed), ReceiveMethod::Splice, attacks);
    none_goes_through(unsealed(Cover::Bare), ReceiveMethod::File, attacks);
}

#[test]
fn a_failure_cannot_be_turned_into_success() {
    const TAKEN: usize = 3;
    let mut scene = Scene::new(SEALED, ReceiveMethod::File);
    let job = scene.dirs.file("taken", b"new");
    scene.jobs.push(job);
    let send = |act| {
        fs::write(scene.dirs.to().join("taken"), "old").expect("there is room");
        scene.send(PATIENCE, KEEPING, scene.line(), act)
    };
    let (recording, act) = recorder();
    let (honest, _) = send(act);
    assert!(honest.log.contains("--force"), "{honest:?}");
    let failed = honest.outcomes.iter().filter(|it| it.failure.is_some());
    assert_eq!(failed.count(), 1, "{honest:?}");
    scene.clear();
    // The receipts of a transfer whose files were all accepted are good.
    let receipts = |heard: &Heard| {
        let receipts = speech(heard, Turn::Receipts);
        receipts.expect("there are receipts").units.clone()
    };
    let good = receipts(&Scene::patient(SEALED, ReceiveMethod::File).record());
    let failure = receipts(&recording.lock().expect("nobody panics"));
    assert!(failure[TAKEN].len() > 16 && good[0].len() == 16);

    let success = |name, make: fn(&[Unit]) -> Unit| {
        at(Turn::Receipts, name, move |units| {
            units[TAKEN] = make(units);
        })
    };
    let mut attacks = vec![
        success("another file's success", |units| units[0].clone()),
        success("another file's success under this number", |units| {
            let mut success = units[0].clone();
            success.set_value(TAKEN as u64);
            success
        }),
        success("another file's body", |units| {
            let mut success = units[TAKEN].clone();
            success.set_len(16);
            success.0.splice(HEAD.., units[0].0[HEAD..].to_vec());
            success
        }),
        at(Turn::Receipts, "left out", |units| {
            drop(units.remove(TAKEN));
        }),
    ];
    attacks.extend(good.into_iter().map(|mut old| {
        old.set_value(TAKEN as u64);
        at(
            Turn::Receipts,
            "another connection's success",
            move |units| {
                units[TAKEN] = old.clone();
            },
        )
    }));
    for attack in attacks.into_iter().map(Arc::new) {
        let name = &attack.name;
        let (ended, has_changed) = scene.until_changed(|| send(carry_out(&attack)));
        assert!(has_changed, "{name}: {ended:?}");
        let mut accepted = ended.outcomes.iter().filter(|it| it.failure.is_none());
        let is_accepted = accepted.any(|it| it.name == b"taken");
        assert!(!is_accepted && ended.result.is_err(), "{name}: {ended:?}");
        assert_eq!(scene.dirs.received("taken"), b"old");
        assert_eq!(scene.judge(&ended), None, "{name}");
    }
}

#[test]
fn the_frames_about_a_partial_cannot_be_rewritten() {
    let mut scene = Scene::new(SEALED, ReceiveMethod::File);
    scene.jobs.retain(|job| job.name == b"sparse");
    let resume = Plan {
        resume: true,
        ..KEEPING
    };
    let send = |act| {
        scene.dirs.make_partials(0o700);
        let mut start = open(scene.dirs.from("sparse")).take(100_000);
        let hidden = scene.dirs.hidden("sparse");
        let mut file = File::create(&hidden).expect("there is room");
        copy(&mut start, &mut file).expect("there is room");
        set_mode(&hidden, 0o600);
        let line = Line {
            resumes: true,
            ..scene.line()
        };
        scene.send(PATIENCE, resume, line, act)
    };
    let (recording, act) = recorder();
    let (ended, _) = send(act);
    scene.assert_whole(&ended);
    scene.clear();
    let sample = recording.lock().expect("nobody panics").clone();
    let mut attacks = Vec::new();
    for turn in [Turn::Announced, Turn::Partial, Turn::Files] {
        let speech = speech(&sample, turn).expect("it was said");
        attacks.extend(on_order(turn, speech));
        attacks.extend(on_bits(turn, speech, SEALED));
    }
    let partial = &sample[5].1.units[0];
    assert!(
        partial.value() == 100_000 && partial.len() > 0,
        "{partial:?}"
    );
    for attack in attacks.into_iter().map(Arc::new) {
        let (ended, has_changed) = scene.until_changed(|| send(carry_out(&attack)));
        assert!(has_changed, "{}: {ended:?}", attack.name);
        assert_eq!(scene.judge(&ended), None, "{}", attack.name);
    }
}
