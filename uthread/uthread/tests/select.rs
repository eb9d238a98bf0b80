//! Waits for the first of several channels, times and descriptors.
#![expect(
    unsafe_code,
    reason = "a preemptive runtime is a promise about thread-locals"
)]

mod common;

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use common::{MINUTE, everywhere, preemptive};
use uthread::{Cancelled, Select, Semaphore, bounded, spawn, unbounded, yield_now};

const MOMENT: Duration = Duration::from_millis(1);

#[test]
fn the_first_value_ends_the_wait() {
    everywhere(|| {
        for late in [false, true] {
            let (first, from_first) = bounded::<u32>(1);
            let (second, from_second) = unbounded();
            let mut select = Select::new();
            assert_eq!(select.recv(&from_first), 0);
            assert_eq!(select.recv(&from_second), 1);
            let sender = spawn(move || {
                second.send(7).unwrap();
                second
            });
            if late {
                yield_now();
            }
            assert_eq!(select.wait().unwrap(), 1);
            assert_eq!(from_second.try_recv(), Ok(7));
            let none = select.wait_timeout(MOMENT).unwrap_err();
            assert_eq!(none.kind(), ErrorKind::TimedOut);
            drop(first);
            assert_eq!(select.wait().unwrap(), 0);
            drop(sender.join().unwrap());
        }
    });
}

#[test]
fn room_and_a_waiting_receiver_end_the_wait_of_a_sender() {
    everywhere(|| {
        for room in [0, 1] {
            let (sender, receiver) = bounded(room);
            if room > 0 {
                sender.send(0).unwrap();
            }
            let mut select = Select::new();
            select.send(&sender);
            let none = select.wait_timeout(Duration::ZERO).unwrap_err();
            assert_eq!(none.kind(), ErrorKind::TimedOut);
            let taker = spawn(move || receiver.recv().unwrap());
            assert_eq!(select.wait().unwrap(), 0);
            if room > 0 {
                assert_eq!(taker.join().unwrap(), 0);
            } else {
                sender.try_send(7).unwrap();
                assert_eq!(taker.join().unwrap(), 7);
            }
            // No receiver is left.
            assert_eq!(select.wait().unwrap(), 0);
        }
    });
}

#[test]
fn the_earliest_time_ends_the_wait() {
    everywhere(|| {
        let (_sender, receiver) = bounded::<u32>(1);
        let mut select = Select::new();
        select.recv(&receiver);
        select.after(MINUTE);
        let early = select.after(MOMENT);
        assert_eq!(select.wait().unwrap(), early);
        assert_eq!(select.wait_timeout(MINUTE).unwrap(), early);
    });
}

#[test]
fn those_that_are_ready_take_turns() {
    everywhere(|| {
        let channels = [(); 3].map(|()| bounded(1));
        for (sender, _) in &channels {
            sender.send(1).unwrap();
        }
        let mut select = Select::new();
        for (_, receiver) in &channels {
            select.recv(receiver);
        }
        let found: Vec<_> = (0..6).map(|_| select.wait().unwrap()).collect();
        assert_eq!(found, [0, 1, 2, 0, 1, 2]);
    });
}

#[test]
fn many_waits_lose_no_value() {
    const VALUES: u32 = 500;
    let preemptive = preemptive(Duration::from_micros(50)).workers(2);
    let work = || {
        let (channels, outlets): (Vec<_>, Vec<_>) = (0..3).map(bounded::<u32>).unzip();
        let outlets = Arc::new(outlets);
        let senders: Vec<_> = channels
            .into_iter()
            .map(|sender| spawn(move || (1..=VALUES).for_each(|i| sender.send(i).unwrap())))
            .collect();
        let receive = |_| {
            let outlets = Arc::clone(&outlets);
            spawn(move || {
                let mut sum = 0;
                let mut open = [true; 3];
                while open != [false; 3] {
                    let mut select = Select::new();
                    let numbers: Vec<_> = (0..3).filter(|i| open[*i]).collect();
                    for number in &numbers {
                        select.recv(&outlets[*number]);
                    }
                    let found = numbers[select.wait().unwrap()];
                    match outlets[found].try_recv() {
                        Ok(value) => sum += value,
                        Err(uthread::TryRecvError::Disconnected) => open[found] = false,
                        Err(uthread::TryRecvError::Empty) => {}
                    }
                }
                sum
            })
        };
        let receivers: Vec<_> = (0..3).map(receive).collect();
        for sender in senders {
            sender.join().unwrap();
        }
        let sums = receivers.into_iter().map(|thread| thread.join().unwrap());
        assert_eq!(sums.sum::<u32>(), 3 * VALUES * (VALUES + 1) / 2);
    };
    everywhere(work);
    preemptive.build().unwrap().run(work);
}

