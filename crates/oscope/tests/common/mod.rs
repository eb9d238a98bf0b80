//! A private environment for each test: a store, a scratch directory, and the program.
#![allow(dead_code, reason = "each test program uses its own part")]

pub mod receiver;

use instrument::quantity::Quantity;
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use tempfile::TempDir;
use testing::{Command, Process};

pub use testing::wait_until;

/// As [`Place::check`], with the values of variables in braces.
macro_rules! check {
    ($place:expr => $table:literal) => {
        $place.check(&format!($table))
    };
}

/// A private environment for one test.
pub struct Place {
    root: TempDir,
    /// Path of the store.
    pub store: PathBuf,
}

impl Place {
    pub fn new() -> Self {
        let root = tempfile::tempdir().expect("a temporary directory");
        fs::create_dir(root.path().join("scratch")).expect("a directory in it");
        let store = root.path().join("oscope.db");
        Self { root, store }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// The path of a file here, as text.
    pub fn name(&self, name: &str) -> String {
        text(&self.path(name)).to_owned()
    }

    pub fn scratch(&self) -> PathBuf {
        self.path("scratch")
    }

    /// Makes a file here. Its path, as text.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> String {
        fs::write(self.path(name), contents).expect("there is room");
        self.name(name)
    }

    /// Makes a directory here. Its path, as text.
    pub fn directory(&self, name: &str) -> String {
        fs::create_dir_all(self.path(name)).expect("there is room");
        self.name(name)
    }

    /// The text of a file here.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The names in a directory here, in their order.
    pub fn names(&self, directory: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(directory)).expect("it is there");
        let names = entries.flatten().map(|entry| entry.file_name());
        let mut names: Vec<_> = names.map(|it| it.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The program with the store of this environment and the words of a line, in which `$NAME` is the path NAME here.
    pub fn line(&self, line: &str) -> Command {
        let words = shlex::split(line).expect("the quotes are closed");
        let mut command = Command::new(program());
        command
            .arg("--store")
            .arg(&self.store)
            .args(words.iter().map(|word| self.with_paths(word)))
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("XDG_DATA_HOME");
        command
    }

    /// A run of these experiments with these options, without a page, that prints JSON.
    pub fn run(&self, words: &str) -> Command {
        self.line(&format!("run {words} --no-page --json --dir $scratch"))
    }

    fn with_paths(&self, word: &str) -> String {
        let mut parts = word.split('$');
        let before = parts.next().unwrap_or_default().to_owned();
        parts.fold(before, |all, part| {
            let end = part.find(',').unwrap_or(part.len());
            all + &self.name(&part[..end]) + &part[end..]
        })
    }

    /// Runs each row of a table: `LINE | EXIT CODE | > TEXT | 2> TEXT`, as [`ends`] checks it.
    #[track_caller]
    pub fn check(&self, table: &str) {
        for row in table.lines().map(str::trim).filter(|it| !it.is_empty()) {
            let (line, expected) = row.split_once(" | ").expect("an exit code");
            ends(&mut self.line(line), expected);
        }
    }

    /// Standard output of a command that succeeds.
    #[track_caller]
    pub fn prints(&self, line: &str) -> String {
        printed(&mut self.line(line), "0")
    }

    /// The same, of a command that prints JSON.
    #[track_caller]
    pub fn json(&self, line: &str) -> Value {
        json(self.prints(line).as_bytes())
    }

    /// `command` of this program as that of a user of whom nothing else runs, started by `wrapper`; `None`, with the reason
    /// printed, without the right to become that user.
    pub fn as_somebody(&self, wrapper: &[&str], command: &Command) -> Option<Command> {
        if !is_root() {
            eprintln!("skipped: becoming another user needs the rights of root");
            return None;
        }
        let user = fresh_user();
        let copy = self.path("oscope");
        fs::copy(program(), &copy).expect("a copy that others may run");
        for directory in [self.root.path(), &self.scratch()] {
            let everyone = fs::Permissions::from_mode(0o777);
            fs::set_permissions(directory, everyone).expect("it is ours");
        }
        let probe = as_user(user).arg(&copy).arg("--version").output();
        if !probe.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: another user cannot start {}", copy.display());
            return None;
        }
        let mut started = as_user(user);
        started.args(wrapper).arg(copy).args(command.get_args());
        started.env("NO_COLOR", "1");
        Some(started)
    }

