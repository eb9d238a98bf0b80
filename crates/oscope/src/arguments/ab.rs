//! The command line of `oscope ab`.

use super::Common;
use super::run::parse_budget;
use super::stored::{FailOn, level, parse_level, parse_percent};
use clap::{Args, ColorChoice, ValueEnum};
use instrument::point::{Level, Point};
use instrument::quantity::Nanoseconds;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  oscope ab 'sort big.txt'
  oscope ab -- 'sort big.txt' 'sort -S1G big.txt'
  oscope ab --prepare 'sync' -- 'cp -r tree copy1' 'cp -r tree copy2'
  oscope ab --parameter level=1,3,9 -- 'gzip -{level} -c big.txt'
  oscope ab --timeout 10s --ignore-failure -- './solve --fast' './solve --exact'
  oscope ab process.calls --vary dir=/mnt/a,/mnt/b
  oscope ab process.calls --vary call=getpid,lseek --at optimisation=3
  oscope ab memory --vary sysfs:/sys/kernel/mm/transparent_hugepage/enabled=always,never
  oscope ab --fail-on slower --budget 1min --export-json times.json -- ./before ./after

Exit code 3: what --fail-on names was found")]
pub struct Ab {
    /// The commands; each is compared with the first, and a single one is timed. With `--vary`: experiments or groups
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
        "names", "parameters", "lists", "scans", "prepare", "conclude", "setup", "cleanup", "shell", "no_shell",
        "subtract_shell", "input", "output", "show_output", "ignore_failure", "timeout", "time_unit", "style",
        "no_store", "export_json", "export_csv", "export_markdown", "export_asciidoc", "export_orgmode", "force",
    ])]
    pub vary: Option<Vary>,
    /// Only points with this level; can be repeated
    #[arg(long, value_name = "AXIS=LEVEL", requires = "vary", value_parser = parse_level)]
    pub at: Vec<(String, Level)>,
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
    /// The same as hyperfine has it: replace {NAME} by each of the values, which are separated by commas (`\,` is a
    /// comma in a value); can be repeated
    #[arg(long = "parameter-list", short = 'L', num_args = 2, value_names = ["NAME", "VALUES"],
          action = clap::ArgAction::Append)]
    pub lists: Vec<String>,
    /// Replace {NAME} by each number from MIN to MAX; can be repeated
    #[arg(long = "parameter-scan", short = 'P', num_args = 3, value_names = ["NAME", "MIN", "MAX"],
          allow_negative_numbers = true, action = clap::ArgAction::Append)]
    pub scans: Vec<String>,
    /// Step of `--parameter-scan`, in the order of the scans; may have decimals [default: 1]
    #[arg(
        long = "parameter-step-size",
        short = 'D',
        value_name = "DELTA",
        requires = "scans"
    )]
    pub steps: Vec<String>,
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
    /// Take the start of the shell off every time, as hyperfine does: the median of 50 starts before the first run
    #[arg(long, conflicts_with = "no_shell")]
    pub subtract_shell: bool,
    /// Working directory of the runs and of the commands around them; one for all, or one for each command. With
    /// `--vary` the directory for scratch files
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub dir: Vec<PathBuf>,
    /// Standard input of each run: `null` or a file
    #[arg(long, value_name = "FILE", default_value = "null")]
    pub input: PathBuf,
    /// Standard output of each run: `null`, `pipe` (read and thrown away), `inherit` (to standard error if `--json` or
    /// an export is on standard output) or a file; one for all, or one for each command
    #[arg(long, value_name = "WHERE", default_value = "null")]
    pub output: Vec<PathBuf>,
    /// The same as `--output inherit`
    #[arg(long, conflicts_with = "output")]
    pub show_output: bool,
    /// Continue if a command fails with one of these exit codes, or with any; a signal counts as 128 + its number
    #[arg(long, short = 'i', value_name = "CODES", num_args = 0..=1, require_equals = true,
          default_missing_value = "all", value_parser = parse_codes)]
    pub ignore_failure: Option<Codes>,
    /// End a run that takes longer, such as `500ms` or `10s`. It has failed, with exit code 124. If `--ignore-failure`
    /// allows that, its time does not count and it is repeated
    #[arg(long, value_name = "TIME", value_parser = parse_timeout)]
    pub timeout: Option<Duration>,
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
    /// Seed of the order of the runs and of the sizes of their environments [default: random]
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
    /// Write a table in `AsciiDoc`, as hyperfine does
    #[arg(long, value_name = "FILE")]
    pub export_asciidoc: Option<PathBuf>,
    /// Write a table in Org mode, as hyperfine does
    #[arg(long, value_name = "FILE")]
    pub export_orgmode: Option<PathBuf>,
    /// Overwrite existing files that `--output` and `--export-…` name
    #[arg(long)]
    pub force: bool,
    /// Keep no record of the runs
    #[arg(long)]
    pub no_store: bool,
    /// Unit of all times in the report, Markdown, `AsciiDoc` and Org mode [default: one that fits]
    #[arg(long, short = 'u', value_enum, value_name = "UNIT")]
    pub time_unit: Option<TimeUnit>,
    /// Style of the report as hyperfine names it: `full` and `color` have colours, `basic` and `nocolor` have none,
    /// `basic` and `color` draw no live line, `none` prints no report
    #[arg(long, value_name = "TYPE", default_value = "auto", hide_possible_values = true,
          value_parser = ["auto", "basic", "full", "nocolor", "color", "none"])]
    pub style: String,
}

