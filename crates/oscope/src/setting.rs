//! The circumstances in which experiments choose their points: as found on this machine, and what only the
//! user can name, a directory and a receiver on another machine.

use crate::arguments::Run as Arguments;
use crate::exit::{WrongUse, refuse};
use crate::progress::Voice;
use crate::token_file;
use anyhow::Result;
use experiments::{Link, RemoteDirectory};
use instrument::experiment::Experiment;
use instrument::given::{Given, Givens, Taken};
use instrument::limits::Limits;
use instrument::plan::{Profile, Setting};
use instrument::quantity::{BytesPerSecond, Nanoseconds};
use platform::confinement;
use platform::environment::Environment;
use platform::machine::Machine;
use platform::scratch::Scratch;
use platform::signal::Interrupt;
use platform::storage::free_bytes;
use std::path::Path;

/// Usable swap is the free space divided by this: the swap file takes twice its size.
const SHARE_OF_ROOM: u64 = 8;

/// The circumstances in `directory`, with permission for a swap file or without, of a run without limits for which the user
/// names nothing. Facts that the system does not report count as absent.
pub fn here(directory: &Path, profile: Profile, allow_swap_file: bool) -> Setting {
    let directory = dunce::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    let free_bytes = free_bytes(&directory).unwrap_or(0);
    let is_root = Environment::read().is_root.unwrap_or(false);
    let can_limit_memory = confinement::can_limit_memory();
    let swap_file_bytes = if allow_swap_file && is_root && can_limit_memory {
        free_bytes / SHARE_OF_ROOM
    } else {
        0
    };
    Setting {
        profile,
        free_bytes,
        available_bytes: platform::memory::available_bytes().unwrap_or(0),
        swap_bytes: confinement::free_swap_bytes().max(swap_file_bytes),
        can_limit_memory,
        is_root,
        machine: Machine::read(),
        limits: Limits::default(),
        given: Givens::default(),
        time_scale: 1.0,
        directory,
    }
}

/// Checks that at least one of the chosen experiments takes each thing that the user named.
///
/// # Errors
/// [`WrongUse`] with a command that uses the first that none takes.
pub fn check_named(arguments: &Arguments, chosen: &[&dyn Experiment]) -> Result<(), WrongUse> {
    let named = [
        (arguments.to.is_some(), Link::TAKEN),
        (arguments.remote.is_some(), RemoteDirectory::TAKEN),
    ];
    let is_used = |taken: &Taken| chosen.iter().any(|it| it.takes().contains(taken));
    match named
        .into_iter()
        .find(|(is_named, taken)| *is_named && !is_used(taken))
    {
        None => Ok(()),
        Some((_, taken)) => refuse!(
            "`{}` {}, and that is not to be measured: `{}`",
            taken.option,
            taken.purpose,
            taken.example
        ),
    }
}

/// The things that the user named, and the scratch directory on another machine among them, which
/// `scratch` remembers.
///
/// # Errors
/// If that directory cannot be made.
pub fn take_named(
    arguments: &Arguments,
    scratch: &Scratch,
    interrupt: Interrupt,
    voice: &Voice,
) -> Result<(Givens, Option<Scratch>)> {
    let mut given = Givens::default();
    let remote = arguments.remote.as_deref();
    let remote = remote.map(|there| scratch.create_elsewhere(there));
    let remote = remote.transpose()?;
    if let Some(remote) = &remote {
        given.add(Ok(RemoteDirectory(remote.path().to_owned())));
    }
    if let Some(address) = arguments.to.as_deref() {
        let token_file = arguments.token_file.as_deref();
        // The link names what is wrong with it.
        let _ = token_file::read(token_file);
        let link = experiments::link(address, token_file, interrupt.flag());
        if let Ok(link) = &link {
            voice.say(&format!(
                "to {address}: a round trip takes {:.3}, a file goes at {:.3}",
                Nanoseconds::from(link.round_trip),
                BytesPerSecond(link.bytes_per_second)
            ));
        }
        given.add(link);
    }
    Ok((given, remote))
}
