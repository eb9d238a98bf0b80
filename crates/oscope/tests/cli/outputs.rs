//! Output files are complete or absent, replace nothing without permission, and never fail
//! silently.

use crate::common::{
    LARGE_BUDGET, MEASURED, OTHER_REPORT, Place, REPORT, by_shell, ends, made_up, printed, program,
    signal, text, wait_until, without_reader,
};
use serde_json::json;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use testing::{Command, joined};

/// The commands that write one file each, without the file's name.
fn writers() -> [String; 5] {
    [
        format!("card {REPORT} --output"),
        format!("report {REPORT} --output"),
        format!("export {REPORT} --format csv --output"),
        format!("plot process.calls.rate --run {REPORT} --output"),
        format!("compare {REPORT} {OTHER_REPORT} --page"),
    ]
}

#[test]
fn no_command_writes_over_a_file_without_force() {
    let place = Place::new();
    place.directory("here");
    for writer in writers() {
        let file = place.file("here/mine.svg", "mine");
        check!(place => "{writer} {file} | 1,2 | 2> mine.svg is there already | 2> --force");
        assert_eq!(place.read("here/mine.svg"), "mine");
        check!(place => "{writer} {file} --force | 0");
        assert_ne!(place.read("here/mine.svg"), "mine");
        assert_eq!(place.names("here"), ["mine.svg"]);
    }
    let mine = place.file("here/oscope-run.1", "mine");
    check!(place => "man --dir $here | 1 | 2> --force");
    assert_eq!(place.names("here"), ["mine.svg", "oscope-run.1"]);
    check!(place => "man --dir $here --force | 0");
    assert_ne!(fs::read(mine).expect("still there"), b"mine");
}

#[test]
fn a_page_that_cannot_be_written_is_an_error_before_anything_is_measured() {
    let place = Place::new();
    place.directory("here");
    place.file("here/mine.html", "mine");
    for (page, code) in [
        ("here/mine.html", 1),
        ("here", 2),
        ("nonexistent/page.html", 1),
    ] {
        let run = "run process.calls --dir $scratch --page";
        check!(place => "{run} ${page} | {code} | > | 2> {page}");
        assert_eq!(place.samples(), 0, "{page}");
    }
    assert_eq!(place.read("here/mine.html"), "mine");
    assert_eq!(place.names("here"), ["mine.html"]);
}

#[test]
fn a_store_is_never_written_over() {
    let (place, other) = (Place::with_a_run(), Place::with_a_run());
    let link = place.path("link.svg");
    symlink(&other.store, &link).expect("a link");
    let log = other.path("oscope.db-wal");
    fs::write(&log, "").expect("a log");
    let targets = [&place.store, &other.store, &link, &log];
    let before = targets.map(|path| fs::read(path).expect("it is there"));
    let run = "run process.calls --budget 2s --dir $scratch --page";
    for target in targets.map(|path| text(path)) {
        for writer in writers() {
            if !writer.starts_with("card") && !writer.starts_with("plot") {
                check!(place => "{writer} {target} --force | 2 | 2> store");
            }
        }
        check!(place => "{run} {target} --force | 2 | > | 2> store");
    }
    let after = targets.map(|path| fs::read(path).expect("it is there"));
    assert_eq!(before, after);
    // A store that does not exist yet is refused, too.
    let fresh = Place::new();
    check!(fresh => "{run} $oscope.db | 2 | 2> store");
    assert!(!fresh.store.exists());
}

#[test]
fn devices_and_pipes_get_all_that_is_written() {
    let place = Place::new();
    for device in ["/dev/null", "/dev/stdout"] {
        let report = place.prints(&format!("report {REPORT} --output {device}"));
        let has_all = report.starts_with("<!DOCTYPE html>");
        assert_eq!(has_all, device == "/dev/stdout");
    }
    // Standard output may be a regular file, which is written to instead of replaced.
    let file = place.path("page.html");
    let opened = File::create(&file).expect("a file");
    let mut report = place.line(&format!("report {REPORT} --output /dev/stdout"));
    ends(report.stdout(opened), "0");
    let page = fs::read(&file).expect("the page");
    assert!(page.starts_with(b"<!DOCTYPE html>"));
    let device = fs::symlink_metadata("/dev/stdout").expect("it is there");
    assert!(device.is_symlink());

    let pipe = place.pipe("pipe");
    let reader = std::thread::spawn(move || fs::read(pipe));
    check!(place => "report {REPORT} --output $pipe | 0");
    assert_eq!(joined("the pipe's end", reader).expect("it is read"), page);
}