/// A unit of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TimeUnit {
    Microsecond,
    Millisecond,
    Second,
}

impl TimeUnit {
    /// Its symbol, and its length in ns.
    pub fn symbol_and_ns(self) -> (&'static str, f64) {
        match self {
            Self::Microsecond => ("µs", 1e3),
            Self::Millisecond => ("ms", 1e6),
            Self::Second => ("s", 1e9),
        }
    }
}

impl Results {
    /// The options of every command, with the style that is asked for.
    pub fn styled(&self, common: &Common) -> Common {
        let color = match self.style.as_str() {
            "basic" | "nocolor" => ColorChoice::Never,
            "full" | "color" => ColorChoice::Always,
            _ => common.color,
        };
        Common {
            color,
            is_still: ["basic", "color"].contains(&self.style.as_str()),
            quiet: common.quiet || self.is_silent(),
            ..common.clone()
        }
    }

    /// True if nothing is to be reported.
    pub fn is_silent(&self) -> bool {
        self.style == "none"
    }
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

fn parse_timeout(text: &str) -> Result<Duration, String> {
    let time: Nanoseconds = text.parse().map_err(|error| format!("{error}"))?;
    let time = Duration::try_from_secs_f64(time.0 / 1e9).unwrap_or_default();
    (!time.is_zero())
        .then_some(time)
        .ok_or_else(|| "a time limit is above zero".into())
}

fn parse_parameter(text: &str) -> Result<(String, Vec<String>), String> {
    match text.split_once('=') {
        Some((name, list)) if !name.is_empty() && !list.is_empty() => {
            Ok((name.to_owned(), values(list)))
        }
        _ => Err("a parameter is NAME=A,B,…, as in threads=1,2,4".into()),
    }
}

/// The values of a list. A comma after a backslash is one of a value.
fn values(list: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for part in list.split(',') {
        match all.last_mut().filter(|value| value.ends_with('\\')) {
            Some(value) => {
                value.pop();
                value.push(',');
                *value += part;
            }
            None => all.push(part.to_owned()),
        }
    }
    all
}

impl Programs {
    /// All parameters with their values: `--parameter`, then `-L`, then `-P`.
    ///
    /// # Errors
    /// In words, for a scan that is none.
    pub fn all_parameters(&self) -> Result<Vec<(String, Vec<String>)>, String> {
        let lists = self.lists.chunks_exact(2);
        let lists = lists.map(|list| Ok((list[0].clone(), values(&list[1]))));
        let scans = self.scans.chunks_exact(3).enumerate().map(|(index, scan)| {
            let step = self.steps.get(index).map_or("1", String::as_str);
            Ok((scan[0].clone(), scanned(&scan[1], &scan[2], step)?))
        });
        if self.steps.len() > self.scans.len() / 3 {
            return Err("there are more steps (`-D`) than scans (`-P`)".into());
        }
        let named = self.parameters.iter().cloned().map(Ok);
        named.chain(lists).chain(scans).collect()
    }
}

/// The numbers from `first` to `last`, with as many decimals as the longest of the three has.
fn scanned(first: &str, last: &str, step: &str) -> Result<Vec<String>, String> {
    /// More values are a mistake.
    const MOST: i64 = 100_000;
    let texts = [first, last, step];
    let decimals = texts.map(|text| text.split_once('.').map_or(0, |(_, after)| after.len()));
    let places = decimals.into_iter().max().unwrap_or(0);
    let scale = 10_f64.powi(i32::try_from(places).unwrap_or(i32::MAX));
    // Whole numbers add up without an error of rounding, up to this size.
    let whole = |text: &str| {
        let is_plain =
            text.ends_with(|last: char| last.is_ascii_digit()) && !text.contains(['e', 'E']);
        let parsed = text.parse::<f64>().ok().filter(|_| is_plain);
        let scaled = parsed.map(|number| (number * scale).round());
        let scaled = scaled.filter(|number| number.abs() < 1e15);
        let whole = scaled.map(|number| number as i64);
        whole.ok_or_else(|| format!("`-P` and `-D` take numbers such as 0.25, not '{text}'"))
    };
    let [first, last, step] = [whole(first)?, whole(last)?, whole(step)?];
    if step <= 0 || last < first || (last - first) / step >= MOST {
        return Err(
            "a scan goes from the smaller number to the larger, in at most 100 000 steps above 0"
                .into(),
        );
    }
    let shown = |index| format!("{:.places$}", (first + index * step) as f64 / scale);
    Ok((0..=(last - first) / step).map(shown).collect())
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

    /// The compared levels, if an axis varies.
    pub fn levels(&self) -> Vec<(String, Level)> {
        let Varied::Axis(name) = &self.varied else {
            return Vec::new();
        };
        let values = self.values.iter();
        values.map(|value| (name.clone(), level(value))).collect()
    }
}

impl FromStr for Vary {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, values) = text
            .split_once('=')
            .ok_or("what varies is KEY=A,B,…, as in dir=/mnt/a,/mnt/b or call=read,pread")?;
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
