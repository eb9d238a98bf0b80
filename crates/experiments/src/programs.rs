//! The programs of the reports, as their authors ran them, and the commands that do the same here.

use std::ffi::{OsStr, OsString};
use std::sync::LazyLock;

/// A program of a report.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The report's letter.
    pub report: &'static str,
    /// Its place in the report.
    pub place: &'static str,
    /// Its words, or the listing. `NAME=value` is an argument with its author's value.
    words: &'static str,
    /// The arguments of `oscope` that do the same, with the names of the program's arguments. `FILE` and `DIR` are
    /// names of the user's.
    command: &'static str,
    /// The experiment that measures the same.
    pub experiment: &'static str,
    /// What a call prints: a name in braces for each value, and a line after each semicolon; what the command prints
    /// if it is empty. `None`: the program cannot be called.
    pub printed: Option<&'static str>,
}

/// All of them, report by report: a line of `programs.txt` each, with a column for each field.
pub static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| {
    let program = |line: &'static str| {
        let mut columns = line.split('|').map(str::trim);
        let mut column = || columns.next().expect("each line has five columns");
        Program {
            report: column(),
            place: column(),
            words: column(),
            command: column(),
            experiment: column(),
            printed: columns.next(),
        }
    };
    include_str!("programs.txt").lines().map(program).collect()
});

/// The programs that an experiment measures again.
pub fn programs(experiment: &str) -> impl Iterator<Item = &'static Program> {
    PROGRAMS
        .iter()
        .filter(move |it| it.experiment == experiment)
}

impl Program {
    /// The program as its author ran it, or the listing.
    pub fn run(&self) -> String {
        let values = self.arguments().map(|(_, value)| value);
        values.collect::<Vec<_>>().join(" ")
    }

    /// How the program is called; the words in capital letters are the caller's.
    pub fn usage(&self) -> String {
        let names = self.arguments().map(|(name, _)| name);
        names.collect::<Vec<_>>().join(" ")
    }

    /// The arguments of `oscope` that do what the author did, as typed in a shell.
    pub fn command(&self) -> String {
        let arguments: Vec<_> = self.arguments().collect();
        let words = self.command.split(' ').map(|word| filled(word, &arguments));
        let words: Vec<_> = words.collect();
        words.join(OsStr::new(" ")).to_string_lossy().into_owned()
    }

    /// The arguments of `oscope` that do the same as a call of the program; `None` if it is called otherwise.
    pub fn called(&self, call: &[OsString]) -> Option<Vec<OsString>> {
        let arguments: Vec<_> = self.arguments().map(|(name, _)| name).zip(call).collect();
        let is_alike = |(name, given): &(&str, &OsString)| is_variable(name) || given == name;
        if self.arguments().count() != call.len() || !arguments.iter().all(is_alike) {
            return None;
        }
        let words = shlex::split(self.command)?;
        Some(words.iter().map(|word| filled(word, &arguments)).collect())
    }

    /// Name and author's value of each word; a word that is no variable is its own value.
    fn arguments(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let words = self.words.split(' ');
        words.map(|word| word.split_once('=').unwrap_or((word, word)))
    }
}

/// True for the name of an argument that the caller chooses.
fn is_variable(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_uppercase())
}

/// A word of a command with the value of the variable that it is, or that follows its `=`.
fn filled(word: &str, arguments: &[(&str, impl AsRef<OsStr>)]) -> OsString {
    let (before, name) = word.split_at(word.rfind('=').map_or(0, |at| at + 1));
    let argument = arguments.iter().find(|(variable, _)| *variable == name);
    let mut filled = OsString::from(before);
    filled.push(argument.map_or(name.as_ref(), |(_, value)| value.as_ref()));
    filled
}

#[cfg(test)]
mod tests {
    use super::{PROGRAMS, is_variable};
    use std::ffi::{OsStr, OsString};

    #[test]
    fn a_call_becomes_a_command_with_the_callers_arguments() {
        for (call, expected) in [
            (
                "run a.iso -r 4096 20",
                Some("file read a.iso --block-size 4096 --count 20"),
            ),
            (
                "sync-vs-async 1 100 2 3",
                Some(
                    "run threads.io --at sweep=preemptive, by length --at io_threads=1 --at length=100 \
                     --at computing_threads=2 --at steps=3",
                ),
            ),
            ("priority-inversion", Some("run threads.inversion")),
            ("run a.iso -x 524288 10000", None),
            ("run a.iso -r 524288", None),
            ("rm a.iso", None),
        ] {
            let call: Vec<OsString> = call.split(' ').map(OsString::from).collect();
            let words = PROGRAMS.iter().find_map(|program| program.called(&call));
            let words = words.map(|it| it.join(OsStr::new(" ")));
            assert_eq!(words.as_deref(), expected.map(OsStr::new), "{call:?}");
        }
    }

    #[test]
    fn a_call_as_by_its_author_becomes_the_command_that_is_shown() {
        for program in PROGRAMS.iter().filter(|it| it.printed.is_some()) {
            let call: Vec<OsString> = program.run().split(' ').map(OsString::from).collect();
            let words = shlex::split(&program.command()).unwrap();
            let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
            assert_eq!(program.called(&call), Some(words));
            let mut names = program.arguments().skip(1).map(|(name, _)| name);
            assert!(names.all(|name| is_variable(name) || name.starts_with('-')));
        }
    }
}
