//! Exit codes.

use crate::output;
use anyhow::Result;
use platform::process;
use platform::signal::Signal;
use std::process::ExitCode;

/// The outcome of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// Something could not be measured or done.
    Incomplete,
    /// Wrong use.
    WrongUse,
    /// A comparison found a verdict that `--fail-on` names, or a node is slower than its fleet.
    Found,
    /// Stopped by a signal.
    Stopped(Signal),
}

impl Exit {
    /// The outcome of a comparison.
    pub const fn found_if(is_found: bool) -> Self {
        if is_found { Self::Found } else { Self::Done }
    }

    /// The outcome of work that is over.
    pub const fn incomplete_if(is_incomplete: bool) -> Self {
        if is_incomplete {
            Self::Incomplete
        } else {
            Self::Done
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Incomplete => 1,
            Exit::WrongUse => 2,
            Exit::Found => 3,
            // The shells' convention for programs that a signal ended.
            Exit::Stopped(signal) => 128 + signal.number() as u8,
        })
    }
}

/// A request for something that does not exist or makes no sense.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct WrongUse(pub String);

/// Returns a [`WrongUse`] with a formatted sentence, as `anyhow::bail` does with other errors.
macro_rules! refuse {
    ($($sentence:tt)*) => {
        return Err($crate::exit::WrongUse(format!($($sentence)*)).into())
    };
}
pub(crate) use refuse;

impl From<clap::Error> for WrongUse {
    /// The first line: the others explain a command line that the user did not write.
    fn from(error: clap::Error) -> Self {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        Self(first.trim_start_matches("error: ").to_owned())
    }
}

/// Wrong use of a name, and those that would do.
#[derive(Debug, thiserror::Error)]
#[error("{sentence}")]
pub struct Choice {
    /// What was wrong.
    pub sentence: String,
    /// The names that would do, each for a separate line.
    pub offered: Vec<String>,
}

/// An error with its causes, in one line. Many messages already contain their cause, which is then
/// not repeated.
pub fn words(error: &anyhow::Error) -> String {
    let mut words = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if words.is_empty() {
            words = cause;
        } else if !words.contains(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    words
}

/// The first error of steps that do not depend on each other. Prints the others, unless they are the same.
pub fn first_error(steps: impl IntoIterator<Item = Result<()>>) -> Result<()> {
    let mut errors = steps.into_iter().filter_map(Result::err);
    let Some(first) = errors.next() else {
        return Ok(());
    };
    let mut said = vec![words(&first)];
    for other in errors.map(|error| words(&error)) {
        if !said.contains(&other) {
            output::say(&format!("oscope: {other}"));
            said.push(other);
        }
    }
    Err(first)
}

/// The exit code of another program, as shells report it: 128 plus the number of a signal that ended it.
pub fn code_of(exit: process::Exit) -> i32 {
    match exit {
        process::Exit::Code(code) => code,
        process::Exit::Signal(number) => 128 + number,
    }
}

/// The exit code of an error.
pub fn of_error(error: &anyhow::Error) -> Exit {
    if error.is::<WrongUse>() || error.is::<Choice>() {
        Exit::WrongUse
    } else {
        Exit::Incomplete
    }
}

#[cfg(test)]
mod tests {
    use super::words;
    use anyhow::Context;
    use std::io;

    #[derive(Debug, thiserror::Error)]
    #[error("cannot open it: {0}")]
    struct Named(#[source] io::Error);

    #[derive(Debug, thiserror::Error)]
    #[error("{0}; another way works")]
    struct WithAdvice(#[source] io::Error);

    #[test]
    fn a_cause_that_is_named_already_is_not_repeated() {
        let error = || io::Error::other("it is gone");
        let line = anyhow::Error::from(Named(error()));
        assert_eq!(words(&line), "cannot open it: it is gone");
        let line = anyhow::Error::from(WithAdvice(error()));
        assert_eq!(words(&line), "it is gone; another way works");
        let context = Err::<(), _>(error()).context("no page").unwrap_err();
        assert_eq!(words(&context), "no page: it is gone");
    }
}
