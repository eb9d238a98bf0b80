//! The command line of `oscope ab`.

use super::run::parse_budget;
use super::stored::{FailOn, parse_percent};
use clap::Args;
use instrument::point::Point;
use instrument::quantity::Nanoseconds;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope ab -- 'sort big.txt' 'sort -S1G big.txt'
  oscope ab --prepare 'sync' -- 'cp -r tree copy1' 'cp -r tree copy2'
  oscope ab --parameter level=1,3,9 -- 'gzip -{level} -c big.txt'
  oscope ab process.calls --vary dir=/mnt/a,/mnt/b
  oscope ab memory.latency --vary pages=base,huge --at working_set=64MiB
  oscope ab memory --vary sysfs:/sys/kernel/mm/transparent_hugepage/enabled=always,never
  oscope ab --fail-on slower --budget 1min --export-json times.json -- ./before ./after

Exit code 3: what --fail-on names was found")]
pub struct Ab {
    /// The commands; each is compared with the first. With `--vary`: experiments or groups
    #[arg(value_name = "COMMAND", required = true)]
    pub commands: Vec<String>,
    #[command(flatten)]
    pub variation: Variation,
    #[command(flatten)]
    pub programs: Programs,
    #[command(flatten)]
    pub pace: Pace,
    #[command(flatten)]
    pub results: Results,
}

// The difference between the measurements of an experiment.
#[derive(Args, Debug)]
pub struct Variation {
    /// Measure experiments with each value in turn: of `dir` (scratch directories), `env:NAME`
    /// (environment of the measuring processes), `sysfs:PATH` (a kernel setting, as root; restored
    /// at the end) or an axis of the experiment
    #[arg(long, value_name = "KEY=A,B,…", conflicts_with_all = [
        "names", "parameters", "prepare", "conclude", "setup", "cleanup", "shell", "no_shell",
        "input", "output", "ignore_failure", "export_json", "export_csv", "export_markdown", "force",
    ])]
    pub vary: Option<Vary>,
    /// Only points with this level; can be repeated
    #[arg(long, value_name = "AXIS=LEVEL", requires = "vary", value_parser = parse_level)]
    pub at: Vec<(String, String)>,
    /// Directory for the scratch files of `--vary`
    #[arg(long, value_name = "DIR", default_value = ".", requires = "vary")]
    pub dir: PathBuf,
}

// The programs and their surroundings.
#[derive(Args, Debug)]
pub struct Programs {
    /// Name of a command, in the order of the commands; can be repeated
    #[arg(
        long = "name",
        short = 'n',
        alias = "command-name",
        value_name = "NAME"
    )]
    pub names: Vec<String>,
    /// Replace {NAME} in the commands by each value in turn; can be repeated, for other names
    #[arg(long = "parameter", value_name = "NAME=A,B,…", value_parser = parse_parameter)]
    pub parameters: Vec<(String, Vec<String>)>,
    /// Command before each run, not timed; one for all, or one for each command
    #[arg(long, short = 'p', value_name = "COMMAND")]
    pub prepare: Vec<String>,
    /// Command after each run, not timed; one for all, or one for each command
    #[arg(long, short = 'C', value_name = "COMMAND")]
    pub conclude: Vec<String>,
    /// Command once for each command before the first run
    #[arg(long, short = 's', value_name = "COMMAND")]
    pub setup: Option<String>,
    /// Command once for each command after all runs, also after an error or Ctrl-C
    #[arg(long, short = 'c', value_name = "COMMAND")]
    pub cleanup: Option<String>,
    /// Shell that runs the commands, or `none` [default: `sh` for all if one needs a shell, for its
    /// pipes, variables or patterns; else none, and the programs are started directly]
    #[arg(long, short = 'S', value_name = "SHELL")]
    pub shell: Option<String>,
    /// The same as `--shell none`
    #[arg(short = 'N', conflicts_with = "shell")]
    pub no_shell: bool,
    /// Standard input of each run: `null` or a file
    #[arg(long, value_name = "FILE", default_value = "null")]
    pub input: PathBuf,
    /// Standard output of each run: `null`, `pipe` (read and thrown away), `inherit` (to standard error if `--json` or
    /// an export is on standard output) or a file
    #[arg(long, value_name = "WHERE", default_value = "null")]
    pub output: PathBuf,
    /// Continue if a command fails with one of these exit codes, or with any; a signal counts as 128 + its number
    #[arg(long, short = 'i', value_name = "CODES", num_args = 0..=1, require_equals = true,
          default_missing_value = "all", value_parser = parse_codes)]
    pub ignore_failure: Option<Codes>,
}

