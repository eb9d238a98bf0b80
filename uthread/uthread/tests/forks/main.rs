//! Forks while a runtime runs. Each test forks in a process of its own, which has no other tests.
// The thread sanitizer lets the child of several threads start none.
#![cfg(all(target_os = "linux", not(uthread_tsan)))]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(unsafe_code, reason = "fork is a call of C")]

#[path = "../common/mod.rs"]
mod common;
mod objects;
mod outside;

use std::io::{Read, Write, pipe};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use common::{MINUTE, again, preemptive, runtimes, writes_and_reads_back};
use uthread::io::{Interest, fsync, poll_fd, sleep};
use uthread::{
    Builder, Gone, JoinHandle, Lock, Priority, Runtime, Semaphore, TimedOut, bounded,
    scope_timeout, spawn, suspend, yield_now,
};

const MOMENT: Duration = Duration::from_millis(1);

/// Runs `work` in a process of its own: this test of this program again.
fn in_a_process(test: &str, work: impl FnOnce()) {
    const ROLE: &str = "UTHREAD_FORKS";
    if std::env::var_os(ROLE).is_some() {
        return work();
    }
    let output = again(test, ROLE);
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && report.contains("1 passed"),
        "{output:?}"
    );
}

/// Forks. Returns 0 in the child, which a signal ends if it hangs.
fn fork() -> i32 {
    // SAFETY: the children use what the parent had in a defined state, and end without its destructors.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "{}", std::io::Error::last_os_error());
    if child == 0 {
        // SAFETY: the default action of the signal is to end the process.
        unsafe { libc::alarm(MINUTE.as_secs() as u32) };
    }
    child
}

/// Ends the process at once.
fn end(code: i32) -> ! {
    // SAFETY: it runs no destructors.
    unsafe { libc::_exit(code) }
}

/// Waits for the child and returns its status. A user thread lets others run until then.
fn status_of(child: i32) -> i32 {
    let mut status = 0;
    // SAFETY: the pointer is to a local.
    while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
        if uthread::is_user_thread() {
            sleep(MOMENT);
        } else {
            std::thread::sleep(MOMENT);
        }
    }
    status
}

/// Does `work` in a child, which ends with it.
fn in_child(work: impl FnOnce()) {
    let child = fork();
    if child == 0 {
        let done = catch_unwind(AssertUnwindSafe(work));
        end(i32::from(done.is_err()));
    }
    assert_eq!(status_of(child), 0);
}

/// Kinds of runtimes, by workers and preemption.
fn kinds() -> impl Iterator<Item = Runtime> {
    let cooperative = [1, 2].map(|workers| Runtime::builder().workers(workers));
    let preemptive = [1, 2].map(|workers| preemptive(Duration::from_micros(100)).workers(workers));
    let deterministic = Runtime::builder().deterministic(7);
    let builders = cooperative
        .into_iter()
        .chain(preemptive)
        .chain([deterministic]);
    builders.map(|builder| builder.build().unwrap())
}

fn is_gone<T>(handle: JoinHandle<T>) -> bool {
    assert!(handle.thread().is_gone() && handle.is_finished());
    handle.join().is_err_and(|payload| payload.is::<Gone>())
}

/// All that a thread does commonly.
fn work_of_all_kinds() {
    yield_now();
    sleep(MOMENT);
    let lock = Arc::new(Lock::new(0));
    let (sender, receiver) = bounded(1);
    let add = |_| {
        let (lock, sender) = (Arc::clone(&lock), sender.clone());
        spawn(move || {
            *lock.lock().unwrap() += 1;
            sleep(MOMENT);
            sender.send(1).unwrap();
        })
    };
    let threads: Vec<_> = (0..10).map(add).collect();
    drop(sender);
    assert_eq!(receiver.iter().sum::<i32>(), 10);
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(*lock.lock().unwrap(), 10);
    let late = scope_timeout(MOMENT, |scope| drop(scope.spawn(suspend)));
    assert_eq!(late, Err(TimedOut));
}

