//! Output files are complete or absent, replace nothing without permission, and never fail
//! silently.

mod common;

use assert_cmd::Command;
use common::{LARGE_BUDGET, Place, asserted, program, wait_for, without_reader};
use predicates::prelude::*;
use predicates::str::contains;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use testing::joined;

/// The exit codes of a short run: a busy machine measures less than all in its time.
const MEASURED: &[i32] = &[0, 1];

/// A run that always exists.
const RUN: &str = "reference:pentium4-2003-linux";

/// The names in a directory.
fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("it is there").flatten();
    let mut names: Vec<_> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Creates a directory in an environment.
fn directory(place: &Place, name: &str) -> PathBuf {
    let path = place.path(name);
    fs::create_dir(&path).expect("a directory");
    path
}

/// Creates a named pipe in an environment.
fn pipe(place: &Place) -> PathBuf {
    let path = place.path("pipe");
    let made = testing::Command::new("mkfifo").arg(&path).status();
    assert!(made.expect("mkfifo(1) is there").success());
    path
}

/// The commands that write one file each, without the file's name.
fn writers() -> [Vec<&'static str>; 5] {
    [
        vec!["card", RUN, "--output"],
        vec!["report", RUN, "--output"],
        vec!["export", RUN, "--format", "csv", "--output"],
        vec!["plot", "process.calls.rate", "--run", RUN, "--output"],
        vec!["compare", RUN, "reference:pentium4-2003-windows", "--page"],
    ]
}

#[test]
fn no_command_writes_over_a_file_without_force() {
    let place = Place::new();
    let here = directory(&place, "here");
    let file = here.join("mine.svg");
    for writer in writers() {
        fs::write(&file, "mine").expect("a file");
        let mut refused = place.oscope(&writer);
        refused
            .arg(&file)
            .assert()
            .failure()
            .stderr(contains("mine.svg is there already").and(contains("--force")));
        assert_eq!(fs::read(&file).expect("still there"), b"mine");
        place
            .oscope(&writer)
            .arg(&file)
            .arg("--force")
            .assert()
            .success();
        assert_ne!(fs::read(&file).expect("still there"), b"mine");
        assert_eq!(names(&here), ["mine.svg"]);
    }
}

#[test]
fn a_page_that_cannot_be_written_is_told_before_anything_is_measured() {
    let place = Place::new();
    let here = directory(&place, "here");
    let file = here.join("mine.html");
    fs::write(&file, "mine").expect("a file");
    for page in [&file, &here, &place.path("nonexistent/page.html")] {
        let mut run = place.oscope(&["run", "process.calls", "--page"]);
        run.arg(page).arg("--dir").arg(place.scratch());
        let is_wrong_use = page == &here;
        let refused = run.assert().code(1 + i32::from(is_wrong_use)).stdout("");
        assert_eq!(place.samples(), 0, "{}", page.display());
        refused.stderr(contains(page.display().to_string()));
    }
    assert_eq!(fs::read(&file).expect("still there"), b"mine");
    assert_eq!(names(&here), ["mine.html"]);
}

#[test]
fn a_store_is_never_written_over() {
    let place = Place::new();
    let other = Place::new();
    for place in [&place, &other] {
        place.short_run().assert().code(MEASURED);
    }
    let link = place.path("link.svg");
    symlink(&other.store, &link).expect("a link");
    let log = other.path("oscope.db-wal");
    fs::write(&log, "").expect("a log");
    let targets = [&place.store, &other.store, &link, &log];
    let before = targets.map(|path| fs::read(path).expect("it is there"));
    for target in targets {
        for writer in writers()
            .into_iter()
            .filter(|writer| !["card", "plot"].contains(&writer[0]))
        {
            let mut refused = place.oscope(&writer);
            refused
                .arg(target)
                .arg("--force")
                .assert()
                .code(2)
                .stderr(contains("store"));
        }
        let mut run = place.oscope(&[
            "run",
            "process.calls",
            "--budget",
            "2s",
            "--force",
            "--page",
        ]);
        run.arg(target).arg("--dir").arg(place.scratch());
        run.assert().code(2).stdout("").stderr(contains("store"));
    }
    assert_eq!(
        before,
        targets.map(|path| fs::read(path).expect("it is there"))
    );
    // A store that does not exist yet is refused, too.
    let fresh = Place::new();
    let mut run = fresh.oscope(&["run", "process.calls", "--budget", "2s", "--page"]);
    run.arg(&fresh.store).arg("--dir").arg(fresh.scratch());
    run.assert().code(2).stderr(contains("store"));
    assert!(!fresh.store.exists());
}

