use std::process::Command;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use super::{Helper, KERNEL_ERROR_BYTES, Starter, wait4};
use crate::process::Exit;
use crate::program::{Output, Program, ProgramError, Ran};

const KIB: u64 = 1024;

/// Both ways to start programs.
fn starters() -> [Starter; 2] {
    let helper = Helper::start().expect("this system runs programs that are in memory only");
    [Some(helper), None].map(|helper| Starter::with(helper).expect("/dev/null is there"))
}

fn run(starter: &Starter, words: &[&str]) -> Result<Option<Ran>, ProgramError> {
    run_until(starter, words, &AtomicBool::new(false))
}

fn run_until(
    starter: &Starter,
    words: &[&str],
    interrupted: &AtomicBool,
) -> Result<Option<Ran>, ProgramError> {
    let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
    starter.run(&plain(&words), interrupted)
}

fn plain(words: &[String]) -> Program<'_> {
    Program {
        words,
        stdout: Output::Pipe,
        stderr: Output::Pipe,
        ..Program::default()
    }
}

fn shell(starter: &Starter, text: &str) -> Ran {
    let ran = run(starter, &["sh", "-c", text]).expect("it comes to its end");
    ran.expect("nobody interrupted it")
}

#[test]
fn a_program_runs_to_its_end() {
    for starter in starters() {
        let begin = Instant::now();
        let ran = shell(&starter, "sleep 0.05; echo gone wrong >&2; exit 3");
        let outside_ns = begin.elapsed().as_nanos() as u64;
        assert_eq!(ran.finished.exit, Exit::Code(3));
        assert_eq!(ran.stderr, "gone wrong\n");
        assert!((1..=outside_ns).contains(&ran.wall_ns), "{ran:?}");
        assert!(ran.peak_bytes > 0, "{ran:?}");
        assert!(!ran.was_stopped);
        let killed = shell(&starter, "kill -TERM $$");
        assert_eq!(killed.finished.exit, Exit::Signal(15));
    }
}

/// The end of its pipe may be seen before its exit.
#[test]
fn many_short_programs_run_to_their_end() {
    for starter in starters() {
        for _ in 0..1000 {
            let ran = run(&starter, &["true"]).expect("it comes to its end");
            assert!(ran.is_some_and(|ran| ran.finished.exit.is_success()));
        }
    }
}

#[test]
fn a_program_gets_its_arguments_environment_directory_group_and_files() {
    for starter in starters() {
        let here = std::env::current_dir().expect("there is one");
        let script = "test \"$1,$2\" = 'a b,' && test \"$PATH\" = \"$3\" && test \"$(pwd -P)\" = \"$4\" && \
             test $$ = \"$(ps -o pgid= -p $$ | tr -d ' ')\" && ! read line && echo out && echo err >&2";
        let path = std::env::var("PATH").expect("tests have one");
        let words = [
            "sh",
            "-c",
            script,
            "sh",
            "a b",
            "",
            &path,
            here.to_str().expect("text"),
        ];
        let ran = run(&starter, &words).expect("it ends").expect("as before");
        assert!(ran.finished.exit.is_success(), "{ran:?}");
        assert_eq!(ran.stderr, "err\n");
        // Like other children, it has only those files of this process that are meant for it.
        let list = "ls /proc/self/fd >&2";
        let usual = Command::new("sh").args(["-c", list]).output();
        let usual = usual.expect("sh is there").stderr;
        assert_eq!(shell(&starter, list).stderr.as_bytes(), usual);
    }
}

#[test]
fn a_program_may_have_variables_a_directory_and_a_time_limit_of_its_own() {
    const REPORT: &str = "echo \"$HOME,$ADDED,$(pwd),$(env | grep -c ^HOME=),${PATH:+path}\" >&2";
    let words = |script: &str| ["sh", "-c", script].map(str::to_owned);
    let report = words(REPORT);
    let [nothing, endless] = ["true", "sleep 1000"].map(words);
    let never = AtomicBool::new(false);
    for starter in starters() {
        let changed = Program {
            environment: &[("HOME", "there".into()), ("ADDED", "a b".into())],
            directory: Some("/dev".as_ref()),
            ..plain(&report)
        };
        let ran = starter.run(&changed, &never);
        let ran = ran.expect("it runs").expect("nobody interrupted it");
        assert_eq!(ran.stderr, "there,a b,/dev,1,path\n");
        // The next one has what this process has.
        let here = std::env::current_dir().expect("there is one");
        let next = shell(&starter, "echo \"$ADDED$(pwd -P)\" >&2");
        assert_eq!(next.stderr.trim(), here.to_str().expect("text"));
        let elsewhere = Program {
            directory: Some("/nonexistent".as_ref()),
            ..plain(&nothing)
        };
        let refused = starter.run(&elsewhere, &never);
        assert!(
            matches!(refused, Err(ProgramError::Start(_))),
            "{refused:?}"
        );
        let endless = Program {
            limit: Some(Duration::from_millis(20)),
            ..plain(&endless)
        };
        let ended = starter.run(&endless, &never);
        assert!(matches!(ended, Err(ProgramError::Limit)), "{ended:?}");
        assert!(shell(&starter, "true").finished.exit.is_success());
    }
}

