use std::fs::File;
use std::io;
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::pipe::{PipeFlags, SpliceFlags};

pub(crate) use super::zero_copy::ZeroCopyRing;

/// Asked on a timeout whether to go on.
pub(crate) type Retry<'a> = &'a mut dyn FnMut(io::Error) -> io::Result<()>;

pub(crate) fn wait_for_connection(listener: &TcpListener, timeout: Duration) -> io::Result<()> {
    let timeout = Timespec {
        tv_sec: timeout.as_secs().cast_signed(),
        tv_nsec: timeout.subsec_nanos().into(),
    };
    match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(errno) => Err(errno.into()),
    }
}

pub(crate) fn receive_full(socket: &TcpStream, buffer: &mut [u8]) -> io::Result<usize> {
    let (received, _) = rustix::net::recv(socket, buffer, RecvFlags::WAITALL)?;
    Ok(received)
}

pub(crate) fn send_more(socket: &TcpStream, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(
        socket,
        bytes,
        SendFlags::MORE | SendFlags::NOSIGNAL,
    )?)
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
    use crate::socket::{Conduit, ZeroCopy};

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
}
