//! Stores that are missing, out of reach, or no store at all: the program
//! reports it, does not wait for ever, and does no further damage.

use crate::common::{Place, REPORT, UNPROVEN, ends, text, without_reader};
use instrument::cycles::cycles_per_multiplication;
use platform::machine::Machine;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

/// The commands that read the store.
const READERS: [&str; 13] = [
    "show",
    "show process.calls",
    "history",
    "history process.calls",
    "history --changes",
    "claims",
    "advise",
    "report",
    "card",
    "plot process.calls",
    "export 1",
    "verify",
    "delete 1 --force",
];

/// The run of the file under another id.
fn another_run() -> String {
    let run = fs::read_to_string(UNPROVEN).expect("a run");
    let (before, id) = run.split_once("\"id\":\"").expect("it has an id");
    let first = if id.starts_with('0') { '1' } else { '0' };
    format!("{before}\"id\":\"{first}{}", &id[1..])
}

#[test]
fn costs_of_the_core_have_cycles_where_the_clock_is_known() {
    let place = Place::new();
    check!(place => "show {REPORT} --cycles | 1 | 2> the clock of this run is not known");
    ends(&mut place.short_run(), "0");
    if cycles_per_multiplication(&Machine::read()).is_some() {
        check!(place => "show latest --cycles | 0 | > cycles");
    } else {
        check!(place => "show latest --cycles | 1");
    }
}

#[test]
fn a_store_that_is_not_there_is_named() {
    let place = Place::new();
    for reader in READERS {
        let store = text(&place.store);
        check!(place => "{reader} | 1 | > | 2> there is no store at {store}");
    }
    // The directory is searched all the same.
    check!(place => "cleanup --dir $scratch | 0 | 2> oscope.db");
    assert!(!place.store.exists());
}

#[test]
fn a_mistyped_store_leaves_no_trace() {
    let mut place = Place::new();
    place.store = place.path("mistyped/oscope.db");
    for line in [
        "run process.calls --budget 2s",
        &format!("import {UNPROVEN}"),
    ] {
        let mut command = place.line(line);
        let command = command.current_dir(place.scratch());
        ends(command, "1 | > | 2> mistyped | 2> does not exist");
        assert!(!place.path("mistyped").exists(), "{line}");
    }
}

#[test]
fn a_store_is_a_path_whatever_its_name() {
    let mut place = Place::new();
    for store in [
        ":memory:",
        "file:run.db?mode=memory",
        "50%41?.db",
        "file::memory:",
    ] {
        place.store = store.into();
        for line in [&format!("import {UNPROVEN}"), "show 1"] {
            ends(place.line(line).current_dir(place.scratch()), "0");
        }
        assert!(place.scratch().join(store).is_file(), "{store}");
    }
    place.store = "".into();
    check!(place => "history | 1,2");
}

#[test]
fn a_store_that_may_not_be_read_is_not_called_missing() {
    let mut place = Place::with(UNPROVEN);
    let private = place.directory("private");
    let hidden = place.path("private/oscope.db");
    fs::rename(&place.store, &hidden).expect("moved");
    fs::set_permissions(&private, fs::Permissions::from_mode(0o700)).expect("it is ours");
    place.store = hidden;
    for reader in READERS {
        let words: Vec<_> = reader.split(' ').collect();
        let Some(mut command) = place.as_somebody(&[], &words) else {
            return;
        };
        ends(&mut command, "1 | > | 2> Permission denied");
    }
}

