use std::fs::File;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::pipe::{PipeFlags, SpliceFlags};

pub(crate) use super::zero_copy::ZeroCopyRing;

/// Asked on a timeout whether to go on.
pub(crate) type Retry<'a> = &'a mut dyn FnMut(io::Error) -> io::Result<()>;

#[derive(Debug)]
pub(crate) struct Bell(OwnedFd);

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        Ok(Self(eventfd(0, flags)?))
    }

    pub(crate) fn ring(&self) {
        // It can only fail where it was rung 2^64 times and never heard.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Nobody has rung it any more.
    fn hush(&self) {
        // There may be nothing to hush.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

pub(crate) fn wait_for_connection(
    listener: &TcpListener,
    bell: &Bell,
    timeout: Duration,
) -> io::Result<()> {
    let timeout = timespec(timeout);
    let mut watched = [
        PollFd::new(listener, PollFlags::IN),
        PollFd::new(&bell.0, PollFlags::IN),
    ];
    match poll(&mut watched, Some(&timeout)) {
        Ok(_) => {
            if !watched[1].revents().is_empty() {
                bell.hush();
            }
            Ok(())
        }
        Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

/// Fewer bytes than this are received as they come.
const WORTH_WAITING_FOR: usize = 64 << 10;
/// More bytes than this are not waited for in one sleep: they would leave the caches before they are
/// received.
const WAITED_FOR: usize = 256 << 10;
/// So many bytes are worth a call of their own.
const WORTH_A_CALL: usize = 128 << 10;
/// What a file is kept in.
const PAGE: usize = 4 << 10;

pub(crate) fn receive_full(socket: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    if buffer.len() < WORTH_WAITING_FOR {
        return receive_all(socket, buffer);
    }
    // To begin at once would take some of what is there, and the rest alone would not wake anybody.
    wait_for(socket, buffer.len())?;
    receive_all(socket, buffer)
}

pub(crate) fn receive_pages(
    socket: &TcpStream,
    buffer: &mut [u8],
    filled: usize,
) -> io::Result<usize> {
    let room = buffer.len() - filled;
    if room < WORTH_WAITING_FOR {
        return receive_all(socket, &mut buffer[filled..]);
    }
    wait_for(socket, room.min(WORTH_A_CALL))?;
    let there = filled + usize::try_from(pending_bytes(socket)?).unwrap_or(room);
    let whole = there / PAGE * PAGE;
    if (filled + 1..buffer.len()).contains(&whole) {
        return receive_all(socket, &mut buffer[filled..whole]);
    }
    // All that there is room for, or what came before the end.
    let (received, _) = rustix::net::recv(socket, &mut buffer[filled..], RecvFlags::empty())?;
    Ok(received)
}

/// Waits for so many bytes, the end of the connection, or the end of its patience.
fn wait_for(socket: &TcpStream, bytes: usize) -> io::Result<()> {
    wake_at(socket, bytes)?;
    let timeout = socket.read_timeout()?.map(timespec);
    let ready = poll(&mut [PollFd::new(socket, PollFlags::IN)], timeout.as_ref());
    wake_at(socket, 1)?;
    ready?;
    Ok(())
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: duration.as_secs().cast_signed(),
        tv_nsec: duration.subsec_nanos().into(),
    }
}

fn receive_all(socket: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    let (received, _) = rustix::net::recv(socket, buffer, RecvFlags::WAITALL)?;
    Ok(received)
}

pub(crate) fn pending_bytes(socket: &TcpStream) -> io::Result<u64> {
    Ok(rustix::io::ioctl_fionread(socket)?)
}

pub(crate) fn wake_at(socket: &TcpStream, bytes: usize) -> io::Result<()> {
    let bytes: libc::c_int = bytes.min(WAITED_FOR).try_into().unwrap_or(libc::c_int::MAX);
    // SAFETY: `bytes` lives through the call and has the length that is given.
    let outcome = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_RCVLOWAT,
            (&raw const bytes).cast(),
            size_of_val(&bytes) as libc::socklen_t,
        )
    };
    if outcome == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}

pub(crate) fn unpace(socket: &TcpStream) -> io::Result<()> {
    Ok(rustix::net::sockopt::set_tcp_congestion(socket, "reno")?)
}

pub(crate) fn send_more(socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(
        socket,
        bytes,
        SendFlags::MORE | SendFlags::NOSIGNAL,
    )?)
}

