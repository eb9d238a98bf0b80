//! Starts the programs and the commands around them, with their input, output and environment.

use super::programs::{self, Program, needs_shell};
use crate::arguments::Common;
use crate::arguments::ab::{Ab, Codes, Programs};
use crate::exit::{WrongUse, code_of, refuse};
use crate::target::{Replaces, Target};
use anyhow::{Context, Result, anyhow, bail};
use files::names_standard_output;
use instrument::statistics::random::Random;
use instrument::statistics::summary::median;
use platform::file::{
    OpenMode, is_at, is_stream, open_without_waiting, open_write_without_waiting,
};
use platform::process::Exit;
use platform::program::{Output as Stream, Program as Request, ProgramError, Ran, Starter};
use platform::signal::Interrupt;
use std::cell::RefCell;
use std::fs::{self, File, OpenOptions};
use std::io::Seek;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The exit code that timeout(1) has for a program over its time limit.
const OVER_LIMIT: i32 = 124;
/// Starts of the shell that show how long one takes.
const SHELL_STARTS: usize = 50;
/// Bytes by which the environment differs from run to run. Its size moves the stack, and with it the time of some
/// programs by some per cent.
const MOST_OFFSET: usize = 4096;

/// A run that came to its end.
pub enum Ended {
    /// By itself. A failure is ignored, as that of a command that was stopped is.
    Alone(Ran),
    /// By the time limit, which is ignored as well.
    OverLimit,
}