#[test]
fn a_program_that_cannot_be_started_is_an_error() {
    for starter in starters() {
        for (name, errors) in [
            ("/nonexistent/program", &[libc::ENOENT][..]),
            // A directory of the search path may be closed to this user.
            ("no-such-program-anywhere", &[libc::ENOENT, libc::EACCES]),
            ("/dev/null", &[libc::EACCES]),
        ] {
            let error = run(&starter, &[name]).expect_err("it is no program");
            let ProgramError::Start(error) = error else {
                panic!("{error}");
            };
            let is_expected = (error.raw_os_error()).is_some_and(|errno| errors.contains(&errno));
            assert!(is_expected, "{name}: {error}");
        }
        let long = "x".repeat(1 << 20);
        let error = run(&starter, &["true", &long]).expect_err("the kernel refuses it");
        assert!(matches!(error, ProgramError::Start(_)), "{error}");
        assert!(shell(&starter, "true").finished.exit.is_success());
    }
}

#[test]
fn more_output_than_a_pipe_holds_is_taken() {
    for starter in starters() {
        let ran = shell(
            &starter,
            "head -c 3000000 /dev/zero; head -c 300000 /dev/zero >&2; echo end >&2",
        );
        assert!(ran.finished.exit.is_success());
        assert!(ran.stderr.ends_with("end\n"));
    }
}

#[test]
fn a_child_that_keeps_the_pipe_does_not_delay_the_end() {
    for starter in starters() {
        // The child lives as long as this directory, which goes when the program has ended.
        let lease = tempfile::tempdir().expect("a directory");
        let path = lease.path().display().to_string();
        let program = std::thread::spawn(move || {
            shell(
                &starter,
                &format!("while [ -d '{path}' ]; do sleep 0.05; done & echo started"),
            )
        });
        let ran = testing::joined("the end of the program before its child's", program);
        assert!(ran.finished.exit.is_success());
    }
}

#[test]
fn an_interrupted_program_is_killed() {
    for starter in starters() {
        let interrupted = AtomicBool::new(true);
        let start = Instant::now();
        let ran = run_until(&starter, &["sleep", "60"], &interrupted);
        assert_eq!(ran.expect("it is killed"), None);
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn a_program_that_is_stopped_for_good_is_an_error() {
    for starter in starters() {
        let error = run(&starter, &["sh", "-c", "kill -STOP $$"]).expect_err("it is stopped");
        assert!(
            matches!(error, ProgramError::Stopped(libc::SIGSTOP)),
            "{error}"
        );
        assert!(error.to_string().starts_with("signal 19"), "{error}");
    }
}

#[test]
fn the_memory_of_a_program_is_its_own() {
    let mine = std::hint::black_box(vec![1_u8; 64 << 20]);
    let [starter, fallback] = starters();
    let floor_bytes = starter.floor_bytes();
    assert!((1..1500 * KIB).contains(&floor_bytes), "{floor_bytes}");
    let peak_bytes = (0..3).map(|_| shell(&starter, "true").peak_bytes).max();
    assert!(peak_bytes < Some(8 << 20), "{peak_bytes:?}");
    let large = shell(&starter, "head -c 60000000 /dev/zero | tail -c 60000000");
    assert!(large.peak_bytes > 40 << 20, "{large:?}");
    // A process that starts programs itself gives them its own size.
    assert!(fallback.floor_bytes() > mine.len() as u64 + KERNEL_ERROR_BYTES);
    assert!(shell(&fallback, "true").peak_bytes <= fallback.floor_bytes());
}

#[test]
fn the_helper_ends_with_its_starter() {
    let helper = Helper::start().expect("as above");
    let pid = helper.pid();
    drop(helper);
    wait4(pid).expect_err("it has been waited for");
}
