//! Programs in C and C++, built by the system's compilers against the installed library.

use std::path::{Path, PathBuf};
use std::process::Output;
use testing::Command;

/// The folder of the built libraries: tests are built next to them.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    test.parent().expect("it is in a folder").to_owned()
}

fn source(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The library below a temporary prefix, with what programs need to be built.
struct Installed {
    folder: tempfile::TempDir,
}

impl Installed {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("there is room for files");
        let output = Command::new(source("install.sh"))
            .env("PREFIX", folder.path().join("a & b"))
            .arg(built())
            .output()
            .expect("there is a shell");
        assert!(output.status.success(), "{output:?}");
        Self { folder }
    }

    fn prefix(&self) -> PathBuf {
        self.folder.path().join("a & b")
    }

    /// Builds a program; `None`, with its reason, where there is no compiler.
    fn build(&self, source: &Path, flags: &[&str], shared: bool) -> Option<PathBuf> {
        let is_c = source.extension().is_some_and(|ending| ending == "c");
        let libraries: &[_] = if is_c {
            &["uthread"]
        } else {
            &["uthread-cxx", "uthread"]
        };
        self.build_with(libraries, source, flags, shared)
    }

    fn build_with(
        &self,
        libraries: &[&str],
        source: &Path,
        flags: &[&str],
        shared: bool,
    ) -> Option<PathBuf> {
        let is_c = source.extension().is_some_and(|ending| ending == "c");
        let (compiler, standard) = if is_c {
            ("cc", "-std=gnu11")
        } else {
            ("c++", "-std=c++17")
        };
        let program = self.folder.path().join(format!(
            "{}{shared}{}",
            source.file_stem().expect("a source has a name").display(),
            flags.len()
        ));
        let lib = self.prefix().join("lib");
        let mut command = Command::new(compiler);
        command
            .args([standard, "-O2", "-Wall", "-Wextra", "-Werror"])
            .args(flags)
            .arg("-I")
            .arg(self.prefix().join("include"))
            .arg(source)
            .arg("-o")
            .arg(&program);
        if shared {
            command.arg("-L").arg(&lib);
            command.args(libraries.iter().map(|name| format!("-l{name}")));
            command.arg(format!("-Wl,-rpath,{}", lib.display()));
        } else {
            command.args(
                libraries
                    .iter()
                    .map(|name| lib.join(format!("lib{name}.a"))),
            );
            command.arg("-lgcc_s");
        }
        match command.output() {
            Ok(output) => {
                let message = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{}: {message}", source.display());
                Some(program)
            }
            Err(error) => {
                eprintln!("skipped: no {compiler} ({error})");
                None
            }
        }
    }
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    Command::new(program)
        .args(arguments)
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("it was just built")
}

fn text_of(program: &Path, arguments: &[&str]) -> String {
    let output = run(program, arguments);
    assert!(output.status.success(), "{}: {output:?}", program.display());
    String::from_utf8(output.stdout).expect("it writes text")
}

fn example(name: &str) -> PathBuf {
    source("examples/cpp").join(name).with_extension("cpp")
}

#[test]
fn the_header_keeps_its_promises_from_both_libraries() {
    check_output("tests/c/contract.c", &[], "all promises hold\n");
}

/// Builds a program with both libraries, and checks what it prints.
fn check_output(path: &str, flags: &[&str], expected: &str) {
    let installed = Installed::new();
    for shared in [false, true] {
        if let Some(program) = installed.build(&source(path), flags, shared) {
            assert_eq!(text_of(&program, &[]), expected);
        }
    }
}

#[test]
fn every_wait_can_be_cancelled() {
    check_output("tests/c/cancelling.c", &[], "every wait was cancelled\n");
}

#[test]
fn the_wrappers_have_limits_and_can_be_cancelled() {
    check_output("tests/c/limits.cpp", &[], "limits and requests are kept\n");
}

