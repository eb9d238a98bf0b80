//! Wake-ups from kernel threads, signal handlers and the wakers of futures.
#![expect(
    unsafe_code,
    reason = "signals are sent and handled by calls of the C library"
)]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::future::{pending, poll_fn};
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;

use common::preemptive;
use uthread::io::sleep;
use uthread::{
    External, JoinHandle, Poster, Runtime, RuntimeEnded, Semaphore, SendError, TrySendError,
    block_on, bounded, external, spawn, suspend, suspend_timeout, unbounded, yield_now,
};

/// Runtimes with one worker and two, without ticks and with them, and whether they tick.
fn runtimes() -> Vec<(Runtime, bool)> {
    let ticks = || preemptive(Duration::from_micros(200));
    let builders = [
        (Runtime::builder(), false),
        (Runtime::builder().workers(2), false),
        (ticks(), true),
        (ticks().workers(2), true),
    ];
    let ticking = !cfg!(any(windows, uthread_tsan));
    let built = builders.map(|(builder, ticks)| (builder.build().unwrap(), ticks && ticking));
    built.into()
}

/// A future that is ready when another thread says so, and whose waker the other thread has.
#[derive(Clone, Default)]
struct Promise(Arc<Mutex<(bool, Option<Waker>)>>);

impl Promise {
    fn wait(&self) {
        block_on(poll_fn(|context| {
            let mut state = self.0.lock().unwrap();
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(context.waker().clone());
            Poll::Pending
        }));
    }

    fn keep(&self) {
        let mut state = self.0.lock().unwrap();
        state.0 = true;
        if let Some(waker) = state.1.take() {
            drop(state);
            waker.wake();
        }
    }
}

/// The call by which another thread ends the wait of a user thread.
type Ends = Box<dyn FnOnce() + Send>;

/// Starts a thread that waits.
type Way = fn() -> (JoinHandle<()>, Ends);

fn ways() -> [Way; 6] {
    [
        || {
            let semaphore = Arc::new(Semaphore::new(0));
            let other = Arc::clone(&semaphore);
            let waits = spawn(move || semaphore.acquire());
            (waits, Box::new(move || other.release(1)))
        },
        || {
            let semaphore = Arc::new(Semaphore::new(0));
            let poster = Poster::new(Arc::clone(&semaphore));
            let waits = spawn(move || semaphore.acquire());
            (waits, Box::new(move || poster.post().unwrap()))
        },
        || {
            let (sender, receiver) = bounded(0);
            let waits = spawn(move || assert_eq!(receiver.recv(), Ok(7)));
            (waits, Box::new(move || sender.send(7).unwrap()))
        },
        || {
            let (sender, receiver) = unbounded();
            let waits = spawn(move || assert_eq!(receiver.recv(), Ok(7)));
            (waits, Box::new(move || sender.try_send(7).unwrap()))
        },
        || {
            let waits = spawn(suspend);
            let thread = waits.thread();
            (waits, Box::new(move || thread.resume()))
        },
        || {
            let promise = Promise::default();
            let other = promise.clone();
            let waits = spawn(move || promise.wait());
            (waits, Box::new(move || other.keep()))
        },
    ]
}

/// Runs until `ended`, in a way that leaves others the processor.
fn busy(ticks: bool, ended: &AtomicBool) {
    while !ended.load(Ordering::Acquire) {
        if ticks {
            core::hint::spin_loop();
        } else {
            yield_now();
        }
    }
}

#[test]
fn kernel_threads_wake_user_threads() {
    for (runtime, ticks) in runtimes() {
        for way in ways() {
            // Another user thread runs or not, and the one that waits begins before the wake-up or not.
            for (is_busy, late) in [(false, false), (false, true), (true, false), (true, true)] {
                runtime.run(|| {
                    let external = external();
                    let ended = Arc::new(AtomicBool::new(false));
                    let runs = is_busy.then(|| {
                        let ended = Arc::clone(&ended);
                        spawn(move || busy(ticks, &ended))
                    });
                    let (waits, ends) = way();
                    if late {
                        yield_now();
                    }
                    let outside = thread::spawn(move || {
                        if late {
                            thread::sleep(Duration::from_millis(1));
                        }
                        ends();
                        drop(external);
                    });
                    waits.join().unwrap();
                    ended.store(true, Ordering::Release);
                    if let Some(runs) = runs {
                        runs.join().unwrap();
                    }
                    outside.join().unwrap();
                });
            }
        }
    }
}

