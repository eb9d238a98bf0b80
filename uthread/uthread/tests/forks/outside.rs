//! Wake-ups from kernel threads that the parent has, and from those that the child starts.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Instant;

use crate::{MOMENT, end, fork, in_a_process, in_child, kinds, status_of};
use uthread::io::sleep;
use uthread::{
    JoinHandle, Poster, RuntimeEnded, Semaphore, block_on, bounded, current, external, spawn,
    suspend, unbounded,
};

fn wait_until(holds: impl Fn() -> bool) {
    let holds = |_| {
        sleep(MOMENT);
        holds()
    };
    assert!((0..60_000).any(holds));
}

/// Waits until a kernel thread of this process wakes the running thread.
fn wait_for_a_waker() {
    let mut asked = false;
    block_on(poll_fn(|context| {
        if asked {
            return Poll::Ready(());
        }
        asked = true;
        let waker = context.waker().clone();
        thread::spawn(move || waker.wake());
        Poll::Pending
    }));
}

/// Does `work` on a kernel thread, and waits for it without a switch.
fn outside<T: Send>(work: impl FnOnce() -> T + Send) -> thread::Result<T> {
    let work = || catch_unwind(AssertUnwindSafe(work));
    thread::scope(|scope| scope.spawn(work).join().unwrap())
}

#[test]
fn kernel_threads_wake_the_child_that_opens_again() {
    in_a_process(
        "outside::kernel_threads_wake_the_child_that_opens_again",
        || {
            for runtime in kinds() {
                runtime.run(|| {
                    let before = external();
                    let semaphore = Arc::new(Semaphore::new(0));
                    let poster = Poster::new(Arc::clone(&semaphore));
                    let (sender, receiver) = unbounded();
                    sender.send(0).unwrap();
                    assert_eq!(receiver.recv(), Ok(0));
                    in_child(|| {
                        assert_eq!(poster.post(), Err(RuntimeEnded));
                        // The child is closed to others at first.
                        assert!(!semaphore.try_acquire());
                        assert!(outside(|| semaphore.release(1)).is_err());
                        let me = current();
                        assert!(outside(|| me.resume()).is_err());
                        let after = external();
                        let kept = poster.clone();
                        drop((before.clone(), poster.clone(), before));
                        for _ in 0..3 {
                            let after = after.clone();
                            let new = Poster::new(Arc::clone(&semaphore));
                            let (me, other) = (current(), Arc::clone(&semaphore));
                            let sender = sender.clone();
                            thread::spawn(move || {
                                thread::sleep(MOMENT);
                                other.release(1);
                                new.post().unwrap();
                                sender.send(7).unwrap();
                                me.resume();
                                drop(after);
                            });
                            suspend();
                            semaphore.acquire();
                            semaphore.acquire();
                            assert_eq!(receiver.recv(), Ok(7));
                        }
                        drop(after);
                        wait_for_a_waker();
                        assert_eq!(kept.post(), Err(RuntimeEnded));
                        assert!(!semaphore.try_acquire());
                    });
                    poster.post().unwrap();
                    semaphore.acquire();
                    wait_for_a_waker();
                });
            }
        },
    );
}

/// Neither to user threads nor to kernel threads that wait in the parent.
#[test]
fn nothing_from_outside_reaches_a_gone_thread() {
    in_a_process(
        "outside::nothing_from_outside_reaches_a_gone_thread",
        || {
            for runtime in kinds() {
                runtime.run(|| {
                    let external = external();
                    let semaphore = Arc::new(Semaphore::new(0));
                    let (sender, receiver) = bounded(0);
                    let (inlet, outlet) = unbounded::<u32>();
                    let (own, own_outlet) = (Arc::clone(&semaphore), outlet.clone());
                    let waker = Arc::new(Mutex::new(None::<Waker>));
                    let keeps = Arc::clone(&waker);
                    let threads: [JoinHandle<()>; 4] = [
                        spawn(suspend),
                        spawn(move || own.acquire()),
                        spawn(move || assert_eq!(own_outlet.recv(), Ok(7))),
                        spawn(move || {
                            let mut asked = false;
                            block_on(poll_fn(|context| {
                                if std::mem::replace(&mut asked, true) {
                                    return Poll::Ready(());
                                }
                                *keeps.lock().unwrap() = Some(context.waker().clone());
                                Poll::Pending
                            }));
                        }),
                    ];
                    assert!(receiver.try_recv().is_err());
                    let other = sender.clone();
                    let blocked = thread::spawn(move || other.send(1).unwrap());
                    let all_wait = || {
                        receiver.is_awaited()
                            && semaphore.is_awaited()
                            && outlet.is_awaited()
                            && waker.lock().unwrap().is_some()
                    };
                    wait_until(all_wait);
                    let suspended = threads[0].thread();
                    let wake = || waker.lock().unwrap().as_ref().unwrap().wake_by_ref();
                    in_child(|| {
                        let attempts = || {
                            wake();
                            suspended.resume();
                            semaphore.release(1);
                            inlet.send(7).unwrap();
                        };
                        // Neither before the thread of the child uses an object nor afterwards.
                        outside(attempts).unwrap();
                        attempts();
                        semaphore.acquire();
                        semaphore.acquire();
                        assert!(!semaphore.try_acquire());
                        let sent = thread::spawn(move || sender.try_send(2));
                        assert!(sent.join().unwrap().is_err());
                        assert!(receiver.try_recv().is_err());
                        assert_eq!((outlet.recv(), outlet.recv()), (Ok(7), Ok(7)));
                        assert!(outlet.try_recv().is_err());
                        for thread in &threads {
                            assert!(thread.thread().is_gone() && thread.is_finished());
                        }
                    });
                    outside(|| {
                        wake();
                        suspended.resume();
                        semaphore.release(1);
                        inlet.send(7).unwrap();
                    })
                    .unwrap();
                    for thread in threads {
                        thread.join().unwrap();
                    }
                    assert_eq!(receiver.recv(), Ok(1));
                    blocked.join().unwrap();
                    drop(external);
                });
            }
        },
    );
}

