//! The same work on each peer.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::measure::{
    CAPACITY, CONTENDERS, CREATIONS, ECHOES, IDLE, ITEMS, LOCKS, LOCKS_EACH, MESSAGE_BYTES, ROUNDS,
    SWITCHES, longest, memory_bytes, report, report_memory, report_sleeps, report_wait,
};

pub const NAMES: [&str; 7] = [
    "uthread",
    "cooperative",
    "fifo",
    "kernel",
    "corosensei",
    "may",
    "tokio",
];

/// Measures a peer; `false` if there is none of this name.
pub fn measure(peer: &str) -> bool {
    match peer {
        "uthread" => uthread(preemptive, true),
        "cooperative" => uthread(uthread::Runtime::builder, false),
        "fifo" => fifo(),
        "kernel" => kernel(),
        "corosensei" => corosensei(),
        "may" => may(),
        "tokio" => tokio(),
        _ => return false,
    }
    true
}

fn contended(threads: u64, lock: uthread::Lock<u64>) {
    let lock = Arc::new(lock);
    let threads: Vec<_> = (0..threads)
        .map(|_| {
            let lock = Arc::clone(&lock);
            uthread::spawn(move || (0..LOCKS_EACH).for_each(|_| *lock.lock().unwrap() += 1))
        })
        .collect();
    threads
        .into_iter()
        .for_each(|thread| thread.join().unwrap());
}

/// The longest time that any of the threads waited for the lock.
fn longest_wait(lock: uthread::Lock<u64>) -> Duration {
    let lock = Arc::new(lock);
    let threads: Vec<_> = (0..CONTENDERS)
        .map(|_| {
            let lock = Arc::clone(&lock);
            uthread::spawn(move || longest(|| *lock.lock().unwrap() += 1))
        })
        .collect();
    let waits = threads.into_iter().map(|thread| thread.join().unwrap());
    waits.max().unwrap_or_default()
}

/// The locks of two workers, each `new`.
fn on_two_workers(builder: uthread::RuntimeBuilder, new: fn(u64) -> uthread::Lock<u64>) {
    let runtime = builder.workers(2).build();
    let runtime = runtime.expect("threads can be preempted here");
    runtime.run(|| {
        for (metric, threads) in [("ten_2", 10), ("contended_2", CONTENDERS)] {
            report(metric, threads * LOCKS_EACH, || contended(threads, new(0)));
        }
        report_wait(|| longest_wait(new(0)));
    });
}

/// The same threads and locks that are handed over in the order of coming.
fn fifo() {
    use uthread::Lock;
    let operations = CONTENDERS * LOCKS_EACH;
    let one = preemptive().build().expect("threads can be preempted here");
    one.run(|| {
        let lock = Lock::fifo(0u64);
        report("lock", LOCKS, || {
            (0..LOCKS).for_each(|_| *lock.lock().unwrap() += 1)
        });
        report("contended", operations, || {
            contended(CONTENDERS, Lock::fifo(0))
        });
    });
    on_two_workers(preemptive(), Lock::fifo);
}

/// A thread sends all values to another.
fn transfer() {
    let (sender, receiver) = uthread::bounded(CAPACITY);
    let thread = uthread::spawn(move || (0..ITEMS).for_each(|i| sender.send(i).unwrap()));
    assert!((0..ITEMS).all(|i| receiver.recv() == Ok(i)));
    thread.join().unwrap();
}

/// Two threads take turns, and each notifies the other.
fn turns() {
    let monitor = Arc::new((uthread::Lock::new(0), uthread::Condvar::new()));
    let take = |mine| {
        let monitor = Arc::clone(&monitor);
        move || {
            let (turn, changed) = &*monitor;
            let mut turn = turn.lock().unwrap();
            for _ in 0..ROUNDS {
                while *turn % 2 != mine {
                    turn = changed.wait(turn).unwrap();
                }
                *turn += 1;
                changed.notify(&turn);
            }
        }
    };
    let other = uthread::spawn(take(1u64));
    take(0)();
    other.join().unwrap();
}

