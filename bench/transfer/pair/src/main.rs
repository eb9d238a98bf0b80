//! The calls that a transfer over TCP is made of, and nothing else: no names, no handshake, no
//! receipts, no progress. What a tool takes beyond this is its own.
//!
//! usage: transfer-pair receive PORT TO [SETTING...]
//!        transfer-pair send PORT FROM [SETTING...]
//!
//! TO is a file that is replaced, or `-` to throw away what comes; FROM is a file, which is
//! not read if `zeros=MIB` names an amount of zeros. Both sides need the same settings:
//!
//! kind=plain    bytes as they are, read and sent, received and written
//! kind=summed   frames of a header, a body and its XXH3-128, which the receiver compares
//! kind=sealed   frames of a header, a body and its tags, by AES-256-GCM under a key that is known
//! kind=bare     bytes as they are, by sendfile and splice: the programs never see them
//!
//! frame=KIB     bytes of a body and of a call (512)
//! message=KIB   bytes that are sealed at once; a frame holds one or more of them (64)
//! lowat=KIB     how much must be there before a receiver is woken; 0: anything (256)
//! congestion=C  the congestion control of the connection (reno); `-`: what the system gives

mod receiver;
mod seal;
mod sender;
mod settings;

use platform::memory::{Mapping, PageSize};
use settings::{Kind, Settings};
use std::io::{Error, Result};
use std::process::ExitCode;

/// Bytes before a body: its number and its length.
const HEADER: usize = 16;
/// Bytes of an XXH3-128, and of a tag by GCM.
const CHECK: usize = 16;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match Settings::parse(&arguments) {
        Some(settings) if settings.sends => sender::send(&settings),
        Some(settings) => receiver::receive(&settings),
        None => {
            eprintln!("usage: transfer-pair receive|send PORT PATH [NAME=VALUE...]");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Memory that begins where a page does, so that copies of whole pages are aligned.
fn pages(len: usize) -> Result<Mapping> {
    Mapping::anonymous(len, PageSize::Base).map_err(Error::other)
}