    /// A short run of one cheap experiment. Its few points are measured as often as in any run: the budget
    /// decides nothing.
    pub fn short_run(&self) -> Command {
        let run = "run process.calls --at call=getpid --no-page --dir $scratch --budget";
        self.line(&format!("{run} {LARGE_BUDGET}"))
    }

    /// Starts a line that measures, with its output in pipes, and waits for its first sample.
    pub fn begun(&self, line: &str) -> Process {
        let child = start(&mut self.line(line));
        wait_until("its first sample", || self.samples() > 0);
        child
    }

    /// Number of samples in the newest run.
    pub fn samples(&self) -> u64 {
        let output = self.line("history --json").output();
        let output = output.expect("the program starts").stdout;
        let runs: Vec<Value> = serde_json::from_slice(&output).unwrap_or_default();
        let samples = runs.iter().filter_map(|run| run["samples"].as_u64());
        samples.max().unwrap_or(0)
    }
}

/// Runs a command and checks its end: `EXIT CODE | > TEXT | 2> TEXT`, as [`holds`] understands each of them.
#[track_caller]
pub fn ends(command: &mut Command, expected: &str) -> Output {
    let output = command.output().expect("the program starts");
    let expected = format!("exit {expected}");
    let wrong = expected
        .split(" | ")
        .find(|it| holds(it, &output) != Some(true));
    if let Some(wrong) = wrong {
        let said = [&output.stdout, &output.stderr].map(|it| String::from_utf8_lossy(it));
        let status = output.status;
        panic!(
            "{command:?}: not {wrong}, but {status}\n{}{}",
            said[0], said[1]
        );
    }
    output
}

/// True if the end of a program is as expected: `exit 0,1` is one of these exit codes; `> TEXT` and `2> TEXT` are parts of
/// standard output and of standard error, with `!>` and `!2>` texts that are absent. Without a text, the stream is empty.
/// `None` for any other expectation.
pub fn holds(expected: &str, output: &Output) -> Option<bool> {
    let (kind, text) = expected.split_once(' ').unwrap_or((expected, ""));
    let stream = match kind.trim_start_matches('!') {
        ">" => &output.stdout,
        "2>" => &output.stderr,
        "exit" => {
            let code = output.status.code().map(|code| code.to_string());
            return Some(text.split(',').any(|it| Some(it) == code.as_deref()));
        }
        _ => return None,
    };
    let stream = String::from_utf8_lossy(stream);
    let is_there = match text {
        "" => stream.is_empty(),
        text => stream.contains(text),
    };
    Some(is_there != kind.starts_with('!'))
}

/// Standard output of a command whose end [`ends`] checks.
#[track_caller]
pub fn printed(command: &mut Command, expected: &str) -> String {
    String::from_utf8(ends(command, expected).stdout).expect("text")
}

/// Starts a command with its output in pipes.
pub fn start(command: &mut Command) -> Process {
    let command = command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the program starts")
}

/// Sends a signal to a process, and waits for its end as [`end`].
pub fn end_by(name: &str, child: Process) -> (Output, String, String) {
    signal(name, child.id());
    end(child)
}

/// Waits for the process to end: its output, and both streams as text.
pub fn end(child: Process) -> (Output, String, String) {
    let output = child.wait_with_output().expect("the program ends");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    (output, stdout, stderr)
}

pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_oscope"))
}

/// `command` as the arguments of `wrapper`.
pub fn under(wrapper: &[&str], command: &Command) -> Command {
    let mut started = Command::new(wrapper[0]);
    started.args(&wrapper[1..]);
    started.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => started.env(name, value),
            None => started.env_remove(name),
        };
    }
    started
}

