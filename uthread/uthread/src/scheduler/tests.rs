use core::cell::Cell;
use std::collections::VecDeque;

use proptest::prelude::*;

use super::Priority::{Green, Orange, Red};
use super::{Linked, Links, Policy, Priority, Rank, Ready, Schedulable, Scheduler, Tally, Verdict};

struct Thread {
    links: Links<Self>,
    rank: Rank,
    level: Cell<Priority>,
    locks: Cell<u32>,
}

impl Thread {
    fn new(priority: Priority) -> Self {
        Self {
            links: Links::new(),
            rank: Rank::new(priority),
            level: Cell::new(priority),
            locks: Cell::new(0),
        }
    }
}

impl Linked for Thread {
    fn links(&self) -> &Links<Self> {
        &self.links
    }
}

impl Schedulable for Thread {
    fn rank(&self) -> &Rank {
        &self.rank
    }

    fn level(&self) -> &Cell<Priority> {
        &self.level
    }

    fn locks_held(&self) -> u32 {
        self.locks.get()
    }
}

const POLICY: Policy = Policy {
    decay: true,
    boost_every: 5,
};

fn scheduler(ready: &[&Thread]) -> Scheduler<Thread> {
    let scheduler = Scheduler::new(POLICY);
    for thread in ready {
        // SAFETY: the threads outlive the scheduler in every test and are in no other queue.
        unsafe { scheduler.ready.push_back(*thread) };
    }
    scheduler
}

#[test]
fn a_thread_alone_needs_no_ticks() {
    let current = Thread::new(Priority::Red);
    assert_eq!(scheduler(&[]).tick(&current), Verdict::Alone);
}

#[test]
fn threads_that_yield_take_turns_however_many_they_are() {
    for count in 1..=4 {
        let threads: Vec<Thread> = (0..count).map(|_| Thread::new(Orange)).collect();
        let scheduler = scheduler(&threads[1..].iter().collect::<Vec<_>>());
        let mut current = &raw const threads[0];
        for turn in 1..=3 * count {
            // SAFETY: the threads outlive the scheduler, and the current one is in no queue.
            match unsafe { scheduler.exchange(&*current) } {
                Some(next) => current = next,
                None => assert_eq!(count, 1),
            }
            assert_eq!(current, &raw const threads[turn % count]);
        }
        let left: Vec<_> = std::iter::from_fn(|| scheduler.pop()).collect();
        assert_eq!(left.len(), count - 1);
    }
}

#[test]
fn a_slice_that_began_between_two_ticks_is_not_cut_short() {
    let (current, other) = (Thread::new(Priority::Red), Thread::new(Priority::Red));
    let scheduler = scheduler(&[&other]);
    scheduler.switched();
    assert_eq!(scheduler.tick(&current), Verdict::Grace);
    assert_eq!(current.rank.base(), Priority::Red);
    assert_eq!(scheduler.tick(&current), Verdict::Switch);
}

#[test]
fn a_slice_used_up_costs_one_priority_unless_a_lock_is_held() {
    let (current, other) = (Thread::new(Priority::Red), Thread::new(Priority::Green));
    let scheduler = scheduler(&[&other]);
    scheduler.tick(&current);
    current.locks.set(1);
    assert_eq!(scheduler.tick(&current), Verdict::Continue);
    assert_eq!(current.rank.effective(), Priority::Red);
    current.locks.set(0);
    assert_eq!(scheduler.tick(&current), Verdict::Continue);
    assert_eq!(current.rank.effective(), Priority::Orange);
    assert_eq!(scheduler.tick(&current), Verdict::Switch);
    assert_eq!(current.rank.effective(), Priority::Green);
}

#[test]
fn every_so_many_ticks_all_are_back_at_their_assigned_priority() {
    let (current, other) = (Thread::new(Priority::Red), Thread::new(Priority::Red));
    other.rank.set_base(Priority::Green);
    let scheduler = scheduler(&[&other]);
    let priorities: Vec<_> = (0..5)
        .map(|_| {
            scheduler.tick(&current);
            (current.rank.base(), other.level.get())
        })
        .collect();
    let expected = [
        (Red, Green),
        (Orange, Green),
        (Green, Green),
        (Green, Green),
        (Orange, Red),
    ];
    assert_eq!(priorities, expected);
}

