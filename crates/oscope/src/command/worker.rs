//! `oscope worker`: takes one batch of samples for its parent process.

use crate::arguments::Worker;
use crate::exit::Exit;
use anyhow::Result;
use instrument::runner;

pub fn execute(arguments: &Worker) -> Result<Exit> {
    if arguments.spare_caches {
        files::cache::spare_caches();
    }
    #[cfg(feature = "extra-work")]
    instrument::extra_work::set(arguments.extra_work);
    let experiments: Vec<_> = experiments::all().collect();
    runner::serve(
        &experiments,
        std::io::stdin().lock(),
        std::io::stdout().lock(),
    )?;
    Ok(Exit::Done)
}