#[test]
fn a_token_goes_to_standard_output_by_any_of_its_names() {
    let place = Place::new();
    for path in ["-", "/dev/stdout"] {
        let mut token = place.line(&format!("token --output {path}"));
        let token = printed(token.current_dir(place.scratch()), "0");
        assert!(token.len() > 10, "{token}");
    }
    assert!(place.names("scratch").is_empty());
}

#[test]
fn the_page_next_to_the_store_is_replaced_if_it_is_a_page() {
    let place = Place::new();
    let run = |expected: &str| {
        fs::remove_file(&place.store).ok();
        let run = "run process.calls --at call=getpid --dir $scratch --budget";
        check!(place => "{run} {LARGE_BUDGET} | {expected}");
    };
    run(MEASURED);
    let first = place.read("pages/run-1.html");
    run(MEASURED);
    assert_ne!(first, place.read("pages/run-1.html"));
    place.file("pages/run-1.html", "my notes");
    run("1 | 2> run-1.html");
    assert_eq!(place.read("pages/run-1.html"), "my notes");
}

/// The program, started by a shell that closes its standard output.
fn with_closed_output(arguments: &[&str]) -> Command {
    by_shell("exec \"$0\" \"$@\" >&-", arguments)
}

#[test]
fn a_standard_output_that_is_closed_or_full_is_an_error() {
    let commands: [&[&str]; 6] = [
        &["list"],
        &["--help"],
        &["--version"],
        &["man"],
        &["completions", "bash"],
        &["report", REPORT],
    ];
    for arguments in commands {
        ends(&mut with_closed_output(arguments), "1 | 2> standard output");
        if let Ok(full) = File::options().write(true).open("/dev/full") {
            ends(Command::new(program()).args(arguments).stdout(full), "1");
        }
    }
    let read_only = File::open("/dev/null").expect("it is there");
    ends(Command::new(program()).arg("list").stdout(read_only), "1");
    // Wrong use is reported on standard error.
    ends(&mut with_closed_output(&["lisst"]), "2");
}