#[test]
fn no_wake_up_of_many_kernel_threads_is_lost() {
    const THREADS: usize = 4;
    const TIMES: usize = 2000;
    for (runtime, _) in runtimes() {
        let semaphore = Arc::new(Semaphore::new(0));
        let sum = runtime.run(|| {
            let poster = Poster::new(Arc::clone(&semaphore));
            let (sender, receiver) = bounded(3);
            for i in 0..THREADS {
                let semaphore = Arc::clone(&semaphore);
                let (poster, sender) = (poster.clone(), sender.clone());
                thread::spawn(move || {
                    for j in 0..TIMES {
                        poster.post().unwrap();
                        semaphore.release(1);
                        sender.send(i * TIMES + j).unwrap();
                    }
                    drop(poster);
                });
            }
            drop((poster, sender));
            let acquired = {
                let semaphore = Arc::clone(&semaphore);
                spawn(move || (0..2 * THREADS * TIMES).for_each(|_| semaphore.acquire()))
            };
            let sum = receiver.iter().sum::<usize>();
            acquired.join().unwrap();
            sum
        });
        let all = THREADS * TIMES;
        assert_eq!(sum, all * (all - 1) / 2);
        assert!(!runtime.run(|| semaphore.try_acquire()));
    }
}

#[test]
fn a_full_channel_blocks_the_kernel_thread() {
    for (runtime, _) in runtimes() {
        runtime.run(|| {
            let external = external();
            let (sender, receiver) = bounded(1);
            let sent = Arc::new(AtomicUsize::new(0));
            let outside = {
                let sent = Arc::clone(&sent);
                thread::spawn(move || {
                    let count = |value| {
                        sender.send(value)?;
                        sent.fetch_add(1, Ordering::Relaxed);
                        Ok::<(), SendError<usize>>(())
                    };
                    let result = (0..).try_for_each(count);
                    drop(external);
                    result
                })
            };
            for i in 0..100 {
                assert_eq!(receiver.recv(), Ok(i));
                // One is in the channel, and the result of its sending may not be counted yet.
                assert!(sent.load(Ordering::Relaxed) <= i + 2);
            }
            drop(receiver);
            assert!(outside.join().unwrap().is_err());
        });
    }
}

/// The run ends while a kernel thread waits to send to its channel. Then a runtime that is not open receives the value, or
/// nobody does.
#[test]
fn a_sender_outside_outlasts_the_runtime() {
    for (runtime, _) in runtimes() {
        for receives in [true, false] {
            let (sender, receiver) = bounded(0);
            let outside = runtime.run(|| {
                let external = external();
                assert!(receiver.try_recv().is_err());
                let outside = thread::spawn(move || {
                    let _external = external;
                    sender.send(1)
                });
                let blocked = |_| {
                    sleep(Duration::from_millis(1));
                    receiver.is_awaited()
                };
                assert!((0..60_000).any(blocked));
                outside
            });
            if receives {
                assert_eq!(runtime.run(|| receiver.recv()), Ok(1));
            } else {
                drop(receiver);
            }
            assert_eq!(outside.join().unwrap().is_ok(), receives);
        }
    }
}

#[test]
fn handles_outlive_the_runtime() {
    for (runtime, _) in runtimes() {
        let semaphore = Arc::new(Semaphore::new(0));
        let (handle, poster, thread, waker, (sender, receiver)) = runtime.run(|| {
            let mut waker = None;
            block_on(poll_fn(|context| {
                waker = Some(context.waker().clone());
                Poll::Ready(())
            }));
            let thread = spawn(|| ());
            let channel = bounded(1);
            channel.0.send(0).unwrap();
            channel.1.recv().unwrap();
            let poster = Poster::new(Arc::clone(&semaphore));
            (external(), poster, thread.thread(), waker.unwrap(), channel)
        });
        assert_eq!(poster.post(), Err(RuntimeEnded));
        thread.resume();
        waker.wake();
        assert_eq!(sender.try_send(1), Ok(()));
        assert_eq!(sender.try_send(2), Err(TrySendError::Full(2)));
        semaphore.release(1);
        drop(handle.clone());
        // The objects are free for the next runtime.
        runtime.run(|| {
            assert!(semaphore.try_acquire() && !semaphore.try_acquire());
            assert_eq!(receiver.recv(), Ok(1));
        });
        drop((handle, poster));
    }
}

#[test]
fn late_wakers_disturb_nobody() {
    for (runtime, _) in runtimes() {
        runtime.run(|| {
            let mut polls = 0;
            let mut kept = None;
            block_on(poll_fn(|context| {
                polls += 1;
                (0..10).for_each(|_| context.waker().wake_by_ref());
                kept = Some(context.waker().clone());
                if polls < 3 {
                    Poll::Pending
                } else {
                    Poll::Ready(())
                }
            }));
            assert_eq!(polls, 3);
            kept.unwrap().wake();
            assert!(!suspend_timeout(Duration::from_millis(1)));
        });
    }
}

