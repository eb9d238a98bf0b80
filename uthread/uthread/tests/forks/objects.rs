//! Synchronization objects and scopes that the parent's threads use at the time of the fork.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::common::HOUR;
use crate::{
    MOMENT, end, fork, in_a_process, in_child, is_gone, kinds, status_of, work_of_all_kinds,
};
use uthread::io::sleep;
use uthread::{
    Barrier, Condvar, Gone, JoinHandle, Lock, Priority, Protocol, Semaphore, bounded, scope,
    scope_timeout, spawn, suspend, unbounded, yield_now,
};

/// A lock of each kind.
fn locks() -> Vec<Arc<Lock<u32>>> {
    let kinds = [
        Lock::new(0),
        Lock::fifo(0),
        Lock::with_protocol(0, Protocol::Inheritance),
        Lock::with_protocol(0, Protocol::Ceiling(Priority::Red)),
    ];
    kinds.into_iter().map(Arc::new).collect()
}

#[test]
fn locks_of_others_stay_locked_and_own_ones_have_no_waiters() {
    in_a_process(
        "objects::locks_of_others_stay_locked_and_own_ones_have_no_waiters",
        || {
            for runtime in kinds() {
                runtime.run(|| {
                    for lock in locks() {
                        let (held, wanted) = (Arc::clone(&lock), Arc::new(Lock::new(0)));
                        let holder = spawn(move || {
                            let guard = held.lock().unwrap();
                            suspend();
                            drop(guard);
                        });
                        while lock.try_lock().is_ok() {
                            yield_now();
                        }
                        let mine = wanted.lock().unwrap();
                        let waits = [&lock, &wanted].map(|lock| {
                            let lock = Arc::clone(lock);
                            spawn(move || *lock.lock().unwrap() += 1)
                        });
                        sleep(MOMENT);
                        in_child(|| {
                            assert!(lock.try_lock().is_err());
                            assert!(lock.lock_timeout(MOMENT).is_err());
                            drop(mine);
                            contend(&wanted);
                        });
                        holder.thread().resume();
                        for thread in waits {
                            thread.join().unwrap();
                        }
                        holder.join().unwrap();
                    }
                    for lock in locks() {
                        let mine = lock.lock().unwrap();
                        let waiter = {
                            let lock = Arc::clone(&lock);
                            spawn(move || *lock.lock().unwrap() += 1)
                        };
                        sleep(MOMENT);
                        in_child(|| {
                            drop(mine);
                            contend(&lock);
                        });
                        waiter.join().unwrap();
                    }
                });
            }
        },
    );
}