#[test]
fn a_pipe_is_no_store_and_nothing_waits_for_its_writer() {
    let mut place = Place::new();
    let pipe = place.pipe("pipe.json");
    check!(place => "
        import {pipe} | 1,2 | 2> pipe.json
        show {pipe}   | 1,2 | 2> pipe.json
        verify {pipe} | 1,2 | 2> pipe.json
        compare {pipe} {REPORT} | 1,2 | 2> pipe.json
        fleet judge {pipe} {pipe} {pipe} | 1,2 | 2> pipe.json
        send {UNPROVEN} --to 127.0.0.1:1 --token-file {pipe} | 1,2 | 2> pipe.json
        lab start caches --answers {pipe} | 1,2
    ");
    place.store = place.path("pipe.json");
    let import = format!("import {UNPROVEN}");
    for line in READERS
        .into_iter()
        .chain(["run process.calls --budget 2s", &import])
    {
        let mut command = place.line(line);
        let command = command.current_dir(place.scratch());
        ends(command, "1 | > | 2> it is no regular file");
    }
}

#[test]
fn a_command_whose_reader_went_away_leaves_nothing_next_to_the_store() {
    let place = Place::with_a_report("pentium4-2003-linux");
    let before = place.names("");
    for reader in READERS {
        ends(place.line(reader).stdout(without_reader()), "141 | 2>");
        assert_eq!(place.names(""), before, "{reader}");
    }
}

#[test]
fn a_name_with_a_line_break_stays_on_its_line() {
    let place = Place::with(UNPROVEN);
    let odd = place.directory("a\nb");
    let file = place.name("c\nd.json");
    let lines = |line: &str| {
        let output = place.line(line).output().expect("it starts");
        let shown = [output.stdout, output.stderr].concat();
        let shown = String::from_utf8_lossy(&shown).into_owned();
        let has_half = |line: &str| line.ends_with("/a") || line.ends_with("/c");
        assert!(!shown.lines().any(has_half), "{line}: {shown}");
        shown.lines().count()
    };
    for command in ["show", "verify", "import"] {
        assert_eq!(lines(&format!("{command} '{file}'")), 1, "{command}");
    }
    let mut run = place.short_run_in(odd.as_ref());
    let expected = "0,1 | 2> a\u{fffd}b, results in";
    ends(run.args(["--name", "e\nf"]), expected);
    for line in ["show", "history", "verify 2", "delete 2 --force"] {
        lines(line);
    }
    fs::copy(UNPROVEN, &file).expect("a copy");
    lines(&format!("compare '{file}' {REPORT}"));
    lines(&format!("verify '{file}'"));
}

#[test]
fn reading_commands_leave_the_directory_as_it_was() {
    let place = Place::with_a_run();
    let before = place.names("");
    // The second time, the analysis is kept in the store.
    for line in [
        "show",
        "show",
        "history",
        "history process.calls",
        "report --output -",
        "compare 1 1",
        "export 1",
        "advise",
        "claims",
        "verify",
        "delete 1",
    ] {
        place.line(line).output().expect("it starts");
        assert_eq!(place.names(""), before, "{line}");
    }
}

#[test]
fn files_beyond_what_stays_in_memory_are_imported_as_well_and_none_before_all_are_read() {
    let place = Place::new();
    let run = fs::read_to_string(UNPROVEN).expect("a run");
    place.file("large.json", run.clone() + &" ".repeat(20 << 20));
    place.file("broken.json", &run[..run.len() / 2]);
    // A pipe can be read only once.
    let import = |files: &str, expected: &str| {
        let (pipe, mut writer) = std::io::pipe().expect("a pipe");
        std::thread::spawn(move || writer.write_all(another_run().as_bytes()));
        let mut import = place.line(&format!("import {files}"));
        ends(import.stdin(pipe), expected);
    };
    import("$large.json /dev/stdin $broken.json", "1 | 2> broken.json");
    assert!(!place.store.exists());
    import("$large.json /dev/stdin", "0 | 2> is run 1 | 2> is run 2");
    check!(place => "show 2 | 0");
}

#[test]
fn a_cause_is_printed_once() {
    let place = Place::new();
    let output = ends(&mut place.line("doctor --dir $none"), "1");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(stderr.matches("No such file").count(), 1, "{stderr}");
}
