//! The remains of a process that is killed or asked to stop: this program starts itself in a role,
//! ends that process, and checks.

#[cfg(target_os = "linux")]
mod programs;
#[cfg(target_os = "linux")]
mod roles;

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{Read, Write};
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Stdio;
    use std::sync::atomic::AtomicBool;
    use std::time::{Duration, Instant};
    use testing::Command;

    use oscope_platform::clock::now_ns;
    use oscope_platform::partner::Partner;
    use oscope_platform::placement::allowed_cpus;
    use oscope_platform::process::{Worker, WorkerOptions};
    use oscope_platform::signal::{Interrupt, Signal, ignore_sigpipe, restore_default_sigpipe};
    use rustix::process;

    use super::programs;
    use super::roles::linux::Role;
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

    fn start(arguments: &[&str]) -> (Role, String) {
        Role::start(Role::command(arguments))
    }

    fn signal(role: &Role, signal: Signal) {
        let named = process::Signal::from_named_raw(signal.number());
        role.send(named.expect("it has a name"));
    }

    fn stopped_parent() {
        let mut parent = Role::command(&["parent"]);
        // The kernel does not stop a group that no shell could continue.
        parent.process_group(0);
        let (parent, worker) = Role::start(parent);
        let own = parent.id();
        for _ in 0..2 {
            parent.send(process::Signal::TSTP);
            eventually("both stop", || is_stopped(&own) && is_stopped(&worker));
            parent.send(process::Signal::CONT);
            eventually("both go on", || !is_stopped(&own) && !is_stopped(&worker));
        }
    }

    fn killed_owner_of_a_partner() {
        let (owner, partner) = start(&["owner"]);
        assert!(runs(&partner));
        drop(owner);
        eventually("the partner ends", || !runs(&partner));
    }

    fn dropped_partner() {
        let (owner, partner) = start(&["leaver"]);
        eventually("the partner ends", || !runs(&partner));
        assert!(runs(&owner.id()));
    }

    fn two_signals() {
        for wanted in [
            Signal::Interrupt,
            Signal::Quit,
            Signal::Terminate,
            Signal::HangUp,
        ] {
            let (mut role, line) = start(&["interrupted"]);
            assert_eq!(line, "installed");
            signal(&role, wanted);
            assert_eq!(role.hear(), wanted.to_string());
            signal(&role, wanted);
            let status = role.child.wait().expect("it was started here");
            assert_eq!(status.signal(), Some(wanted.number()));
        }
    }

    fn closed_pipe_again() {
        let (mut role, _) = start(&["interrupted"]);
        signal(&role, Signal::ClosedPipe);
        assert_eq!(role.hear(), "SIGPIPE");
        signal(&role, Signal::ClosedPipe);
        let status = loop {
            signal(&role, Signal::Terminate);
            if let Some(status) = role.child.try_wait().expect("it was started here") {
                break status;
            }
        };
        assert_eq!(status.signal(), Some(Signal::Terminate.number()));
    }

    fn ignored_signal() {
        let (mut role, _) = start(&["interrupted", "HUP"]);
        signal(&role, Signal::HangUp);
        signal(&role, Signal::Terminate);
        assert_eq!(role.hear(), "SIGTERM");
    }

    fn closed_pipe() {
        let mut command = Role::command(&["talker"]);
        command.stderr(Stdio::piped());
        let (mut role, line) = Role::start(command);
        assert_eq!(line, "more");
        role.stop_hearing();
        let status = role.child.wait().expect("it was started here");
        assert_eq!(status.signal(), Some(process::Signal::PIPE.as_raw()));
        let mut complaint = String::new();
        let mut stderr = role.child.stderr.take().expect("it is piped");
        stderr.read_to_string(&mut complaint).expect("it is text");
        assert_eq!(complaint, "");
    }

    fn ignored_closed_pipe() {
        let (mut role, line) = start(&["deaf"]);
        assert_eq!(line, "broken pipe");
        assert!(role.child.wait().expect("it was started here").success());
    }

    fn gone_worker() {
        let (mut role, line) = start(&["employer"]);
        assert_eq!(line, "the worker ended with exit code 0");
        assert!(role.child.wait().expect("it was started here").success());
    }
}

#[cfg(target_os = "linux")]
use linux::main;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: these roles are for Linux");
}
