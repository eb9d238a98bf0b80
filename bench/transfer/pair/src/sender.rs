//! Reads, seals or sums, and sends.

use crate::seal::Seal;
use crate::{HEADER, Kind, Settings, pages};
use platform::socket::{connect, send_file, send_parts};
use std::fs::File;
use std::io::{IoSlice, Read, Result};
use std::net::TcpStream;
use std::time::Duration;
use twox_hash::XxHash3_128;

/// The receiver listens already, or never will.
const PATIENCE: Duration = Duration::from_secs(10);

enum Source {
    File(File),
    Zeros(u64),
}

impl Source {
    /// Fills the buffer, or as much of it as there is.
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        match self {
            Source::File(file) => file.read(buffer),
            // The buffer's contents are as good as zeros.
            Source::Zeros(left) => {
                let count = buffer
                    .len()
                    .min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= count as u64;
                Ok(count)
            }
        }
    }
}

pub fn send(settings: &Settings) -> Result<()> {
    let mut source = match settings.zeros {
        Some(bytes) => Source::Zeros(bytes),
        None => Source::File(File::open(&settings.path)?),
    };
    let socket = connect(&settings.address, PATIENCE, settings.congestion.as_deref())?;
    socket.set_nodelay(true)?;
    match (&mut source, settings.kind) {
        (Source::File(file), Kind::Bare) => {
            let mut offset = 0;
            loop {
                match send_file(&socket, file, offset, settings.frame)? {
                    0 => return Ok(()),
                    sent => offset += sent as u64,
                }
            }
        }
        _ => send_frames(settings, &mut source, &socket),
    }
}

fn send_frames(settings: &Settings, source: &mut Source, socket: &TcpStream) -> Result<()> {
    let mut memory = pages(settings.frame)?;
    let buffer = memory.as_mut_slice();
    let mut check = vec![0; settings.check_len(settings.frame)];
    let mut seal = Seal::new(settings.message)?;
    let mut number: u64 = 0;
    loop {
        let count = source.read(buffer)?;
        let body = &mut buffer[..count];
        let check = &mut check[..settings.check_len(count)];
        let mut header = [0; HEADER];
        header[..8].copy_from_slice(&number.to_le_bytes());
        header[8..].copy_from_slice(&(count as u64).to_le_bytes());
        match settings.kind {
            Kind::Plain | Kind::Bare => {}
            Kind::Summed => check.copy_from_slice(&XxHash3_128::oneshot(body).to_le_bytes()),
            Kind::Sealed => seal.seal(&header, body, check)?,
        }
        let header: &[u8] = match settings.kind {
            Kind::Plain | Kind::Bare => &[],
            Kind::Summed | Kind::Sealed => &header,
        };
        send_all(socket, &mut [header, body, check].map(IoSlice::new))?;
        if count == 0 {
            return Ok(());
        }
        number += 1;
    }
}

/// Sends all parts, in as many calls as that takes.
fn send_all(socket: &TcpStream, mut parts: &mut [IoSlice<'_>]) -> Result<()> {
    // Without the empty parts at the beginning.
    IoSlice::advance_slices(&mut parts, 0);
    while !parts.is_empty() {
        let sent = send_parts(socket, parts, false)?;
        IoSlice::advance_slices(&mut parts, sent);
    }
    Ok(())
}
