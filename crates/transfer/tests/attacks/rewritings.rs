//! Attacks on one connection: each of the table, and those on a failure and on a partial file.

use crate::attack::{Attack, Fake, Heard, at, carry_out, put};
use crate::between::{CHECK, HEAD, RECEIPT, Speech, Turn, recorder};
use crate::common::{PATIENCE, receive_methods};
use crate::scene::{KEEPING, Protection, SEALED, Scene};
use crate::table::{attacks, attacks_on_files, on_bodies, on_headers, on_order};
use oscope_transfer::Cover;
use oscope_transfer::method::ReceiveMethod;
use oscope_transfer::sender::{Job, Plan};
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// More threads than processors, because most attacks make one side wait for a moment.
const THREADS: usize = 6;

const ATTEMPTS: usize = 5;

/// An honest transfer, turn by turn.
fn sample(protection: Protection, method: ReceiveMethod) -> Vec<(Turn, Speech)> {
    let scene = Scene::with(protection, method, PATIENCE);
    let (recording, act) = recorder();
    let (ended, has_changed) = scene.send(KEEPING, scene.line(), act);
    assert!(!has_changed);
    scene.assert_whole(&ended);
    let recording = recording.lock().expect("nobody panics with it");
    assert_eq!(recording.len(), 8);
    recording.clone()
}

/// Carries out all attacks of a table, and complains about each that was not refused.
fn none_goes_through(
    protection: Protection,
    method: ReceiveMethod,
    table: fn(&Heard, Protection) -> Vec<Attack>,
) {
    let sample = sample(protection, method);
    let attacks: Vec<_> = table(&sample, protection)
        .into_iter()
        .map(Arc::new)
        .collect();
    let next = AtomicUsize::new(0);
    let complaints = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                let scene = Scene::new(protection, method);
                while let Some(attack) = attacks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let mut attempts = 0;
                    let (ended, has_changed) = loop {
                        let done = scene.send(KEEPING, scene.line(), carry_out(attack));
                        attempts += 1;
                        // On a busy machine a side may be given up before the attacked turn.
                        if done.1 || attempts == ATTEMPTS {
                            break done;
                        }
                        scene.clear();
                    };
                    let complaint = match has_changed {
                        false => Some(format!("it was not carried out: {ended:?}")),
                        true if attack.is_harmless => scene.judge_harm(&ended),
                        true => scene.judge(&ended),
                    };
                    scene.clear();
                    if let Some(complaint) = complaint {
                        let complaint = format!("{}: {complaint}", attack.name);
                        complaints
                            .lock()
                            .expect("nobody panics with it")
                            .push(complaint);
                    }
                }
            });
        }
    });
    let complaints = complaints.into_inner().expect("nobody panics with it");
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
fn nothing_that_is_sealed_can_be_rewritten_whatever_stores_it() {
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
    let job: Job = scene.place.file("taken", b"new");
    scene.jobs.push(job);
    let send = |scene: &Scene, act| {
        fs::write(scene.place.to().join("taken"), "old").expect("there is room");
        scene.send(KEEPING, scene.line(), act)
    };
    let (recording, act) = recorder();
    let (honest, _) = send(&scene, act);
    assert!(honest.log.contains("--force"), "{honest:?}");
    let failed = |outcome: &&oscope_transfer::Outcome| outcome.failure.is_some();
    assert_eq!(
        honest.outcomes.iter().filter(failed).count(),
        1,
        "{honest:?}"
    );
    scene.clear();
    // A transfer whose file was accepted, so its receipts are good.
    let good = Scene::new(SEALED, ReceiveMethod::File);
    let (good_recording, act) = recorder();
    good.send(KEEPING, good.line(), act);
    let sample_of = |recording: &crate::between::Recording| {
        let recording = recording.lock().expect("nobody panics with it");
        let said = recording.iter().find(|(turn, _)| *turn == Turn::Receipts);
        said.expect("there are receipts").1.units.clone()
    };
    let (failure, good) = (sample_of(&recording), sample_of(&good_recording));
    assert!(failure[TAKEN].len() > 16 && good[0].len() == 16);

    let turn = Turn::Receipts;
    let mut attacks = vec![
        at(turn, "no reason", |units| {
            units[TAKEN].set_len(16);
            let end = units[TAKEN].0.len() - CHECK;
            units[TAKEN].0.drain(HEAD + 16..end);
        }),
        at(turn, "no reason, and no check of it", |units| {
            units[TAKEN].set_len(16);
            units[TAKEN].0.truncate(HEAD + 16 + CHECK);
        }),
        at(turn, "another file's success", |units| {
            units[TAKEN] = units[0].clone();
        }),
        at(turn, "another file's success under this number", |units| {
            units[TAKEN] = units[0].clone();
            units[TAKEN].set_value(TAKEN as u64);
        }),
        at(turn, "another file's body", |units| {
            let body = units[0].0[HEAD..].to_vec();
            units[TAKEN].set_len(16);
            units[TAKEN].0.splice(HEAD.., body);
        }),
        at(turn, "numbers exchanged", |units| {
            units[0].set_value(TAKEN as u64);
            units[TAKEN].set_value(0);
        }),
        at(turn, "one success twice instead", |units| {
            units[TAKEN] = units[TAKEN - 1].clone();
        }),
        put(
            turn,
            "only summed",
            TAKEN,
            1,
            Fake::Summed(1 + TAKEN as u64, RECEIPT, TAKEN as u64, vec![0; 16]),
        ),
        at(turn, "left out", |units| drop(units.remove(TAKEN))),
    ];
    attacks.extend(good.into_iter().map(|old| {
        at(turn, "a success of another session", move |units| {
            units[TAKEN] = old.clone();
            units[TAKEN].set_value(TAKEN as u64);
        })
    }));
    for attack in attacks.into_iter().map(Arc::new) {
        let (ended, has_changed) = send(&scene, carry_out(&attack));
        assert!(has_changed, "{}: {ended:?}", attack.name);
        let told = ended
            .outcomes
            .iter()
            .find(|outcome| outcome.name == b"taken");
        let is_taken_for_good = told.is_some_and(|outcome| outcome.failure.is_none());
        assert!(
            !is_taken_for_good && ended.result.is_err(),
            "{}: {ended:?}",
            attack.name
        );
        assert_eq!(scene.place.received("taken"), b"old");
        if let Some(complaint) = scene.judge(&ended) {
            panic!("{}: {complaint}", attack.name);
        }
    }
}

