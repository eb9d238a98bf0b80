//! A proxy between sender and receiver that forwards bytes, faithfully or not.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;
use testing::wait_until;

/// The proxy's treatment of the bytes from the sender to the receiver.
#[derive(Clone)]
pub enum Mischief {
    /// Both connections are closed after this number of bytes.
    Cut(u64),
    /// After this number of bytes, nothing passes until the flag is set.
    Hold(u64, Arc<AtomicBool>),
    /// As [`Mischief::Hold`], but then both connections are closed.
    HoldAndCut(u64, Arc<AtomicBool>),
    /// Everything passes, but at most 64 KiB per interval.
    Slow(Duration),
    /// Everything is taken at once, and passed on by 64 KiB per interval.
    Tunnel(Duration),
    /// Everything passes, but the receiver's bytes behind this number are lost.
    Mute(usize),
    /// After this number of bytes, a byte passes now and then.
    Trickle(u64),
    /// Everything passes, and the sender's bytes are recorded.
    Record(Arc<Mutex<Vec<u8>>>),
}

/// Accepts one connection, and forwards it to `receiver` in this way.
pub fn between(receiver: SocketAddr, mischief: Mischief) -> SocketAddr {
    between_each(receiver, vec![Some(mischief)])
}

/// Accepts one connection per entry of `ways` and forwards each in its way; `None` is an honest
/// proxy.
pub fn between_each(receiver: SocketAddr, ways: Vec<Option<Mischief>>) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address = listener.local_addr().expect("it listens");
    thread::spawn(move || {
        for mischief in ways {
            let (near, _) = listener.accept().expect("a sender comes");
            let far = TcpStream::connect(receiver).expect("the receiver is there");
            let back = (
                far.try_clone().expect("a copy"),
                near.try_clone().expect("a copy"),
            );
            let heard = match mischief {
                Some(Mischief::Mute(heard)) => Some(heard),
                _ => None,
            };
            thread::spawn(move || match heard {
                Some(heard) => mute(back.0, back.1, heard),
                None => pass(back.0, back.1, None),
            });
            thread::spawn(move || match mischief {
                Some(Mischief::Tunnel(pause)) => tunnel(near, far, pause),
                _ => pass(near, far, mischief.as_ref()),
            });
        }
    });
    address
}

fn pass(mut from: TcpStream, mut to: TcpStream, mischief: Option<&Mischief>) {
    let mut buffer = vec![0; 64 << 10];
    let mut passed = 0;
    loop {
        let limit = match mischief {
            Some(
                Mischief::Cut(at)
                | Mischief::Hold(at, _)
                | Mischief::HoldAndCut(at, _)
                | Mischief::Trickle(at),
            ) if passed < *at => *at - passed,
            Some(Mischief::Trickle(_)) => {
                thread::sleep(Duration::from_millis(150));
                1
            }
            Some(Mischief::Cut(_)) => break,
            Some(Mischief::Hold(_, go_on)) => {
                wait_for(go_on);
                u64::MAX
            }
            Some(Mischief::HoldAndCut(_, cut)) => {
                wait_for(cut);
                break;
            }
            _ => u64::MAX,
        };
        if let Some(Mischief::Slow(pause)) = mischief {
            thread::sleep(*pause);
        }
        let most = limit.min(buffer.len() as u64) as usize;
        let count = match from.read(&mut buffer[..most]) {
            Ok(count) if count > 0 => count,
            _ => break,
        };
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
        passed += count as u64;
        if let Some(Mischief::Record(recording)) = mischief {
            let mut recording = recording.lock().expect("nobody panics");
            recording.extend(&buffer[..count]);
        }
    }
    if matches!(mischief, Some(Mischief::Cut(_) | Mischief::HoldAndCut(..))) {
        let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
    }
    // The other direction continues.
    let _ = to.shutdown(Shutdown::Write);
}

/// Passes on the first bytes, and loses the rest.
fn mute(mut from: TcpStream, mut to: TcpStream, heard: usize) {
    let mut buffer = vec![0; heard];
    if from.read_exact(&mut buffer).is_ok() && to.write_all(&buffer).is_ok() {
        let _ = std::io::copy(&mut from, &mut std::io::sink());
    }
}

/// Takes everything at once, and passes it on slowly.
fn tunnel(mut from: TcpStream, mut to: TcpStream, pause: Duration) {
    let (within, out) = mpsc::channel::<Vec<u8>>();
    let taking = thread::spawn(move || {
        let mut block = vec![0; 64 << 10];
        while let Ok(count) = from.read(&mut block)
            && count > 0
            && within.send(block[..count].to_vec()).is_ok()
        {}
    });
    for block in out {
        thread::sleep(pause);
        if to.write_all(&block).is_err() {
            break;
        }
    }
    let _ = (taking.join(), to.shutdown(Shutdown::Write));
}

fn wait_for(flag: &AtomicBool) {
    wait_until("the test's sign", || flag.load(Ordering::Acquire));
}