/// Sends messages, of which each comes back before the next.
fn send_and_receive(mut stream: impl Read + Write) {
    let mut message = [7; MESSAGE_BYTES];
    for _ in 0..ECHOES {
        stream.write_all(&message).unwrap();
        stream.read_exact(&mut message).unwrap();
    }
}

/// Sends all messages back.
fn echo(mut stream: impl Read + Write) {
    let mut message = [0; MESSAGE_BYTES];
    while stream.read_exact(&mut message).is_ok() {
        stream.write_all(&message).unwrap();
    }
}

/// A thread echoes what another sends.
fn echoes() {
    use uthread::net::{TcpListener, TcpStream};
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = uthread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.set_nodelay(true).unwrap();
        echo(stream);
    });
    let stream = TcpStream::connect(address).unwrap();
    stream.set_nodelay(true).unwrap();
    send_and_receive(stream);
    server.join().unwrap();
}

/// A thread above the other sleeps while that computes.
fn sleeps() {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let spinner = uthread::spawn(move || spin(&stopped));
    let sleeper = uthread::Builder::new().priority(uthread::Priority::Red);
    let sleeper = sleeper.spawn(|| report_sleeps(uthread::io::sleep)).unwrap();
    sleeper.join().unwrap();
    stop.store(true, Ordering::Relaxed);
    spinner.join().unwrap();
}

fn spin(stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {}
}

/// Lets this kernel thread and those that it starts run on the first processor only.
fn stay_on_one_processor() {
    // SAFETY: a set of processors is plain data, and the call reads it.
    unsafe {
        let mut first: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(0, &mut first);
        libc::sched_setaffinity(0, size_of_val(&first), &raw const first);
    }
}

/// Priorities do not fall: a thread that is above all others would yield to nobody.
fn preemptive() -> uthread::RuntimeBuilder {
    let builder = uthread::Runtime::builder().decay(false);
    // SAFETY: the threads share nothing through thread-locals of the kernel thread.
    unsafe { builder.slice(Duration::from_millis(1)) }
}

fn uthread(builder: fn() -> uthread::RuntimeBuilder, is_preemptive: bool) {
    use uthread::{Lock, Semaphore, spawn, yield_now};
    let runtime = builder().build().expect("threads can be preempted here");
    if is_preemptive {
        runtime.run(sleeps);
    }
    runtime.run(|| {
        for (metric, threads) in [("yield_2", 2), ("yield_1000", 1000)] {
            report(metric, SWITCHES, || {
                let each = SWITCHES / threads;
                let work = move || (0..each).for_each(|_| yield_now());
                let threads: Vec<_> = (0..threads).map(|_| spawn(work)).collect();
                threads
                    .into_iter()
                    .for_each(|thread| thread.join().unwrap());
            });
        }
        report("create", CREATIONS, || {
            (0..CREATIONS).for_each(|_| spawn(|| {}).join().unwrap())
        });
        let lock = Lock::new(0u64);
        report("lock", LOCKS, || {
            (0..LOCKS).for_each(|_| *lock.lock().unwrap() += 1)
        });
        report("contended", CONTENDERS * LOCKS_EACH, || {
            contended(CONTENDERS, Lock::new(0))
        });
        report("channel", ITEMS, transfer);
        report("mesa", ROUNDS, turns);
        report("echo", ECHOES, echoes);
        let before = memory_bytes();
        let start = Arc::new(Semaphore::new(0));
        let idle: Vec<_> = (0..IDLE)
            .map(|_| {
                let start = Arc::clone(&start);
                spawn(move || start.acquire())
            })
            .collect();
        yield_now();
        report_memory(before);
        start.release(IDLE as usize);
        idle.into_iter().for_each(|thread| thread.join().unwrap());
    });
    on_two_workers(builder(), Lock::new);
}