#[test]
fn terminated_threads_unwind() {
    let expected = "all were terminated\n";
    check_output("tests/c/terminate.c", &["-fexceptions"], expected);
    check_output("tests/c/terminate.cpp", &[], "all have unwound\n");
}

#[test]
fn a_handler_that_keeps_a_terminated_thread_ends_the_process() {
    let installed = Installed::new();
    if let Some(program) = installed.build(&source("tests/c/terminate.cpp"), &[], false) {
        let output = run(&program, &["keeps"]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(
            !output.status.success() && message.contains("must rethrow"),
            "{output:?}"
        );
    }
}

#[test]
fn a_runtime_in_place_runs_on_any_kernel_thread() {
    let expected = "nine runtimes have ended\n";
    check_output("tests/c/kernel_threads.c", &["-pthread"], expected);
}

#[test]
fn kernel_threads_and_signal_handlers_wake_user_threads() {
    let expected = "all wake-ups arrived\n";
    check_output("tests/c/outside.c", &["-pthread"], expected);
}

#[test]
fn a_program_with_its_c_library_inside_has_threads_without_slices() {
    let installed = Installed::new();
    let program = installed.folder.path().join("static");
    let mut compiler = Command::new("cc");
    compiler
        .arg("-static")
        .arg("-I")
        .arg(installed.prefix().join("include"));
    compiler
        .arg(source("tests/c/static.c"))
        .arg("-o")
        .arg(&program);
    compiler
        .arg(installed.prefix().join("lib/libuthread.a"))
        .arg("-lgcc_eh");
    if !compiler
        .output()
        .is_ok_and(|output| output.status.success())
    {
        eprintln!("skipped: no C compiler that links a C library statically");
        return;
    }
    assert_eq!(text_of(&program, &[]), "no slices, threads\n");
}

#[test]
fn each_thread_has_its_own_rounding_and_error_number() {
    let installed = Installed::new();
    for shared in [false, true] {
        let flags = ["-frounding-math", "-Wl,--no-as-needed", "-lm"];
        if let Some(program) = installed.build(&source("tests/c/state.c"), &flags, shared) {
            for slice_us in ["0", "100"] {
                assert_eq!(text_of(&program, &[slice_us]), "each thread has its own\n");
            }
        }
    }
}

/// Also a function whose only frame is larger than the stack, and which touches its far end first.
#[test]
fn an_overflow_names_the_thread_and_what_to_do() {
    use std::os::unix::process::ExitStatusExt;
    let installed = Installed::new();
    let Some(program) = installed.build(&source("tests/c/overflow.c"), &[], true) else {
        return;
    };
    for way in ["recursion", "70000", "100000"] {
        let output = run(&program, &[way]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{output:?}");
        assert!(message.contains("'diver' has overflowed its stack of 64 KiB"));
        assert!(
            message.contains("stack_size of uthread_attr_t"),
            "{message}"
        );
    }
    assert_eq!(text_of(&program, &["30000"]), "there was room\n");
}

#[test]
fn misuse_is_an_error() {
    check_output("tests/c/misuse.c", &[], "misuse is refused\n");
}

#[test]
fn misuse_is_an_exception_and_none_is_lost() {
    let installed = Installed::new();
    if let Some(program) = installed.build(&source("tests/c/misuse.cpp"), &[], true) {
        let output = run(&program, &[]);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.stdout, b"misuse is thrown\n", "{output:?}");
        let written = messages.matches("nobody joined threw: of a thread");
        assert_eq!(written.count(), 2, "{messages}");
    }
}

#[test]
fn ticks_are_few_and_disturb_no_child() {
    let expected = "ticks are few, and disturb no child\n";
    check_output("tests/c/ticks.c", &[], expected);
}

/// In release builds most ticks of such a loop come in the library. Here all do, in every build.
#[test]
fn ticks_interrupt_loops_of_short_calls() {
    let installed = Installed::new();
    let path = source("tests/c/short_calls.c");
    let loops = installed.build(&path, &["-shared", "-fPIC", "-DLOOPS"], true);
    let (Some(loops), Some(program)) = (loops, installed.build(&path, &["-ldl"], true)) else {
        return;
    };
    let text = text_of(&program, &[loops.to_str().expect("a path in Unicode")]);
    assert!(text.ends_with("each loop was interrupted\n"), "{text}");
}

#[test]
fn slices_of_cpu_time_interrupt_no_call_that_waits() {
    check_output(
        "tests/c/calls.c",
        &["-pthread"],
        "no call was interrupted\n",
    );
}

#[test]
fn sockets_and_names_block_only_their_threads() {
    check_output("tests/c/sockets.c", &[], "all was carried\n");
}

#[test]
fn locks_and_sockets_of_cpp_are_shared() {
    check_output("tests/c/sharing.cpp", &[], "all was shared\n");
}

#[test]
fn a_fork_keeps_the_calling_thread_and_no_other() {
    let installed = Installed::new();
    for shared in [false, true] {
        let Some(program) = installed.build(&source("tests/c/fork.c"), &["-pthread"], shared)
        else {
            return;
        };
        for workers in ["1", "2"] {
            for slice_us in ["0", "200"] {
                // If the ring is forbidden, the first kind has threads as well.
                for io in ["0", "2"] {
                    let text = text_of(&program, &[workers, slice_us, io]);
                    assert_eq!(text, "parent and children went on\n");
                }
            }
        }
    }
}

#[test]
fn a_program_with_its_own_malloc_has_threads_without_slices() {
    let installed = Installed::new();
    let flags = ["-DOWN_MALLOC", "-fno-builtin"];
    let program = installed.build(&source("tests/c/static.c"), &flags, true);
    let Some(program) = program else { return };
    assert_eq!(text_of(&program, &[]), "no slices, threads\n");
}

/// The slices in us and the numbers of workers with which programs run.
const SLICES_AND_WORKERS: [[&str; 2]; 4] = [["0", "1"], ["100", "1"], ["0", "2"], ["100", "2"]];

#[test]
fn a_channel_of_several_senders_and_receivers_loses_nothing() {
    let installed = Installed::new();
    let program = installed.build(&source("tests/c/channels.cpp"), &["-pthread"], true);
    let Some(program) = program else { return };
    for arguments in SLICES_AND_WORKERS {
        assert_eq!(text_of(&program, &arguments), "all was carried\n");
    }
}

#[test]
fn each_thread_has_its_own_exceptions() {
    let installed = Installed::new();
    for shared in [false, true] {
        let program = installed.build(&source("tests/c/state_of_exceptions.cpp"), &[], shared);
        let Some(program) = program else { return };
        for slice_us in ["0", "100"] {
            assert_eq!(text_of(&program, &[slice_us]), "each thread has its own\n");
        }
    }
}

#[test]
fn threads_live_with_the_rest_of_the_process() {
    check_output("tests/c/process.c", &[], "all went on\n");
}

#[test]
fn a_process_ends_in_each_of_its_ways() {
    let installed = Installed::new();
    let program = installed.build(&source("tests/c/process.c"), &[], true);
    let Some(program) = program else { return };
    for (way, code, text) in [
        ("exit", 5, ""),
        ("return", 4, ""),
        ("last thread", 0, "the last thread\n"),
        ("ignored", 1, ""),
        ("handler before", 9, ""),
        ("handler after", 9, ""),
    ] {
        let output = run(&program, &[way]);
        assert_eq!(output.status.code(), Some(code), "{way}: {output:?}");
        assert_eq!(output.stdout, text.as_bytes(), "{way}");
    }
}

/// The library's handler of faults leaves the signal of kill(2) its effect, at the first time.
#[test]
fn the_signal_of_a_fault_that_is_sent_ends_the_process() {
    use std::os::unix::process::ExitStatusExt;
    let installed = Installed::new();
    let program = installed.build(&source("tests/c/process.c"), &[], true);
    let Some(program) = program else { return };
    for way in ["raise", "kill"] {
        let output = run(&program, &[way]);
        assert_eq!(output.status.signal(), Some(libc::SIGSEGV), "{output:?}");
    }
}

#[test]
fn shares_of_a_pointer_are_counted_under_ticks() {
    check_output("tests/c/shared.cpp", &[], "every share was counted\n");
}

const STATICS: &str = "each was initialized once\n";
const MUTEXES: &str = "one at a time\n";

/// Runs a program with slices on workers, linked to shared libraries and to static ones, the C++ library too.
fn check_under_ticks(libraries: &[&str], path: &str, expected: &str) {
    let installed = Installed::new();
    for shared in [false, true] {
        for flags in [&["-pthread"][..], &["-pthread", "-static-libstdc++"]] {
            if !flags.iter().all(|flag| compiler_has(flag)) {
                continue;
            }
            let program = installed.build_with(libraries, &source(path), flags, shared);
            let Some(program) = program else { return };
            for (slice_us, workers) in [("20", "1"), ("1000", "1"), ("20", "2"), ("1000", "2")] {
                assert_eq!(text_of(&program, &[slice_us, workers]), expected);
            }
        }
    }
}

#[test]
fn a_static_variable_is_initialized_once_under_ticks() {
    let libraries = ["uthread-cxx", "uthread"];
    check_under_ticks(&libraries, "tests/c/statics.cpp", STATICS);
}

#[test]
fn mutexes_of_the_system_belong_to_user_threads() {
    let libraries = ["uthread-pthread", "uthread-cxx", "uthread"];
    check_under_ticks(&libraries, "tests/c/mutexes.cpp", MUTEXES);
}

#[test]
fn a_static_variable_that_nobody_can_initialize_ends_the_process() {
    use std::os::unix::process::ExitStatusExt;
    let installed = Installed::new();
    let program = installed.build(&source("tests/c/statics.cpp"), &["-pthread"], true);
    let Some(program) = program else { return };
    for (way, expected) in [
        ("recursion", "the initializer of a static variable uses"),
        (
            "recursion outside",
            "the initializer of a static variable uses",
        ),
        ("preemption off", "use the variable once before"),
    ] {
        let output = run(&program, &["1000", "1", way]);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(libc::SIGABRT), "{output:?}");
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn exceptions_and_exits_run_destructors() {
    let expected = "destroyed: throws\ncaught: boom\ndestroyed: exits\ndestroyed: exits in C\n\
                    error 35\nthe last thread\n";
    check_output("tests/c/exceptions.cpp", &[], expected);
}

/// Runs the five programs of `examples/cpp`, and checks what they print.
fn check_programs(flags: &[&str]) {
    let installed = Installed::new();
    let build = |name: &str| installed.build(&example(name), flags, false);

    let Some(locks) = build("lock-vs-spinlock") else {
        return;
    };
    for threads in ["1", "10"] {
        let text = text_of(&locks, &[threads, "200"]);
        let rows: Vec<Vec<&str>> = text
            .lines()
            .skip(1)
            .map(|l| l.split_whitespace().collect())
            .collect();
        let names: Vec<_> = rows.iter().map(|row| row[0]).collect();
        assert_eq!(names, ["simple", "simple_yield", "complex"]);
        assert!(
            rows.iter()
                .all(|row| row.len() == 3 && row[1..].iter().all(|us| us.parse::<u64>().is_ok()))
        );
    }
    for wrong in [&[][..], &["0"], &["ten"], &["3", "5"]] {
        assert_eq!(run(&locks, wrong).status.code(), Some(2), "{wrong:?}");
    }

    let Some(transfers) = build("sync-vs-async") else {
        return;
    };
    let text = text_of(&transfers, &["3", "100000", "2", "1000"]);
    let words: Vec<_> = text
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(words, ["sync", "async", "sum"]);

    if let Some(inversion) = build("priority-inversion") {
        assert_eq!(
            text_of(&inversion, &[]),
            "the order of finishing is C, A, B\n"
        );
        assert_eq!(
            text_of(&inversion, &["none"]),
            "the order of finishing is B, C, A\n"
        );
    }
    if let Some(zoo) = build("test-zoo") {
        let expected = "90 animals wait for the zoo to open\n\
                        the animals came in in the order of their arrival, and the one from outside last\n\
                        91 were in the room, at most 10 at a time\n";
        assert_eq!(text_of(&zoo, &["90"]), expected);
    }
    if let Some(transfer) = build("test-async-io") {
        assert_eq!(
            text_of(&transfer, &[]),
            "Waiting for io\nResult: hello world\n"
        );
    }
}

#[test]
fn the_programs_of_the_report() {
    check_programs(&["-Wpedantic"]);
}

/// False, with its reason, where there is no C++ compiler that links with this flag.
fn compiler_has(flag: &str) -> bool {
    let folder = tempfile::tempdir().expect("there is room for a file");
    let probe = folder.path().join("probe.cpp");
    std::fs::write(&probe, "int main() {}\n").expect("there is room for a file");
    let program = folder.path().join("probe");
    let mut compiler = Command::new("c++");
    let probed = compiler.arg(flag).arg(&probe).arg("-o").arg(&program);
    let has = probed.output().is_ok_and(|output| output.status.success());
    if !has {
        eprintln!("skipped: no C++ compiler that takes {flag}");
    }
    has
}

#[test]
fn the_programs_of_the_report_with_the_address_sanitizer() {
    if !compiler_has("-fsanitize=address") {
        return;
    }
    check_programs(&["-fsanitize=address", "-g"]);
    let flags = ["-fsanitize=address", "-g", "-fexceptions"];
    let expected = "all were terminated\n";
    check_output("tests/c/terminate.c", &flags, expected);
}

/// The code of this language in the README that has a line.
fn in_readme<'a>(readme: &'a str, language: &str, line: &str) -> &'a str {
    let start = format!("```{language}\n");
    let blocks = readme.split(start.as_str()).skip(1);
    let mut blocks = blocks.filter_map(|rest| rest.split_once("```").map(|(block, _)| block));
    let found = blocks.find(|block| block.contains(line));
    found.expect("the README has the block")
}