#[test]
fn the_calling_thread_goes_on_in_the_child_and_no_other() {
    in_a_process(
        "the_calling_thread_goes_on_in_the_child_and_no_other",
        || {
            for runtime in kinds() {
                let parent = std::process::id();
                let end_of_child = runtime.run(|| {
                    let ran = Arc::new(AtomicU32::new(0));
                    let count = |ran: &Arc<AtomicU32>| {
                        let ran = Arc::clone(ran);
                        move || {
                            ran.fetch_add(1, Ordering::Relaxed);
                        }
                    };
                    let ended = spawn(|| 7);
                    while !ended.is_finished() {
                        yield_now();
                    }
                    let (count_1, count_2) = (count(&ran), count(&ran));
                    let sleeper = spawn(move || {
                        sleep(3 * MOMENT);
                        count_1();
                    });
                    let suspended = spawn(move || {
                        suspend();
                        count_2();
                    });
                    let fresh = spawn(count(&ran));
                    let child = fork();
                    if child == 0 {
                        assert_eq!(ended.join().unwrap(), 7);
                        work_of_all_kinds();
                        sleep(5 * MOMENT);
                        assert!(is_gone(sleeper) && is_gone(suspended));
                        // With two workers, it may have begun before the fork.
                        drop(fresh);
                        return child;
                    }
                    assert_eq!(status_of(child), 0);
                    suspended.thread().resume();
                    for thread in [sleeper, suspended, fresh] {
                        thread.join().unwrap();
                    }
                    assert_eq!(ran.load(Ordering::Relaxed), 3);
                    work_of_all_kinds();
                    child
                });
                if end_of_child == 0 {
                    assert_ne!(std::process::id(), parent);
                    runtime.run(work_of_all_kinds);
                    end(0);
                }
            }
        },
    );
}

#[test]
fn every_wait_for_a_gone_thread_ends() {
    in_a_process("every_wait_for_a_gone_thread_ends", || {
        for runtime in kinds() {
            runtime.run(|| {
                let mut gone = spawn(suspend);
                let child = fork();
                if child == 0 {
                    gone.wait();
                    assert!(gone.wait_timeout(MOMENT));
                    let result = gone.join_timeout(MOMENT).unwrap();
                    end(i32::from(!result.unwrap_err().is::<Gone>()));
                }
                assert_eq!(status_of(child), 0);
                gone.thread().resume();
                gone.join().unwrap();
            });
        }
    });
}

#[test]
fn files_are_served_in_parent_and_child() {
    in_a_process("files_are_served_in_parent_and_child", || {
        for runtime in runtimes() {
            let file = tempfile::tempfile().unwrap();
            let (reader, mut writer) = pipe().unwrap();
            let child = runtime.run(|| {
                fsync(&file).unwrap();
                let poller = spawn(move || poll_fd(&reader, Interest::READABLE).unwrap());
                sleep(MOMENT);
                let child = fork();
                if child != 0 {
                    assert_eq!(status_of(child), 0);
                    writer.write_all(b"x").unwrap();
                    assert!(poller.join().unwrap().is_readable());
                    return child;
                }
                assert!(is_gone(poller));
                let mappings = std::fs::read_to_string("/proc/self/maps").unwrap();
                assert!(!mappings.contains("io_uring"), "{mappings}");
                for _ in 0..100 {
                    fsync(&file).unwrap();
                }
                child
            });
            writes_and_reads_back(&runtime, tempfile::tempfile().unwrap());
            if child == 0 {
                end(0);
            }
        }
    });
}

/// The thread may be on the second worker, if there is one, and `main` waits for it.
#[test]
fn the_child_ends_with_its_last_thread() {
    in_a_process("the_child_ends_with_its_last_thread", || {
        for runtime in kinds() {
            for spins in [false, true] {
                let (mut reader, mut writer) = pipe().unwrap();
                let child = runtime.run(|| {
                    let runs = Arc::new(AtomicBool::new(false));
                    let flag = Arc::clone(&runs);
                    let forks = spawn(move || {
                        flag.store(true, Ordering::Relaxed);
                        let child = fork();
                        if child == 0 {
                            work_of_all_kinds();
                            drop(spawn(move || {
                                sleep(MOMENT);
                                writer.write_all(b"the last thread").unwrap();
                            }));
                        }
                        child
                    });
                    let began = Instant::now();
                    while spins && !runs.load(Ordering::Relaxed) && began.elapsed() < 10 * MOMENT {
                        std::hint::spin_loop();
                    }
                    forks.join().unwrap()
                });
                assert_eq!(status_of(child), 0);
                let mut text = String::new();
                reader.read_to_string(&mut text).unwrap();
                assert_eq!(text, "the last thread");
            }
        }
    });
}

#[test]
fn a_child_may_end_at_any_time() {
    in_a_process("a_child_may_end_at_any_time", || {
        for runtime in kinds() {
            runtime.run(|| {
                let other = spawn(suspend);
                for way in [std::process::exit, end] {
                    let child = fork();
                    if child == 0 {
                        let spawned = spawn(move || way(7));
                        let _ = spawned.join();
                    }
                    assert_eq!(libc::WEXITSTATUS(status_of(child)), 7);
                }
                other.thread().resume();
                other.join().unwrap();
            });
        }
    });
}