#[test]
fn without_handles_a_wait_is_a_deadlock() {
    let waits: [fn(); 3] = [
        || {
            // Dropped while the runtime sleeps.
            let external = external();
            thread::spawn(move || {
                thread::sleep(Duration::from_millis(5));
                drop(external);
            });
            suspend();
        },
        || {
            drop(external().clone());
            suspend();
        },
        || block_on(pending()),
    ];
    for (runtime, _) in runtimes() {
        for wait in waits {
            // SAFETY: the thread borrows nothing.
            let result = unsafe { runtime.try_run_and_leave(wait) };
            assert_eq!(result.unwrap_err().kind(), ErrorKind::Deadlock);
        }
    }
}

#[test]
fn a_runtime_is_closed_to_others_at_first() {
    for (runtime, _) in runtimes() {
        let semaphore = Semaphore::new(0);
        // It has no runtime yet.
        semaphore.release(1);
        runtime.run(|| {
            semaphore.acquire();
            let (sender, _receiver) = bounded(1);
            sender.send(0).unwrap();
            let me = uthread::current();
            let attempts: [&(dyn Fn() + Sync); 3] = [
                &|| semaphore.release(1),
                &|| assert_eq!(sender.try_send(1), Ok(())),
                &|| me.resume(),
            ];
            for attempt in attempts {
                let refused = thread::scope(|scope| {
                    let attempt = || catch_unwind(AssertUnwindSafe(attempt));
                    scope.spawn(attempt).join().unwrap()
                });
                let text = refused.unwrap_err().downcast::<String>().unwrap();
                assert!(text.contains("outside a uthread runtime"), "{text}");
            }
            // None had an effect.
            assert!(!semaphore.try_acquire());
            assert!(!suspend_timeout(Duration::from_millis(1)));
        });
    }
}

/// Threads of another runtime are outside, too.
#[test]
fn runtimes_wake_each_other() {
    for ((first, _), (second, _)) in runtimes().into_iter().zip(runtimes()) {
        let (send_thread, thread) = std::sync::mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(move || {
                first.run(|| {
                    let external: External = external();
                    send_thread.send((external, uthread::current())).unwrap();
                    suspend();
                });
            });
            let (external, thread) = thread.recv().unwrap();
            second.run(|| thread.resume());
            drop(external);
        });
    }
}

#[cfg(target_os = "linux")]
mod signals {
    use std::sync::OnceLock;

    use super::{Arc, Duration, Ordering, Poster, Semaphore, runtimes, spawn, thread};
    use super::{AtomicBool, busy};

    static POSTERS: [OnceLock<Poster>; 4] = [const { OnceLock::new() }; 4];
    static CURRENT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

    extern "C" fn post(_: libc::c_int) {
        let poster = POSTERS[CURRENT.load(Ordering::Relaxed)].get();
        poster.unwrap().post().unwrap();
    }

    fn handle() {
        // SAFETY: plain data for which zeros are valid; the handler calls only async-signal-safe functions.
        unsafe {
            let mut action: libc::sigaction = core::mem::zeroed();
            action.sa_sigaction = post as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            let set = libc::sigaction(libc::SIGUSR1, &raw const action, core::ptr::null_mut());
            assert_eq!(set, 0);
        }
    }

    /// Handlers run on the worker itself, or on another kernel thread while the worker sleeps or computes.
    #[test]
    fn signal_handlers_post() {
        const TIMES: usize = 500;
        handle();
        for (i, (runtime, ticks)) in runtimes().into_iter().enumerate() {
            runtime.run(|| {
                let semaphore = Arc::new(Semaphore::new(0));
                POSTERS[i].set(Poster::new(Arc::clone(&semaphore))).unwrap();
                CURRENT.store(i, Ordering::Relaxed);
                // SAFETY: the handler is set. So also below.
                let raise = || assert_eq!(unsafe { libc::raise(libc::SIGUSR1) }, 0);
                for _ in 0..TIMES {
                    raise();
                    semaphore.acquire();
                }
                let outside = thread::spawn(move || (0..TIMES).for_each(|_| raise()));
                (0..TIMES).for_each(|_| semaphore.acquire());
                outside.join().unwrap();
                // SAFETY: the call has no conditions.
                let worker = unsafe { libc::pthread_self() };
                let at_worker = move || {
                    thread::sleep(Duration::from_millis(2));
                    // SAFETY: the worker joins this kernel thread.
                    assert_eq!(unsafe { libc::pthread_kill(worker, libc::SIGUSR1) }, 0);
                };
                for is_busy in [false, true] {
                    let outside = thread::spawn(at_worker);
                    let ended = Arc::new(AtomicBool::new(false));
                    let runs = is_busy.then(|| {
                        let ended = Arc::clone(&ended);
                        spawn(move || busy(ticks, &ended))
                    });
                    semaphore.acquire();
                    ended.store(true, Ordering::Release);
                    if let Some(runs) = runs {
                        runs.join().unwrap();
                    }
                    outside.join().unwrap();
                }
                assert!(!semaphore.try_acquire());
            });
        }
    }
}
