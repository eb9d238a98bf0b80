//! The remains of a process that is killed or asked to stop: this program starts itself in a role,
//! ends that process, and checks.

#[cfg(target_os = "linux")]
#[macro_use]
mod roles;
#[cfg(target_os = "linux")]
mod programs;

#[cfg(target_os = "linux")]
mod linux {
    use std::io::{Read, Write};
    use std::os::unix::process::{CommandExt, ExitStatusExt};
    use std::process::Stdio;
    use std::sync::atomic::AtomicBool;
    use testing::{Command, LONGEST_WAIT, wait_until};

    use oscope_platform::clock::now_ns;
    use oscope_platform::partner::Partner;
    use oscope_platform::placement::allowed_cpus;
    use oscope_platform::process::{Worker, WorkerOptions};
    use oscope_platform::signal::{Interrupt, Signal, ignore_sigpipe, restore_default_sigpipe};
    use rustix::process;

    use super::programs;
    use super::roles::linux::Role;
    use super::roles::{self, Check, is_stopped, runs, say};

    const CHECKS: &[Check] = checks![
        a_partner_dies_with_its_parent,
        a_partner_ends_when_it_is_dropped,
        a_first_signal_is_noted_and_the_same_a_second_later_ends,
        a_closed_pipe_is_noted_each_time,
        an_ignored_signal_stays_ignored,
        a_closed_pipe_ends_quietly,
        a_closed_pipe_is_an_error_where_that_is_asked_for,
        a_worker_that_is_gone_does_not_end_its_parent,
        a_worker_stops_and_continues_with_its_parent,
        programs::die_with_their_starter,
        programs::stop_and_continue_with_their_starter,
        programs::leave_nothing_behind,
        programs::use_the_terminal_and_give_it_back,
        programs::end_by_ctrl_c_which_is_passed_on,
        programs::continue_after_ctrl_z,
        programs::do_not_wait_for_the_terminal_in_the_background,
    ];

    pub fn main() {
        roles::main(CHECKS, play);
    }

    fn play(arguments: &[String]) {
        match arguments {
            [role] if role == "parent" => {
                let mut command = Command::new("sleep");
                command.arg(LONGEST_WAIT.as_secs().to_string());
                let worker =
                    Worker::spawn(command.into(), &WorkerOptions::default()).expect("sleep");
                say(&worker.id().to_string());
                std::thread::sleep(LONGEST_WAIT);
            }
            [role] if role == "owner" => {
                let _partner = sleeping_partner();
                std::thread::sleep(LONGEST_WAIT);
            }
            [role] if role == "leaver" => {
                drop(sleeping_partner());
                std::thread::sleep(LONGEST_WAIT);
            }
            [role, ignored @ ..] if role == "interrupted" => {
                restore_default_sigpipe();
                if ignored == ["HUP"] {
                    ignore_hang_ups();
                }
                let interrupt = Interrupt::install().expect("signals can be caught");
                say("installed");
                wait_until("a signal", || interrupt.is_set());
                say(&interrupt.signal().expect("it is set").to_string());
                std::thread::sleep(LONGEST_WAIT);
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
                let deadline = now_ns() + LONGEST_WAIT.as_nanos() as u64;
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
            std::thread::sleep(LONGEST_WAIT);
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

    fn a_worker_stops_and_continues_with_its_parent() {
        let mut parent = Role::command(&["parent"]);
        // The kernel does not stop a group that no shell could continue.
        parent.process_group(0);
        let (parent, worker) = Role::start(parent);
        let own = parent.id();
        for _ in 0..2 {
            parent.send(process::Signal::TSTP);
            wait_until("both stop", || is_stopped(&own) && is_stopped(&worker));
            parent.send(process::Signal::CONT);
            wait_until("both go on", || !is_stopped(&own) && !is_stopped(&worker));
        }
    }

    fn a_partner_dies_with_its_parent() {
        let (owner, partner) = start(&["owner"]);
        assert!(runs(&partner));
        drop(owner);
        wait_until("the partner ends", || !runs(&partner));
    }

    fn a_partner_ends_when_it_is_dropped() {
        let (owner, partner) = start(&["leaver"]);
        wait_until("the partner ends", || !runs(&partner));
        assert!(runs(&owner.id()));
    }

    fn a_first_signal_is_noted_and_the_same_a_second_later_ends() {
        let signals = [
            Signal::Interrupt,
            Signal::Quit,
            Signal::Terminate,
            Signal::HangUp,
        ];
        let mut roles = signals.map(|wanted| {
            let (mut role, line) = start(&["interrupted"]);
            assert_eq!(line, "installed");
            signal(&role, wanted);
            assert_eq!(role.hear(), wanted.to_string());
            role
        });
        std::thread::sleep(std::time::Duration::from_secs(1));
        for (role, wanted) in roles.iter_mut().zip(signals) {
            signal(role, wanted);
            let status = role.process.wait().expect("it was started here");
            assert_eq!(status.signal(), Some(wanted.number()));
        }
    }

    fn a_closed_pipe_is_noted_each_time() {
        let (mut role, _) = start(&["interrupted"]);
        signal(&role, Signal::ClosedPipe);
        assert_eq!(role.hear(), "SIGPIPE");
        signal(&role, Signal::ClosedPipe);
        let status = loop {
            signal(&role, Signal::Terminate);
            if let Some(status) = role.process.try_wait().expect("it was started here") {
                break status;
            }
        };
        assert_eq!(status.signal(), Some(Signal::Terminate.number()));
    }

    fn an_ignored_signal_stays_ignored() {
        let (mut role, _) = start(&["interrupted", "HUP"]);
        signal(&role, Signal::HangUp);
        signal(&role, Signal::Terminate);
        assert_eq!(role.hear(), "SIGTERM");
    }

    fn a_closed_pipe_ends_quietly() {
        let mut command = Role::command(&["talker"]);
        command.stderr(Stdio::piped());
        let (mut role, line) = Role::start(command);
        assert_eq!(line, "more");
        role.stop_hearing();
        let status = role.process.wait().expect("it was started here");
        assert_eq!(status.signal(), Some(process::Signal::PIPE.as_raw()));
        let mut complaint = String::new();
        let mut stderr = role.process.stderr.take().expect("it is piped");
        stderr.read_to_string(&mut complaint).expect("it is text");
        assert_eq!(complaint, "");
    }

    fn a_closed_pipe_is_an_error_where_that_is_asked_for() {
        let (mut role, line) = start(&["deaf"]);
        assert_eq!(line, "broken pipe");
        assert!(role.process.wait().expect("it was started here").success());
    }

    fn a_worker_that_is_gone_does_not_end_its_parent() {
        let (mut role, line) = start(&["employer"]);
        assert_eq!(line, "the worker ended with exit code 0");
        assert!(role.process.wait().expect("it was started here").success());
    }
}

#[cfg(target_os = "linux")]
use linux::main;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("skipped: these roles are for Linux");
}
