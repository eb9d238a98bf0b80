//! The commands, one module each.

mod ab;
mod advise;
mod author_program;
mod browser;
mod claims;
mod compare;
mod delete;
mod doctor;
mod export;
mod file;
mod fleet;
mod glance;
mod history;
mod lab;
mod list;
mod live;
mod man;
mod new_run;
mod plot;
mod receive;
mod reference;
mod report;
mod reproduce;
pub mod resume;
mod run;
mod run_page;
mod send;
mod show;
mod transfer;
mod trial;

use crate::arguments::{Arguments, Command, Worker};
use crate::exit::Exit;
use crate::{kernel_settings, output};
use anyhow::Result;
use instrument::runner;
use platform::signal::Signal;

/// Executes the command.
pub fn execute(arguments: Arguments) -> Result<Exit> {
    let Arguments { command, common } = arguments;
    let command = command.unwrap_or_else(Command::usual);
    // `cleanup` reports it on standard output.
    if !matches!(command, Command::Cleanup(_))
        && let Some(recovered) = kernel_settings::recover()
    {
        output::say(&format!("oscope: {}", recovered.sentence));
    }
    let ends_in_order = works_on_stored_runs(&command);
    if ends_in_order {
        platform::signal::ignore_sigpipe();
    }
    let done = match command {
        Command::Run(arguments) => run::execute(&arguments, &common),
        Command::Glance(arguments) => glance::execute(&arguments, &common),
        Command::List(arguments) => list::execute(&arguments, &common),
        Command::Explain(arguments) => list::explain(&arguments, &common),
        Command::Advise(arguments) => advise::execute(&arguments, &common),
        Command::Claims(arguments) => claims::execute(&arguments, &common),
        Command::Reproduce(arguments) => reproduce::execute(&arguments, &common),
        Command::Lab(arguments) => lab::execute(&arguments, &common),
        Command::Show(arguments) => show::execute(&arguments, &common),
        Command::History(arguments) => history::execute(&arguments, &common),
        Command::Card(arguments) => plot::card(&arguments, &common),
        Command::Plot(arguments) => plot::execute(&arguments, &common),
        Command::Report(arguments) => report::execute(&arguments, &common),
        Command::Export(arguments) => export::execute(&arguments, &common),
        Command::Import(arguments) => export::import(&arguments, &common),
        Command::Verify(arguments) => delete::verify(&arguments, &common),
        Command::Delete(arguments) => delete::execute(&arguments, &common),
        Command::Cleanup(arguments) => delete::cleanup(&arguments, &common),
        Command::Compare(arguments) => compare::execute(&arguments, &common),
        Command::Fleet(arguments) => fleet::execute(&arguments, &common),
        Command::Ab(arguments) => ab::execute(&arguments, &common),
        Command::Reference(arguments) => reference::execute(&arguments, &common),
        Command::Doctor(arguments) => doctor::execute(&arguments, &common),
        Command::File(arguments) => file::execute(&arguments, &common),
        Command::Send(arguments) => send::execute(&arguments, &common),
        Command::Receive(arguments) => receive::execute(&arguments, &common),
        Command::Token(arguments) => transfer::token(&arguments),
        Command::Completions(arguments) => man::completions(&arguments),
        Command::Man(arguments) => man::execute(&arguments, &common),
    };
    match done {
        Ok(Exit::Done | Exit::Incomplete) if ends_in_order && output::has_no_reader() => {
            Ok(Exit::Stopped(Signal::ClosedPipe))
        }
        done => done,
    }
}

/// Takes the batches of samples that the parent process asks for.
pub fn work(arguments: &Worker) -> Result<Exit> {
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

/// True if the command only works on stored runs. It then ends in order when its output has no reader: a process that
/// is killed leaves the log of its store behind.
fn works_on_stored_runs(command: &Command) -> bool {
    match command {
        Command::Advise(arguments) => arguments.attempt.is_none(),
        Command::Claims(_)
        | Command::Show(_)
        | Command::History(_)
        | Command::Card(_)
        | Command::Plot(_)
        | Command::Report(_)
        | Command::Export(_)
        | Command::Import(_)
        | Command::Verify(_)
        | Command::Delete(_)
        | Command::Reference(_)
        | Command::Compare(_) => true,
        _ => false,
    }
}