#[test]
fn a_cancelled_wait_unwinds_and_leaves_nothing() {
    everywhere(|| {
        let (sender, receiver) = bounded(1);
        let receiver = Arc::new(receiver);
        let other = Arc::clone(&receiver);
        let waits = spawn(move || {
            let mut select = Select::new();
            select.recv(&*other);
            select.wait().unwrap()
        });
        yield_now();
        waits.cancel();
        assert!(waits.join().unwrap_err().is::<Cancelled>());
        sender.send(7).unwrap();
        assert_eq!(receiver.recv(), Ok(7));
    });
}

#[test]
fn a_value_from_outside_ends_the_wait() {
    for workers in 1..=2 {
        let runtime = uthread::Runtime::builder().workers(workers);
        runtime.build().unwrap().run(|| {
            let (sender, receiver) = bounded(1);
            let external = uthread::external();
            let waits = Arc::new(Semaphore::new(0));
            let ready = Arc::clone(&waits);
            let outside = std::thread::spawn(move || {
                for i in 0..100 {
                    sender.send(i).unwrap();
                }
                ready.release(1);
                drop(external);
            });
            let mut select = Select::new();
            select.recv(&receiver);
            for i in 0..100 {
                while receiver.try_recv() != Ok(i) {
                    select.wait().unwrap();
                }
            }
            waits.acquire();
            outside.join().unwrap();
        });
    }
}

#[cfg(target_os = "linux")]
mod descriptors {
    use std::io::{Write, pipe};

    use super::*;
    use common::{runtimes, virtual_time};
    use uthread::Runtime;
    use uthread::io::{Interest, sleep};

    fn kinds() -> Vec<Runtime> {
        let mut kinds = runtimes();
        kinds.push(virtual_time(7));
        kinds
    }

    #[test]
    fn a_descriptor_or_a_value_ends_the_wait() {
        for runtime in kinds() {
            runtime.run(|| {
                let (reader, mut writer) = pipe().unwrap();
                let (sender, receiver) = bounded(1);
                let mut select = Select::new();
                let readable = select.poll(&reader, Interest::READABLE);
                let again = select.poll(&reader, Interest::READABLE);
                let value = select.recv(&receiver);
                let none = select.wait_timeout(MOMENT).unwrap_err();
                assert_eq!(none.kind(), ErrorKind::TimedOut);
                let sends = spawn(move || {
                    sleep(MOMENT);
                    sender.send(7).unwrap();
                    sender
                });
                assert_eq!(select.wait().unwrap(), value);
                assert_eq!(receiver.try_recv(), Ok(7));
                let thread = spawn(move || {
                    sleep(MOMENT);
                    writer.write_all(b"x").unwrap();
                    writer
                });
                let found = select.wait().unwrap();
                assert!(found == readable || found == again);
                drop((sends.join().unwrap(), thread.join().unwrap()));
            });
        }
    }

    #[test]
    fn a_wait_for_a_descriptor_is_cancelled() {
        for runtime in kinds() {
            runtime.run(|| {
                let (reader, _writer) = pipe().unwrap();
                let waits = spawn(move || {
                    let mut select = Select::new();
                    select.poll(&reader, Interest::READABLE);
                    select.wait().unwrap()
                });
                sleep(MOMENT);
                waits.cancel();
                assert!(waits.join().unwrap_err().is::<Cancelled>());
            });
        }
    }

    #[test]
    fn a_file_is_always_ready() {
        let file = tempfile::tempfile().unwrap();
        uthread::run(|| {
            let mut select = Select::new();
            select.poll(&file, Interest::READABLE.or(Interest::WRITABLE));
            assert_eq!(select.wait().unwrap(), 0);
        });
    }
}