/// Variables of a run.
pub type Variables = [(&'static str, String)];

/// Starts programs.
pub struct Launcher {
    /// The words of the shell; `None` to start programs directly.
    pub shell: Option<Vec<String>>,
    /// Time of a start of the shell that is taken off every run.
    pub subtracted_ns: Option<f64>,
    input: Option<PathBuf>,
    outputs: Vec<Output>,
    ignored: Option<Codes>,
    limit: Option<Duration>,
    interrupt: Interrupt,
    pub starter: Starter,
    /// Gives the environment its sizes.
    offsets: RefCell<Random>,
}

impl Launcher {
    /// Starts programs whose standard output goes to `outputs`.
    pub fn new(
        shell: Option<Vec<String>>,
        options: &Programs,
        outputs: Vec<Output>,
        seed: u64,
        interrupt: Interrupt,
    ) -> Result<Self> {
        let mut launcher = Self {
            shell,
            subtracted_ns: None,
            input: input(options).map(Path::to_owned),
            outputs,
            ignored: options.ignore_failure.clone(),
            limit: options.timeout,
            interrupt,
            starter: Starter::new().context("cannot start the process that starts commands")?,
            offsets: RefCell::new(Random::new(seed)),
        };
        if options.subtract_shell && launcher.shell.is_some() {
            let starts = (0..SHELL_STARTS).filter_map(|_| launcher.start_ns(""));
            launcher.subtracted_ns = median(&starts.collect::<Vec<_>>());
        }
        Ok(launcher)
    }

    /// The variables of a run, `0` for the first that counts and `warmup-0` for the first of the warm-up.
    pub fn variables(&self, iteration: &str) -> [(&'static str, String); 3] {
        let offset = "x".repeat(self.offsets.borrow_mut().below(MOST_OFFSET));
        [
            ("OSCOPE_ITERATION", iteration.to_owned()),
            ("HYPERFINE_ITERATION", iteration.to_owned()),
            ("OSCOPE_ENVIRONMENT_OFFSET", offset),
        ]
    }

    /// Runs a program once; `None` if the user asked to stop.
    pub fn run(&self, program: &Program, variables: &Variables) -> Result<Option<Ended>> {
        let text = &program.command;
        let words = words_of(text, self.shell.as_deref())?;
        let stdout = match &self.outputs[program.output] {
            Output::Stream(stream) => *stream,
            Output::File(file) => {
                // Each run writes the file anew.
                if file.metadata()?.is_file() {
                    file.set_len(0)?;
                    let mut start = file;
                    start.rewind()?;
                }
                Stream::File(file)
            }
        };
        let stderr = match stdout {
            Stream::Inherit | Stream::Errors => Stream::Inherit,
            _ => Stream::Pipe,
        };
        let stdin = self.stdin()?;
        let request = Request {
            words: &words,
            environment: variables,
            directory: Some(&program.directory),
            limit: self.limit,
            stdin: stdin.as_ref(),
            stdout,
            stderr,
        };
        let ran = match self.starter.run(&request, self.interrupt.flag()) {
            Err(ProgramError::Limit) if self.is_ignored(Exit::Code(OVER_LIMIT)) => {
                return Ok(Some(Ended::OverLimit));
            }
            ended => ended.map_err(|error| unfinished(error, &words, text))?,
        };
        let Some(mut ran) = ran else { return Ok(None) };
        let subtracted_ns = self.subtracted_ns.unwrap_or(0.0) as u64;
        ran.wall_ns = ran.wall_ns.saturating_sub(subtracted_ns);
        let exit = ran.finished.exit;
        if !exit.is_success() && !self.is_ignored(exit) && !ran.was_stopped {
            // By these codes a shell says that there is no such program.
            let hint = match exit {
                Exit::Code(126 | 127) => "",
                _ => "; `--ignore-failure` continues after a failure",
            };
            bail!("'{text}' failed with {exit}{}{hint}", quoted(&ran.stderr));
        }
        Ok(Some(Ended::Alone(ran)))
    }

    /// Time of a run of a command that does nothing, as it counts.
    pub fn idle_ns(&self) -> Option<f64> {
        let ns = self.start_ns("true")?;
        Some((ns - self.subtracted_ns.unwrap_or(0.0)).max(0.0))
    }

    /// Time of a command, started in the same way; `None` if it cannot be started.
    fn start_ns(&self, text: &str) -> Option<f64> {
        let words = words_of(text, self.shell.as_deref()).ok()?;
        let request = aside(&words, Path::new("."), &[]);
        let ran = self.starter.run(&request, self.interrupt.flag()).ok()??;
        Some(ran.wall_ns as f64)
    }

    /// Runs a command around the measurements of a program, such as a preparation, if there is one; false if the user
    /// asked to stop.
    pub fn run_around(
        &self,
        text: Option<&str>,
        program: &Program,
        variables: &Variables,
    ) -> Result<bool> {
        self.auxiliary(text, program, variables, self.interrupt.flag())
    }

    /// Undoes what a program did, also when the user asked to stop.
    pub fn clean_up(&self, program: &Program) -> Result<()> {
        let (text, never) = (program.cleanup.as_deref(), AtomicBool::new(false));
        self.auxiliary(text, program, &[], &never).map(drop)
    }

    fn auxiliary(
        &self,
        text: Option<&str>,
        program: &Program,
        variables: &Variables,
        interrupted: &AtomicBool,
    ) -> Result<bool> {
        let Some(text) = text else { return Ok(true) };
        let usual = [String::from("sh")];
        let shell = match &self.shell {
            Some(shell) => Some(shell.as_slice()),
            None => needs_shell(text).then_some(usual.as_slice()),
        };
        let words = words_of(text, shell)?;
        let request = aside(&words, &program.directory, variables);
        let ran = self.starter.run(&request, interrupted);
        let Some(ran) = ran.map_err(|error| unfinished(error, &words, text))? else {
            return Ok(false);
        };
        if !ran.finished.exit.is_success() {
            let exit = ran.finished.exit;
            bail!("'{text}' failed with {exit}{}", quoted(&ran.stderr));
        }
        Ok(true)
    }

    /// Ends all processes that commands left behind; a sentence about them if there are any.
    pub fn end_all_leftovers(&self) -> Option<String> {
        let left = self.starter.end_all_leftovers();
        let processes = if left == 1 { "process" } else { "processes" };
        (left > 0)
            .then(|| format!("ended {left} {processes} that commands around the runs left behind"))
    }

    fn stdin(&self) -> Result<Option<File>> {
        let open = |path: &PathBuf| {
            File::open(path).with_context(|| format!("cannot read {}", path.display()))
        };
        self.input.as_ref().map(open).transpose()
    }

    fn is_ignored(&self, exit: Exit) -> bool {
        match &self.ignored {
            None => false,
            Some(Codes::All) => true,
            Some(Codes::These(codes)) => codes.contains(&code_of(exit)),
        }
    }
}

/// The error of a command that did not come to its end.
fn unfinished(error: ProgramError, words: &[String], text: &str) -> anyhow::Error {
    match error {
        ProgramError::Start(error) => {
            let name = &words[0];
            anyhow::Error::new(error).context(format!("cannot start '{name}' of '{text}'"))
        }
        ProgramError::Limit => anyhow!(
            "'{text}' took longer than the time limit (`--timeout`); `--ignore-failure` leaves such runs out"
        ),
        error => anyhow::Error::new(error).context(format!("'{text}' did not end")),
    }
}

/// A program whose input is empty and whose output is discarded.
fn aside<'a>(words: &'a [String], directory: &'a Path, variables: &'a Variables) -> Request<'a> {
    Request {
        words,
        environment: variables,
        directory: Some(directory),
        limit: None,
        stdin: None,
        stdout: Stream::Null,
        stderr: Stream::Pipe,
    }
}

/// The name and the arguments of the program that `text` names.
fn words_of(text: &str, shell: Option<&[String]>) -> Result<Vec<String>, WrongUse> {
    match shell {
        Some(shell) => Ok([shell, &["-c".to_owned(), text.to_owned()]].concat()),
        None => programs::words(text),
    }
}

/// The last words of a program, if any.
fn quoted(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        said => format!(": {said}"),
    }
}

