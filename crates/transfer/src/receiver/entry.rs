//! Directories and links, which arrive without contents.

use super::destination::Destination;
use super::new_file::{hidden_name, moment, taken};
use super::{Failure, Options};
use crate::protocol::{Kind, PARTIAL_NAME, Part};
use platform::directory::{Directory, name_from_bytes, set_mode};
use std::ffi::OsStr;
use std::fs::FileTimes;
use std::io;

/// Permission bits of the owner of a directory, without which nothing could arrive in it.
const OWNER: u32 = 0o700;

/// The permission bits of a new directory whose sender gives none, before the umask.
const USUAL_BITS: u32 = 0o777;

/// Makes an announced directory or link.
pub(super) fn make(
    destination: &Destination,
    part: &Part,
    options: &Options,
) -> Result<(), Failure> {
    let (parent, name) = destination.parent(&part.name)?;
    make_in((&parent, &name), destination, part, options)?;
    if options.fsync {
        parent.sync()?;
    }
    Ok(())
}

fn make_in(
    (parent, name): (&Directory, &OsStr),
    destination: &Destination,
    part: &Part,
    options: &Options,
) -> Result<(), Failure> {
    match &part.kind {
        Kind::File => Ok(()),
        Kind::Directory => {
            let bits = part.mode.map_or(USUAL_BITS, |mode| mode.bits);
            directory(parent, name, bits)
        }
        Kind::CompleteDirectory => complete_directory(parent, name, part),
        Kind::Link(target) => {
            let target = name_from_bytes(target).ok_or("this system has no such names")?;
            match parent.make_link(name, &target) {
                Err(error) if is_taken(&error) => {}
                made => return Ok(made?),
            }
            match parent.read_link(name) {
                Ok(there) if there == target && (part.resume || options.force) => Ok(()),
                // A directory, or something else that is neither a link nor a file.
                Err(_) if parent.metadata(name)?.is_some_and(|found| !found.is_file()) => {
                    Err("its name belongs to something that is not a file".into())
                }
                _ if !options.force => Err(taken()),
                _ => replace(destination, part, (parent, name), &target),
            }
        }
    }
}

/// Makes a directory. One that is there already is used as it is.
fn directory(parent: &Directory, name: &OsStr, permissions: u32) -> Result<(), Failure> {
    match parent.make_directory(name, permissions | OWNER) {
        Err(error) if is_taken(&error) => match parent.open_directory(name) {
            Ok(_) => Ok(()),
            Err(_) => Err("its name belongs to something that is not a directory".into()),
        },
        made => Ok(made?),
    }
}

/// Sets the permissions and the time of a directory in which everything has arrived.
fn complete_directory(parent: &Directory, name: &OsStr, part: &Part) -> Result<(), Failure> {
    let file = parent.open_directory(name)?.as_file()?;
    if let Some(times) = part.modified {
        file.set_times(FileTimes::new().set_modified(moment(times)?))?;
    }
    if let Some(mode) = part.mode.filter(|mode| mode.is_kept) {
        set_mode(&file, mode.bits)?;
    }
    Ok(())
}

/// Puts a link in place of a link or a file, at once.
fn replace(
    destination: &Destination,
    part: &Part,
    (parent, name): (&Directory, &OsStr),
    target: &OsStr,
) -> Result<(), Failure> {
    let partials = destination.directory.open_private(PARTIAL_NAME.as_ref())?;
    let mut hidden = hidden_name(&part.name);
    hidden.push("-link");
    let made = match partials.make_link(&hidden, target) {
        // An earlier attempt left it.
        Err(error) if is_taken(&error) => partials
            .remove(&hidden)
            .and_then(|()| partials.make_link(&hidden, target)),
        made => made,
    };
    let moved = made.and_then(|()| partials.move_to(&hidden, parent, name, true));
    drop(partials);
    destination.remove_empty_partials();
    Ok(moved?)
}

fn is_taken(error: &platform::Error) -> bool {
    error.kind() == Some(io::ErrorKind::AlreadyExists)
}