#[test]
fn a_page_on_standard_output_is_alone_there() {
    let place = Place::new();
    let compare = format!("compare {REPORT} {OTHER_REPORT}");
    let mut to_output = place.line(&format!("{compare} --page -"));
    let page = printed(&mut to_output, "0 | 2> process.calls");
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    check!(place => "
        {compare} --page - --json | 2 | > | 2> `--json` writes to standard output, as - does
    ");
    // A page that is standard output's own file would lose the report.
    let opened = File::create(place.path("page.html")).expect("a file");
    let mut same = place.line(&format!("{compare} --force --page $page.html"));
    ends(
        same.stdout(opened),
        "2 | 2> is the standard output of this command",
    );
    // It is written as well where nothing can be shown.
    let page = place.name("other.html");
    let mut closed = with_closed_output(&["compare", REPORT, OTHER_REPORT, "--page", &page]);
    ends(&mut closed, "1 | 2> cannot write to standard output");
    assert!(Path::new(&page).exists());
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let head = printed(&mut by_shell("\"$0\" list | head -1", &[]), "0 | 2>");
    assert_eq!(head, "memory\n");
}

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

/// A run whose texts would do things to a terminal, as a file.
fn hostile_run(place: &Place) -> String {
    let mut run = made_up(place);
    let hostile = "\u{1b}[8mgone\u{1b}]0;title\u{7}\u{9b}31m\r\u{202e}end";
    let header = &mut run["run"]["header"];
    header["name"] = hostile.into();
    header["tags"] = json!({ "tag": hostile });
    header["command_line"] = json!([hostile]);
    run["run"]["experiments"][0]["definition"]["title"] = hostile.into();
    place.file("hostile.oscope.json", run.to_string())
}

/// The output of a command on a terminal of this kind.
fn on_a_terminal(kind: &str, place: &Place, arguments: &str) -> String {
    let (program, store) = (program().display(), place.store.display());
    let command = format!("'{program}' --store '{store}' {arguments}");
    let mut script = Command::new("script");
    script.args(["--quiet", "--command", &command, "/dev/null"]);
    script.env("TERM", kind).env_remove("NO_COLOR");
    let output = script.output().expect("script(1) is there");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// True, with the reason printed, if no terminal can be made.
fn has_no_terminal() -> bool {
    let has_none = Command::new("script").arg("--version").output().is_err();
    if has_none {
        eprintln!("skipped: there is no script(1) here");
    }
    has_none
}

/// True if a text contains control sequences other than oscope's own colours.
fn does_things(text: &str) -> bool {
    let mut rest = text.replace("\r\n", "\n");
    for code in ["0", "1", "2", "31", "32", "33", "34", "35", "36"] {
        rest = rest.replace(&format!("\u{1b}[{code}m"), "");
    }
    rest.chars()
        .any(|it| it.is_control() && it != '\n' || ('\u{202a}'..='\u{202e}').contains(&it))
}

#[test]
fn text_from_elsewhere_does_nothing_to_a_terminal() {
    if has_no_terminal() {
        return;
    }
    let place = Place::new();
    let run = hostile_run(&place);
    let odd = place.file("a\u{1b}[8mb", "x");
    for arguments in [
        format!("import '{run}' '{odd}'"),
        format!("import '{run}'"),
        "history".to_owned(),
        "history process.calls".to_owned(),
        "show 1".to_owned(),
        "show 1 process.calls".to_owned(),
        "show 1 --json".to_owned(),
        "claims 1".to_owned(),
        "advise 1".to_owned(),
        format!("compare 1 {OTHER_REPORT} --all"),
        "export 1 --format csv".to_owned(),
        "export 1 --format markdown".to_owned(),
        "export 1 --format json --output -".to_owned(),
        format!("show '{odd}'"),
        format!("file sum '{odd}'"),
        format!("file copy '{odd}' '{odd}'"),
        format!("lisst '{odd}'"),
        format!("'{odd}'"),
    ] {
        let shown = on_a_terminal("xterm", &place, &arguments);
        assert!(!shown.is_empty(), "{arguments}");
        assert!(!does_things(&shown), "{arguments}: {shown:?}");
    }
    let directory = place.name("scratch");
    let run = format!("run process.calls --budget 2s --dir '{directory}'");
    for (kind, arguments, part) in [
        ("xterm", "show 1", "gone"),
        ("dumb", "show 1", "gone"),
        ("dumb", &run, "pass 1"),
    ] {
        let shown = on_a_terminal(kind, &place, arguments);
        let has_colours = shown.contains('\u{1b}');
        assert!(shown.contains(part), "{shown:?}");
        assert_eq!(has_colours, kind == "xterm", "{shown:?}");
    }
}

#[test]
fn documents_are_not_printed_on_a_terminal_unless_asked_for() {
    if has_no_terminal() {
        return;
    }
    let place = Place::new();
    let exported = format!("export {REPORT} --format google-benchmark");
    for (arguments, begin, instead) in [
        (format!("report {REPORT}"), "<!DOCTYPE", "--output FILE"),
        (format!("card {REPORT}"), "<svg", "--output FILE"),
        (
            format!("plot process.calls --run {REPORT}"),
            "<svg",
            "--output FILE",
        ),
        (format!("export {REPORT}"), "{\"format\"", "--output FILE"),
        (exported, "{", "--output FILE"),
        ("man".to_owned(), ".TH", "--dir DIR"),
    ] {
        let shown = on_a_terminal("xterm", &place, &arguments);
        assert!(shown.contains("is not printed on a terminal"), "{shown}");
        assert!(shown.contains(instead), "{arguments}: {shown}");
        assert!(!shown.contains(begin), "{arguments}: {shown}");
        if arguments != "man" {
            let shown = on_a_terminal("xterm", &place, &format!("{arguments} --output -"));
            assert!(shown.contains(begin), "{arguments}: {shown}");
        }
    }
    // Tables are for eyes.
    let shown = on_a_terminal("xterm", &place, &format!("export {REPORT} --format csv"));
    assert!(shown.contains("process.calls"), "{shown}");
}

#[test]
fn files_are_written_even_if_standard_output_fails() {
    let place = Place::new();
    let compare = format!("compare {REPORT} {OTHER_REPORT}");
    for (name, line) in [
        ("compare", &*compare),
        ("run", "run process.calls --budget 2s"),
    ] {
        for output in ["full", "closed"] {
            let page = format!("{name}-{output}.html");
            let mut command = place.line(&format!("{line} --page ${page}"));
            command.current_dir(place.scratch());
            let full = || File::options().write(true).open("/dev/full");
            command.stdout(match output {
                "full" => full().expect("a device").into(),
                _ => without_reader(),
            });
            command.output().expect("it starts");
            assert!(place.read(&page).trim_end().ends_with("</html>"), "{page}");
        }
    }
}