/// Standard output of the programs.
pub enum Output {
    Stream(Stream<'static>),
    File(File),
}

impl Output {
    /// Opens what the command line names, after [`check`]. `has_data` is true if
    /// standard output carries data of oscope, which stays free of what the programs write.
    pub fn open_all(arguments: &Ab, has_data: bool) -> Result<Vec<Self>> {
        let paths = arguments.programs.output.iter();
        paths
            .map(|path| Self::open(path, arguments, has_data))
            .collect()
    }

    fn open(path: &Path, arguments: &Ab, has_data: bool) -> Result<Self> {
        let is_inherited = arguments.programs.show_output || is_inherited(path);
        Ok(match path.to_str() {
            _ if is_inherited && has_data => Self::Stream(Stream::Errors),
            _ if is_inherited => Self::Stream(Stream::Inherit),
            Some("null") => Self::Stream(Stream::Null),
            Some("pipe") => Self::Stream(Stream::Pipe),
            _ => {
                let file = open_file(path)?;
                // Under another name, too: each run writes it anew.
                if input(&arguments.programs).is_some_and(|input| is_at(&file, input)) {
                    let path = path.display();
                    refuse!("{path} is the input as well: name another file");
                }
                Self::File(file)
            }
        })
    }
}

fn is_inherited(path: &Path) -> bool {
    path == Path::new("inherit") || names_standard_output(path)
}

/// The files for the programs' output.
pub fn output_files(options: &Programs) -> impl Iterator<Item = &Path> {
    let is_file = |path: &&Path| {
        !is_inherited(path) && *path != Path::new("null") && *path != Path::new("pipe")
    };
    let paths = options.output.iter().map(PathBuf::as_path);
    paths.filter(is_file)
}

/// The file that each run reads.
pub fn input(options: &Programs) -> Option<&Path> {
    let path = options.input.as_path();
    (path != Path::new("null")).then_some(path)
}

/// Checks that the directories are there, that the output can be written, and that each run can read the input from its
/// start.
pub fn check(arguments: &Ab, common: &Common) -> Result<()> {
    for directory in &arguments.programs.dir {
        if !directory.is_dir() {
            bail!("{} is no directory", directory.display());
        }
    }
    for path in output_files(&arguments.programs) {
        Target::new(path, Replaces::with(arguments.results.force), common)?;
    }
    input(&arguments.programs).map_or(Ok(()), check_input)
}

fn check_input(path: &Path) -> Result<()> {
    let cannot_read = || format!("cannot read {}", path.display());
    let refused = |what: &str| {
        WrongUse(format!(
            "{what} cannot be read by each run from its start: name a file with `--input`"
        ))
    };
    if path == Path::new("-") {
        return Err(refused("standard input").into());
    }
    let (mut file, metadata) = open_without_waiting(path).with_context(cannot_read)?;
    if metadata.is_dir() || file.rewind().is_err() {
        return Err(refused(&path.display().to_string()).into());
    }
    Ok(())
}

fn open_file(path: &Path) -> Result<File> {
    let cannot_write = || format!("cannot write {}", path.display());
    let is_stream = fs::metadata(path).is_ok_and(|metadata| is_stream(&metadata));
    // Held until the file is open, so that the reader of a pipe sees no end.
    let _held = match is_stream.then(|| open_write_without_waiting(path, OpenMode::Plain)) {
        None => None,
        Some(opened) => Some(opened?.ok_or_else(|| {
            let path = path.display();
            anyhow!("no program reads the pipe {path}: start one before the comparison")
        })?),
    };
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).open(path);
    file.with_context(cannot_write)
}
