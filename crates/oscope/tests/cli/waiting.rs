//! Commands that wait, or are in a long call, end when they are asked to, and leave nothing behind.

use crate::common::{Place, signal, wait_until};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::Duration;

/// Asks a command to end after `wait`, which is given its process. Without being asked it would end with
/// another exit code, or never.
fn assert_ends_when_asked(place: &Place, line: &str, wait: impl Fn(u32)) {
    let mut command = place.line(line);
    let command = command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.stderr(Stdio::null()).spawn().expect("it starts");
    wait(child.id());
    assert_eq!(child.try_wait().expect("it is there"), None, "{line}");
    signal("TERM", child.id());
    let status = child.wait().expect("it is there");
    // By itself, or by the signal.
    let code = status.code().or(status.signal().map(|number| 128 + number));
    assert_eq!(code, Some(143), "{line}");
}

#[test]
fn a_command_that_waits_for_a_pipe_ends_when_asked_to() {
    let place = Place::new();
    let pipe = place.pipe("pipe");
    place.file("source", vec![1; 1 << 20]);
    // First without a reader, then with a reader that does not read.
    for is_open in [false, true] {
        let both_ways = || File::options().read(true).write(true).open(&pipe);
        let _held = is_open.then(|| both_ways().expect("a pipe"));
        for line in [
            "file write --force --count 1000 --block-size 64KiB $pipe",
            "file read --block-size 64KiB $pipe",
            "file sum $pipe",
            "file copy $pipe $copy",
            "file copy --force --method read-write $source $pipe",
        ] {
            let wait = |_| std::thread::sleep(Duration::from_millis(500));
            assert_ends_when_asked(&place, line, wait);
            assert!(!place.path("copy").exists());
        }
    }
}

/// Waits until a process has this much memory.
fn wait_for_memory(id: u32, bytes: u64) {
    const PAGE_BYTES: u64 = 4096;
    wait_until("a part of the memory", || {
        let sizes = fs::read_to_string(format!("/proc/{id}/statm")).unwrap_or_default();
        let resident = sizes.split(' ').nth(1).and_then(|pages| pages.parse().ok());
        // None once it has ended.
        resident.is_none_or(|pages: u64| pages == 0 || pages * PAGE_BYTES > bytes)
    });
}

#[test]
fn a_call_on_a_huge_block_does_not_put_off_the_end() {
    let place = Place::new();
    let source = File::create(place.path("source")).expect("a file");
    source.set_len(1 << 30).expect("a hole takes no room");
    for line in [
        "file write --count 1 --block-size 512MiB $target",
        "file read --block-size 512MiB $source",
    ] {
        // One call makes all of the memory, and the kernel takes a moment to take it back.
        assert_ends_when_asked(&place, line, |id| wait_for_memory(id, 64 << 20));
        assert!(!place.path("target").exists());
    }
}

/// True if a process has a file of this size open, under any name or none.
fn has_open(process: u32, bytes: u64) -> bool {
    let open = fs::read_dir(format!("/proc/{process}/fd"));
    open.into_iter().flatten().flatten().any(|entry| {
        fs::metadata(entry.path()).is_ok_and(|file| file.is_file() && file.len() == bytes)
    })
}

#[test]
fn a_copy_from_a_silent_pipe_that_is_ended_or_killed_leaves_nothing() {
    let place = Place::new();
    let target = place.path("copy");
    for (name, code) in [("INT", Some(130)), ("KILL", None)] {
        let mut copy = place.line("file copy - $copy");
        let copy = copy.stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = copy.spawn().expect("the program starts");
        let mut pipe = child.stdin.take().expect("it was asked for");
        pipe.write_all(b"something").expect("it listens");
        wait_until("a part of the copy", || has_open(child.id(), 9));
        assert!(!target.exists(), "a part has the name of the whole");
        signal(name, child.id());
        let ended = child.wait().expect("it ends");
        assert_eq!(ended.code(), code);
        assert!(!target.exists());
    }
}
