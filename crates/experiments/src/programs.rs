//! The programs of the reports, as their authors ran them, and the commands that do the same here.

use std::sync::LazyLock;

/// A program of a report with the parameters of its author.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The report's letter.
    pub report: &'static str,
    /// Its place in the report.
    pub place: &'static str,
    /// The program as it was run, or the listing.
    pub program: &'static str,
    /// The arguments of `oscope` that do the same. `FILE` and `DIR` are names of the user's.
    pub command: &'static str,
    /// The experiment that measures the same.
    pub experiment: &'static str,
}

/// All of them, report by report: a line of `programs.txt` each, with a column for each field.
pub static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| {
    let program = |line: &'static str| {
        let columns: Vec<_> = line.split(" | ").collect();
        let columns = columns.try_into();
        let [report, place, program, command, experiment]: [&str; 5] =
            columns.expect("each line has five columns");
        Program {
            report,
            place,
            program,
            command,
            experiment,
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