#[test]
fn a_fork_from_outside_has_no_runtime() {
    in_a_process("a_fork_from_outside_has_no_runtime", || {
        for runtime in kinds() {
            let (sender, handles) = std::sync::mpsc::channel();
            let stop = Arc::new(AtomicBool::new(false));
            let stopped = Arc::clone(&stop);
            let outside = std::thread::spawn(move || {
                let (ended, running): (JoinHandle<u32>, JoinHandle<()>) = handles.recv().unwrap();
                let semaphore = Semaphore::new(1);
                in_child(|| {
                    assert!(ended.is_finished() && running.thread().is_gone());
                    assert_eq!(ended.join().unwrap(), 7);
                    for runtime in kinds() {
                        runtime.run(|| {
                            assert!(semaphore.try_acquire());
                            semaphore.release(1);
                            work_of_all_kinds();
                        });
                    }
                    assert!(is_gone(running));
                });
                stop.store(true, Ordering::Relaxed);
            });
            runtime.run(|| {
                let mut ended = spawn(|| 7);
                ended.wait();
                let stop = Arc::clone(&stopped);
                let running = spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        sleep(MOMENT);
                    }
                });
                sender.send((ended, running)).unwrap();
                // Uses what the child must not find locked.
                while !stopped.load(Ordering::Relaxed) {
                    spawn(yield_now).join().unwrap();
                }
            });
            outside.join().unwrap();
        }
    });
}

#[test]
fn children_of_children_go_on() {
    in_a_process("children_of_children_go_on", || {
        for runtime in kinds() {
            runtime.run(|| {
                let other = spawn(suspend);
                in_child(|| {
                    let second = spawn(suspend);
                    in_child(|| {
                        assert!(is_gone(second));
                        work_of_all_kinds();
                        in_child(work_of_all_kinds);
                    });
                    work_of_all_kinds();
                });
                other.thread().resume();
                other.join().unwrap();
            });
        }
    });
}

/// The other worker may hold any lock of the library at the time of a fork.
#[test]
fn children_of_busy_workers_do_not_hang() {
    in_a_process("children_of_busy_workers_do_not_hang", || {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        runtime.run(|| {
            let stop = Arc::new(AtomicBool::new(false));
            let (sender, receiver) = bounded(1);
            let lock = Arc::new(Lock::new(0));
            let stopped = || {
                let stop = Arc::clone(&stop);
                move || stop.load(Ordering::Relaxed)
            };
            let mut busy = Vec::new();
            for _ in 0..4 {
                let (lock, stopped) = (Arc::clone(&lock), stopped());
                busy.push(spawn(move || {
                    while !stopped() {
                        *lock.lock().unwrap() += 1;
                        spawn(yield_now).join().unwrap();
                        yield_now();
                    }
                }));
            }
            let (is_over, outlet) = (stopped(), receiver.clone());
            let from = sender.clone();
            busy.push(spawn(move || while !is_over() && from.send(1).is_ok() {}));
            busy.push(spawn(move || while outlet.recv().is_ok() {}));
            for _ in 0..100 {
                yield_now();
                in_child(|| {
                    let _ = lock.lock_timeout(MOMENT);
                    let _ = receiver.try_recv();
                    let _ = sender.send_timeout(1, MOMENT);
                    spawn(|| sleep(MOMENT)).join().unwrap();
                });
            }
            stop.store(true, Ordering::Relaxed);
            drop(sender);
            for thread in busy {
                thread.join().unwrap();
            }
        });
    });
}

#[test]
fn spinning_threads_share_the_child() {
    in_a_process("spinning_threads_share_the_child", || {
        for workers in 1..=2 {
            let slice = Duration::from_micros(200);
            let runtime = preemptive(slice).workers(workers).build().unwrap();
            let spin_until = |flag: &AtomicBool| {
                let began = Instant::now();
                while !flag.load(Ordering::Relaxed) {
                    assert!(began.elapsed() < MINUTE, "no tick came");
                }
            };
            runtime.run(|| {
                let other = spawn(suspend);
                in_child(|| {
                    let flags = Arc::new([const { AtomicBool::new(false) }; 2]);
                    let set = Arc::clone(&flags);
                    let low = Builder::new().priority(Priority::Orange);
                    let first = low.clone().spawn(move || {
                        spin_until(&set[0]);
                        set[1].store(true, Ordering::Relaxed);
                    });
                    yield_now();
                    flags[0].store(true, Ordering::Relaxed);
                    spin_until(&flags[1]);
                    first.unwrap().join().unwrap();
                    // A finished poll makes a thread tick that computes alone.
                    let (reader, mut writer) = pipe().unwrap();
                    let woken = Arc::new(AtomicBool::new(false));
                    let wakes = Arc::clone(&woken);
                    let poller = spawn(move || {
                        poll_fd(&reader, Interest::READABLE).unwrap();
                        wakes.store(true, Ordering::Relaxed);
                    });
                    sleep(MOMENT);
                    let later = std::thread::spawn(move || {
                        std::thread::sleep(100 * slice);
                        writer.write_all(b"x").unwrap();
                    });
                    spin_until(&woken);
                    later.join().unwrap();
                    poller.join().unwrap();
                });
                other.thread().resume();
                other.join().unwrap();
            });
        }
    });
}