#[test]
fn a_higher_ceiling_or_heir_counts_and_the_base_stays() {
    let thread = Thread::new(Priority::Green);
    thread.rank.set_inherited(Priority::Red);
    thread.rank.set_ceiling(Priority::Orange);
    assert_eq!(thread.rank.effective(), Priority::Red);
    thread.rank.set_inherited(Priority::Green);
    assert_eq!(thread.rank.effective(), Priority::Orange);
    thread.rank.set_ceiling(Priority::Green);
    assert_eq!(thread.rank.effective(), Priority::Green);
}

#[derive(Clone, Debug)]
enum Step {
    Push(usize),
    PushFront(usize),
    Pop,
    Remove(usize),
    Raise(usize, Priority),
}

fn step() -> impl Strategy<Value = Step> {
    let thread = 0..12usize;
    let priority = prop::sample::select(&Priority::ALL[..]);
    prop_oneof![
        4 => thread.clone().prop_map(Step::Push),
        1 => thread.clone().prop_map(Step::PushFront),
        3 => Just(Step::Pop),
        1 => thread.clone().prop_map(Step::Remove),
        2 => (thread, priority).prop_map(|(t, p)| Step::Raise(t, p)),
    ]
}

/// Miri is some hundred times as slow, and sees what is wrong in the first steps.
const CASES: u32 = if cfg!(miri) { 8 } else { 256 };
const STEPS: usize = if cfg!(miri) { 25 } else { 200 };

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, ..ProptestConfig::default() })]

    /// Against three double-ended queues of the standard library.
    #[test]
    fn the_queues_behave_like_three_lists(steps in prop::collection::vec(step(), 1..STEPS)) {
        let threads: Vec<_> = (0..12).map(|i| Thread::new(Priority::ALL[i % 3])).collect();
        let find = |thread| threads.iter().position(|t| core::ptr::eq(t, thread)).unwrap();
        let ready = Ready::new();
        // SAFETY: the threads outlive the queues, and the model knows that they are in none.
        let push_back = |t: usize| unsafe { ready.push_back(&raw const threads[t]) };
        // SAFETY: as above.
        let push_front = |t: usize| unsafe { ready.push_front(&raw const threads[t]) };
        // SAFETY: the model knows that it is ready.
        let remove = |t: usize| unsafe { ready.remove(&raw const threads[t]) };
        let mut model = [const { VecDeque::<usize>::new() }; 3];
        for step in steps {
            let place = |model: &[VecDeque<usize>; 3], t| model.iter().position(|q| q.contains(&t));
            match step {
                Step::Push(t) if place(&model, t).is_none() => {
                    push_back(t);
                    model[threads[t].rank.effective() as usize].push_back(t);
                }
                Step::PushFront(t) if place(&model, t).is_none() => {
                    push_front(t);
                    model[threads[t].rank.effective() as usize].push_front(t);
                }
                Step::Pop => {
                    let expected = model.iter_mut().rev().find_map(VecDeque::pop_front);
                    prop_assert_eq!(ready.pop().map(find), expected);
                }
                Step::Remove(t) => if let Some(level) = place(&model, t) {
                    remove(t);
                    model[level].retain(|other| *other != t);
                },
                Step::Raise(t, priority) => {
                    threads[t].rank.assign(priority);
                    if let Some(level) = place(&model, t) {
                        remove(t);
                        push_back(t);
                        model[level].retain(|other| *other != t);
                        model[priority as usize].push_back(t);
                    }
                }
                Step::Push(_) | Step::PushFront(_) => {}
            }
            let highest = (0..3).rev().find(|level| !model[*level].is_empty());
            prop_assert_eq!(ready.highest().map(|p| p as usize), highest);
        }
    }

    #[test]
    fn a_tally_knows_the_highest_of_what_is_left(mut priorities in prop::collection::vec(0..3usize, 0..20)) {
        let tally = Tally::new();
        for level in &priorities {
            tally.add(Priority::ALL[*level]);
        }
        while let Some(level) = priorities.pop() {
            prop_assert_eq!(tally.highest() as usize, *priorities.iter().chain([&level]).max().unwrap());
            tally.remove(Priority::ALL[level]);
        }
        prop_assert_eq!(tally.highest(), Priority::Green);
    }
}
