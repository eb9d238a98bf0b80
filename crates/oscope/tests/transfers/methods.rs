//! The ways of moving bytes.

use crate::common::receiver::Receiver;
use crate::common::{Place, program};
use crate::{Stream, file, send, text};
use std::fs;
use std::path::Path;
use std::time::Duration;
use testing::Command;

#[test]
fn every_method_is_known_by_name_and_the_usual_one_needs_no_right() {
    let place = Place::new();
    let one = file(&place, "one", 1_000_000);
    for (sender, receiver) in [("auto", "file"), ("uring", "uring"), ("sendfile", "mmap")] {
        let to = place.path(sender);
        if sender == "uring"
            && let Err(error) = platform::stream_ring::StreamRing::new(1, Duration::ZERO)
        {
            eprintln!("skipped: {error}");
            continue;
        }
        let receiver = Receiver::start(&to, &["--once", "--method", receiver]);
        send(&receiver, &[text(&one), "--method", sender])
            .assert()
            .success();
        assert!(receiver.end().status.success());
        assert!(fs::read(to.join("one")).expect("whole") == fs::read(&one).expect("there"));
    }
}

#[test]
fn the_usual_method_depends_on_the_directory() {
    let rings = platform::stream_ring::StreamRing::new(1, Duration::ZERO);
    let [disk, memory] = ["/var/tmp", "/dev/shm"].map(tempfile::tempdir_in);
    let (Ok(disk), Ok(memory)) = (disk, memory) else {
        return eprintln!("skipped: there is no /var/tmp or no /dev/shm to write to");
    };
    for to in [disk.path(), memory.path()] {
        let directory = platform::directory::Directory::open(to).expect("it is there");
        let receiver = Receiver::start(to, &["--once"]);
        let mut stream = Stream::start(Command::new(program()), &receiver.address, "file", &[]);
        // The file is not complete, so its connection is at work.
        stream.write_some_to(to);
        let is_through_ring = has_ring(receiver.id());
        let output = stream.end();
        assert!(output.status.success(), "{output:?}");
        assert!(receiver.end().status.success());
        assert!(fs::read(to.join("file")).expect("it arrived") == vec![7; 4 << 20]);
        assert_eq!(
            is_through_ring,
            directory.is_in_memory() && rings.is_ok(),
            "{}",
            to.display()
        );
    }
}

/// True if a process has an `io_uring`.
fn has_ring(process: u32) -> bool {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).expect("it runs");
    entries
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .any(|link| link == Path::new("anon_inode:[io_uring]"))
}
