//! `oscope lab start`: predictions, measurements, reasons, and the hand-in.

use super::ask::{Terminal, Unanswered, compared, nobody_to_ask};
use super::measure::{self, LabRuns};
use super::written::Files;
use crate::arguments::Common;
use crate::arguments::lab::Start;
use crate::exit::{Exit, WrongUse, first_error};
use crate::{output, stored};
use anyhow::Result;
use platform::signal::Interrupt;
use record::Run;
use report::lab::{Answers, HandIn, Lab, Sides, Student, template};
use report::show;

pub fn execute(arguments: &Start, common: &Common) -> Result<Exit> {
    let lab = super::find(&arguments.name)?;
    if arguments.questions {
        output::show(&template(lab))?;
        return Ok(Exit::Done);
    }
    let interrupt = Interrupt::install()?;
    let mut answers = answers(lab, arguments)?;
    let terminal = Terminal::open(interrupt)?;
    match done(lab, arguments, terminal.as_ref(), &mut answers, common) {
        Err(error) => match error.downcast_ref::<Unanswered>() {
            Some(Unanswered::Stopped(signal)) => Ok(Exit::Stopped(*signal)),
            _ => Err(error),
        },
        done => done,
    }
}

/// The answers of the file and of the command line.
fn answers(lab: &'static Lab, arguments: &Start) -> Result<Answers> {
    let mut answers = Answers::default();
    let wrong = |error: report::lab::AnswersError| WrongUse(error.to_string());
    if let Some(path) = &arguments.answers {
        let text = stored::text_of(path)?;
        answers = Answers::read(lab, &text)
            .map_err(|error| WrongUse(format!("{}: {error}", path.display())))?;
    }
    for answer in &arguments.answer {
        let (key, value) = answer
            .split_once('=')
            .ok_or_else(|| WrongUse(format!("'{answer}' is not KEY=VALUE")))?;
        answers.add(lab, key.trim(), value.trim()).map_err(wrong)?;
    }
    if let Some(student) = &arguments.student {
        answers.student = Some(student.clone());
    }
    Ok(answers)
}

fn done(
    lab: &'static Lab,
    arguments: &Start,
    terminal: Option<&Terminal>,
    answers: &mut Answers,
    common: &Common,
) -> Result<Exit> {
    match terminal {
        Some(terminal) => terminal.name(lab, answers)?,
        None if answers.student.is_none() || !answers.missing(lab).is_empty() => {
            return Err(nobody_to_ask(lab, answers).into());
        }
        None => {}
    }
    let name = answers.student.clone().unwrap_or_default();
    let files = Files::new(lab, &name, arguments, common)?;
    // No question is answered in vain: the runs are read, or their store is opened, before the first.
    let named = measure::named(lab, arguments, common)?;
    if let Some(terminal) = terminal {
        terminal.predictions(lab, answers)?;
    }
    let measured = match named {
        Some(named) => named,
        None => measure::anew(lab, arguments, common)?,
    };
    if let Exit::Stopped(_) = measured.exit {
        return Ok(measured.exit);
    }
    let student = student(name, &measured);
    let results: Vec<_> = measured.here.iter().flat_map(Run::results).collect();
    let first = measured.first.as_ref().map(Run::results);
    let sides = Sides::new(&results, first.as_deref());
    let hand_in = HandIn::new(lab, answers, &sides, student.clone());
    match terminal {
        Some(terminal) => {
            let asked = terminal.reasons(lab, &hand_in, answers);
            if asked.is_err() && arguments.of.is_empty() {
                measure::say_how_to_continue(lab, &measured.here);
            }
            asked?;
        }
        None if common.quiet || common.json => {}
        None => {
            let answers = hand_in.answers.iter();
            answers.for_each(|answer| output::say_text(&compared(answer)));
        }
    }
    let hand_in = HandIn::new(lab, answers, &sides, student);
    let written = files.write(&hand_in, &results, common);
    let shown = if common.json {
        output::show_json(&hand_in)
    } else {
        Ok(())
    };
    first_error([written, shown])?;
    Ok(measured.exit)
}

fn student(name: String, measured: &LabRuns) -> Student {
    let newest = measured.here.first();
    let runs: Vec<&Run> = measured.first.iter().chain(&measured.here).collect();
    Student {
        name,
        machine: newest.map(show::machine).unwrap_or_default(),
        first_machine: measured.first.as_ref().map(show::machine),
        runs: runs.iter().map(|run| run.header.id.clone()).collect(),
        measured: newest.map_or_else(String::new, |run| show::moment(run.header.started)),
    }
}