/// New threads share a lock, also through a condition variable.
fn contend(lock: &Arc<Lock<u32>>) {
    let before = *lock.lock().unwrap();
    let all = Arc::new(Condvar::new());
    let threads: Vec<_> = (0..10)
        .map(|_| {
            let (lock, all) = (Arc::clone(lock), Arc::clone(&all));
            spawn(move || {
                let mut count = lock.lock().unwrap();
                *count += 1;
                yield_now();
                all.notify_all(&count);
                drop(all.wait_while(count, |count| *count < before + 10).unwrap());
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*lock.lock().unwrap(), before + 10);
}

/// Nobody is left who could unlock.
#[test]
fn a_deadlock_in_the_child_ends_it() {
    in_a_process("objects::a_deadlock_in_the_child_ends_it", || {
        for runtime in kinds() {
            runtime.run(|| {
                let lock = Arc::new(Lock::new(0));
                let held = Arc::clone(&lock);
                let holder = spawn(move || {
                    let _held = held.lock().unwrap();
                    suspend();
                });
                while lock.try_lock().is_ok() {
                    yield_now();
                }
                let wait_in_child = move || {
                    let child = fork();
                    if child == 0 {
                        drop(lock.lock());
                    }
                    child
                };
                let other = spawn(wait_in_child.clone());
                for child in [wait_in_child(), other.join().unwrap()] {
                    let status = status_of(child);
                    assert!(libc::WIFSIGNALED(status), "{status}");
                    assert_eq!(libc::WTERMSIG(status), libc::SIGABRT);
                }
                holder.thread().resume();
                holder.join().unwrap();
            });
        }
    });
}

#[test]
fn nothing_is_given_to_a_gone_thread() {
    in_a_process("objects::nothing_is_given_to_a_gone_thread", || {
        for runtime in kinds() {
            runtime.run(|| {
                let semaphore = Arc::new(Semaphore::new(0));
                let barrier = Arc::new(Barrier::new(2));
                let room = Arc::new((Lock::new(false), Condvar::new()));
                let (sender, receiver) = bounded(0);
                let (inlet, outlet) = unbounded::<u32>();
                let own = (semaphore.clone(), barrier.clone(), room.clone());
                let (own_sender, own_outlet) = (sender.clone(), outlet.clone());
                let threads: [JoinHandle<()>; 5] = [
                    spawn(move || own.0.acquire()),
                    spawn(move || assert!(!own.1.wait().is_leader())),
                    spawn(move || {
                        let open = own.2.0.lock().unwrap();
                        drop(own.2.1.wait_while(open, |open| !*open).unwrap());
                    }),
                    spawn(move || own_sender.send(1).unwrap()),
                    spawn(move || assert_eq!(own_outlet.recv().unwrap(), 7)),
                ];
                sleep(3 * MOMENT);
                in_child(|| {
                    semaphore.release(1);
                    assert!(semaphore.try_acquire());
                    assert!(barrier.wait_timeout(MOMENT).is_none());
                    room.1.signal_exit(room.0.lock().unwrap());
                    assert!(room.0.try_lock().is_ok());
                    assert!(receiver.recv_timeout(MOMENT).is_err());
                    inlet.send(7).unwrap();
                    assert_eq!(outlet.recv().unwrap(), 7);
                    for thread in threads {
                        assert!(is_gone(thread));
                    }
                });
                semaphore.release(1);
                barrier.wait();
                let mut open = room.0.lock().unwrap();
                *open = true;
                room.1.notify(&open);
                drop(open);
                assert_eq!(receiver.recv().unwrap(), 1);
                inlet.send(7).unwrap();
            });
        }
    });
}

#[test]
fn a_scope_ends_without_its_gone_threads() {
    in_a_process("objects::a_scope_ends_without_its_gone_threads", || {
        for runtime in kinds() {
            runtime.run(|| {
                let mut child = -1;
                let (gate, sum) = (Semaphore::new(0), AtomicU32::new(0));
                let add = || {
                    gate.acquire();
                    sum.fetch_add(1, Ordering::Relaxed);
                };
                let timely = scope_timeout(HOUR, |scope| {
                    let (joined, _left) = (scope.spawn(add), scope.spawn(add));
                    sleep(MOMENT);
                    child = fork();
                    gate.release(2);
                    if child == 0 {
                        assert!(joined.join().unwrap_err().is::<Gone>());
                        scope.spawn(add).join().unwrap();
                    }
                });
                assert_eq!(timely, Ok(()));
                assert_eq!(sum.load(Ordering::Relaxed), 2 - u32::from(child == 0));
                if child == 0 {
                    work_of_all_kinds();
                    end(0);
                }
                assert_eq!(status_of(child), 0);
            });
        }
    });
}

#[test]
fn a_thread_of_a_scope_goes_on_without_its_owner() {
    in_a_process(
        "objects::a_thread_of_a_scope_goes_on_without_its_owner",
        || {
            for runtime in kinds() {
                let child = runtime.run(|| {
                    scope(|scope| {
                        let forks = scope.spawn(|| {
                            let child = fork();
                            if child == 0 {
                                scope.spawn(work_of_all_kinds).join().unwrap();
                            }
                            child
                        });
                        scope.spawn(yield_now);
                        forks.join().unwrap()
                    })
                });
                assert_eq!(status_of(child), 0);
            }
        },
    );
}
