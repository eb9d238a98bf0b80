//! Random programs under ticks at random points. Each can be repeated exactly.

#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use testing as _;
use uthread::{
    Builder, Condvar, Lock, Priority, Protocol, Runtime, RuntimeBuilder, Semaphore, spawn,
    yield_now,
};

/// One step of a thread. A section takes its locks in ascending order, so the programs have no
/// deadlocks.
#[derive(Clone, Debug)]
enum Step {
    Yield,
    Section { locks: Vec<usize>, yields: u8 },
    Ticket,
    Turnstile,
    Spawn(Vec<Step>),
}

#[derive(Clone, Debug)]
struct Program {
    /// `None` for the lock that is handed over in the order of coming, without a protocol.
    protocol: Option<Protocol>,
    threads: Vec<(Priority, Vec<Step>)>,
}

const LOCKS: usize = 4;

fn step() -> impl Strategy<Value = Step> {
    let leaf = prop_oneof![
        3 => Just(Step::Yield),
        4 => (prop::collection::btree_set(0..LOCKS, 1..=LOCKS), 0..3u8).prop_map(|(locks, yields)| {
            Step::Section { locks: locks.into_iter().collect(), yields }
        }),
        2 => Just(Step::Ticket),
        2 => Just(Step::Turnstile),
    ];
    leaf.prop_recursive(2, 12, 5, |step| {
        prop::collection::vec(step, 0..5).prop_map(Step::Spawn)
    })
}

fn program() -> impl Strategy<Value = Program> {
    let priority = prop::sample::select(&[Priority::Green, Priority::Orange, Priority::Red][..]);
    let protocol = prop::sample::select(
        &[
            Some(Protocol::None),
            Some(Protocol::Inheritance),
            Some(Protocol::Ceiling(Priority::Red)),
            None,
        ][..],
    );
    let thread = (priority, prop::collection::vec(step(), 0..12));
    (protocol, prop::collection::vec(thread, 1..8))
        .prop_map(|(protocol, threads)| Program { protocol, threads })
}

/// A monitor that admits threads one at a time, in the order of their numbers.
#[derive(Default)]
struct Turnstile {
    state: Lock<(u64, u64)>,
    moved: Condvar,
}

struct World {
    locks: [Lock<Vec<u64>>; LOCKS],
    tickets: Semaphore,
    turnstile: Turnstile,
    log: Mutex<Vec<(u64, &'static str)>>,
}

impl World {
    fn new(protocol: Option<Protocol>) -> Self {
        let lock = |_| match protocol {
            Some(protocol) => Lock::with_protocol(Vec::new(), protocol),
            None => Lock::fifo(Vec::new()),
        };
        Self {
            locks: std::array::from_fn(lock),
            tickets: Semaphore::new(2),
            turnstile: Turnstile::default(),
            log: Mutex::default(),
        }
    }

    fn note(&self, what: &'static str) {
        let _guard = uthread::no_preempt();
        self.log
            .lock()
            .unwrap()
            .push((uthread::current().id().to_string().parse().unwrap(), what));
    }

    fn run(self: &Arc<Self>, step: &Step) {
        match step {
            Step::Yield => yield_now(),
            Step::Section { locks, yields } => {
                let mut guards: Vec<_> = locks
                    .iter()
                    .map(|lock| self.locks[*lock].lock().unwrap())
                    .collect();
                self.note("in");
                let before: Vec<_> = guards.iter().map(|guard| guard.len()).collect();
                (0..*yields).for_each(|_| yield_now());
                for (guard, before) in guards.iter_mut().zip(before) {
                    assert_eq!(guard.len(), before, "somebody was in the section");
                    guard.push(1);
                }
                self.note("out");
                // Unlocks in locking order, unlike the usual reverse order.
                guards.into_iter().for_each(drop);
            }
            Step::Ticket => {
                self.tickets.acquire();
                yield_now();
                self.tickets.release(1);
            }
            Step::Turnstile => self.pass_turnstile(),
            Step::Spawn(steps) => {
                let (world, steps) = (Arc::clone(self), steps.clone());
                let child = spawn(move || steps.iter().for_each(|step| world.run(step)));
                child.join().unwrap();
            }
        }
    }

    /// Takes a number and waits until it is called. With Hoare semantics `if` is correct here
    /// instead of `while`, because each signal admits exactly the next thread.
    fn pass_turnstile(&self) {
        let mut state = self.turnstile.state.lock().unwrap();
        let mine = state.0;
        state.0 += 1;
        if state.1 != mine {
            state = self.turnstile.moved.wait(state).unwrap();
            assert_eq!(state.1, mine, "the condition does not hold for the woken");
        }
        yield_now();
        state.1 += 1;
        self.note("through");
        self.turnstile.moved.signal_exit(state);
    }
}

fn count(steps: &[Step], wanted: &impl Fn(&Step) -> usize) -> usize {
    let deeper = |step: &Step| match step {
        Step::Spawn(steps) => count(steps, wanted),
        other => wanted(other),
    };
    steps.iter().map(deeper).sum()
}

/// Runs the program to its end and checks that no update was lost. Returns the events in order.
fn execute(program: &Program, runtime: &Runtime) -> Vec<(u64, &'static str)> {
    let world = Arc::new(World::new(program.protocol));
    runtime.run(|| {
        let threads: Vec<_> = program
            .threads
            .iter()
            .cloned()
            .map(|(priority, steps)| {
                let world = Arc::clone(&world);
                let work = move || steps.iter().for_each(|step| world.run(step));
                Builder::new().priority(priority).spawn(work).unwrap()
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
    let world = Arc::into_inner(world).expect("all threads have ended");
    for (number, lock) in world.locks.into_iter().enumerate() {
        let sections = |step: &Step| match step {
            Step::Section { locks, .. } => usize::from(locks.contains(&number)),
            _ => 0,
        };
        let expected: usize = program
            .threads
            .iter()
            .map(|(_, s)| count(s, &sections))
            .sum();
        assert_eq!(lock.into_inner().unwrap().len(), expected);
    }
    world.log.into_inner().unwrap()
}

fn deterministic(seed: u64) -> Runtime {
    let builder: RuntimeBuilder = Runtime::builder().deterministic(seed);
    builder.build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// No wake-up is lost (that would be a deadlock), sections exclude each other, every thread
    /// ends, and the same seed gives the same order of events.
    #[test]
    fn programs_run_to_their_end_and_can_be_repeated(program in program(), seed in any::<u64>()) {
        let first = execute(&program, &deterministic(seed));
        let second = execute(&program, &deterministic(seed));
        prop_assert_eq!(first, second);
    }

    #[test]
    fn programs_run_to_their_end_on_several_workers(program in program(), workers in 2..4usize) {
        // The turnstile must be one monitor on any number of workers. Otherwise a thread could be
        // woken out of order.
        execute(&program, &Runtime::builder().workers(workers).build().unwrap());
    }
}

#[test]
fn seeds_make_a_difference() {
    let section = Step::Section {
        locks: vec![0],
        yields: 1,
    };
    let threads = vec![(Priority::Orange, vec![section; 10]); 5];
    let program = Program {
        protocol: Some(Protocol::None),
        threads,
    };
    let logs: Vec<_> = (0..20)
        .map(|seed| execute(&program, &deterministic(seed)))
        .collect();
    assert!(logs.iter().any(|log| *log != logs[0]));
}
