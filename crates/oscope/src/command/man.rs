//! `oscope man` and `oscope completions`: manual pages and completion scripts for shells, generated from
//! the command-line definition.

use crate::arguments::{Arguments, Common, Completions, Man as Asked};
use crate::exit::{Exit, first_error};
use crate::output;
use crate::target::{Replaces, Target, make_directory, refuse_terminal};
use anyhow::Result;
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use files::Watch;

/// `oscope man`.
pub fn execute(arguments: &Asked, common: &Common) -> Result<Exit> {
    let Some(dir) = &arguments.dir else {
        refuse_terminal("a manual page", "name a directory with `--dir DIR`")?;
        output::print(&rendered(&Man::new(Arguments::command()))?)?;
        return Ok(Exit::Done);
    };
    make_directory(dir)?;
    let replaces = Replaces::with(arguments.force);
    let mut command = Arguments::command().disable_help_subcommand(true);
    command.build();
    // Checks that all pages can be written before it writes the first.
    let targets = pages(command)
        .into_iter()
        .map(|page| {
            let target = Target::new(&dir.join(page.get_filename()), replaces, common)?;
            Ok((target, rendered(&page)?))
        })
        .collect::<Result<Vec<_>>>()?;
    let written = targets
        .iter()
        .map(|(target, page)| target.write(page, &Watch::default()));
    first_error(written)?;
    Ok(Exit::Done)
}

/// The pages of a command and its subcommands.
fn pages(command: Command) -> Vec<Man> {
    let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
    let mut all: Vec<Man> = shown.cloned().flat_map(pages).collect();
    all.push(Man::new(command));
    all
}

fn rendered(page: &Man) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    page.render(&mut text)?;
    Ok(text)
}

/// `oscope completions`.
pub fn completions(arguments: &Completions) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut Arguments::command(),
        "oscope",
        &mut script,
    );
    output::print(&script)?;
    Ok(Exit::Done)
}