#[test]
fn the_quick_start_of_the_readme_works() {
    let has = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !["cc", "c++", "pkg-config"].into_iter().all(has) {
        eprintln!("skipped: no compiler or no pkg-config");
        return;
    }
    let readme = std::fs::read_to_string(source("README.md")).expect("there is one");
    let folder = tempfile::tempdir().expect("there is room for files");
    let write = |name: &str, text| {
        std::fs::write(folder.path().join(name), text).expect("there is room for a file");
    };
    write("program.c", in_readme(&readme, "c", "int main"));
    write("program.cpp", in_readme(&readme, "cpp", "int main"));
    // The libraries of the tests instead of those of the release.
    let commands = in_readme(&readme, "sh", "install.sh");
    write(
        "commands",
        commands.trim_start_matches("cargo build --release -p uthread-c\n"),
    );
    let link = |target: PathBuf, name: &str| {
        let place = folder.path().join(name);
        std::os::unix::fs::symlink(target, place).expect("there is room for a link");
    };
    link(source(".."), "uthread");
    link(built(), "release");
    let output = Command::new("sh")
        .args(["-e", "commands"])
        .current_dir(folder.path())
        .env("HOME", folder.path())
        .env("CARGO_TARGET_DIR", folder.path())
        .output()
        .expect("there is a shell");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(text.ends_with("hello from one\nhello from one\n"), "{text}");
}