pub(crate) fn on_their_way(socket: &TcpStream) -> io::Result<usize> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the call writes one `int` to `bytes`, which lives through it. `TIOCOUTQ` is what
    // `linux/sockios.h` calls `SIOCOUTQ`.
    let outcome = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    if outcome == 0 {
        Ok(usize::try_from(bytes).unwrap_or(0))
    } else {
        Err(io::Error::last_os_error())
    }
}

pub(crate) fn send_file(
    socket: &TcpStream,
    file: &File,
    mut offset: u64,
    len: usize,
) -> io::Result<usize> {
    Ok(rustix::fs::sendfile(socket, file, Some(&mut offset), len)?)
}

#[derive(Debug)]
pub(crate) struct Pipe {
    read: OwnedFd,
    write: OwnedFd,
}

impl Pipe {
    pub(crate) fn new(capacity: usize) -> io::Result<Self> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        match rustix::pipe::fcntl_setpipe_size(&write, capacity) {
            // More than a user may have; the usual 64 KiB then have to do.
            Ok(_) | Err(Errno::PERM) => Ok(Self { read, write }),
            Err(errno) => Err(errno.into()),
        }
    }

    pub(crate) fn send(
        &mut self,
        file: &File,
        mut offset: u64,
        socket: &TcpStream,
        len: usize,
        retry: Retry<'_>,
    ) -> io::Result<usize> {
        let filled = splice(file, Some(&mut offset), &self.write, None, len)?;
        let mut left = filled;
        while left > 0 {
            match splice(&self.read, None, socket, None, left) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(moved) => left -= moved,
                Err(error) => retry(error)?,
            }
        }
        Ok(filled)
    }

    pub(crate) fn take(&mut self, socket: &TcpStream, len: usize) -> io::Result<usize> {
        splice(socket, None, &self.write, None, len)
    }

    pub(crate) fn put(&mut self, file: &File, mut offset: u64, mut len: usize) -> io::Result<()> {
        while len > 0 {
            match splice(&self.read, None, file, Some(&mut offset), len) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(moved) => len -= moved,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

fn splice(
    from: impl AsFd,
    from_offset: Option<&mut u64>,
    to: impl AsFd,
    to_offset: Option<&mut u64>,
    len: usize,
) -> io::Result<usize> {
    let flags = SpliceFlags::MOVE | SpliceFlags::MORE;
    Ok(rustix::pipe::splice(
        from,
        from_offset,
        to,
        to_offset,
        len,
        flags,
    )?)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::{Ipv4Addr, TcpListener};
    use std::thread;

    use super::*;
    use crate::socket::{Bell, Conduit, ZeroCopy, accept_within};

    const LEN: usize = 300_000;

    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (near, listener.accept().unwrap().0)
    }

    fn contents() -> Vec<u8> {
        (0..LEN).map(|index| (index % 251) as u8).collect()
    }

    fn file() -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&contents()).unwrap();
        file
    }

    /// What arrives of what `send` sends.
    fn arriving(send: impl FnOnce(&TcpStream) + Send) -> Vec<u8> {
        let (near, mut far) = connected();
        thread::scope(|scope| {
            scope.spawn(move || send(&near));
            let mut arrived = Vec::new();
            far.read_to_end(&mut arrived).unwrap();
            arrived
        })
    }

    #[test]
    fn a_bell_calls_away_once_and_a_connection_is_taken_all_the_same() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        let bell = Bell::new().unwrap();
        bell.ring();
        bell.ring();
        let long = Duration::from_hours(1);
        assert!(accept_within(&listener, &bell, long).unwrap().is_none());
        let none = accept_within(&listener, &bell, Duration::from_millis(1));
        assert!(none.unwrap().is_none());
        let _near = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        bell.ring();
        assert!(accept_within(&listener, &bell, long).unwrap().is_some());
    }

    #[test]
    fn every_way_of_sending_a_file_sends_it() {
        let file = file();
        let sent = file.try_clone().unwrap();
        let by_sendfile = arriving(move |socket| {
            let mut offset = 0;
            while offset < LEN as u64 {
                offset += send_file(socket, &sent, offset, 100_000).unwrap() as u64;
            }
            assert_eq!(send_file(socket, &sent, offset, 1).unwrap(), 0);
        });
        assert!(by_sendfile == contents());
        let mut conduit = Conduit::new(1 << 20).unwrap();
        let by_splice = arriving(move |socket| {
            let mut offset = 0;
            while offset < LEN as u64 {
                let sent = conduit.send(&file, offset, socket, 100_000, Err);
                offset += sent.unwrap() as u64;
            }
            assert_eq!(conduit.send(&file, offset, socket, 1, Err).unwrap(), 0);
        });
        assert!(by_splice == contents());
    }

    #[test]
    fn buffers_that_are_not_copied_arrive_as_they_were_sent() {
        let arrived = arriving(|socket| {
            let mut ring = ZeroCopy::new(socket, 2, 50_000).unwrap();
            for chunk in contents().chunks(50_000) {
                ring.advance(socket).unwrap();
                ring.buffer()[..chunk.len()].copy_from_slice(chunk);
                ring.send(socket, chunk.len(), Err).unwrap();
            }
            ring.advance(socket).unwrap();
            ring.buffer().fill(0);
            ring.advance(socket).unwrap();
            // That is how loopback does it.
            assert!(ring.was_copied());
        });
        assert!(arrived == contents());
    }

    #[test]
    fn a_connection_is_spliced_into_a_file() {
        let (mut near, far) = connected();
        let file = tempfile::tempfile().unwrap();
        let mut conduit = Conduit::new(1 << 20).unwrap();
        thread::scope(|scope| {
            scope.spawn(move || near.write_all(&contents()).unwrap());
            let mut offset = 0;
            loop {
                match conduit.take(&far, LEN).unwrap() {
                    0 => break,
                    taken => {
                        conduit.put(&file, offset, taken).unwrap();
                        offset += taken as u64;
                    }
                }
            }
        });
        let mut stored = vec![0; LEN];
        crate::block_io::read_at(&file, &mut stored, 0).unwrap();
        assert!(stored == contents());
    }

    #[test]
    fn a_connection_within_the_machine_is_not_paced() {
        let (near, _far) = connected();
        crate::socket::unpace_if_local(&near).unwrap();
        let algorithm = rustix::net::sockopt::tcp_congestion(&near).unwrap();
        assert_eq!(algorithm, "reno");
    }

    #[test]
    fn receiving_waits_for_all_of_it_or_the_end() {
        let (mut near, far) = connected();
        let mut buffer = [0; 10];
        thread::scope(|scope| {
            scope.spawn(move || {
                send_more(&near, b"hello").unwrap();
                near.write_all(b" world, good").unwrap();
            });
            assert_eq!(receive_full(&far, &mut buffer).unwrap(), 10);
            assert_eq!(receive_full(&far, &mut buffer).unwrap(), 7);
            assert_eq!(receive_full(&far, &mut buffer).unwrap(), 0);
        });
    }

    #[test]
    fn whole_pages_are_received_before_all_is_there() {
        let (mut near, far) = connected();
        let sent: Vec<u8> = (0..150_000_u32).map(|i| (i % 251) as u8).collect();
        let mut buffer = vec![0; 200_000];
        thread::scope(|scope| {
            let sent = &sent;
            scope.spawn(move || {
                near.write_all(&sent[100..]).unwrap();
                // Whatever is not a whole page comes when the connection ends.
                drop(near);
            });
            buffer[..100].copy_from_slice(&sent[..100]);
            let mut filled = 100;
            loop {
                let count = receive_pages(&far, &mut buffer, filled).unwrap();
                if count == 0 {
                    break;
                }
                filled += count;
                assert!(filled.is_multiple_of(PAGE) || filled == sent.len());
            }
            assert_eq!(filled, sent.len());
        });
        assert_eq!(buffer[..sent.len()], sent);
    }
}
