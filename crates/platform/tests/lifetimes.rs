//! The remains of a process that is killed or asked to stop: this program starts itself in a role,
//! ends that process, and checks.

#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod roles;

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{BufRead, BufReader, Read, Write};
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::path::PathBuf;
    use std::process::Stdio;
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};
    use testing::{Command, Process};

    use oscope_platform::clock::now_ns;
    use oscope_platform::partner::Partner;
    use oscope_platform::placement::allowed_cpus;
    use oscope_platform::process::{Worker, WorkerOptions};
    use oscope_platform::signal::{Interrupt, Signal, ignore_sigpipe, restore_default_sigpipe};
    use rustix::process;

    use super::programs;
    use super::roles::{self, Check, PATIENCE, eventually, is_stopped, runs, say};

    const CHECKS: &[Check] = &[
        ("a partner dies with its parent", killed_owner_of_a_partner),
        ("a partner ends when it is dropped", dropped_partner),
        ("a first signal is noted and a second one ends", two_signals),
        ("a closed pipe is noted each time", closed_pipe_again),
        ("an ignored signal stays ignored", ignored_signal),
        ("a closed pipe ends quietly", closed_pipe),
        (
            "a closed pipe is an error where that is asked for",
            ignored_closed_pipe,
        ),
        ("a worker that is gone does not end its parent", gone_worker),
        (
            "a worker stops and continues with its parent",
            stopped_parent,
        ),
        ("a program dies with its starter", programs::killed_starter),
        (
            "programs stop and continue with their starter",
            programs::stopped_starter,
        ),
        (
            "what programs leave behind is found and ended",
            programs::leftovers,
        ),
        (
            "programs use the terminal, and give it back",
            programs::terminal,
        ),
        (
            "Ctrl-C ends a program that has the terminal, and is passed on",
            programs::ctrl_c,
        ),
        ("Ctrl-Z does not leave a program stopped", programs::ctrl_z),
        (
            "a program in the background does not wait for the terminal",
            programs::background,
        ),
    ];

    pub fn main() {
        roles::main(CHECKS, play);
    }

    fn play(arguments: &[String]) {
        match arguments {
            [role] if role == "parent" => {
                let mut command = Command::new("sleep");
                command.arg(PATIENCE.as_secs().to_string());
                let worker =
                    Worker::spawn(command.into(), &WorkerOptions::default()).expect("sleep");
                say(&worker.id().to_string());
                std::thread::sleep(PATIENCE);
            }
            [role] if role == "owner" => {
                let _partner = sleeping_partner();
                std::thread::sleep(PATIENCE);
            }
            [role] if role == "leaver" => {
                drop(sleeping_partner());
                std::thread::sleep(PATIENCE);
            }
            [role, ignored @ ..] if role == "interrupted" => {
                restore_default_sigpipe();
                if ignored == ["HUP"] {
                    ignore_hang_ups();
                }
                let interrupt = Interrupt::install().expect("signals can be caught");
                say("installed");
                let start = Instant::now();
                while !interrupt.is_set() && start.elapsed() < PATIENCE {
                    std::thread::sleep(Duration::from_millis(1));
                }
                let signal = interrupt.signal();
                say(&signal.map_or_else(|| "none".to_owned(), |signal| signal.to_string()));
                std::thread::sleep(PATIENCE);
            }
            [role] if role == "talker" => {
                restore_default_sigpipe();
                loop {
                    println!("more");
                }
            }
            [role] if role == "deaf" => {
                restore_default_sigpipe();
                ignore_sigpipe();
                let (reader, mut writer) = std::io::pipe().expect("a pipe");
                drop(reader);
                let error = writer.write_all(b"more").expect_err("nobody reads");
                say(&error.kind().to_string());
            }
            [role] if role == "employer" => {
                restore_default_sigpipe();
                let interrupted = AtomicBool::new(false);
                let mut worker =
                    Worker::spawn(Command::new("true").into(), &WorkerOptions::default())
                        .expect("true");
                let deadline = now_ns() + PATIENCE.as_nanos() as u64;
                let error = worker
                    .send(&vec![b'x'; 1 << 20], deadline, &interrupted)
                    .expect_err("nobody reads");
                say(&error.to_string());
            }
            [role, runs, script] if role == "starter" => programs::play(runs, script),
            _ => panic!("no such role: {arguments:?}"),
        }
    }

    /// As `nohup` does before it starts a program: `testing` has undone that for this one.
    #[expect(unsafe_code, reason = "no crate has a safe call for it")]
    fn ignore_hang_ups() {
        // SAFETY: no handler is involved.
        unsafe { libc::signal(libc::SIGHUP, libc::SIG_IGN) };
    }

    /// A partner that prints its process id and sleeps.
    fn sleeping_partner() -> Partner {
        let cpus = allowed_cpus().expect("this process runs somewhere");
        let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
        let body = move || {
            say(&std::process::id().to_string());
            writer.write_all(&[1]).expect("its parent reads");
            std::thread::sleep(PATIENCE);
        };
        let partner = Partner::start(cpus[0], body).expect("there is only one thread");
        reader.read_exact(&mut [0]).expect("the partner writes");
        partner
    }

    fn this_program() -> PathBuf {
        std::env::current_exe().expect("this program has a path")
    }

    fn role(arguments: &[&str]) -> Command {
        let mut command = Command::new(this_program());
        command.arg("role").args(arguments).stdout(Stdio::piped());
        command
    }

    /// Starts the command, and waits for its first line.
    fn start(mut command: Command) -> (Process, BufReader<impl Read>, String) {
        let mut child = command.spawn().expect("this program can be started");
        let mut said = BufReader::new(child.stdout.take().expect("it is piped"));
        let line = hear(&mut said);
        (child, said, line)
    }

    fn hear(said: &mut impl BufRead) -> String {
        let mut line = String::new();
        said.read_line(&mut line).expect("it can be read");
        line.trim_end().to_owned()
    }

    fn kill(child: &mut Process) {
        child.kill().expect("it runs");
        child.wait().expect("it was started here");
    }

    fn signal(child: &Process, signal: Signal) {
        let name = match signal {
            Signal::Interrupt => process::Signal::INT,
            Signal::Quit => process::Signal::QUIT,
            Signal::Terminate => process::Signal::TERM,
            Signal::HangUp => process::Signal::HUP,
            Signal::ClosedPipe => process::Signal::PIPE,
        };
        let id = process::Pid::from_raw(child.id().cast_signed()).expect("not 0");
        process::kill_process(id, name).expect("it runs");
    }

    fn stopped_parent() {
        let mut parent = role(&["parent"]);
        // The kernel does not stop a group that no shell could continue.
        parent.process_group(0);
        let (mut parent, _said, worker) = start(parent);
        let pid = i32::try_from(parent.id())
            .ok()
            .and_then(process::Pid::from_raw);
        let pid = pid.expect("a running process");
        let own = parent.id().to_string();
        for _ in 0..2 {
            process::kill_process(pid, process::Signal::TSTP).expect("it runs");
            eventually("both stop", || is_stopped(&own) && is_stopped(&worker));
            process::kill_process(pid, process::Signal::CONT).expect("it runs");
            eventually("both go on", || !is_stopped(&own) && !is_stopped(&worker));
        }
        kill(&mut parent);
    }

    fn killed_owner_of_a_partner() {
        let (mut owner, _said, partner) = start(role(&["owner"]));
        assert!(runs(&partner));
        kill(&mut owner);
        eventually("the partner ends", || !runs(&partner));
    }

    fn dropped_partner() {
        let (mut owner, _said, partner) = start(role(&["leaver"]));
        eventually("the partner ends", || !runs(&partner));
        assert!(runs(&owner.id().to_string()));
        kill(&mut owner);
    }

    fn two_signals() {
        for wanted in [
            Signal::Interrupt,
            Signal::Quit,
            Signal::Terminate,
            Signal::HangUp,
        ] {
            let (mut child, mut said, line) = start(role(&["interrupted"]));
            assert_eq!(line, "installed");
            signal(&child, wanted);
            assert_eq!(hear(&mut said), wanted.to_string());
            signal(&child, wanted);
            let status = child.wait().expect("it was started here");
            assert_eq!(status.signal(), Some(wanted.number()));
        }
    }

    fn closed_pipe_again() {
        let (mut child, mut said, _) = start(role(&["interrupted"]));
        signal(&child, Signal::ClosedPipe);
        assert_eq!(hear(&mut said), "SIGPIPE");
        signal(&child, Signal::ClosedPipe);
        let status = loop {
            signal(&child, Signal::Terminate);
            if let Some(status) = child.try_wait().expect("it was started here") {
                break status;
            }
        };
        assert_eq!(status.signal(), Some(Signal::Terminate.number()));
    }

    fn ignored_signal() {
        let (mut child, mut said, _) = start(role(&["interrupted", "HUP"]));
        signal(&child, Signal::HangUp);
        signal(&child, Signal::Terminate);
        assert_eq!(hear(&mut said), "SIGTERM");
        kill(&mut child);
    }

    fn closed_pipe() {
        let mut command = role(&["talker"]);
        command.stderr(Stdio::piped());
        let (mut child, said, line) = start(command);
        assert_eq!(line, "more");
        drop(said);
        let status = child.wait().expect("it was started here");
        assert_eq!(status.signal(), Some(process::Signal::PIPE.as_raw()));
        let mut complaint = String::new();
        let mut stderr = child.stderr.take().expect("it is piped");
        stderr.read_to_string(&mut complaint).expect("it is text");
        assert_eq!(complaint, "");
    }

    fn ignored_closed_pipe() {
        let (mut child, _said, line) = start(role(&["deaf"]));
        assert_eq!(line, "broken pipe");
        assert!(child.wait().expect("it was started here").success());
    }

    fn gone_worker() {
        let (mut child, _said, line) = start(role(&["employer"]));
        assert_eq!(line, "the worker ended with exit code 0");
        assert!(child.wait().expect("it was started here").success());
    }
}

#[cfg(target_os = "linux")]
use linux::main;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: these roles are for Linux");
}
