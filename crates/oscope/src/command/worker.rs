//! `oscope worker`: takes one batch of samples for the program that started it.

use crate::exit::Exit;
use anyhow::Result;
use instrument::runner;

pub fn execute() -> Result<Exit> {
    let experiments: Vec<_> = experiments::all().collect();
    runner::serve(
        &experiments,
        std::io::stdin().lock(),
        std::io::stdout().lock(),
    )?;
    Ok(Exit::Done)
}
