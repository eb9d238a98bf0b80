//! Starts the programs and the commands around them.

use super::places::{self, Output};
use super::words;
use crate::arguments::ab::{Codes, Programs};
use crate::exit::{WrongUse, code_of};
use anyhow::{Context, Result, bail};
use platform::process::Exit;
use platform::program::{Ran, run};
use platform::signal::Interrupt;
use std::fs::File;
use std::io::Seek;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;

/// Starts programs.
pub struct Launcher {
    /// The words of the shell; `None` to start programs directly.
    pub shell: Option<Vec<String>>,
    input: Option<PathBuf>,
    output: Output,
    ignored: Option<Codes>,
    interrupt: Interrupt,
}

impl Launcher {
    /// Starts programs whose standard output goes to `output`.
    pub fn new(
        shell: Option<Vec<String>>,
        options: &Programs,
        output: Output,
        interrupt: Interrupt,
    ) -> Self {
        Self {
            shell,
            input: places::input(options).map(Path::to_owned),
            output,
            ignored: options.ignore_failure.clone(),
            interrupt,
        }
    }

    /// Runs the command of a program once; `None` if the user asked to stop. True stands for a
    /// success, false for a failure that is ignored.
    pub fn run(&self, text: &str) -> Result<Option<(Ran, bool)>> {
        let mut command = command(text, self.shell.as_deref())?;
        command.stdin(self.stdin()?).stderr(Stdio::piped());
        match &self.output {
            Output::Null => command.stdout(Stdio::null()),
            Output::Pipe => command.stdout(Stdio::piped()),
            Output::Inherit => command.stdout(Stdio::inherit()).stderr(Stdio::inherit()),
            Output::Errors => command.stdout(std::io::stderr()).stderr(Stdio::inherit()),
            Output::File(file) => {
                // Each run writes the file anew.
                let mut file = file.try_clone()?;
                if file.metadata()?.is_file() {
                    file.set_len(0)?;
                    file.rewind()?;
                }
                command.stdout(file)
            }
        };
        let Some(ran) = complete(&mut command, text, self.interrupt.flag())? else {
            return Ok(None);
        };
        let is_success = ran.finished.exit.is_success();
        if !is_success && !self.is_ignored(ran.finished.exit) {
            bail!(
                "'{text}' failed with {}{}; `--ignore-failure` goes on",
                ran.finished.exit,
                quoted(&ran.stderr)
            );
        }
        Ok(Some((ran, is_success)))
    }

    /// Time of a command that does nothing, started in the same way; `None` if there is none.
    pub fn start_ns(&self) -> Option<f64> {
        let mut command = command("true", self.shell.as_deref()).ok()?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let ran = run(&mut command, self.interrupt.flag()).ok()??;
        Some(ran.wall_ns as f64)
    }

    /// Runs a command beside the measurement, such as a preparation; false if the user asked to stop.
    pub fn beside(&self, text: &str) -> Result<bool> {
        self.auxiliary(text, self.interrupt.flag())
    }

    /// Runs a command that undoes others, also when the user asked to stop.
    pub fn clean_up(&self, text: &str) -> Result<()> {
        self.auxiliary(text, &AtomicBool::new(false)).map(drop)
    }

    fn auxiliary(&self, text: &str, interrupted: &AtomicBool) -> Result<bool> {
        let usual = [String::from("sh")];
        let shell = match &self.shell {
            Some(shell) => Some(shell.as_slice()),
            None => words::needs_shell(text).then_some(usual.as_slice()),
        };
        let mut command = command(text, shell)?;
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let Some(ran) = complete(&mut command, text, interrupted)? else {
            return Ok(false);
        };
        if !ran.finished.exit.is_success() {
            let exit = ran.finished.exit;
            bail!("'{text}' failed with {exit}{}", quoted(&ran.stderr));
        }
        Ok(true)
    }

    fn stdin(&self) -> Result<Stdio> {
        match &self.input {
            None => Ok(Stdio::null()),
            Some(path) => {
                let file = File::open(path);
                let file = file.with_context(|| format!("cannot read {}", path.display()))?;
                Ok(file.into())
            }
        }
    }

    fn is_ignored(&self, exit: Exit) -> bool {
        match &self.ignored {
            None => false,
            Some(Codes::All) => true,
            Some(Codes::These(codes)) => codes.contains(&code_of(exit)),
        }
    }
}

/// Runs `command` to its end; `None` if `interrupted` became true.
fn complete(command: &mut Command, text: &str, interrupted: &AtomicBool) -> Result<Option<Ran>> {
    run(command, interrupted).with_context(|| {
        let program = command.get_program().to_string_lossy().into_owned();
        format!("cannot start '{program}' of '{text}'")
    })
}

/// The process that `text` stands for.
fn command(text: &str, shell: Option<&[String]>) -> Result<Command, WrongUse> {
    let words = match shell {
        Some(shell) => [shell, &["-c".to_owned(), text.to_owned()]].concat(),
        None => words::command(text)?,
    };
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    Ok(command)
}

/// The last words of a program, if any.
fn quoted(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        said => format!(": {said}"),
    }
}
