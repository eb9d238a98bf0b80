use std::io;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use crate::error::refuse_io;
pub(crate) use crate::process::lacking::*;
use crate::program::Ran;

pub(crate) fn signal_name(_signal: i32) -> Option<&'static str> {
    None
}

pub(crate) fn run(_: &mut Command, _: &AtomicBool) -> io::Result<Option<Ran>> {
    refuse_io()
}