#[test]
fn devices_and_pipes_take_what_they_are_given() {
    let place = Place::new();
    for device in ["/dev/null", "/dev/stdout"] {
        let report = place.oscope(&["report", RUN, "--output", device]).assert();
        let output = report.success().get_output().clone();
        let says_all = output.stdout.starts_with(b"<!DOCTYPE html>");
        assert_eq!(says_all, device == "/dev/stdout");
    }
    // Standard output may be a regular file, which is written to instead of replaced.
    let file = place.path("page.html");
    let opened = fs::File::create(&file).expect("a file");
    let mut report = place.plain(&["report", RUN, "--output", "/dev/stdout"]);
    assert!(report.stdout(opened).status().expect("it starts").success());
    let page = fs::read(&file).expect("the page");
    assert!(page.starts_with(b"<!DOCTYPE html>"));
    assert!(
        fs::symlink_metadata("/dev/stdout")
            .expect("it is there")
            .is_symlink()
    );

    let pipe = pipe(&place);
    let mut report = place.plain(&["report", RUN, "--output"]);
    let mut child = report.arg(&pipe).spawn().expect("it starts");
    let reader = std::thread::spawn(move || fs::read(pipe));
    assert!(child.wait().expect("it ends").success());
    assert_eq!(joined("the pipe's end", reader).expect("it is read"), page);
}

#[test]
fn a_token_goes_to_standard_output_by_any_of_its_names() {
    let place = Place::new();
    let token = |path: &str| {
        let mut token = place.oscope(&["token", "--output", path]);
        let made = token.current_dir(place.path("")).assert().success();
        made.get_output().stdout.len()
    };
    assert!(token("-") > 10 && token("/dev/stdout") > 10);
    assert!(!place.path("-").exists());
}

#[test]
fn the_page_beside_the_store_is_replaced_if_it_is_a_page() {
    let place = Place::new();
    let run = || {
        fs::remove_file(&place.store).ok();
        let mut run = place.oscope(&["run", "process.calls", "--at", "call=getpid"]);
        run.args(["--budget", LARGE_BUDGET, "--dir"])
            .arg(place.scratch());
        run
    };
    let page = place.path("pages").join("run-1.html");
    run().assert().code(MEASURED);
    let first = fs::read(&page).expect("a page");
    run().assert().code(MEASURED);
    assert_ne!(first, fs::read(&page).expect("another page"));
    fs::write(&page, "my notes").expect("a file");
    run().assert().code(1).stderr(contains("run-1.html"));
    assert_eq!(fs::read(&page).expect("still there"), b"my notes");
}

#[test]
fn manual_pages_replace_nothing_without_force() {
    let place = Place::new();
    let pages = directory(&place, "man1");
    let mine = pages.join("oscope-run.1");
    fs::write(&mine, "mine").expect("a file");
    let man = || {
        let mut man = place.oscope(&["man", "--dir"]);
        man.arg(&pages);
        man
    };
    man().assert().code(1).stderr(contains("--force"));
    assert_eq!(names(&pages), ["oscope-run.1"]);
    man().arg("--force").assert().success();
    assert_ne!(fs::read(&mine).expect("still there"), b"mine");
}

/// The program, started by a shell that closes its standard output.
fn with_closed_output(arguments: &[&str]) -> Command {
    let mut shell = asserted(testing::Command::new("sh"));
    let command = "exec \"$0\" \"$@\" >&-";
    shell.args(["-c", command]).arg(program()).args(arguments);
    shell
}