fn kernel() {
    use std::thread::{scope, spawn, yield_now};
    for (metric, threads) in [("yield_2", 2), ("yield_1000", 1000)] {
        report(metric, SWITCHES, || {
            scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| (0..SWITCHES / threads).for_each(|_| yield_now()));
                }
            });
        });
    }
    report("create", CREATIONS, || {
        (0..CREATIONS).for_each(|_| spawn(|| {}).join().unwrap())
    });
    let lock = parking_lot::Mutex::new(0u64);
    report("lock", LOCKS, || (0..LOCKS).for_each(|_| *lock.lock() += 1));
    for (metric, threads) in [("ten_2", 10), ("contended_2", CONTENDERS)] {
        report(metric, threads * LOCKS_EACH, || {
            let lock = parking_lot::Mutex::new(0u64);
            scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|| (0..LOCKS_EACH).for_each(|_| *lock.lock() += 1));
                }
            });
        });
    }
    report("echo", ECHOES, || {
        use std::net::{TcpListener, TcpStream};
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            stream.set_nodelay(true).unwrap();
            echo(stream);
        });
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        send_and_receive(stream);
        server.join().unwrap();
    });
    report_wait(|| {
        let lock = parking_lot::Mutex::new(0u64);
        scope(|scope| {
            let wait = || longest(|| *lock.lock() += 1);
            let threads: Vec<_> = (0..CONTENDERS).map(|_| scope.spawn(wait)).collect();
            let waits = threads.into_iter().map(|thread| thread.join().unwrap());
            waits.max().unwrap_or_default()
        })
    });
    stay_on_one_processor();
    let stop = AtomicBool::new(false);
    scope(|scope| {
        scope.spawn(|| spin(&stop));
        report_sleeps(std::thread::sleep);
        stop.store(true, Ordering::Relaxed);
    });
}

/// Coroutines only: switching and creating.
fn corosensei() {
    use corosensei::stack::DefaultStack;
    use corosensei::{Coroutine, CoroutineResult};
    for (metric, threads) in [("yield_2", 2), ("yield_1000", 1000)] {
        report(metric, SWITCHES, || {
            let mut ready: std::collections::VecDeque<_> = (0..threads)
                .map(|_| {
                    Coroutine::<(), (), ()>::new(move |yielder, ()| {
                        (0..SWITCHES / threads).for_each(|_| yielder.suspend(()));
                    })
                })
                .collect();
            while let Some(mut coroutine) = ready.pop_front() {
                if let CoroutineResult::Yield(()) = coroutine.resume(()) {
                    ready.push_back(coroutine);
                }
            }
        });
    }
    let mut stack = Some(DefaultStack::default());
    report("create", CREATIONS, || {
        for _ in 0..CREATIONS {
            let of_coroutine = stack.take().expect("it comes back each time");
            let mut coroutine = Coroutine::<(), (), (), _>::with_stack(of_coroutine, |_, ()| {});
            coroutine.resume(());
            stack = Some(coroutine.into_stack());
        }
    });
}

fn may() {
    use may::coroutine::{spawn, yield_now};
    let contended = || {
        let lock = Arc::new(may::sync::Mutex::new(0u64));
        let threads: Vec<_> = (0..CONTENDERS)
            .map(|_| {
                let lock = Arc::clone(&lock);
                // SAFETY: nothing kept in thread-locals of the kernel thread.
                unsafe { spawn(move || (0..LOCKS_EACH).for_each(|_| *lock.lock().unwrap() += 1)) }
            })
            .collect();
        threads
            .into_iter()
            .for_each(|thread| thread.join().unwrap());
    };
    may::config().set_workers(1).set_stack_size(0x1000);
    // SAFETY: as above.
    let main = unsafe {
        spawn(move || {
            for (metric, threads) in [("yield_2", 2), ("yield_1000", 1000)] {
                report(metric, SWITCHES, || {
                    let each = SWITCHES / threads;
                    let work = move || (0..each).for_each(|_| yield_now());
                    let threads: Vec<_> = (0..threads).map(|_| spawn(work)).collect();
                    threads
                        .into_iter()
                        .for_each(|thread| thread.join().unwrap());
                });
            }
            report("create", CREATIONS, || {
                (0..CREATIONS).for_each(|_| spawn(|| {}).join().unwrap())
            });
            let lock = may::sync::Mutex::new(0u64);
            report("lock", LOCKS, || {
                (0..LOCKS).for_each(|_| *lock.lock().unwrap() += 1)
            });
            report("contended", CONTENDERS * LOCKS_EACH, contended);
            report("echo", ECHOES, || {
                use may::net::{TcpListener, TcpStream};
                let listener = TcpListener::bind("127.0.0.1:0").unwrap();
                let address = listener.local_addr().unwrap();
                let server = spawn(move || {
                    let (stream, _) = listener.accept().unwrap();
                    stream.set_nodelay(true).unwrap();
                    echo(stream);
                });
                let stream = TcpStream::connect(address).unwrap();
                stream.set_nodelay(true).unwrap();
                send_and_receive(stream);
                server.join().unwrap();
            });
        })
    };
    main.join().expect("no panic");
}

