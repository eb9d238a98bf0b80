//! Reads, seals or sums, and sends.

use crate::seal::Seal;
use crate::{HEADER, Kind, Settings, call};
use std::fs::File;
use std::io::{Read, Result};
use std::os::fd::{AsRawFd, OwnedFd};
use twox_hash::XxHash3_128;

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
    let socket = call::connect(settings.port, &settings.congestion)?;
    match (&mut source, settings.kind) {
        (Source::File(file), Kind::Bare) => {
            while call::sendfile(&socket, file.as_raw_fd(), settings.frame)? > 0 {}
            Ok(())
        }
        _ => send_frames(settings, &mut source, &socket),
    }
}

fn send_frames(settings: &Settings, source: &mut Source, socket: &OwnedFd) -> Result<()> {
    let buffer = call::pages(settings.frame)?;
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
            Kind::Plain | Kind::Bare => {
                call::send_all(socket, [&[], body, &[]])?;
            }
            Kind::Summed => {
                check.copy_from_slice(&XxHash3_128::oneshot(body).to_le_bytes());
                call::send_all(socket, [&header, body, check])?;
            }
            Kind::Sealed => {
                seal.seal(&header, body, check)?;
                call::send_all(socket, [&header, body, check])?;
            }
        }
        if count == 0 {
            return Ok(());
        }
        number += 1;
    }
}