#[test]
fn a_standard_output_that_is_closed_or_full_is_an_error() {
    let place = Place::new();
    let store = place.store.to_str().expect("a plain path");
    let report = ["report", RUN, "--store", store];
    let commands: [&[&str]; 6] = [
        &["list"],
        &["--help"],
        &["--version"],
        &["man"],
        &["completions", "bash"],
        &report,
    ];
    for arguments in commands {
        with_closed_output(arguments)
            .assert()
            .code(1)
            .stderr(contains("standard output"));
        if let Ok(full) = fs::File::options().write(true).open("/dev/full") {
            let mut command = testing::Command::new(program());
            let status = command
                .args(arguments)
                .stdout(full)
                .stderr(Stdio::null())
                .status();
            assert_eq!(status.expect("it starts").code(), Some(1), "{arguments:?}");
        }
    }
    let mut command = testing::Command::new(program());
    let read_only = fs::File::open("/dev/null").expect("it is there");
    let status = command
        .arg("list")
        .stdout(read_only)
        .stderr(Stdio::null())
        .status();
    assert_eq!(status.expect("it starts").code(), Some(1));
    // Wrong use is reported on standard error.
    with_closed_output(&["lisst"]).assert().code(2);
}

#[test]
fn a_page_on_standard_output_is_alone_there() {
    let place = Place::new();
    let compare = ["compare", RUN, "reference:pentium4-2003-windows", "--page"];
    let done = place.oscope(&[&compare[..], &["-"]].concat()).assert();
    let output = done.success().get_output().clone();
    let page = String::from_utf8_lossy(&output.stdout);
    assert!(page.starts_with("<!DOCTYPE html>") && page.trim_end().ends_with("</html>"));
    let report = String::from_utf8_lossy(&output.stderr);
    assert!(report.contains("process.calls"), "{report}");
    place
        .oscope(&[&compare[..], &["-", "--json"]].concat())
        .assert()
        .code(2)
        .stdout("")
        .stderr(contains("`--json` writes to standard output, as - does"));
    // A page that is standard output's own file would lose the report.
    let file = place.path("page.html");
    let opened = fs::File::create(&file).expect("a file");
    let mut same = place.plain(&[&compare[..3], &["--force", "--page"]].concat());
    let output = same.arg(&file).stdout(opened).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(
        said.contains("is the standard output of this command"),
        "{said}"
    );
}

#[test]
fn a_page_is_written_where_nothing_can_be_shown() {
    let place = Place::new();
    let page = place.path("page.html");
    let page_words = page.to_str().expect("text");
    let compare = [
        "compare",
        RUN,
        "reference:pentium4-2003-windows",
        "--page",
        page_words,
    ];
    with_closed_output(&compare)
        .assert()
        .code(1)
        .stderr(contains("cannot write to standard output"));
    assert!(page.exists());
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let head = format!("'{}' list | head -1", program().display());
    let mut shell = asserted(testing::Command::new("sh"));
    let assert = shell.args(["-c", &head]).assert().success();
    assert.stdout("memory\n").stderr("");
}

/// Asks a command to end after `wait`, which is given its process. Without being asked it would end with
/// another exit code, or never.
fn assert_ends_when_asked(arguments: &[&Path], wait: impl Fn(u32)) {
    let mut command = testing::Command::new(program());
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    wait(child.id());
    assert_eq!(
        child.try_wait().expect("it is there"),
        None,
        "{arguments:?}"
    );
    let kill = testing::Command::new("kill")
        .arg(child.id().to_string())
        .status();
    assert!(kill.expect("kill(1) is there").success());
    let status = child.wait().expect("it is there");
    // By itself, or by the signal.
    let code = status.code().or(status.signal().map(|number| 128 + number));
    assert_eq!(code, Some(143), "{arguments:?}");
}