#[test]
fn a_sender_waits_in_a_child_without_a_runtime() {
    in_a_process(
        "outside::a_sender_waits_in_a_child_without_a_runtime",
        || {
            for runtime in kinds() {
                let (sender, receiver) = bounded(0);
                runtime.run(|| {
                    let before = external();
                    assert!(receiver.try_recv().is_err());
                    let (own, other) = (receiver.clone(), sender.clone());
                    let gone = spawn(move || assert_eq!(own.recv(), Ok(7)));
                    wait_until(|| receiver.is_awaited());
                    let receiver = receiver.clone();
                    let forks = thread::spawn(move || {
                        in_child(|| {
                            drop((before.clone(), before));
                            let sends = [1, 2].map(|value| {
                                let sender = other.clone();
                                thread::spawn(move || sender.send(value).unwrap())
                            });
                            thread::sleep(MOMENT);
                            let sum = kinds().next().unwrap().run(|| {
                                let _external = external();
                                receiver.recv().unwrap() + receiver.recv().unwrap()
                            });
                            assert_eq!(sum, 3);
                            for thread in sends {
                                thread.join().unwrap();
                            }
                        });
                    });
                    // The thread waits at the time of the fork.
                    forks.join().unwrap();
                    sender.send(7).unwrap();
                    gone.join().unwrap();
                });
            }
        },
    );
}

#[test]
fn a_future_that_forks_goes_on_in_the_child() {
    in_a_process("outside::a_future_that_forks_goes_on_in_the_child", || {
        for runtime in kinds() {
            runtime.run(|| {
                let (mut polls, mut child) = (0, -1);
                let mut wakers = Vec::new();
                let called = Arc::new(AtomicBool::new(false));
                let future = poll_fn(|context| {
                    polls += 1;
                    // The waker from before the fork stays alive in the child.
                    wakers.push(context.waker().clone());
                    if polls == 1 {
                        child = fork();
                        if child == 0 {
                            return Poll::Pending;
                        }
                    }
                    if polls == if child == 0 { 2 } else { 1 } {
                        let (called, waker) = (Arc::clone(&called), context.waker().clone());
                        thread::spawn(move || {
                            thread::sleep(MOMENT);
                            called.store(true, Ordering::Relaxed);
                            waker.wake();
                        });
                        return Poll::Pending;
                    }
                    assert!(called.load(Ordering::Relaxed));
                    Poll::Ready(())
                });
                let done = catch_unwind(AssertUnwindSafe(|| block_on(future)));
                if child == 0 {
                    end(i32::from(done.is_err()));
                }
                assert!(done.is_ok());
                assert_eq!(status_of(child), 0);
            });
        }
    });
}

/// A handle from before does not count, and the last one that the child makes is dropped while its worker sleeps.
#[test]
fn a_child_without_handles_ends_in_a_deadlock() {
    in_a_process(
        "outside::a_child_without_handles_ends_in_a_deadlock",
        || {
            for runtime in kinds() {
                runtime.run(|| {
                    let before = external();
                    let fork_and_wait = || {
                        let child = fork();
                        if child == 0 {
                            let after = external();
                            thread::spawn(move || {
                                thread::sleep(MOMENT);
                                drop(after);
                            });
                            suspend();
                        }
                        child
                    };
                    // The second worker, if there is one, takes the other thread while this one spins.
                    let began = Arc::new(AtomicBool::new(false));
                    let begins = Arc::clone(&began);
                    let other = spawn(move || {
                        begins.store(true, Ordering::Relaxed);
                        fork_and_wait()
                    });
                    let since = Instant::now();
                    while !began.load(Ordering::Relaxed) && since.elapsed() < 10 * MOMENT {
                        std::hint::spin_loop();
                    }
                    for child in [fork_and_wait(), other.join().unwrap()] {
                        let status = status_of(child);
                        assert!(libc::WIFSIGNALED(status), "{status}");
                        assert_eq!(libc::WTERMSIG(status), libc::SIGABRT);
                    }
                    drop(before);
                });
            }
        },
    );
}
