//! Threads that wait for the pipes and the exit of a process, since no call waits for both.

use std::io::{self, Read, Write};
use std::os::windows::io::{AsRawHandle, OwnedHandle};
use std::sync::mpsc::{Receiver, SyncSender};
use std::thread;

use windows_sys::Win32::System::Threading::{INFINITE, WaitForSingleObject};

/// Pieces that may wait for the receiver. Beyond that, the process waits for it.
pub(super) const WAITING_PIECES: usize = 64;
/// Stack of each of these threads, in bytes. They call little.
const STACK_BYTES: usize = 128 << 10;

#[derive(Debug)]
pub(super) enum Event {
    /// It wrote this to its standard output.
    Output(Vec<u8>),
    /// Its standard output is closed.
    OutputEnd,
    /// It wrote this to its standard error.
    Error(Vec<u8>),
    /// It took what was sent to its standard input, or takes nothing more.
    Input(io::Result<()>),
    /// It has exited.
    Exit,
}

/// Passes on what comes out of a pipe, and at its end `end`.
pub(super) fn listen(
    mut pipe: impl Read + Send + 'static,
    events: SyncSender<Event>,
    event: fn(Vec<u8>) -> Event,
    end: Option<Event>,
) -> io::Result<()> {
    start(move || {
        let mut piece = [0; 16 << 10];
        while let Ok(len @ 1..) = pipe.read(&mut piece) {
            if events.send(event(piece[..len].to_vec())).is_err() {
                return;
            }
        }
        if let Some(end) = end {
            // Without a receiver, nobody wants to know.
            let _ = events.send(end);
        }
    })
}

/// Writes what comes in to a pipe, and closes it at the end.
pub(super) fn tell(
    mut pipe: impl Write + Send + 'static,
    input: Receiver<Vec<u8>>,
    events: SyncSender<Event>,
) -> io::Result<()> {
    start(move || {
        for bytes in input {
            if events.send(Event::Input(pipe.write_all(&bytes))).is_err() {
                return;
            }
        }
    })
}

/// Waits for the exit of a process.
pub(super) fn watch(process: OwnedHandle, events: SyncSender<Event>) -> io::Result<()> {
    start(move || {
        // SAFETY: the handle is open.
        unsafe { WaitForSingleObject(process.as_raw_handle(), INFINITE) };
        // Without a receiver, nobody wants to know.
        let _ = events.send(Event::Exit);
    })
}

fn start(body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let thread = thread::Builder::new().stack_size(STACK_BYTES);
    thread.spawn(body).map(drop)
}
