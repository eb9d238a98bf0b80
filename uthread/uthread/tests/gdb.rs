//! The script for gdb, on a program that stops in one of its threads.
#![cfg(all(target_os = "linux", not(uthread_tsan)))]
#![expect(clippy::unwrap_used, reason = "what fails here fails the test")]
#![expect(unsafe_code, reason = "gdb finds functions by their names")]

use std::path::Path;
use std::sync::Arc;
use testing::Command;

use uthread::{Builder, Semaphore, Wait, suspend, yield_now};

const ROLE: &str = "UTHREAD_GDB";
const SCRIPT: &str = "gdb/uthread.py";

/// The debugger stops here.
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn uthread_test_stops_here() {
    std::hint::black_box(());
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn uthread_test_waits_here(semaphore: &Semaphore) {
    semaphore.acquire();
    std::hint::black_box(());
}

/// A thread that waits, one that is suspended, and one that stops.
fn program() {
    uthread::run(|| {
        let semaphore = Arc::new(Semaphore::new(0));
        let other = Arc::clone(&semaphore);
        let waiter = Builder::new().name("waiter");
        let waiter = waiter
            .spawn(move || uthread_test_waits_here(&other))
            .unwrap();
        let suspended = uthread::spawn(suspend);
        yield_now();
        uthread_test_stops_here();
        semaphore.release(1);
        suspended.thread().resume();
        waiter.join().unwrap();
        suspended.join().unwrap();
    });
}

#[test]
fn the_script_lists_the_stacks_of_all_threads() {
    if std::env::var_os(ROLE).is_some() {
        return program();
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(SCRIPT);
    let source = format!("source {}", script.display());
    let commands = [
        "set debuginfod enabled off",
        "break uthread_test_stops_here",
        "run",
        &source,
        "info uthreads",
        "uthread-backtrace",
        "kill",
    ];
    let mut gdb = Command::new("gdb");
    gdb.args(["-nx", "-q", "-batch"]).env(ROLE, "1");
    for command in commands {
        gdb.args(["-ex", command]);
    }
    gdb.arg("--args").arg(std::env::current_exe().unwrap());
    let test = "the_script_lists_the_stacks_of_all_threads";
    gdb.args([test, "--exact", "--nocapture", "--test-threads=1"]);
    let output = match gdb.output() {
        Ok(output) => output,
        Err(error) => return eprintln!("skipped: no gdb ({error})"),
    };
    let written = String::from_utf8_lossy(&output.stdout);
    if !written.contains("hit Breakpoint 1") && !written.contains("Breakpoint 1, ") {
        return eprintln!("skipped: gdb cannot run a program here: {output:?}");
    }
    let list = [
        "1  'main' runs",
        "2  'waiter' waits for a semaphore",
        "3  thread 3 is suspended",
    ];
    for line in list {
        assert!(written.contains(line), "{line} is missing in {output:?}");
    }
    let stacks: Vec<_> = written.split("User thread ").skip(1).collect();
    assert_eq!(stacks.len(), list.len(), "{output:?}");
    for (stack, name) in stacks.iter().zip([
        "uthread_test_stops_here",
        "uthread_test_waits_here",
        "suspend",
    ]) {
        assert!(stack.contains(name), "{name} is missing in {stack}");
    }
}

#[test]
fn the_script_has_the_names_of_all_waits_in_their_order() {
    let script = include_str!("../gdb/uthread.py");
    let waits = [
        Wait::Lock,
        Wait::Urgent,
        Wait::Condition,
        Wait::Join,
        Wait::Suspended,
        Wait::Semaphore,
        Wait::Channel,
        Wait::Barrier,
        Wait::Once,
        Wait::Io,
        Wait::Sleep,
    ];
    let list: String = waits.map(|wait| format!("    \"{wait}\",\n")).concat();
    assert!(script.contains(&format!("WAITS = [\n{list}]\n")), "{list}");
    assert_eq!(
        waits.map(|wait| wait as usize),
        [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    );
}
