//! A private environment for each test: a store, a scratch directory, and the program.
#![allow(dead_code, reason = "each test program uses its own part")]

pub mod receiver;

use assert_cmd::Command;
use instrument::quantity::Quantity;
use serde::Deserialize;
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use testing::LONGEST_WAIT;

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

    pub fn scratch(&self) -> PathBuf {
        self.path("scratch")
    }

    /// The program with the store of this environment.
    pub fn oscope(&self, arguments: &[&str]) -> Command {
        asserted(self.plain(arguments))
    }

    /// The program with this environment's store, run as an unprivileged user by `wrapper`; `None`,
    /// with the reason printed, if this process lacks the rights.
    pub fn as_somebody(&self, wrapper: &[&str], arguments: &[&str]) -> Option<testing::Command> {
        let user = fresh_user();
        let copy = self.program_for(user)?;
        let mut command = as_user(user);
        command
            .args(wrapper)
            .arg(copy)
            .arg("--store")
            .arg(&self.store)
            .args(arguments)
            .env("NO_COLOR", "1");
        Some(command)
    }

    /// A copy of the program that `user` may start, with access to the store and the scratch directory;
    /// `None`, with the reason printed, without the right to become that user.
    pub fn program_for(&self, user: u32) -> Option<PathBuf> {
        if !may("becoming another user") {
            return None;
        }
        let copy = self.path("oscope");
        fs::copy(program(), &copy).expect("a copy that others may run");
        for directory in [self.root.path(), &self.scratch()] {
            let everyone = fs::Permissions::from_mode(0o777);
            fs::set_permissions(directory, everyone).expect("it is ours");
        }
        let probe = as_user(user).arg(&copy).arg("--version").output();
        let starts = probe.is_ok_and(|output| output.status.success());
        if !starts {
            eprintln!("skipped: another user cannot start {}", copy.display());
        }
        starts.then_some(copy)
    }

    /// The same as [`Place::oscope`], without assertions.
    pub fn plain(&self, arguments: &[&str]) -> testing::Command {
        let mut command = testing::Command::new(program());
        command
            .arg("--store")
            .arg(&self.store)
            .args(arguments)
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("XDG_DATA_HOME");
        command
    }

    /// A short run of one cheap experiment. Its few points are measured as often as in any run: the budget
    /// decides nothing.
    pub fn short_run(&self) -> Command {
        self.short_run_in(&self.scratch())
    }

    /// The same, with its scratch files in `directory`.
    pub fn short_run_in(&self, directory: &Path) -> Command {
        let mut run = self.oscope(&["run", "process.calls", "--at", "call=getpid"]);
        run.args(["--budget", LARGE_BUDGET, "--no-page"]);
        run.arg("--dir").arg(directory);
        run
    }

    /// Starts a run that is long enough to be disturbed, with its output in pipes.
    pub fn start_long_run(&self) -> testing::Process {
        let what = ["run", "process.calls", "--profile", "thorough", "--no-page"];
        self.plain(&what)
            .arg("--dir")
            .arg(self.scratch())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }

    /// The same, after its first measurement.
    pub fn long_run(&self) -> testing::Process {
        let child = self.start_long_run();
        let scratch = self.scratch();
        assert!(
            wait_for(|| !scratch_files(&scratch).is_empty()),
            "the run never began"
        );
        assert!(wait_for(|| self.samples() > 0), "the run never measured");
        child
    }

    /// Number of samples in the newest run.
    pub fn samples(&self) -> u64 {
        let output = self
            .plain(&["history", "--json"])
            .output()
            .expect("the program starts");
        let runs: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        runs.as_array()
            .and_then(|runs| runs.iter().filter_map(|run| run["samples"].as_u64()).max())
            .unwrap_or(0)
    }
}

/// A command with assertions on its end, which comes for certain.
pub fn asserted(command: testing::Command) -> Command {
    let mut command = Command::from_std(command.into());
    command.timeout(LONGEST_WAIT);
    command
}

pub fn program() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_oscope"))
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

/// A budget that decides nothing: a run ends by its passes, or by the test.
pub const LARGE_BUDGET: &str = "10min";

/// The output of a run that has visited each of its points, and was then interrupted. With a budget instead,
/// the speed of the machine would decide which points are measured.
pub fn visit_each_point(run: &mut testing::Command) -> Output {
    visit(run, "pass 1 of ")
}

/// The output of a run that is interrupted when a line of its messages contains `sign`, or ends before.
pub fn visit(run: &mut testing::Command, sign: &str) -> Output {
    let mut run = run
        .args(["--budget", LARGE_BUDGET])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let id = run.id().to_string();
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
                let kill = testing::Command::new("kill").args(["-INT", &id]).status();
                kill.expect("kill(1) is there");
            }
        }
    });
    let mut output = run.wait_with_output().expect("it ends");
    output.stderr = testing::joined("the messages of a run", reader);
    output
}

/// A standard output whose reader is gone before the program starts.
pub fn without_reader() -> Stdio {
    let (_reader, writer) = std::io::pipe().expect("a pipe");
    writer.into()
}

/// The leftovers of runs in a directory.
pub fn scratch_files(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            name.starts_with("oscope-scratch-")
        })
        .collect()
}

/// Waits until a condition is true; `false` if it never is.
pub fn wait_for(is_true: impl FnMut() -> bool) -> bool {
    wait_at_most(LONGEST_WAIT, is_true)
}

/// Waits until a condition is true, at most for `limit`.
pub fn wait_at_most(limit: Duration, mut is_true: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while started.elapsed() < limit {
        if is_true() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// True if this process has all rights; tests that need them print why they are skipped.
pub fn is_root() -> bool {
    platform::environment::Environment::read().is_root == Some(true)
}

/// True if this process has all rights; else prints that a test of `what` is skipped.
pub fn may(what: &str) -> bool {
    let may = is_root();
    if !may {
        eprintln!("skipped: {what} needs the rights of root");
    }
    may
}

/// A user of whom nothing runs: another one each time, also in tests that run at the same time.
pub fn fresh_user() -> u32 {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    20_000 + (8 * std::process::id() + count) % 40_000
}

/// Runs the program in the arguments to come as another user, which root may do.
pub fn as_user(user: u32) -> testing::Command {
    let mut command = testing::Command::new("setpriv");
    let [uid, gid] = ["uid", "gid"].map(|id| format!("--re{id}={user}"));
    command.args([&uid, &gid, "--clear-groups"]);
    command
}

/// True if a number is known so badly that no finding states it.
pub fn is_vague(estimate: &Value) -> bool {
    let quantity = Quantity::deserialize(estimate).expect("a value, its interval and its unit");
    quantity.interval.is_none() || quantity.is_vague()
}
