//! Receives, opens or compares, and writes.

use crate::seal::Seal;
use crate::{HEADER, Kind, Settings, pages};
use platform::socket::{Conduit, listen, receive_parts, wake_at};
use std::fs::File;
use std::io::{Error, IoSliceMut, Result, Write};
use std::net::TcpStream;
use twox_hash::XxHash3_128;

pub fn receive(settings: &Settings) -> Result<()> {
    let mut target = match settings.path.as_str() {
        "-" => None,
        path => Some(File::create(path)?),
    };
    let listener = listen(&settings.address, settings.congestion.as_deref())?;
    let (socket, _) = listener.accept()?;
    if settings.lowat > 0 {
        wake_at(&socket, settings.lowat)?;
    }
    match (settings.kind, &mut target) {
        (Kind::Bare, Some(file)) => splice(settings, &socket, file),
        (Kind::Bare | Kind::Plain, target) => receive_bytes(settings, &socket, target.as_mut()),
        (Kind::Summed | Kind::Sealed, target) => receive_frames(settings, &socket, target.as_mut()),
    }
}

fn splice(settings: &Settings, socket: &TcpStream, file: &File) -> Result<()> {
    let mut pipe = Conduit::new(settings.frame)?;
    let mut offset = 0;
    loop {
        let there = pipe.take(socket, settings.frame)?;
        if there == 0 {
            return Ok(());
        }
        pipe.put(file, offset, there)?;
        offset += there as u64;
    }
}

/// Fills all parts, or as many bytes of them as come before the end; returns how many.
fn receive_all(socket: &TcpStream, parts: [&mut [u8]; 3]) -> Result<usize> {
    let mut parts = parts.map(IoSliceMut::new);
    let mut left = &mut parts[..];
    let mut came = 0;
    // Without the empty parts at the beginning.
    IoSliceMut::advance_slices(&mut left, 0);
    while !left.is_empty() {
        let count = receive_parts(socket, left)?;
        if count == 0 {
            break;
        }
        IoSliceMut::advance_slices(&mut left, count);
        came += count;
    }
    Ok(came)
}

fn put(target: &mut Option<&mut File>, bytes: &[u8]) -> Result<()> {
    match target {
        Some(file) => file.write_all(bytes),
        None => Ok(()),
    }
}

fn receive_bytes(
    settings: &Settings,
    socket: &TcpStream,
    mut target: Option<&mut File>,
) -> Result<()> {
    let mut memory = pages(settings.frame)?;
    let buffer = memory.as_mut_slice();
    loop {
        let count = receive_all(socket, [buffer, &mut [], &mut []])?;
        if count == 0 {
            return Ok(());
        }
        put(&mut target, &buffer[..count])?;
    }
}

fn receive_frames(
    settings: &Settings,
    socket: &TcpStream,
    mut target: Option<&mut File>,
) -> Result<()> {
    let mut memory = pages(settings.frame)?;
    let buffer = memory.as_mut_slice();
    let mut check = vec![0; settings.check_len(settings.frame)];
    let mut seal = Seal::new(settings.message)?;
    let mut header = [0; HEADER];
    receive_all(socket, [&mut header, &mut [], &mut []])?;
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
        if receive_all(socket, [body, check, after])? < whole {
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
