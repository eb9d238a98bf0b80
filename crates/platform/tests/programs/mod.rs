//! Programs that are started by a process which is killed or stopped, or which has a terminal.

#![expect(unsafe_code, reason = "no crate here opens terminals")]

use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;

use oscope_platform::program::{Output, Program, Starter};
use oscope_platform::signal::Interrupt;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, tcgetattr, tcgetpgrp};
use testing::{Command, wait_until};

use crate::roles::linux::Role;
use crate::roles::{is_stopped, runs, say};

/// Runs `script` several times, and prints how each ended.
pub fn play(runs: &str, script: &str) {
    let starter = Starter::new().expect("a process can be started");
    let interrupt = Interrupt::install().expect("signals can be caught");
    let words = ["sh", "-c", script].map(str::to_owned);
    let program = Program {
        words: &words,
        stderr: Output::Pipe,
        ..Program::default()
    };
    for _ in 0..runs.parse().expect("a number") {
        let ended = match starter.run(&program, interrupt.flag()) {
            Ok(Some(ran)) if ran.was_stopped => format!("{} after a stop", ran.finished.exit),
            Ok(Some(ran)) => ran.finished.exit.to_string(),
            Ok(None) => "interrupted".to_owned(),
            Err(error) => error.to_string(),
        };
        let left = starter.end_leftovers();
        say(&format!("{ended}, {left} left"));
    }
}

/// This program as a starter, in a group of its own: the kernel does not stop one that no shell could continue.
fn start(runs: usize, script: &str) -> Role {
    let mut command = starter(runs, script);
    command.process_group(0);
    Role::spawn(command)
}

fn starter(runs: usize, script: &str) -> Command {
    Role::command(&["starter", &runs.to_string(), script])
}

