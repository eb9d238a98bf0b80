//! Loom explores every interleaving of the structures that workers share. The code is in the
//! library's own files, compiled with loom's atomics. Miri runs the same models on kernel threads, some
//! times each (`uthread/sanitizers.sh`).
//!
//! Not under Wine: it finds no handlers of panics on the stacks that loom makes. The structures are the same on
//! all systems.
#![cfg(not(windows))]
#![expect(unsafe_code, reason = "the structures link threads through pointers")]
#![allow(
    dead_code,
    unused_imports,
    reason = "the files are part of the library, which uses all"
)]

#[cfg(miri)]
#[path = "model_miri/mod.rs"]
mod checker;
#[cfg(not(miri))]
use loom as checker;
use testing as _;

/// Replaces the module of the same name in the library.
mod atomic {
    pub(crate) use crate::checker::sync::atomic::{
        AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence,
    };

    pub(crate) fn pause(_attempt: u32) {
        crate::checker::thread::yield_now();
    }
}

#[path = "../src/worker/errand.rs"]
mod errand;
#[path = "../src/worker/fresh.rs"]
mod fresh;
#[path = "../src/worker/inbox.rs"]
mod inbox;
#[path = "../src/sync/owner.rs"]
mod owner;
#[path = "../src/scheduler/mod.rs"]
mod scheduler;
#[path = "../src/worker/slumber.rs"]
mod slumber;
#[path = "../src/spin.rs"]
mod spin;

use std::cell::Cell;

use checker::sync::Arc;
use checker::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering, fence};

use errand::{Errand, Errands};
use fresh::Fresh;
use inbox::Inbox;
use owner::{Claim, Owner};
use scheduler::{Linked, Links, Priority, Rank, Schedulable, Waiters, Waits};
use slumber::{Rest, Slumber};
use spin::SpinCell;

/// A minimal thread with only the parts that the queues use. Its address leaves room for flags.
#[repr(align(64))]
struct Node {
    links: Links<Self>,
    rank: Rank,
    level: Cell<Priority>,
    waits_in: Cell<*const ()>,
    number: usize,
}

// SAFETY: only the owner of a node touches it, or the holder of its queue. The models show that
// this is one thread at a time.
unsafe impl Sync for Node {}
// SAFETY: as above.
unsafe impl Send for Node {}

impl Node {
    fn leak(number: usize) -> &'static Self {
        Box::leak(Box::new(Self {
            links: Links::new(),
            rank: Rank::new(Priority::Orange),
            level: Cell::new(Priority::Orange),
            waits_in: Cell::new(std::ptr::null()),
            number,
        }))
    }
}

impl Linked for Node {
    fn links(&self) -> &Links<Self> {
        &self.links
    }
}

impl Waits for Node {
    fn waits_in(&self) -> &Cell<*const ()> {
        &self.waits_in
    }
}

impl Schedulable for Node {
    fn rank(&self) -> &Rank {
        &self.rank
    }

    fn level(&self) -> &Cell<Priority> {
        &self.level
    }

    fn locks_held(&self) -> u32 {
        0
    }
}

/// Explores all interleavings with a limited number of preemptions. Without a limit, a thread could
/// spin forever.
#[cfg(not(miri))]
fn model(test: impl Fn() + Sync + Send + 'static) {
    let mut builder = checker::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(test);
}

/// Miri runs one interleaving each time, with the memory of a processor that delays what it writes.
#[cfg(miri)]
fn model(test: impl Fn()) {
    (0..20).for_each(|_| test());
}

#[test]
fn the_inbox_loses_nothing_and_keeps_each_senders_order() {
    model(|| {
        let inbox = Arc::new(Inbox::new());
        let nodes: [&Node; 3] = std::array::from_fn(Node::leak);
        let sender = {
            let inbox = Arc::clone(&inbox);
            checker::thread::spawn(move || {
                // SAFETY: leaked, hence alive, and in no queue.
                unsafe { inbox.push(nodes[0]) };
                // SAFETY: as above.
                unsafe { inbox.push(nodes[1]) };
            })
        };
        // SAFETY: as above.
        unsafe { inbox.push(nodes[2]) };
        let mut taken = Vec::new();
        // SAFETY: as above.
        let mut take = || inbox.take_all(|node| taken.push(unsafe { &*node }.number));
        take();
        sender.join().unwrap();
        take();
        let place = |number| {
            taken
                .iter()
                .position(|n| *n == number)
                .expect("it was lost")
        };
        assert!(place(0) < place(1));
        place(2);
        assert_eq!(taken.len(), 3);
    });
}

