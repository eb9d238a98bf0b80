//! Workers and scratch directories: this program starts itself in a role, and checks.

#[macro_use]
mod roles;

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use oscope_platform::clock::now_ns;
use oscope_platform::placement::{allowed_cpus, parent_cpus};
use oscope_platform::process::{Exit, Worker, WorkerError, WorkerLimits, WorkerOptions};
use oscope_platform::program::{Output, Program, Starter};
use oscope_platform::scratch::{Removal, Scratch};
use testing::{LONGEST_WAIT, wait_until};

use roles::{Check, runs, say};

/// Together more than any pipe holds.
const FLOOD_LINES: usize = 3_000;
const LETTERS_OF_A_LINE: usize = 100;

static NEVER: AtomicBool = AtomicBool::new(false);

const CHECKS: &[Check] = checks![
    lines_go_in_and_come_out,
    a_worker_that_answers_and_exits_at_once_is_heard,
    a_failed_worker_is_reported_with_its_complaint,
    a_flood_on_either_side_blocks_nobody,
    a_deadline_and_an_interruption_end_the_wait,
    a_worker_dies_with_its_parent,
    scratch_of_a_killed_owner_is_swept,
    a_pinned_worker_still_sees_all_processors,
    a_worker_cannot_hold_more_than_its_limit,
    a_program_runs_to_its_end_or_is_killed,
];

const REMOVAL: Removal = Removal {
    exit_wait: LONGEST_WAIT,
    unchanged_for: Duration::from_hours(24),
    is_own_name: |_| false,
};

fn main() {
    roles::main(CHECKS, play);
}

fn play(arguments: &[String]) {
    match arguments {
        [role, directory] if role == "owner" => {
            let scratch =
                Scratch::create(Path::new(directory), &REMOVAL).expect("the directory is there");
            std::fs::write(scratch.file("data"), [0; 100]).expect("it can be written");
            say(&scratch.path().display().to_string());
            std::thread::sleep(LONGEST_WAIT);
        }
        [role] => play_alone(role),
        _ => panic!("no such role: {arguments:?}"),
    }
}

fn play_alone(role: &str) {
    match role {
        "echo" => {
            for line in std::io::stdin().lock().lines() {
                say(&format!("got {}", line.expect("the parent writes text")));
            }
        }
        "hasty" => {
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).expect("text");
            say(&line);
        }
        "complainer" => {
            print!("half a line");
            eprintln!("sorry");
            std::process::exit(3);
        }
        "flooder" => {
            eprint!("{}", "e".repeat(3_000_000));
            let line = "y".repeat(LETTERS_OF_A_LINE);
            (0..FLOOD_LINES).for_each(|_| println!("{line}"));
            std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).expect("it can be read");
        }
        "sleeper" => std::thread::sleep(LONGEST_WAIT),
        "parent" => {
            let worker = start("sleeper");
            say(&worker.id().to_string());
            std::thread::sleep(LONGEST_WAIT);
        }
        "looker" => {
            let cpus = [allowed_cpus(), parent_cpus()].map(|cpus| cpus.expect("they are known"));
            say(&format!("{cpus:?}"));
        }
        "eater" => {
            let memory = vec![1_u8; 256 << 20];
            say(&std::hint::black_box(memory).len().to_string());
        }
        _ => panic!("no such role: {role}"),
    }
}

fn start(name: &str) -> Worker {
    start_with(&[name], &WorkerOptions::default()).expect("this program can be started")
}

fn start_with(role: &[&str], options: &WorkerOptions<'_>) -> Result<Worker, WorkerError> {
    Worker::spawn(roles::command(role).into(), options)
}

fn late() -> u64 {
    now_ns() + LONGEST_WAIT.as_nanos() as u64
}

fn hear(worker: &mut Worker) -> Option<String> {
    worker.read_line_until(late(), &NEVER).expect("it answers")
}

fn a_worker_that_answers_and_exits_at_once_is_heard() {
    for _ in 0..20 {
        let mut worker = start("hasty");
        worker.send(b"now\n", late(), &NEVER).expect("it takes it");
        assert_eq!(hear(&mut worker).as_deref(), Some("now"));
    }
}

fn lines_go_in_and_come_out() {
    let mut worker = start("echo");
    for word in ["one", "two"] {
        let line = format!("{word}\n");
        worker
            .send(line.as_bytes(), late(), &NEVER)
            .expect("it reads");
        assert_eq!(hear(&mut worker), Some(format!("got {word}")));
    }
    let finished = worker.wait(late(), &NEVER).expect("it ends with its input");
    assert!(finished.exit.is_success());
    assert_eq!(hear(&mut worker), None);
}