#[test]
fn whoever_waits_for_a_pipe_ends_when_asked_to() {
    let place = Place::new();
    let pipe = pipe(&place);
    let source = place.path("source");
    fs::write(&source, vec![1; 1 << 20]).expect("a file");
    let copy = place.path("copy");
    let write = "file write --force --count 1000 --block-size 64KiB";
    let commands = [
        (write, vec![pipe.as_path()]),
        ("file read --block-size 64KiB", vec![&pipe]),
        ("file sum", vec![&pipe]),
        ("file copy", vec![&pipe, &copy]),
        (
            "file copy --force --method read-write",
            vec![&source, &pipe],
        ),
    ];
    // First without a reader, then with a reader that does not read.
    for is_open in [false, true] {
        let both_ways = || fs::File::options().read(true).write(true).open(&pipe);
        let _held = is_open.then(|| both_ways().expect("a pipe"));
        for (words, paths) in &commands {
            let words = words.split(' ').map(Path::new);
            let arguments: Vec<_> = words.chain(paths.iter().copied()).collect();
            assert_ends_when_asked(&arguments, |_| {
                std::thread::sleep(Duration::from_millis(500));
            });
            assert!(!copy.exists());
        }
    }
}

/// Waits until a process has so much memory.
fn wait_for_memory(id: u32, bytes: u64) {
    const PAGE_BYTES: u64 = 4096;
    assert!(wait_for(|| {
        let sizes = fs::read_to_string(format!("/proc/{id}/statm")).unwrap_or_default();
        let resident = sizes.split(' ').nth(1).and_then(|pages| pages.parse().ok());
        // None once it has ended.
        resident.is_none_or(|pages: u64| pages == 0 || pages * PAGE_BYTES > bytes)
    }));
}

#[test]
fn a_call_on_a_huge_block_does_not_put_off_the_end() {
    let place = Place::new();
    let source = place.path("source");
    let file = fs::File::create(&source).expect("a file");
    file.set_len(1 << 30).expect("a hole takes no room");
    let target = place.path("target");
    for (words, path) in [
        ("file write --count 1 --block-size 512MiB", &target),
        ("file read --block-size 512MiB", &source),
    ] {
        let words = words.split(' ').map(Path::new);
        let arguments: Vec<_> = words.chain([path.as_path()]).collect();
        // One call makes all of the memory, and the kernel takes a moment to take it back.
        assert_ends_when_asked(&arguments, |id| wait_for_memory(id, 64 << 20));
        assert!(!target.exists());
    }
}

/// A run whose texts would do things to a terminal, as a file.
fn hostile_run(place: &Place) -> PathBuf {
    let path = place.path("hostile.oscope.json");
    let mut export = place.oscope(&["export", RUN, "--output"]);
    export.arg(&path).assert().success();
    let text = fs::read_to_string(&path).expect("the export");
    let mut file: Value = serde_json::from_str(&text).expect("JSON");
    let hostile = "\u{1b}[8mgone\u{1b}]0;title\u{7}\u{9b}31m\r\u{202e}end";
    // A changed run would not match its checksums.
    file.as_object_mut()
        .expect("a document")
        .remove("checksums");
    let run = &mut file["run"];
    run["header"]["name"] = hostile.into();
    run["header"]["tags"] = serde_json::json!({ "tag": hostile });
    run["header"]["command_line"] = serde_json::json!([hostile]);
    run["experiments"][0]["definition"]["title"] = hostile.into();
    fs::write(&path, file.to_string()).expect("a file");
    path
}

/// The output of a command on a terminal.
fn on_a_terminal(place: &Place, arguments: &str) -> String {
    on_a_terminal_called("xterm", place, arguments)
}