#[test]
fn what_is_said_of_a_partial_cannot_be_rewritten() {
    let mut scene = Scene::new(SEALED, ReceiveMethod::File);
    scene.jobs.retain(|job| job.name == b"sparse");
    let resume = Plan {
        resume: true,
        ..KEEPING
    };
    let line = || crate::between::Line {
        resumes: true,
        ..scene.line()
    };
    // The hidden name of a file is derived from its name.
    let hidden = format!("{:032x}", twox_hash::XxHash3_128::oneshot(b"sparse"));
    let send = |act| {
        let partials = scene.place.to().join(".oscope-partial");
        fs::create_dir(&partials).expect("it is empty");
        fs::set_permissions(
            &partials,
            std::os::unix::fs::PermissionsExt::from_mode(0o700),
        )
        .expect("it is there");
        let source = fs::read(scene.place.root.path().join("from/sparse")).expect("it is there");
        let hidden = partials.join(&hidden);
        fs::write(&hidden, &source[..100_000]).expect("there is room");
        fs::set_permissions(&hidden, std::os::unix::fs::PermissionsExt::from_mode(0o600))
            .expect("it is there");
        scene.send(resume, line(), act)
    };
    let (recording, act) = recorder();
    let (ended, _) = send(act);
    scene.assert_whole(&ended);
    scene.clear();
    let sample = recording.lock().expect("nobody panics with it").clone();
    let turns = [Turn::Announced, Turn::Partial, Turn::Files];
    let mut attacks = Vec::new();
    for (turn, speech) in sample.iter().filter(|(turn, _)| turns.contains(turn)) {
        attacks.extend(on_order(*turn, speech));
        attacks.extend(on_headers(*turn, speech));
        attacks.extend(on_bodies(*turn, speech, SEALED));
    }
    let partial = &sample[5].1.units[0];
    assert!(
        partial.value() == 100_000 && partial.len() > 0,
        "{partial:?}"
    );
    for attack in attacks.into_iter().map(Arc::new) {
        let (ended, has_changed) = send(carry_out(&attack));
        assert!(has_changed, "{}: {ended:?}", attack.name);
        if let Some(complaint) = scene.judge(&ended) {
            panic!("{}: {complaint}", attack.name);
        }
    }
}
