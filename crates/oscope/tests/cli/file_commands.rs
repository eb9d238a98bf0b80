//! The direct commands on files as a user sees them.

use crate::common::{
    Place, as_user, by_shell, ends, is_root, json, printed, program, scratch_files, signal,
    visit_each_point, wait_until,
};
use instrument::quantity::Bytes;
use serde_json::Value;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use testing::{Command, joined};

/// A file of known contents: the words 1, 2, 3 and the tail `04 05`.
fn known_file(place: &Place) -> String {
    place.file("known", [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 5])
}

/// The program with these arguments behind a redirection of the shell, such as `<&-`.
fn redirected(place: &Place, arguments: &[&str], redirection: &str) -> Command {
    let mut shell = by_shell(&format!("exec \"$0\" \"$@\" {redirection}"), arguments);
    shell.current_dir(place.scratch());
    shell
}

#[test]
fn bytes_that_are_written_are_read_and_summed_to_the_same() {
    let place = Place::new();
    let write = "file write $file --block-size 64KiB --count 20";
    let xor = place.json(&format!("{write} --json"))["xor"].clone();
    check!(place => "
        {write} | 1 | 2> --force
        {write} --force | 0
    ");
    for method in ["read", "pread", "stdio", "mmap"] {
        let read = format!("file read $file --block-size 10000 --method {method} --json");
        let read = place.json(&read);
        assert_eq!(
            (&read["xor"], &read["bytes"]),
            (&xor, &Value::from(20 << 16))
        );
        assert!(read["wall_ns"].as_u64() > Some(0));
    }
    let sum = format!(
        "{} {} {}\n",
        xor.as_str().expect("text"),
        20 << 16,
        place.name("file")
    );
    assert_eq!(place.prints("file sum $file"), sum);
}

#[test]
fn the_words_are_little_endian_and_the_tail_is_filled_with_zeros() {
    let place = Place::new();
    let path = known_file(&place);
    let sum = place.prints("file sum $known");
    assert_eq!(sum, format!("00000504 14 {path}\n"));
    // Time and speed are printed for any combination of options.
    check!(place => "
        file sum $known --method pread --threads 1 --block-size 4096 | 0 | > 00000504 14
            | 2> B/s by pread, 1 thread, blocks of 4 KiB: as asked
    ");
    let input = File::open(path).expect("it is there");
    let sum = printed(place.line("file sum -").stdin(input), "0");
    assert_eq!(sum, "00000504 14 -\n");
}

#[test]
fn a_closed_standard_input_is_an_error_and_publishes_nothing() {
    let place = Place::new();
    for arguments in [
        &["file", "sum", "-"] as &[_],
        &["file", "sum", "/dev/stdin"],
        &["file", "read", "-", "--block-size", "4096"],
        &["file", "copy", "-", "copy"],
        &["send", "-", "--name", "x", "--to", "127.0.0.1:1"],
    ] {
        for redirection in ["<&-", "0>written"] {
            ends(
                &mut redirected(&place, arguments, redirection),
                "1 | > | 2> standard input: it is not open for reading",
            );
        }
    }
    assert!(!place.scratch().join("copy").exists());
    let mut empty = redirected(&place, &["file", "sum", "-"], "</dev/null");
    assert_eq!(printed(&mut empty, "0"), "00000000 0 -\n");
}

#[test]
fn only_data_goes_to_standard_output() {
    let place = Place::new();
    let path = known_file(&place);
    let data = fs::read(&path).expect("it is there");
    for target in ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        let copy = |flags: &str| {
            let mut copy = place.line(&format!("file copy $known {target} {flags}"));
            let copied = ends(&mut copy, "0");
            assert_eq!(copied.stdout, data);
            String::from_utf8_lossy(&copied.stderr).into_owned()
        };
        assert!(copy("--force").contains("copied "), "{target}");
        assert_eq!(copy("-q"), "", "{target}");
        for flags in ["--json", "--json -q"] {
            assert_eq!(json(copy(flags).as_bytes())["bytes"], data.len());
        }
    }
    // Standard output may be any file: data is added to it, and a file that is named is replaced.
    let out = place.scratch().join("out");
    let redirect = |arguments: &[&str], redirection: &str, expected: &str| {
        ends(&mut redirected(&place, arguments, redirection), expected);
    };
    for (target, redirection) in [
        ("-", ">out"),
        ("/dev/stdout", ">>out"),
        ("out", ">out"),
        ("out", ">>out"),
    ] {
        fs::write(&out, "before ").expect("a file");
        let copy = ["file", "copy", &path, target, "--force"];
        redirect(&copy, redirection, "0 | 2> copied ");
        let is_added = target != "out" && redirection == ">>out";
        let before: &[u8] = if is_added { b"before " } else { b"" };
        let found = fs::read(&out).expect("it is there");
        assert_eq!(found, [before, &data].concat(), "{target} {redirection}");
    }
    for (method, expected) in [
        ("read-write", "0"),
        ("mmap", "0"),
        ("uring", "2 | 2> from start to end only"),
        ("reflink", "2 | 2> from start to end only"),
    ] {
        let copy = ["file", "copy", &path, "-", "--method", method];
        redirect(&copy, ">>out", expected);
    }
    let before = fs::read(&out).expect("it is there");
    redirect(&["file", "copy", "out", "-"], ">>out", "2 | 2> same file");
    assert_eq!(fs::read(&out).expect("it is there"), before);
    redirect(
        &["file", "copy", &path, "-"],
        ">&-",
        "1 | 2> standard output: it is not open",
    );
    let mut write = place.line("file write - --size 10 --block-size 4");
    assert_eq!(ends(&mut write, "0 | 2> written ").stdout.len(), 10);
    // A report that reaches nobody anyway goes where it was asked to go.
    let copy = ["file", "copy", &path, "/dev/null", "--force"];
    redirect(&copy, ">/dev/null", "0 | 2>");
    assert_eq!(place.names("scratch"), ["out"]);
}

#[test]
fn a_copy_of_an_endless_input_to_a_full_device_ends() {
    if !Path::new("/dev/full").exists() {
        return eprintln!("skipped: there is no /dev/full");
    }
    let pipeline = "yes | timeout 60 \"$0\" file copy - /dev/full --force";
    ends(
        &mut by_shell(pipeline, &[]),
        "1 | 2> no space left for /dev/full",
    );
}

#[test]
fn a_copy_goes_into_a_directory_under_the_name_of_its_source() {
    let place = Place::new();
    known_file(&place);
    let target = place.scratch().join("known");
    let copied = place.json("file copy $known --json $scratch");
    assert_eq!(copied["target"], target.to_str().expect("a plain path"));
    check!(place => "
        file copy $known $scratch         | 1 | 2> scratch/known is there already
        file copy $known $scratch --force | 0
    ");
    fs::remove_file(&target).expect("it was copied");
    fs::create_dir(&target).expect("a directory");
    check!(place => "
        file copy $known $scratch --force | 2 | 2> scratch/known is a directory
        file copy $known /proc/copy       | 1 | 2> /proc
        file copy $known - --against dd   | 2 | >
        file copy - $scratch              | 2 | 2> standard input has no name
        file copy $known $scratch/new/    | 2 | 2> there is no directory | 2> new/
    ");
}

#[test]
fn several_files_are_copied_into_a_directory_and_a_missing_one_stops_no_other() {
    let place = Place::new();
    known_file(&place);
    place.directory("other");
    for name in ["one", "two", "other/one"] {
        place.file(name, name);
    }
    check!(place => "
        file copy $one $none $two $scratch | 1 | 2> none | > scratch/two: 3.000 B in
        file copy $one $two $known         | 2 | 2> known is not a directory
        file copy $one $other/one $scratch | 2 | 2> would have the same name there
        file copy $one - $scratch          | 2 | 2> standard input has no name
        file copy .. $scratch              | 2 | 2> .. is a directory
        file copy $one $two $scratch --against dd | 2 | 2> one file
    ");
    assert_eq!(place.names("scratch"), ["one", "two"]);
    let copied = place.json("file copy $one $two --force --json $scratch");
    for (outcome, name) in [(&copied[0], "one"), (&copied[1], "two")] {
        let copy = place.scratch().join(name);
        assert_eq!(outcome["target"], copy.to_str().expect("a plain path"));
        assert_eq!(fs::read(copy).expect("a copy"), name.as_bytes());
    }
}

#[test]
fn a_block_is_bounded_by_the_file_or_by_memory() {
    let place = Place::new();
    known_file(&place);
    check!(place => "
        file read $known --block-size 1TiB | 0
        file sum $known --threads 1000 --block-size 1TiB | 0
        file copy $known $target --method read-write --block-size 1TiB | 0
        file copy $known $target --against dd --force --block-size 1TiB | 0
        file write $target --size 5 --force --block-size 1TiB | 0
    ");
    let target = place.name("target");
    fs::remove_file(&target).expect("it was written");
    // The address space bounds the memory that is available.
    for arguments in [
        &["file", "sum", "/proc/cpuinfo"] as &[_],
        &["file", "read", "/dev/zero", "--count", "1"],
        &["file", "copy", "/dev/zero", &target],
        &["file", "write", &target, "--size", "1TiB"],
        &["file", "size", &target, "--grow"],
    ] {
        for size in ["1TiB", "512MiB"] {
            let mut limited = by_shell("ulimit -v 2000000; exec \"$0\" \"$@\"", arguments);
            let refused = ends(limited.args(["--block-size", size]), "2").stderr;
            let stderr = String::from_utf8_lossy(&refused).into_owned();
            let most = stderr.split("at most ").nth(1).unwrap_or_default();
            let most: Bytes = most.trim().parse().unwrap_or_else(|_| panic!("{stderr}"));
            assert!(
                most.0 > 1 << 20 && most.0 <= 2_000_000 * 1024 / 8,
                "{stderr}"
            );
        }
    }
    assert!(!Path::new(&target).exists());
}

#[test]
fn holes_are_no_bytes_that_were_moved() {
    let place = Place::new();
    let file = File::create(place.path("holes")).expect("a file");
    file.set_len(1 << 40).expect("a hole takes no room");
    for method in ["read-write", "copy-file-range"] {
        let copy = format!("file copy $holes --method {method} --force $copy");
        check!(place => "{copy} | 0 | > 0 B of data and 1.000 TiB of holes | !> B/s");
        let report = place.json(&format!("{copy} --json"));
        assert_eq!(report["bytes"], 1_u64 << 40);
        assert_eq!(report["hole_bytes"], 1_u64 << 40);
        assert_eq!(report["bytes_per_second"], 0.0);
    }
}

#[test]
fn sizes_that_are_not_named_are_chosen() {
    let place = Place::new();
    let written = place.json("file write $file --json --size 300000");
    assert_eq!(written["bytes"], 300_000);
    assert_eq!(written["block_bytes"], 128 << 10);
    assert_eq!(written["count"], 3);
    for (method, block_bytes) in [("read", 256 << 10), ("mmap", 8 << 20)] {
        let read = place.json(&format!("file read $file --json --method {method}"));
        assert_eq!(read["xor"], written["xor"]);
        assert_eq!(read["block_bytes"], block_bytes);
    }
    check!(place => "
        file write $file --size 1 --count 1 | 2 | 2> --count
        file write $file                    | 2 | 2> --size
    ");
}

#[test]
fn one_file_that_fails_does_not_hide_the_others() {
    let place = Place::new();
    known_file(&place);
    check!(place => "
        file sum $known $nonexistent $scratch
            | 1 | > 00000504 14 | 2> /nonexistent | 2> is a directory
    ");
}

#[test]
fn a_file_without_the_right_to_read_is_named() {
    let place = Place::new();
    let path = known_file(&place);
    ends(Command::new("chmod").args(["000", &path]), "0");
    let mut sum = place.line("file sum $known");
    // Root may read everything; another user may not.
    if is_root() {
        let mut other = as_user(65534);
        other.arg(sum.get_program()).args(sum.get_args());
        match other.output() {
            Err(error) => return eprintln!("skipped: setpriv: {error}"),
            Ok(output) if matches!(output.status.code(), Some(126 | 127)) => {
                return eprintln!("skipped: others cannot start {}", program().display());
            }
            Ok(_) => sum = other,
        }
    }
    ends(&mut sum, "1 | 2> known | 2> ermission");
}

#[test]
fn a_pipe_with_a_name_is_read_to_its_end_and_never_waited_for_in_vain() {
    let place = Place::new();
    known_file(&place);
    let pipe = place.pipe("pipe");
    let writer = |pipe: String| std::thread::spawn(move || fs::write(pipe, [1, 0, 0, 0, 2]));
    let writing = writer(pipe.clone());
    check!(place => "file sum {pipe} | 0 | > 00000003 5");
    joined("a reader of the pipe", writing).expect("it was read");
    // Methods that need offsets report it.
    let writing = writer(pipe.clone());
    check!(place => "file read {pipe} --block-size 4 --method mmap | 2 | 2> from start to end");
    // The writer may have succeeded, found no reader, or come when the reader had gone: then it waits
    // for another, which reads and writes so that it does not wait itself.
    let another = File::options().read(true).write(true).open(&pipe);
    let _ = joined("another reader of the pipe", writing);
    drop(another);
    check!(place => "file copy $known {pipe} | 1 | 2> --force");
}

#[test]
fn wrong_sizes_are_explained_and_a_better_one_is_offered() {
    let place = Place::new();
    known_file(&place);
    check!(place => "
        file read $known --block-size 0    | 2 | 2> at least 1
        file read $known --block-size lots | 2 | 2> size
        file read $known --block-size 8EiB | 2
        file read $known --block-size 10 --count 2
            | 0 | > in 2 blocks | > the file ends here; 20 B were asked for
    ");
    let direct = place
        .line("file read $known --block-size 1000 --method direct")
        .output();
    let stderr = direct.expect("it starts").stderr;
    let stderr = String::from_utf8_lossy(&stderr);
    let is_explained = stderr.contains("take ") || stderr.contains("not supported");
    assert!(is_explained, "{stderr}");
}

#[test]
fn the_size_for_a_time_is_found_and_a_grown_file_is_gone() {
    let place = Place::new();
    known_file(&place);
    check!(place => r#"
        file size --grow --block-size 128 --time 2ms..500ms $grown --json | 0 | > "blocks"
        file size $known --block-size 128 | 1 | 2> --grow
    "#);
    assert!(!place.path("grown").exists());
}

#[test]
fn copies_are_the_same_and_may_be_compared_with_dd() {
    let place = Place::new();
    let path = known_file(&place);
    let mut copy = place.line("file copy $known --against dd --json $copy");
    if Command::new("dd").arg("--version").output().is_ok() {
        let copied = json(printed(&mut copy, "0").as_bytes());
        assert_eq!(copied["against_dd"].as_array().map(Vec::len), Some(5));
    } else {
        ends(&mut copy, "1 | 2> dd");
    }
    let copied = fs::read(place.path("copy")).expect("the copy");
    assert_eq!(copied, fs::read(path).expect("the file"));
    check!(place => "file copy $known $known --force | 2 | 2> same file");
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

#[test]
fn the_experiments_on_whole_files_run() {
    let place = Place::new();
    let run = "run file.sum file.size file.engine --no-page --json --dir $scratch";
    let output = visit_each_point(&mut place.line(run));
    let text = json(&output.stdout).to_string();
    for part in ["file.sum", "by_cpu", "file.size", "file.engine", "pread"] {
        assert!(text.contains(part), "no {part} in {text}");
    }
    assert!(scratch_files(&place.scratch()).is_empty());
}