#[test]
fn pkg_config_and_cmake_find_the_library() {
    let installed = Installed::new();
    let flags = Command::new("pkg-config")
        .args([
            "--define-prefix",
            "--cflags",
            "--libs",
            "uthread-cxx",
            "uthread-pthread",
        ])
        .env("PKG_CONFIG_PATH", installed.prefix().join("lib/pkgconfig"))
        .output();
    match flags {
        Ok(output) => {
            assert!(output.status.success(), "{output:?}");
            let text = String::from_utf8_lossy(&output.stdout);
            let flags: Vec<_> = text.split_whitespace().collect();
            for name in ["cxx", "pthread"] {
                // In one flag: pkg-config leaves out those that come twice.
                let kept = format!("-Wl,--push-state,--no-as-needed,-luthread-{name},--pop-state");
                assert!(flags.contains(&kept.as_str()), "{text}");
            }
            assert_eq!(flags.last(), Some(&"-luthread"), "{text}");
        }
        Err(error) => eprintln!("skipped: no pkg-config ({error})"),
    }

    let project = installed.folder.path().join("project");
    std::fs::create_dir(&project).expect("there is room for a folder");
    let lists = "cmake_minimum_required(VERSION 3.13)\nproject(zoo CXX)\nset(CMAKE_CXX_STANDARD 17)\n\
                 find_package(uthread REQUIRED)\n\
                 foreach(kind uthread static)\n\
                 add_executable(zoo-${kind} ${SOURCE})\n\
                 target_link_libraries(zoo-${kind} uthread::${kind})\nendforeach()\n\
                 target_link_libraries(zoo-uthread uthread::cxx uthread::pthread -Wl,--as-needed)\n\
                 find_package(Threads REQUIRED)\n\
                 foreach(kind cxx cxx-static pthread pthread-static)\n\
                 if(kind MATCHES cxx)\nset(program ${STATICS})\nelse()\nset(program ${MUTEXES})\nendif()\n\
                 add_executable(ticks-${kind} ${program})\n\
                 target_link_libraries(ticks-${kind} uthread::${kind} Threads::Threads)\n\
                 endforeach()\n";
    std::fs::write(project.join("CMakeLists.txt"), lists).expect("there is room for a file");
    let configured = Command::new("cmake")
        .current_dir(&project)
        .arg(format!(
            "-DCMAKE_PREFIX_PATH={}",
            installed.prefix().display()
        ))
        .arg(format!("-DSOURCE={}", example("test-zoo").display()))
        .arg(format!(
            "-DSTATICS={}",
            source("tests/c/statics.cpp").display()
        ))
        .arg(format!(
            "-DMUTEXES={}",
            source("tests/c/mutexes.cpp").display()
        ))
        .args(["-S", ".", "-B", "build"])
        .output();
    let configured = match configured {
        Ok(output) => output,
        Err(error) => {
            eprintln!("skipped: no cmake ({error})");
            return;
        }
    };
    assert!(configured.status.success(), "{configured:?}");
    let output = Command::new("cmake")
        .current_dir(&project)
        .args(["--build", "build"])
        .output();
    let output = output.expect("cmake was there just now");
    assert!(output.status.success(), "{output:?}");
    for kind in ["uthread", "static"] {
        let text = text_of(&project.join(format!("build/zoo-{kind}")), &["20"]);
        assert!(text.contains("21 were in the room"), "{text}");
    }
    // Although the program uses nothing of them.
    let program = std::fs::read(project.join("build/zoo-uthread")).expect("it was just run");
    for name in ["libuthread-cxx.so.0", "libuthread-pthread.so.0"] {
        let names = |bytes: &[u8]| bytes == name.as_bytes();
        assert!(program.windows(name.len()).any(names), "{name}");
    }
    for (kind, expected) in [
        ("cxx", STATICS),
        ("cxx-static", STATICS),
        ("pthread", MUTEXES),
        ("pthread-static", MUTEXES),
    ] {
        let program = project.join(format!("build/ticks-{kind}"));
        assert_eq!(text_of(&program, &["1000", "1"]), expected);
    }
}