// Duration of the comparison.
#[derive(Args, Debug)]
pub struct Pace {
    /// Runs of each command before the first that counts
    #[arg(long, short = 'w', value_name = "N", default_value = "1")]
    pub warmup: usize,
    /// Margin within which commands are called equivalent
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = parse_percent)]
    pub margin: f64,
    /// Time for all runs after the warm-up, such as `10s` or `5min` [default: 30 s, or 12 runs of each
    /// if that is longer]
    #[arg(long, value_name = "TIME", value_parser = parse_budget)]
    pub budget: Option<Nanoseconds>,
    /// Runs of each command before the comparison may stop as decided: more give a narrower interval
    #[arg(long, short = 'm', value_name = "N", default_value = "0")]
    pub min_runs: usize,
    /// Largest number of runs of each command
    #[arg(long, short = 'M', value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub max_runs: Option<u64>,
    /// Exact number of runs of each command, if the time allows
    #[arg(long, short = 'r', value_name = "N", conflicts_with_all = ["min_runs", "max_runs"],
          value_parser = clap::value_parser!(u64).range(1..))]
    pub runs: Option<u64>,
    /// Seed of the order of the runs [default: random]
    #[arg(long)]
    pub seed: Option<u64>,
}

// Use of the results.
#[derive(Args, Debug)]
pub struct Results {
    /// End with exit code 3 if a command has this verdict against the first
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub fail_on: Option<FailOn>,
    /// Write the times of all runs as hyperfine does, for its scripts
    #[arg(long, value_name = "FILE")]
    pub export_json: Option<PathBuf>,
    /// Write a line of CSV for each command, as hyperfine does
    #[arg(long, value_name = "FILE")]
    pub export_csv: Option<PathBuf>,
    /// Write a table in Markdown
    #[arg(long, value_name = "FILE")]
    pub export_markdown: Option<PathBuf>,
    /// Overwrite existing files that `--output` and `--export-…` name
    #[arg(long)]
    pub force: bool,
}

/// The exit codes of failures that do not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Codes {
    All,
    These(Vec<i32>),
}

fn parse_codes(text: &str) -> Result<Codes, String> {
    if ["all", "all-non-zero"].contains(&text) {
        return Ok(Codes::All);
    }
    let codes = text.split(',').map(|code| code.trim().parse());
    let codes: Result<_, _> = codes.collect();
    codes
        .map(Codes::These)
        .map_err(|_| "exit codes are numbers joined by commas, or `all`".into())
}

fn parse_parameter(text: &str) -> Result<(String, Vec<String>), String> {
    match text.split_once('=') {
        Some((name, values)) if !name.is_empty() && !values.is_empty() => Ok((
            name.to_owned(),
            values.split(',').map(str::to_owned).collect(),
        )),
        _ => Err("a parameter is NAME=A,B,…, as in threads=1,2,4".into()),
    }
}

fn parse_level(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((axis, level)) if !axis.is_empty() && !level.is_empty() => {
            Ok((axis.to_owned(), level.to_owned()))
        }
        _ => Err("a level is AXIS=LEVEL, as in pages=huge".into()),
    }
}