/// Each time that somebody asks counts, also while the worker does the errand.
#[test]
fn an_errand_is_done_as_often_as_it_was_asked_for() {
    model(|| {
        let done = Arc::new(AtomicUsize::new(0));
        let errands = Arc::new(Errands::new());
        let errand = |worth| {
            let done = Arc::clone(&done);
            Errand::new(move |times| {
                done.fetch_add(times * worth, Ordering::Relaxed);
            })
        };
        let (one, ten) = (errand(1), errand(10));
        let other = {
            let (errands, one) = (Arc::clone(&errands), std::sync::Arc::clone(&one));
            checker::thread::spawn(move || {
                errands.ask(&one);
                errands.ask(&one);
            })
        };
        errands.ask(&ten);
        errands.ask(&one);
        errands.run();
        other.join().unwrap();
        errands.run();
        assert_eq!(done.load(Ordering::Relaxed), 13);
        assert!(errands.is_empty());
    });
}

#[test]
fn an_unstarted_thread_is_taken_by_exactly_one() {
    model(|| {
        let fresh = Arc::new(Fresh::new());
        for number in 0..2 {
            // SAFETY: leaked, hence alive, and in no queue; there is no preemption.
            unsafe { fresh.push(Node::leak(number)) };
        }
        let taken = Arc::new(AtomicUsize::new(0));
        let take = |fresh: &Fresh<Node>, taken: &AtomicUsize| {
            // SAFETY: there is no preemption, and nodes are leaked.
            if let Some(node) = unsafe { fresh.pop(Priority::Green) } {
                // SAFETY: as above.
                taken.fetch_add(1 + 10 * unsafe { &*node }.number, Ordering::Relaxed);
            }
        };
        let thief = {
            let (fresh, taken) = (Arc::clone(&fresh), Arc::clone(&taken));
            checker::thread::spawn(move || take(&fresh, &taken))
        };
        take(&fresh, &taken);
        thief.join().unwrap();
        assert_eq!(taken.load(Ordering::Relaxed), 12);
    });
}

#[test]
fn the_spin_cell_lets_one_in_at_a_time() {
    model(|| {
        let cell = Arc::new(SpinCell::new(AtomicBool::new(false), 0));
        let add = |cell: &SpinCell<i32>| {
            // SAFETY: there is no preemption, and all callers pass `several` as true.
            unsafe { cell.with(true, |value| *value += 1) };
        };
        let other = {
            let cell = Arc::clone(&cell);
            checker::thread::spawn(move || add(&cell))
        };
        add(&cell);
        other.join().unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { cell.with(true, |value| *value) }, 2);
    });
}

/// A thread that finds the lock held reads its owner's control block, so what the owner wrote there before
/// must be visible. Loom tells if it need not be.
#[test]
fn whoever_finds_the_owner_sees_what_it_wrote_before() {
    let ways: [fn(&Owner<Node, 2>, *mut Node) -> bool; 3] = [
        |owner, me| owner.try_own(true, me),
        |owner, me| owner.barge(true, me),
        |owner, me| owner.inherit(true, me) == Claim::Taken,
    ];
    for take in ways {
        model(move || {
            let free = AtomicPtr::new(std::ptr::null_mut::<Node>());
            let owner = Owner::new(free, AtomicU32::new(0));
            let shared = Arc::new((owner, Block(checker::cell::UnsafeCell::new(0))));
            let looker = {
                let shared = Arc::clone(&shared);
                checker::thread::spawn(move || {
                    if !shared.0.get().is_null() {
                        // SAFETY: it does not change any more.
                        assert_eq!(shared.1.0.with(|block| unsafe { *block }), 7);
                    }
                })
            };
            // SAFETY: nobody reads it before this thread owns the lock.
            shared.1.0.with_mut(|block| unsafe { *block = 7 });
            let me = std::ptr::from_ref(Node::leak(0)).cast_mut();
            assert!(take(&shared.0, me));
            looker.join().expect("it does not panic");
        });
    }
}