/// The exported run `text`, which has no checksums, under another id, and with a process in each of six passes.
pub fn in_six_passes(text: &str, id: &str) -> String {
    let mut document: Value = serde_json::from_str(text).expect("JSON");
    document["run"]["header"]["id"] = id.into();
    let batches = &mut document["run"]["experiments"][0]["points"][0]["batches"];
    let in_pass = |pass: usize| {
        let mut batch = batches[1].clone();
        batch["pass"] = pass.into();
        batch
    };
    *batches = (0..6).map(in_pass).collect();
    document.to_string()
}

/// An exported run without checksums, which would find each change.
pub const UNPROVEN: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../record/tests/fixtures/unproven.oscope.json"
);

/// The numbers of a published report, as a run that always exists.
pub const REPORT: &str = "reference:pentium4-2003-linux";

/// A budget that decides nothing: a run ends by its passes, or by the test.
pub const LARGE_BUDGET: &str = "10min";

/// The output of `--json`.
pub fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(text)))
}

/// A list of an object in JSON; empty if there is none.
pub fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

pub fn text(path: &Path) -> &str {
    path.to_str().expect("a plain path")
}

/// Sends a signal by its name.
pub fn signal(name: &str, process: u32) {
    let mut kill = Command::new("kill");
    ends(kill.arg(format!("-{name}")).arg(process.to_string()), "0");
}

/// The message of a run that has visited each of its points.
pub const EACH_POINT: &str = "pass 1 of ";

/// The output of a run that has visited each of its points, and was then interrupted. With a budget instead,
/// the speed of the machine would decide which points are measured.
pub fn visit_each_point(run: &mut Command) -> Output {
    visit(run, EACH_POINT)
}

/// The results of a run and its messages, as of [`visit`].
pub fn outcome(run: &mut Command, sign: &str) -> (Value, String) {
    let output = visit(run, sign);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (json(&output.stdout), said)
}

/// The output of a run that is interrupted when a line of its messages contains `sign`, or ends before.
pub fn visit(run: &mut Command, sign: &str) -> Output {
    let mut run = start(run.args(["--budget", LARGE_BUDGET]));
    let id = run.id();
    let mut messages = BufReader::new(run.stderr.take().expect("it is piped"));
    let sign = sign.to_owned();
    let reader = std::thread::spawn(move || {
        let mut said = Vec::new();
        let mut is_waiting = true;
        loop {
            let start = said.len();
            if messages.read_until(b'\n', &mut said).unwrap_or(0) == 0 {
                return said;
            }
            if is_waiting && String::from_utf8_lossy(&said[start..]).contains(&sign) {
                is_waiting = false;
                // It may have ended by itself.
                let mut kill = Command::new("kill");
                let _ = kill.args(["-INT", &id.to_string()]).output();
            }
        }
    });
    let mut output = run.wait_with_output().expect("it ends");
    output.stderr = testing::joined("the messages of a run", reader);
    output
}

/// The leftovers of runs in a directory.
pub fn scratch_files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    let is_scratch = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("oscope-scratch-")
    };
    entries.map(|it| it.path()).filter(is_scratch).collect()
}

/// True if this process has all rights.
pub fn is_root() -> bool {
    platform::environment::Environment::read().is_root == Some(true)
}

/// A user of whom nothing runs: another one each time, also in tests that run at the same time.
fn fresh_user() -> u32 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    20_000 + (8 * std::process::id() + count) % 40_000
}

/// Runs the program in the arguments to come as another user, which root may do.
pub fn as_user(user: u32) -> Command {
    let mut command = Command::new("setpriv");
    let [uid, gid] = ["uid", "gid"].map(|id| format!("--re{id}={user}"));
    command.args([&uid, &gid, "--clear-groups"]);
    command
}

/// True if a number is known so badly that no finding states it.
pub fn is_vague(estimate: &Value) -> bool {
    let quantity = Quantity::deserialize(estimate).expect("a value, its interval and its unit");
    quantity.interval.is_none() || quantity.is_vague()
}
