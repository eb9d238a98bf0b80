//! A proxy between sender and receiver that forwards bytes, faithfully or not.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;
use testing::wait_until;

/// The proxy's treatment of the bytes of one direction.
#[derive(Clone)]
pub enum Mischief {
    /// Both connections are closed after this number of bytes.
    Cut(u64),
    /// After this number of bytes the stream ends, and the rest is lost.
    End(u64),
    /// The bytes behind this number are lost, and the stream does not end.
    Lose(u64),
    /// After this number of bytes, nothing passes until the flag is set.
    Hold(u64, Arc<AtomicBool>),
    /// As [`Mischief::Hold`], but then both connections are closed.
    HoldAndCut(u64, Arc<AtomicBool>),
    /// Everything passes, but at most 64 KiB per interval.
    Slow(Duration),
    /// Everything is taken at once, and passed on by 64 KiB per interval.
    Tunnel(Duration),
    /// After this number of bytes, a byte passes now and then.
    Trickle(u64),
    /// Everything passes, and is recorded.
    Record(Arc<Mutex<Vec<u8>>>),
    /// Everything passes, but this bit of the byte at this place is flipped.
    Flip(u64, u32),
    /// This number of bytes at the beginning are changed, if they come.
    Rewrite(usize, Change),
}

/// Changes some bytes, or their number.
pub type Change = Arc<dyn Fn(&mut Vec<u8>) + Send + Sync>;

/// The treatment of the bytes of a connection on their way to the receiver, and back.
#[derive(Clone, Default)]
pub struct Ways {
    pub there: Option<Mischief>,
    pub back: Option<Mischief>,
}

impl From<Mischief> for Ways {
    fn from(there: Mischief) -> Self {
        Self {
            there: Some(there),
            back: None,
        }
    }
}

impl Ways {
    pub fn back(mischief: Mischief) -> Self {
        Self {
            there: None,
            back: Some(mischief),
        }
    }
}

/// A proxy; accepts no more connections once it is dropped.
pub struct Proxy {
    pub address: SocketAddr,
    pub traffic: Arc<Traffic>,
}

/// What has come through a proxy.
#[derive(Default)]
pub struct Traffic {
    pub connections: AtomicUsize,
    /// Bytes of the first two connections, in each direction.
    pub bytes: [[AtomicU64; 2]; 2],
    /// True if bytes were changed or held back.
    pub is_attacked: AtomicBool,
    is_over: AtomicBool,
}

impl Proxy {
    /// Forwards each connection to `receiver` in its way; those without one are forwarded faithfully.
    pub fn start(receiver: SocketAddr, ways: Vec<Ways>) -> Self {
        Self::accepting(usize::MAX, receiver, ways)
    }

    fn accepting(most: usize, receiver: SocketAddr, ways: Vec<Ways>) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("it listens");
        let traffic = Arc::<Traffic>::default();
        let seen = Arc::clone(&traffic);
        thread::spawn(move || {
            for number in 0..most {
                let (near, _) = listener.accept().expect("a sender comes");
                if seen.is_over.load(Ordering::Acquire) {
                    return;
                }
                seen.connections.fetch_add(1, Ordering::AcqRel);
                let far = TcpStream::connect(receiver).expect("the receiver is there");
                let Ways { there, back } = ways.get(number).cloned().unwrap_or_default();
                let copy = |socket: &TcpStream| socket.try_clone().expect("a copy");
                let (near_copy, far_copy) = (copy(&near), copy(&far));
                for (direction, from, to, mischief) in
                    [(0, near, far, there), (1, far_copy, near_copy, back)]
                {
                    let seen = Arc::clone(&seen);
                    thread::spawn(move || match mischief {
                        Some(Mischief::Tunnel(pause)) => tunnel(from, to, pause),
                        _ => pass(from, to, mischief.as_ref(), &seen, [number, direction]),
                    });
                }
            }
        });
        Self { address, traffic }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.traffic.is_over.store(true, Ordering::Release);
        // Wakes the thread that accepts.
        let _ = TcpStream::connect(self.address);
    }
}

/// Accepts one connection for each of `ways`, and forwards it in its way.
pub fn between<W: Into<Ways>>(
    receiver: SocketAddr,
    ways: impl IntoIterator<Item = W>,
) -> SocketAddr {
    let ways: Vec<Ways> = ways.into_iter().map(Into::into).collect();
    let proxy = Proxy::accepting(ways.len(), receiver, ways);
    let address = proxy.address;
    std::mem::forget(proxy);
    address
}

fn pass(
    mut from: TcpStream,
    mut to: TcpStream,
    mischief: Option<&Mischief>,
    traffic: &Traffic,
    [number, direction]: [usize; 2],
) {
    let attack = || traffic.is_attacked.store(true, Ordering::Release);
    let counted = traffic.bytes.get(number).map(|bytes| &bytes[direction]);
    if let Some(Mischief::Rewrite(len, change)) = mischief {
        let mut first = Vec::new();
        let _ = (&mut from).take(*len as u64).read_to_end(&mut first);
        if first.len() == *len {
            let before = first.clone();
            change(&mut first);
            if first != before {
                attack();
            }
        }
        let _ = to.write_all(&first);
    }
    let mut buffer = vec![0; 64 << 10];
    let mut passed = 0;
    loop {
        let limit = match mischief {
            Some(
                Mischief::Cut(at)
                | Mischief::End(at)
                | Mischief::Lose(at)
                | Mischief::Hold(at, _)
                | Mischief::HoldAndCut(at, _)
                | Mischief::Trickle(at),
            ) if passed < *at => *at - passed,
            Some(Mischief::Trickle(_)) => {
                thread::sleep(Duration::from_millis(150));
                1
            }
            Some(Mischief::Cut(_) | Mischief::End(_) | Mischief::Lose(_)) => {
                attack();
                break;
            }
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
        let bytes = &mut buffer[..count];
        if let Some(Mischief::Flip(at, bit)) = mischief
            && let Some(byte) = at.checked_sub(passed)
            && let Some(byte) = bytes.get_mut(byte as usize)
        {
            *byte ^= 1 << bit;
            attack();
        }
        // Before they pass: a side may end as soon as it has them.
        if let Some(Mischief::Record(recording)) = mischief {
            recording.lock().expect("nobody panics").extend(&*bytes);
        }
        passed += count as u64;
        if let Some(counted) = counted {
            counted.store(passed, Ordering::Release);
        }
        if to.write_all(bytes).is_err() {
            break;
        }
    }
    match mischief {
        Some(Mischief::Cut(_) | Mischief::HoldAndCut(..)) => {
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        }
        Some(Mischief::Lose(_)) => drop(io::copy(&mut from, &mut io::sink())),
        _ => {}
    }
    // The other direction continues.
    let _ = to.shutdown(Shutdown::Write);
    if let Some(Mischief::End(_)) = mischief {
        let _ = io::copy(&mut from, &mut io::sink());
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