/// The thing that varies, and its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vary {
    pub varied: Varied,
    /// Two or more, no two of them equal. The first is what the others are held against.
    pub values: Vec<String>,
}

/// The thing that varies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Varied {
    /// The directory of the scratch files.
    Directory,
    /// A variable in the environment of the measuring processes.
    Environment(String),
    /// A setting of the kernel, by its path.
    Setting(String),
    /// An axis of the experiment.
    Axis(String),
    /// The setting that a trial of `oscope advise` is about: its name, and the two points.
    Trial(String, [Point; 2]),
}

impl Vary {
    /// The thing that varies, as the command line names it.
    pub fn key(&self) -> String {
        match &self.varied {
            Varied::Directory => "dir".into(),
            Varied::Environment(name) => format!("env:{name}"),
            Varied::Setting(path) => format!("sysfs:{path}"),
            Varied::Axis(name) | Varied::Trial(name, _) => name.clone(),
        }
    }
}

impl FromStr for Vary {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, values) = text
            .split_once('=')
            .ok_or("what varies is KEY=A,B,…, as in dir=/mnt/a,/mnt/b or pages=base,huge")?;
        let varied = match key.split_once(':') {
            _ if key == "dir" => Varied::Directory,
            Some(("env", name)) if !name.is_empty() => Varied::Environment(name.into()),
            Some(("sysfs", path)) if path.starts_with('/') => Varied::Setting(path.into()),
            None if !key.is_empty() => Varied::Axis(key.into()),
            _ => {
                return Err(format!(
                    "'{key}' cannot vary: name `dir`, `env:NAME`, `sysfs:/PATH` or an axis"
                ));
            }
        };
        let values: Vec<String> = values.split(',').map(str::to_owned).collect();
        let is_environment = matches!(varied, Varied::Environment(_));
        if !is_environment && values.iter().any(String::is_empty) {
            return Err(format!("a value of '{key}' is empty"));
        }
        let is_repeated = |(index, value)| values[..index].contains(value);
        if values.iter().enumerate().any(is_repeated) {
            return Err(format!("a value of '{key}' is named twice"));
        }
        if values.len() < 2 {
            return Err(format!("a comparison takes two values of '{key}' or more"));
        }
        Ok(Self { varied, values })
    }
}

#[cfg(test)]
mod tests {
    use super::{Codes, Varied, Vary, parse_codes, parse_parameter};

    #[test]
    fn a_parameter_has_a_name_and_values() {
        let expected = ("n".to_owned(), vec!["1".to_owned(), "a=b".to_owned()]);
        assert_eq!(parse_parameter("n=1,a=b"), Ok(expected));
        for wrong in ["n", "=1", "n="] {
            assert!(parse_parameter(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn exit_codes_are_all_or_a_list() {
        assert_eq!(parse_codes("all"), Ok(Codes::All));
        assert_eq!(parse_codes("1, 2"), Ok(Codes::These(vec![1, 2])));
        assert!(parse_codes("one").is_err());
    }

    #[test]
    fn the_key_says_what_varies() {
        let path = "/proc/sys/vm/swappiness";
        for (text, varied, values) in [
            ("dir=a,b", Varied::Directory, ["a", "b"]),
            (
                "pages=base,huge",
                Varied::Axis("pages".into()),
                ["base", "huge"],
            ),
            ("env:A=,1", Varied::Environment("A".into()), ["", "1"]),
            (
                &format!("sysfs:{path}=1,2"),
                Varied::Setting(path.into()),
                ["1", "2"],
            ),
        ] {
            let values = values.map(str::to_owned).into();
            assert_eq!(text.parse(), Ok(Vary { varied, values }));
        }
        for wrong in [
            "dir",
            "dir=a",
            "dir=a,a",
            "dir=a,",
            "=a,b",
            "env:=a,b",
            "sysfs:x=1,2",
            "x:y=1,2",
        ] {
            assert!(wrong.parse::<Vary>().is_err(), "{wrong}");
        }
    }
}
