//! Things that only the user can name: a directory and a receiver on another machine.

use crate::arguments::Run as Arguments;
use crate::exit::WrongUse;
use crate::progress::Progress;
use crate::token_file;
use anyhow::Result;
use experiments::{Link, RemoteDirectory};
use instrument::experiment::Experiment;
use instrument::given::{Given, Givens, Taken};
use instrument::quantity::{BytesPerSecond, Nanoseconds};
use platform::scratch::Scratch;
use platform::signal::Interrupt;

/// Checks that at least one of the chosen experiments takes each thing that the user named.
///
/// # Errors
/// [`WrongUse`] with a command that uses the first that none takes.
pub fn check(arguments: &Arguments, chosen: &[&dyn Experiment]) -> Result<(), WrongUse> {
    check_one::<Link>(arguments.to.is_some(), chosen)?;
    check_one::<RemoteDirectory>(arguments.remote.is_some(), chosen)
}

fn check_one<G: Given>(is_named: bool, chosen: &[&dyn Experiment]) -> Result<(), WrongUse> {
    let takes_it = |experiment: &&dyn Experiment| experiment.takes().contains(&G::TAKEN);
    if !is_named || chosen.iter().any(takes_it) {
        return Ok(());
    }
    let Taken {
        option,
        purpose,
        example,
        ..
    } = G::TAKEN;
    Err(WrongUse(format!(
        "`{option}` {purpose}, and that is not to be measured: `{example}`"
    )))
}

/// The things that the user named, and the scratch directory on another machine among them, which
/// `scratch` remembers.
///
/// # Errors
/// If that directory cannot be made.
pub fn take(
    arguments: &Arguments,
    scratch: &Scratch,
    interrupt: Interrupt,
    progress: &Progress,
) -> Result<(Givens, Option<Scratch>)> {
    let mut given = Givens::default();
    let remote = arguments.remote.as_deref();
    let remote = remote.map(|there| scratch.create_elsewhere(there));
    let remote = remote.transpose()?;
    if let Some(remote) = &remote {
        given.add(Ok(RemoteDirectory(remote.path().to_owned())));
    }
    if let Some(address) = arguments.to.as_deref() {
        if let Some(path) = arguments.token_file.as_deref() {
            // The link says what is wrong with it.
            let _ = token_file::read(path);
        }
        let link = experiments::link(address, arguments.token_file.as_deref(), interrupt.flag());
        if let Ok(link) = &link {
            progress.say(&format!(
                "to {address}: a round trip takes {:.3}, a file goes at {:.3}",
                Nanoseconds::from(link.round_trip),
                BytesPerSecond(link.bytes_per_second)
            ));
        }
        given.add(link);
    }
    Ok((given, remote))
}
