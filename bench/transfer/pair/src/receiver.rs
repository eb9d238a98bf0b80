//! Receives, opens or compares, and writes.

use crate::seal::Seal;
use crate::{HEADER, Kind, Settings, Wait, call};
use std::fs::File;
use std::io::{Error, Result, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use twox_hash::XxHash3_128;

pub fn receive(settings: &Settings) -> Result<()> {
    let mut target = match settings.path.as_str() {
        "-" => None,
        path => Some(File::create(path)?),
    };
    let socket = call::accept(settings.port, &settings.congestion)?;
    if settings.lowat > 0 {
        call::set_lowat(&socket, settings.lowat)?;
    }
    match (settings.kind, &mut target) {
        (Kind::Bare, Some(file)) => splice(settings, &socket, file),
        (Kind::Bare | Kind::Plain, target) => receive_bytes(settings, &socket, target.as_mut()),
        (Kind::Summed | Kind::Sealed, target) => receive_frames(settings, &socket, target.as_mut()),
    }
}

fn splice(settings: &Settings, socket: &OwnedFd, file: &File) -> Result<()> {
    let (outlet, inlet) = call::pipe(settings.frame)?;
    loop {
        if settings.wait == Wait::Poll {
            call::poll(socket)?;
        }
        let mut there = call::splice(socket.as_raw_fd(), inlet.as_raw_fd(), settings.frame)?;
        if there == 0 {
            return Ok(());
        }
        while there > 0 {
            there -= call::splice(outlet.as_raw_fd(), file.as_raw_fd(), there)?;
        }
    }
}

fn put(target: &mut Option<&mut File>, bytes: &[u8]) -> Result<()> {
    match target {
        Some(file) => file.write_all(bytes),
        None => Ok(()),
    }
}

fn receive_bytes(
    settings: &Settings,
    socket: &OwnedFd,
    mut target: Option<&mut File>,
) -> Result<()> {
    let buffer = call::pages(settings.frame)?;
    loop {
        let count = match settings.wait {
            Wait::Any => call::receive(socket, buffer)?,
            wait => call::receive_all(socket, [buffer, &mut [], &mut []], wait == Wait::Poll)?,
        };
        if count == 0 {
            return Ok(());
        }
        put(&mut target, &buffer[..count])?;
    }
}

fn receive_frames(
    settings: &Settings,
    socket: &OwnedFd,
    mut target: Option<&mut File>,
) -> Result<()> {
    let buffer = call::pages(settings.frame)?;
    let mut check = vec![0; settings.check_len(settings.frame)];
    let mut seal = Seal::new(settings.message)?;
    let mut header = [0; HEADER];
    let polls = settings.wait == Wait::Poll;
    call::receive_all(socket, [&mut header, &mut [], &mut []], polls)?;
    loop {
        let mut len = [0; 8];
        len.copy_from_slice(&header[8..]);
        let len = usize::try_from(u64::from_le_bytes(len)).unwrap_or(usize::MAX);
        if len > settings.frame {
            return Err(Error::other("a frame that is too long"));
        }
        let body = &mut buffer[..len];
        let check = &mut check[..settings.check_len(len)];
        let mut next = [0; HEADER];
        // One call for a body, what proves it, and the header of the next; the last has no next.
        let after: &mut [u8] = if len == 0 { &mut [] } else { &mut next };
        let whole = len + check.len() + after.len();
        if call::receive_all(socket, [body, check, after], polls)? < whole {
            return Err(Error::other("ended early"));
        }
        if settings.kind == Kind::Sealed {
            seal.open(&header, body, check)?;
        } else if XxHash3_128::oneshot(body).to_le_bytes() != check {
            return Err(Error::other("damaged"));
        }
        if len == 0 {
            return Ok(());
        }
        put(&mut target, body)?;
        header = next;
    }
}