/// Part of a control block.
struct Block(checker::cell::UnsafeCell<u32>);

// SAFETY: the model shows that no thread reads it while another writes.
unsafe impl Sync for Block {}
// SAFETY: as above.
unsafe impl Send for Block {}

/// A waking thread and the waiter's timer race: one of them takes the waiter out, and the permit
/// is either with the waiter or still there.
#[test]
fn a_waiter_is_granted_or_withdrawn_and_no_permit_is_lost() {
    struct State {
        permits: usize,
        waiters: Waiters<Node>,
    }
    // SAFETY: used with the spin lock held.
    unsafe impl Send for State {}
    model(|| {
        let state = State {
            permits: 0,
            waiters: Waiters::new(),
        };
        let cell = Arc::new(SpinCell::new(AtomicBool::new(false), state));
        let node = Node::leak(0);
        // SAFETY: leaked, hence alive, and in no queue; there is no preemption.
        unsafe { cell.with(true, |state| state.waiters.push_back(node)) };
        let grants = {
            let cell = Arc::clone(&cell);
            let grant = move |state: &mut State| {
                let granted = state.waiters.pop_front().is_some();
                state.permits += usize::from(!granted);
                granted
            };
            // SAFETY: there is no preemption.
            checker::thread::spawn(move || unsafe { cell.with(true, grant) })
        };
        // SAFETY: as above, and the node waits here or did so last.
        let withdrawn = unsafe { cell.with(true, |state| state.waiters.withdraw(node)) };
        let granted = grants.join().expect("it does not panic");
        assert_ne!(granted, withdrawn);
        // SAFETY: as above.
        let permits = unsafe { cell.with(true, |state| state.permits) };
        assert_eq!(permits, usize::from(withdrawn));
    });
}

/// The barging lock without its workers: `RawLock` and `sync/barging.rs` call the same methods in the
/// same order.
struct Barging {
    owner: Owner<Node, 2>,
    queues: SpinCell<Waiters<Node>>,
    woken: [(checker::sync::Mutex<bool>, checker::sync::Condvar); 2],
    value: checker::cell::UnsafeCell<u32>,
}

// SAFETY: the queue is used with the spin lock held, the value by the owner.
unsafe impl Sync for Barging {}
// SAFETY: as above.
unsafe impl Send for Barging {}

impl Barging {
    fn new() -> Self {
        Self {
            owner: Owner::new(AtomicPtr::new(std::ptr::null_mut()), AtomicU32::new(0)),
            queues: SpinCell::new(AtomicBool::new(false), Waiters::new()),
            woken: std::array::from_fn(|_| {
                (
                    checker::sync::Mutex::new(false),
                    checker::sync::Condvar::new(),
                )
            }),
            value: checker::cell::UnsafeCell::new(0),
        }
    }

    /// Works with the queue locked.
    fn locked<R>(&self, work: impl FnOnce(&mut Waiters<Node>) -> R) -> R {
        // SAFETY: there is no preemption, and `several` is true.
        unsafe { self.queues.with(true, work) }
    }

    fn block(&self, me: &Node) {
        let (woken, bell) = &self.woken[me.number];
        let mut woken = woken.lock().expect("no poison");
        while !*woken {
            woken = bell.wait(woken).expect("no poison");
        }
        *woken = false;
    }

    fn lock(&self, me: &'static Node) {
        let address = std::ptr::from_ref(me).cast_mut();
        if self.owner.try_own(true, address) || self.owner.barge(true, address) {
            return;
        }
        let waits = self.locked(|entry| {
            let waits = !self.owner.own_or_contend(true, address);
            if waits {
                // SAFETY: leaked, hence alive, and in no queue.
                unsafe { entry.push_back(me) };
            }
            waits
        });
        if !waits {
            return;
        }
        loop {
            self.block(me);
            if self.owner.inherit(true, address) != Claim::Refused {
                return;
            }
            let waits = self.locked(|entry| {
                let waits = self.owner.inherit_or_contend(true, address) == Claim::Refused;
                if waits {
                    // SAFETY: as above.
                    unsafe { entry.push_front(me) };
                }
                waits
            });
            if !waits {
                return;
            }
        }
    }

