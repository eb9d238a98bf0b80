//! Questions on the terminal.

use crate::exit::WrongUse;
use crate::output;
use anyhow::{Context, Result};
use platform::signal::{Interrupt, Signal};
use report::lab::{Answered, Answers, HandIn, Lab, hint};
use std::fmt::Write as _;
use std::io::{self, BufRead, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time between two checks of the stop flag while a question waits.
const STOP_CHECK: Duration = Duration::from_millis(50);
/// Key of the student's name in answers.
const STUDENT: &str = "student";

/// The lines that a user types.
pub struct Terminal {
    lines: Receiver<io::Result<String>>,
    interrupt: Interrupt,
}

/// The reason why a question got no answer.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// The user stopped it.
    #[error("stopped by {0}")]
    Stopped(Signal),
    /// Standard input ended.
    #[error("the answers ended before the questions")]
    Ended,
}

impl Terminal {
    /// The terminal on standard input; none if there is none.
    ///
    /// # Errors
    /// If no thread can be started that reads from it.
    pub fn open(interrupt: Interrupt) -> Result<Option<Self>> {
        if !(io::stdin().is_terminal() && io::stderr().is_terminal()) {
            return Ok(None);
        }
        // Another thread reads, since a signal does not interrupt a read.
        let (sender, lines) = channel();
        let read = move || {
            for line in io::stdin().lock().lines() {
                if sender.send(line).is_err() {
                    return;
                }
            }
        };
        let started = thread::Builder::new().spawn(read);
        started.context("cannot start the thread that reads answers")?;
        Ok(Some(Self { lines, interrupt }))
    }

    /// The next line.
    fn line(&self) -> Result<String, Unanswered> {
        loop {
            if let Some(signal) = self.interrupt.signal() {
                return Err(Unanswered::Stopped(signal));
            }
            match self.lines.recv_timeout(STOP_CHECK) {
                Ok(Ok(line)) => return Ok(line.trim().to_owned()),
                Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => return Err(Unanswered::Ended),
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    /// Asks for the name, if it is missing.
    pub fn name(&self, lab: &'static Lab, answers: &mut Answers) -> Result<(), Unanswered> {
        output::say_text(&format!("{}\n\n{}", lab.title, lab.about));
        while answers.student.is_none() {
            output::say_text("\nYour name, for the hand-in:");
            self.answer(lab, STUDENT, answers)?;
        }
        Ok(())
    }

    /// Asks for each missing prediction until the answer can be parsed.
    pub fn predictions(&self, lab: &'static Lab, answers: &mut Answers) -> Result<(), Unanswered> {
        for (index, question) in answers.missing(lab).into_iter().enumerate() {
            output::say_text(&format!(
                "\n{}. {}\n   ({})",
                index + 1,
                question.asks,
                hint(question)
            ));
            while !answers.predictions.contains_key(question.key.as_str()) {
                self.answer(lab, &question.key, answers)?;
            }
        }
        Ok(())
    }

    /// Shows each measurement and asks for its reason.
    pub fn reasons(
        &self,
        lab: &'static Lab,
        hand_in: &HandIn,
        answers: &mut Answers,
    ) -> Result<(), Unanswered> {
        for answer in &hand_in.answers {
            output::say_text(&compared(answer));
            let is_answered = answers.reasons.keys().any(|key| *key == answer.key);
            if !is_answered {
                output::say(&format!("   {} (Enter leaves it open)", answer.why_asked));
                self.answer(lab, &format!("{}.why", answer.key), answers)?;
            }
        }
        Ok(())
    }

    fn answer(
        &self,
        lab: &'static Lab,
        key: &str,
        answers: &mut Answers,
    ) -> Result<(), Unanswered> {
        let line = self.line()?;
        if let Err(error) = answers.add(lab, key, &line) {
            output::say(&format!("   {error}"));
        }
        Ok(())
    }
}

/// A prediction next to its measurement and the reports, for the terminal.
pub fn compared(answer: &Answered) -> String {
    let mut text = format!(
        "\n{}\n   predicted  {}\n   measured   {}\n              {}",
        answer.asks,
        answer.prediction.show(answer.unit),
        answer.measured.show(),
        answer.verdict()
    );
    for reported in &answer.reported {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n   {}: {}", reported.place, reported.says);
    }
    text
}

/// The error if answers are missing and there is no terminal to ask.
pub fn nobody_to_ask(lab: &'static Lab, answers: &Answers) -> WrongUse {
    let missing = answers.missing(lab).into_iter().map(|it| it.key.as_str());
    let name = answers.student.is_none().then_some(STUDENT);
    let missing: Vec<&str> = name.into_iter().chain(missing).collect();
    WrongUse(format!(
        "there is no terminal to ask for: {}. `oscope lab start {} --questions` prints the questions as a \
         file to fill in, for `--answers`",
        missing.join(", "),
        lab.name
    ))
}