/// The same on a terminal of this kind.
fn on_a_terminal_called(kind: &str, place: &Place, arguments: &str) -> String {
    let mut script = testing::Command::new("script");
    let program = program().display();
    let store = place.store.display();
    let command = format!("'{program}' --store '{store}' {arguments}");
    script.args(["--quiet", "--command", &command, "/dev/null"]);
    script.env("TERM", kind).env_remove("NO_COLOR");
    let output = script.stdin(Stdio::null()).output();
    let output = output.expect("script(1) is there");
    String::from_utf8_lossy(&output.stdout).into_owned()
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
    let script = testing::Command::new("script").arg("--version").output();
    if script.is_err() {
        return eprintln!("skipped: there is no script(1) here");
    }
    let place = Place::new();
    let run = hostile_run(&place);
    let odd = place.path("a\u{1b}[8mb");
    fs::write(&odd, "x").expect("a file");
    let odd = odd.display();
    for arguments in [
        format!("import '{}' '{odd}'", run.display()),
        format!("import '{}'", run.display()),
        "history".to_owned(),
        "history process.calls".to_owned(),
        "show 1".to_owned(),
        "show 1 process.calls".to_owned(),
        "show 1 --json".to_owned(),
        "claims 1".to_owned(),
        "advise 1".to_owned(),
        "compare 1 reference:pentium4-2003-windows --all".to_owned(),
        "export 1 --format csv".to_owned(),
        "export 1 --format markdown".to_owned(),
        "export 1 --format json --output -".to_owned(),
        format!("show '{odd}'"),
        format!("file sum '{odd}'"),
        format!("file copy '{odd}' '{odd}'"),
        format!("lisst '{odd}'"),
        format!("'{odd}'"),
    ] {
        let shown = on_a_terminal(&place, &arguments);
        assert!(!shown.is_empty(), "{arguments}");
        assert!(!does_things(&shown), "{arguments}: {shown:?}");
    }
    let shown = on_a_terminal(&place, "show 1");
    assert!(
        shown.contains("gone") && shown.contains('\u{1b}'),
        "{shown:?}"
    );
    let plain = on_a_terminal_called("dumb", &place, "show 1");
    assert!(
        plain.contains("gone") && !plain.contains('\u{1b}'),
        "{plain:?}"
    );
    let dir = place.scratch();
    let run = format!("run process.calls --budget 2s --dir '{}'", dir.display());
    let plain = on_a_terminal_called("dumb", &place, &run);
    assert!(
        plain.contains("pass 1") && !plain.contains('\u{1b}'),
        "{plain:?}"
    );
}

#[test]
fn documents_are_not_printed_on_a_terminal_unless_asked_for() {
    let script = testing::Command::new("script").arg("--version").output();
    if script.is_err() {
        return eprintln!("skipped: there is no script(1) here");
    }
    let place = Place::new();
    for (arguments, begin, instead) in [
        (format!("report {RUN}"), "<!DOCTYPE", "--output FILE"),
        (format!("card {RUN}"), "<svg", "--output FILE"),
        (format!("plot process --run {RUN}"), "<svg", "--output FILE"),
        (format!("export {RUN}"), "{\"format\"", "--output FILE"),
        (
            format!("export {RUN} --format google-benchmark"),
            "{",
            "--output FILE",
        ),
        ("man".to_owned(), ".TH", "--dir DIR"),
    ] {
        let shown = on_a_terminal(&place, &arguments);
        assert!(shown.contains("is not printed on a terminal"), "{shown}");
        assert!(shown.contains(instead), "{arguments}: {shown}");
        assert!(!shown.contains(begin), "{arguments}: {shown}");
        if arguments != "man" {
            let shown = on_a_terminal(&place, &format!("{arguments} --output -"));
            assert!(shown.contains(begin), "{arguments}: {shown}");
        }
    }
    // Tables are for eyes.
    let shown = on_a_terminal(&place, &format!("export {RUN} --format csv"));
    assert!(shown.contains("process.calls"), "{shown}");
}

#[test]
fn files_are_written_even_if_standard_output_fails() {
    let place = Place::new();
    let other = "reference:pentium4-2003-windows";
    let run = ["run", "process.calls", "--budget", "2s"];
    for (name, arguments) in [("compare", &["compare", RUN, other][..]), ("run", &run)] {
        for output in ["full", "closed"] {
            let page = place.path(&format!("{name}-{output}.html"));
            let mut command = place.plain(arguments);
            command
                .arg("--page")
                .arg(&page)
                .current_dir(place.scratch());
            command.stderr(Stdio::null());
            let full = || fs::File::options().write(true).open("/dev/full");
            command.stdout(match output {
                "full" => full().expect("a device").into(),
                _ => without_reader(),
            });
            let mut child = command.spawn().expect("it starts");
            child.wait().expect("it ends");
            let page = fs::read(&page).expect("the page was written");
            assert!(
                page.trim_ascii_end().ends_with(b"</html>"),
                "{name}, {output}"
            );
        }
    }
}