fn tokio() {
    use tokio::sync::{Mutex, Semaphore};
    use tokio::task::{spawn, yield_now};
    async fn yields(times: u64) {
        for _ in 0..times {
            yield_now().await;
        }
    }
    async fn contended(tasks: u64) {
        let lock = Arc::new(Mutex::new(0u64));
        let tasks: Vec<_> = (0..tasks)
            .map(|_| {
                let lock = Arc::clone(&lock);
                spawn(async move {
                    for _ in 0..LOCKS_EACH {
                        *lock.lock().await += 1;
                    }
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
    }
    async fn echoes() {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        use tokio::net::{TcpListener, TcpStream};
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            let mut message = [0; MESSAGE_BYTES];
            while stream.read_exact(&mut message).await.is_ok() {
                stream.write_all(&message).await.unwrap();
            }
        });
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let mut message = [7; MESSAGE_BYTES];
        for _ in 0..ECHOES {
            stream.write_all(&message).await.unwrap();
            stream.read_exact(&mut message).await.unwrap();
        }
        drop(stream);
        server.await.unwrap();
    }
    let one = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()
        .expect("a runtime");
    let on_one = |work: &dyn Fn() -> std::pin::Pin<Box<dyn Future<Output = ()> + Send>>| {
        one.block_on(async { one.spawn(work()).await.unwrap() });
    };
    for (metric, tasks) in [("yield_2", 2), ("yield_1000", 1000)] {
        report(metric, SWITCHES, || {
            on_one(&|| {
                Box::pin(async move {
                    let each = SWITCHES / tasks;
                    let tasks: Vec<_> = (0..tasks).map(|_| spawn(yields(each))).collect();
                    for task in tasks {
                        task.await.unwrap();
                    }
                })
            });
        });
    }
    report("create", CREATIONS, || {
        on_one(&|| {
            Box::pin(async {
                for _ in 0..CREATIONS {
                    spawn(async {}).await.unwrap();
                }
            })
        });
    });
    report("lock", LOCKS, || {
        on_one(&|| {
            Box::pin(async {
                let lock = Mutex::new(0u64);
                for _ in 0..LOCKS {
                    *lock.lock().await += 1;
                }
            })
        });
    });
    report("contended", CONTENDERS * LOCKS_EACH, || {
        on_one(&|| Box::pin(contended(CONTENDERS)))
    });
    report("echo", ECHOES, || on_one(&|| Box::pin(echoes())));
    let before = memory_bytes();
    on_one(&move || {
        Box::pin(async move {
            let start = Arc::new(Semaphore::new(0));
            let idle: Vec<_> = (0..IDLE)
                .map(|_| {
                    let start = Arc::clone(&start);
                    spawn(async move { drop(start.acquire().await) })
                })
                .collect();
            yield_now().await;
            report_memory(before);
            start.add_permits(IDLE as usize);
            for task in idle {
                task.await.unwrap();
            }
        })
    });
    let two = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build();
    let two = two.expect("a runtime");
    for (metric, tasks) in [("ten_2", 10), ("contended_2", CONTENDERS)] {
        report(metric, tasks * LOCKS_EACH, || {
            two.block_on(async { two.spawn(contended(tasks)).await.unwrap() });
        });
    }
}
