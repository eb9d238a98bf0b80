//! `oscope reference`: the machines that runs are compared with if they are of one kind.

use crate::arguments::Common;
use crate::arguments::reference::{Add, Command};
use crate::exit::Exit;
use crate::target::{Replaces, Target, make_directory};
use crate::{machines, output, sanitise, stored, style};
use anyhow::{Context, Result};
use files::Watch;
use record::Redactor;
use report::machines::{Located, ReferenceMachine};
use report::{Analysis, json, view};

pub fn execute(command: &Command, common: &Common) -> Result<Exit> {
    match command {
        Command::Add(arguments) => add(arguments, common),
        Command::List => list(common),
    }
}

fn add(arguments: &Add, common: &Common) -> Result<Exit> {
    let run = stored::run_as_it_is(common, &arguments.run)?;
    let fingerprint = run.header.machine_fingerprint.clone();
    // Marks of its own: nothing connects references that come from one store.
    let redactor = Redactor::draw().context("the system gives no random numbers")?;
    let run = sanitise::run(redactor.run(run))?;
    let machine = ReferenceMachine::of(&Analysis::new(&run), &fingerprint)?;
    let folder = machines::folder(common)?;
    make_directory(&folder)?;
    let file = folder.join(machine.file_name());
    let target = Target::new(&file, Replaces::with(arguments.force), common)?;
    target.write(output::json(&machine)?.as_bytes(), &Watch::default())?;
    let file = Some(file);
    show(&[Located { file, machine }], common)
}

fn list(common: &Common) -> Result<Exit> {
    let shipped = report::machines::shipped().iter().map(|machine| Located {
        file: None,
        machine: machine.clone(),
    });
    let all: Vec<Located> = shipped.chain(machines::all(common)?).collect();
    show(&all, common)
}

fn show(machines: &[Located], common: &Common) -> Result<Exit> {
    style::show(
        common,
        || json::entries(machines),
        || view::machines(machines),
    )?;
    Ok(Exit::Done)
}