    fn unlock(&self, me: &Node) {
        let address = std::ptr::from_ref(me).cast_mut();
        if self.owner.try_free(true, address) || self.owner.leave_to_heir(true, || 0) {
            return;
        }
        let next = self.locked(|entry| {
            let may_be_passed = self.owner.may_be_passed();
            if !may_be_passed && self.owner.heir().is_some() {
                self.owner.give_to_heir(!entry.is_empty());
                return None;
            }
            let Some(next) = entry.pop_front() else {
                self.owner.free();
                return None;
            };
            if may_be_passed {
                self.owner.free_for_heir(next, !entry.is_empty());
            } else {
                self.owner.forget_passes();
                self.owner.give(next.cast_mut(), !entry.is_empty(), false);
            }
            // SAFETY: nodes are leaked.
            Some(unsafe { &*next })
        });
        if let Some(next) = next {
            let (woken, bell) = &self.woken[next.number];
            *woken.lock().expect("no poison") = true;
            bell.notify_one();
        }
    }

    fn enter(&self, me: &'static Node) {
        self.lock(me);
        // SAFETY: this thread owns the lock; loom tells if another uses the value as well.
        self.value.with_mut(|value| unsafe { *value += 1 });
        self.unlock(me);
    }
}

/// Nobody enters together with another, and nobody waits for ever: loom would tell a thread that
/// nothing wakes.
#[test]
fn the_barging_lock_excludes_and_loses_nobody() {
    model(|| {
        let lock = Arc::new(Barging::new());
        let other = {
            let lock = Arc::clone(&lock);
            checker::thread::spawn(move || {
                let me = Node::leak(0);
                lock.enter(me);
                lock.enter(me);
            })
        };
        let me = Node::leak(1);
        lock.enter(me);
        lock.enter(me);
        other.join().expect("it does not panic");
        lock.lock(me);
        // SAFETY: this thread owns the lock.
        assert_eq!(lock.value.with(|value| unsafe { *value }), 4);
        lock.unlock(me);
    });
}

/// `Bell::ring` and a worker that falls asleep, or that stops its ticks (`worker/parking.rs`, `worker/idle.rs`,
/// `worker/ticks.rs`): either the producer sees that it rests, or the worker sees the work.
#[test]
fn no_worker_rests_on_work() {
    for rest in [Rest::Asleep, Rest::Quiet] {
        for woken in [true, false] {
            model(move || gives_to_a_worker_that_rests(rest, woken));
        }
    }
}

fn gives_to_a_worker_that_rests(rest: Rest, woken: bool) {
    let slumber = Slumber::new(AtomicU32::new(0));
    let shared = Arc::new((slumber, Inbox::new(), Fresh::new()));
    let givers = [0, 1].map(|number| {
        let shared = Arc::clone(&shared);
        checker::thread::spawn(move || {
            let (slumber, inbox, fresh) = &*shared;
            let node = Node::leak(number);
            if woken {
                // SAFETY: leaked, hence alive, and in no queue.
                unsafe { inbox.push(node) };
                return usize::from(slumber.end() == Some(rest));
            }
            // SAFETY: as above, and there is no preemption.
            unsafe { fresh.push(node) };
            fence(Ordering::SeqCst);
            usize::from(slumber.end_if(rest))
        })
    });
    let (slumber, inbox, fresh) = &*shared;
    slumber.announce(rest);
    let sees_work = !inbox.is_empty() || !fresh.is_empty();
    let rings = givers.map(|giver| giver.join().expect("it does not panic"));
    let rings: usize = rings.into_iter().sum();
    assert!(sees_work || rings > 0, "the wake-up was lost");
    assert!(rings <= 1, "both have woken the worker");
}