fn a_failed_worker_is_reported_with_its_complaint() {
    let mut worker = start("complainer");
    let error = worker
        .read_line_until(late(), &NEVER)
        .expect_err("it fails");
    assert_eq!(
        error.to_string(),
        "the worker ended with exit code 3: sorry"
    );
    let missing = Worker::spawn(Command::new("no such program"), &WorkerOptions::default());
    assert!(matches!(missing, Err(WorkerError::Spawn(_))));
}

fn a_flood_on_either_side_blocks_nobody() {
    let mut worker = start("flooder");
    let letters = vec![b'x'; 1 << 20];
    worker
        .send(&letters, late(), &NEVER)
        .expect("it reads at the end");
    let line = "y".repeat(LETTERS_OF_A_LINE);
    for _ in 0..FLOOD_LINES {
        assert_eq!(hear(&mut worker).as_deref(), Some(line.as_str()));
    }
    assert_eq!(worker.stderr_tail(), "e".repeat(16 << 10));
    let finished = worker.wait(late(), &NEVER).expect("it ends with its input");
    assert!(finished.exit.is_success());
}

fn a_deadline_and_an_interruption_end_the_wait() {
    let mut worker = start("sleeper");
    let soon = now_ns() + 1_000_000;
    let error = worker
        .read_line_until(soon, &NEVER)
        .expect_err("it is silent");
    assert!(matches!(error, WorkerError::TimedOut), "{error}");
    let interrupted = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(10));
            interrupted.store(true, Ordering::Release);
        });
        let error = worker
            .read_line_until(late(), &interrupted)
            .expect_err("it is silent");
        assert!(matches!(error, WorkerError::Interrupted), "{error}");
    });
    let id = worker.id().to_string();
    assert!(runs(&id));
    let killed = worker.kill().expect("it runs");
    assert!(!killed.exit.is_success());
    assert_eq!(worker.kill().expect("that is known"), killed);
    wait_until("the worker ends", || !runs(&id));
}

fn a_worker_dies_with_its_parent() {
    let mut parent = start("parent");
    let worker = hear(&mut parent).expect("it prints a number");
    assert!(runs(&worker));
    drop(parent);
    wait_until("the worker ends", || !runs(&worker));
}

fn scratch_of_a_killed_owner_is_swept() {
    let directory = tempfile::tempdir().expect("there is a place for temporary files");
    let path = directory.path().to_str().expect("it is text");
    let owner = start_with(&["owner", path], &WorkerOptions::default());
    let mut owner = owner.expect("it can be started");
    let scratch = PathBuf::from(hear(&mut owner).expect("it prints a path"));
    let sweep = || Scratch::sweep(directory.path(), &REMOVAL).removed;
    assert_eq!(sweep(), Vec::<PathBuf>::new());
    assert!(scratch.join("data").exists());
    drop(owner);
    assert_eq!(sweep(), std::slice::from_ref(&scratch));
    assert!(!scratch.exists());
}

fn a_pinned_worker_still_sees_all_processors() {
    let cpus = allowed_cpus().expect("they are known");
    let looker = |cpu| {
        let options = WorkerOptions {
            pin_cpu: Some(cpu),
            ..WorkerOptions::default()
        };
        start_with(&["looker"], &options)
    };
    for cpu in &cpus {
        let line = hear(&mut looker(*cpu).expect("it can be started"));
        let expected = format!("{:?}", [vec![*cpu], cpus.clone()]);
        assert_eq!(line, Some(expected));
    }
    looker(100_000).expect_err("there is no such processor");
}

fn a_worker_cannot_hold_more_than_its_limit() {
    let options = WorkerOptions {
        limits: WorkerLimits {
            address_space_bytes: Some(128 << 20),
            file_bytes: None,
        },
        ..WorkerOptions::default()
    };
    let mut worker = start_with(&["eater"], &options).expect("it can be started");
    match worker.wait(late(), &NEVER).expect("it ends").exit {
        Exit::Code(0) => {
            println!("skipped: a part, since this system ignores the limits of jobs");
        }
        exit => assert!(!exit.is_success()),
    }
}

fn a_program_runs_to_its_end_or_is_killed() {
    let starter = Starter::new().expect("it needs nothing");
    let run = |role: &str, interrupted: &AtomicBool| {
        let own = std::env::current_exe().expect("this program has a path");
        let own = own.to_string_lossy().into_owned();
        let program = Program {
            words: &[own, "role".to_owned(), role.to_owned()],
            stderr: Output::Pipe,
            ..Program::default()
        };
        starter.run(&program, interrupted)
    };
    let ran = run("complainer", &NEVER).expect("it can be started");
    let ran = ran.expect("nobody interrupted it");
    assert_eq!(ran.finished.exit, Exit::Code(3));
    assert_eq!(ran.stderr, "sorry\n");
    // Wine has forgotten the memory of a process once it has exited.
    assert!(ran.wall_ns > 0, "{ran:?}");
    let killed = run("sleeper", &AtomicBool::new(true)).expect("it can be started");
    assert_eq!(killed, None);
}
