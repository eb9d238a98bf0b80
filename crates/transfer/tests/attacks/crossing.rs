//! Attacks with two connections: bytes of one go into the other.

use crate::between::{Act, DATA, END, Line, Speech, Turn, Unit};
use crate::common::{KEEPING, send_to};
use crate::scene::{DIVIDED, Ended, PATIENCE, SEALED, Scene};
use oscope_transfer::method::ReceiveMethod;
use oscope_transfer::sender::Plan;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// Maximum time to wait for the other connection's half.
const MEETING: Duration = Duration::from_secs(2);

/// The place where two connections exchange what they carry.
#[derive(Default)]
struct Meeting {
    brought: Mutex<[Vec<Option<Vec<Unit>>>; 2]>,
    has_come: Condvar,
}

impl Meeting {
    /// Leaves `units` for the other connection, and returns what that one left in the same turn;
    /// `None` if it does not come.
    fn exchange(&self, number: usize, turn: Turn, units: Vec<Unit>) -> Option<Vec<Unit>> {
        let turn = turn as usize;
        let mut brought = self.brought.lock().expect("nobody panics");
        for side in &mut *brought {
            side.resize(side.len().max(turn + 1), None);
        }
        brought[number][turn] = Some(units);
        self.has_come.notify_all();
        let is_missing =
            |brought: &mut [Vec<Option<Vec<Unit>>>; 2]| brought[1 - number][turn].is_none();
        let (brought, _) = self
            .has_come
            .wait_timeout_while(brought, MEETING, is_missing)
            .expect("nobody panics");
        brought[1 - number][turn].clone()
    }
}

/// Mixes the units of two connections in one turn: the first argument is its own, the second the
/// other's.
type Mix = fn(&[Unit], &[Unit]) -> Vec<Unit>;

/// Everything that the other connection says.
const ALL_OF_THE_OTHER: Mix = |_, other| other.to_vec();

/// Crosses two connections in the turns that `is_crossed` selects.
fn cross(mix: Mix, is_crossed: impl Fn(Turn) -> bool + Send + Sync + 'static) -> Arc<Act> {
    let meeting = Meeting::default();
    Arc::new(move |number, turn, speech: &mut Speech| {
        if number > 1 || !is_crossed(turn) {
            return;
        }
        let own = speech.units.clone();
        if let Some(other) = meeting.exchange(number, turn, own) {
            speech.units = mix(&speech.units, &other);
        }
    })
}

/// Files of which one is divided, so that each of two connections carries two ends of files.
fn scene(method: ReceiveMethod, patience: Duration) -> (Scene, Line) {
    let mut scene = Scene::with(SEALED, method, patience, 16);
    scene.add_divided();
    // The first connection carries numbers 0 and 2, the second number 1, and both carry number 3.
    let line = Line {
        files: vec![3, 2],
        ..scene.line()
    };
    (scene, line)
}

const TWO: Plan = Plan {
    streams: 2,
    ..KEEPING
};

#[test]
fn connections_of_one_transfer_cannot_be_crossed() {
    let replace_data: Mix = |own, other| {
        let data = other.iter().rposition(|unit| unit.kind() == DATA);
        let mut mixed = own.to_vec();
        let place = own.iter().rposition(|unit| unit.kind() == DATA);
        if let (Some(place), Some(data)) = (place, data) {
            mixed[place] = other[data].clone();
        }
        mixed
    };
    let the_end: Mix = |own, other| {
        let mut mixed = own.to_vec();
        let end = other.iter().rfind(|unit| unit.kind() == END);
        *mixed.last_mut().expect("it says something") = end.expect("a file ends").clone();
        mixed
    };
    let attacks = [
        ("all of the other", ALL_OF_THE_OTHER, Turn::Files),
        ("all of the other", ALL_OF_THE_OTHER, Turn::Receipts),
        ("all of the other", ALL_OF_THE_OTHER, Turn::Bye),
        ("all of the other", ALL_OF_THE_OTHER, Turn::Done),
        ("one frame of data", replace_data, Turn::Files),
        ("the other's end", the_end, Turn::Files),
    ];
    for method in [ReceiveMethod::File, ReceiveMethod::Mmap] {
        let (scene, line) = scene(method, PATIENCE);
        for (name, mix, turn) in attacks {
            let (ended, has_changed) = scene.until_changed(|| {
                let act = cross(mix, move |now| now == turn);
                scene.send(PATIENCE, TWO, line.clone(), act)
            });
            assert!(has_changed, "{name}: {ended:?}");
            let complaint = scene.judge(&ended);
            assert_eq!(complaint, None, "{name} in {turn:?} by {method}");
        }
    }
}

#[test]
fn two_senders_cannot_be_crossed_at_any_turn() {
    let scene = Scene::new(SEALED, ReceiveMethod::File);
    // The second sender's files need other names, so that the transfers do not collide.
    let mut others = scene.jobs.clone();
    for job in &mut others {
        job.name.splice(0..0, *b"other-");
    }
    let line = Line {
        files: vec![3, 3],
        ..scene.line()
    };
    for turn in Turn::ALL.into_iter().filter(|it| !it.is_of_resuming()) {
        for is_to_the_end in [false, true] {
            // Two connections exchanged completely, from the greeting on, are no attack.
            if turn == Turn::Greeting && is_to_the_end {
                continue;
            }
            let crossed = move |now: Turn| now == turn || (is_to_the_end && now > turn);
            let (ended, is_crossed) = scene.until_changed(|| {
                let mut other_failed = false;
                let act = cross(ALL_OF_THE_OTHER, crossed);
                let (ended, has_changed) = scene.past(line.clone(), act, |address| {
                    let send = |jobs| send_to(address, jobs, KEEPING, &scene.options(PATIENCE));
                    thread::scope(|scope| {
                        let other = scope.spawn(|| send(&others).summary);
                        let own = send(&scene.jobs);
                        let other = other.join().expect("it does not panic");
                        other_failed = other.is_err();
                        (own.summary.map(drop), own.outcomes)
                    })
                });
                (ended, has_changed && other_failed)
            });
            assert!(is_crossed, "{turn:?}: {ended:?}");
            remove_others(&scene, &ended);
            assert_eq!(scene.judge(&ended), None, "{turn:?}, {is_to_the_end}");
        }
    }
}

/// Compares the second sender's files with their sources, and removes them.
fn remove_others(scene: &Scene, ended: &Ended) {
    for name in scene.dirs.names() {
        let Some(source) = name.strip_prefix("other-") else {
            continue;
        };
        let sent = std::fs::read(scene.dirs.from(source));
        assert!(
            scene.dirs.received(&name) == sent.expect("it is there"),
            "{ended:?}"
        );
        std::fs::remove_file(scene.dirs.to().join(&name)).expect("it is there");
    }
}

#[test]
fn two_connections_that_nobody_crosses_bring_everything() {
    let (scene, line) = scene(ReceiveMethod::File, crate::common::PATIENCE);
    let patience = crate::common::PATIENCE;
    let nobody = Arc::new(|_, _, _: &mut Speech| {});
    let (ended, has_changed) = scene.send(patience, TWO, line, nobody);
    assert!(!has_changed);
    scene.assert_whole(&ended);
    assert!(scene.dirs.names().contains(&DIVIDED.to_owned()));
}