/// The process ids that scripts wrote to a file, once it has `count` lines.
fn written(path: &Path, count: usize) -> Vec<String> {
    let read = || -> Vec<String> {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    wait_until("scripts write their ids", || read().len() == count);
    read()
}

pub fn die_with_their_starter() {
    let dir = tempfile::tempdir().expect("there is a place for temporary files");
    let ids = dir.path().join("ids");
    let script = format!("echo $$ >> {}; exec sleep 60", ids.display());
    let role = start(1, &script);
    let program = written(&ids, 1).remove(0);
    let helper = children(&role.id()).into_iter().find(|id| *id != program);
    let helper = helper.expect("it has started the program");
    role.send(Signal::KILL);
    wait_until("both end", || !runs(&program) && !runs(&helper));
}

fn children(process: &str) -> Vec<String> {
    let list = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let list = list.expect("the kernel lists them");
    list.split_whitespace().map(str::to_owned).collect()
}

pub fn stop_and_continue_with_their_starter() {
    let dir = tempfile::tempdir().expect("there is a place for temporary files");
    let (ids, end) = (dir.path().join("ids"), dir.path().join("end"));
    // It starts no other program: a shell that waits for a child of vfork(2) to begin does not stop.
    let wait = format!("while ! test -e {}; do :; done", end.display());
    let script = format!("echo $$ >> {}; {wait}", ids.display());
    let mut role = start(2, &script);
    let own = role.id();
    let program = written(&ids, 1).remove(0);
    role.send(Signal::TSTP);
    wait_until("both stop", || is_stopped(&own) && is_stopped(&program));
    role.send(Signal::CONT);
    wait_until("both go on", || !is_stopped(&own) && !is_stopped(&program));
    File::create(&end).expect("a file");
    assert_eq!(role.hear(), "exit code 0 after a stop, 0 left");
    assert_eq!(role.hear(), "exit code 0, 0 left");
}

pub fn leave_nothing_behind() {
    let dir = tempfile::tempdir().expect("there is a place for temporary files");
    let ids = dir.path().join("ids");
    let write = format!("echo $! >> {}", ids.display());
    let stubborn = "sh -c 'trap \"\" TERM; while :; do sleep 0.05; done'";
    let script =
        format!("sleep 60 & {write}; setsid sleep 60 & {write}; setsid {stubborn} & {write}");
    let mut role = start(2, &script);
    for _ in 0..2 {
        let heard = role.hear();
        let left = heard.strip_prefix("exit code 0, ").expect(&heard);
        let left: usize = left.trim_end_matches(" left").parse().expect("a number");
        // The stubborn one may leave a child.
        assert!((3..5).contains(&left), "{heard}");
    }
    for id in written(&ids, 6) {
        assert!(!runs(&id), "{id}");
    }
    assert_eq!(children(&std::process::id().to_string()), [role.id()]);
}

/// A terminal whose keyboard is here, and the process that has it.
fn with_terminal(mut command: Command) -> (File, Role) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let keyboard = openpt(flags).expect("the system has terminals");
    unlockpt(&keyboard).expect("it is new");
    let name = ptsname(&keyboard, Vec::new()).expect("it has a name");
    // SAFETY: system calls only, in a child.
    unsafe {
        command.pre_exec(move || {
            libc::setsid();
            // Tests in the background ignore these.
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            libc::signal(libc::SIGQUIT, libc::SIG_DFL);
            // The first terminal that the leader of a session opens is that of the session.
            open(&name, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
            Ok(())
        });
    }
    (keyboard.into(), Role::spawn(command))
}

/// The group in the foreground of a terminal, and true if it echoes.
fn state_of(keyboard: &File) -> (i32, bool) {
    let modes = tcgetattr(keyboard).expect("it is a terminal");
    let group = tcgetpgrp(keyboard).map_or(0, |group| group.as_raw_nonzero().get());
    (group, modes.local_modes.contains(LocalModes::ECHO))
}

pub fn use_the_terminal_and_give_it_back() {
    for script in [
        "stty -echo </dev/tty",
        "stty sane </dev/tty",
        "read x </dev/tty && test \"$x\" = hello",
        "sh -c 'read x </dev/tty; true'; stty -echo </dev/tty",
        "bash -i -c exit",
        "bash -i -c 'read x </dev/tty'; true",
    ] {
        let (mut keyboard, mut role) = with_terminal(starter(3, script));
        keyboard
            .write_all(b"hello\nhello\nhello\n")
            .expect("the terminal takes it");
        assert_eq!(role.hear(), "exit code 0 after a stop, 0 left", "{script}");
        // From now on, it has the terminal from its start.
        assert_eq!(role.hear(), "exit code 0, 0 left", "{script}");
        assert_eq!(role.hear(), "exit code 0, 0 left", "{script}");
        let own: i32 = role.id().parse().expect("a number");
        let (group, echoes) = state_of(&keyboard);
        assert!(echoes, "{script}");
        // Once it has ended, no group is in the foreground.
        assert!(group == own || group == 0, "{script}: {group}");
    }
}

/// A role whose program has the terminal, in its second run.
fn with_lent_terminal() -> (File, Role) {
    let dir = tempfile::tempdir().expect("there is a place for temporary files");
    let ids = dir.path().join("ids");
    let script = format!(
        "echo $$ >> {0}; stty sane </dev/tty; test $(wc -l < {0}) = 1 || {{ echo $$ >> {0}; read x </dev/tty; }}",
        ids.display()
    );
    let (keyboard, mut role) = with_terminal(starter(2, &script));
    assert_eq!(role.hear(), "exit code 0 after a stop, 0 left");
    written(&ids, 3);
    (keyboard, role)
}

pub fn end_by_ctrl_c_which_is_passed_on() {
    for (key, code) in [(b"\x03", 2), (b"\x1c", 3)] {
        let (mut keyboard, mut role) = with_lent_terminal();
        keyboard.write_all(key).expect("the terminal takes it");
        assert_eq!(role.hear(), "interrupted, 0 left", "signal {code}");
    }
}

pub fn continue_after_ctrl_z() {
    let (mut keyboard, mut role) = with_lent_terminal();
    // No shell could continue this session, so it goes on at once.
    keyboard.write_all(b"\x1a").expect("the terminal takes it");
    let own = role.id();
    wait_until("it goes on", || !is_stopped(&own));
    keyboard
        .write_all(b"hello\n")
        .expect("the terminal takes it");
    assert_eq!(role.hear(), "exit code 0 after a stop, 0 left");
}

pub fn do_not_wait_for_the_terminal_in_the_background() {
    let role = starter(1, "read x </dev/tty");
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "set -m; \"$@\" & wait", "sh"])
        .arg(role.get_program())
        .args(role.get_args())
        .stdin(Stdio::null())
        .stdout(Stdio::piped());
    let (_keyboard, mut role) = with_terminal(shell);
    let heard = role.hear();
    assert!(heard.contains("start oscope in the foreground"), "{heard}");
}
