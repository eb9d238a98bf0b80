//! The tables in `tests/cases`: what the program promises to its users.
//!
//! A file begins with its subject, up to an empty line, and with steps that prepare each of its cases. A case begins
//! with `# ` and its name. It has a folder of its own, where its steps run one after the other:
//!
//! - `$ LINE` is a command, checked by the indented lines under it. Commands in a row share these lines.
//! - `do LINE` has commands that all succeed, such as the preparation of a file.
//! - `needs LINE` skips the rest of the case if this command fails.
//! - `sql STATEMENT` changes the store.
//! - `edit FILE` sets values of a JSON file: `/run/header/name = after`.
//! - `make WHAT` makes runs of known contents, as [`made`] describes.
//! - `mount ARGUMENTS FOLDER` mounts a file system, as mount(8) does; without the right to it, it skips the rest.
//! - `receive OPTIONS` starts `oscope receive`, with its address in `$TO`; `received` waits for its end.
//! - `-- ` begins a remark.
//!
//! Commands are lines of bash. `oscope` has the store `$STORE`, which is `oscope.db` in the folder `$HERE`. The other
//! programs for tables are in `tests/programs`. `$PROGRAM` is the file of oscope, `$RUNS` the folder of exported runs.
//! With `OSCOPE_CASE=WORDS` in the environment, only cases with these words in their name run. What is expected:
//!
//! - `exit 0,1`: one of these exit codes; 0 without such a line.
//! - `> TEXT` and `2> TEXT`: standard output and standard error contain the text, with `!>` and `!2>` they do not.
//!   Without a text, they are empty.
//! - `= LINE`: these lines are the whole standard output.
//! - `hides TEXT`: standard output does not contain the text, and neither does what is packed in it, as in a page.
//! - `/PATH = VALUE`, `/PATH < NUMBER`, `/PATH > NUMBER`, `/PATH has TEXT`, `/PATH counts NUMBER`: a value in its JSON by
//!   its pointer. The last is the length of a list.
//! - `schema FILE`: its JSON matches this schema and contains its version.

mod made;

use crate::common::receiver::Receiver;
use crate::common::{holds, json, program};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::read::ZlibDecoder;
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Output;
use testing::{Command, Mounted};

const TESTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests");
const CRATES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// A test for each file.
macro_rules! files {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            assert_holds(stringify!($name));
        })*

        const FILES: &[&str] = &[$(stringify!($name)),*];
    };
}

files! {
    ab commands compare damage disks documents files fleet judged labs links outputs redact references
    reproduce resume runs signals stores terminals transfers
}

#[test]
fn each_file_has_its_test() {
    let files = fs::read_dir(format!("{TESTS}/cases")).expect("it is there");
    let names = files.flatten().map(|file| file.file_name());
    let mut names: Vec<_> = names.map(|it| it.to_string_lossy().into_owned()).collect();
    names.sort();
    let expected: Vec<_> = FILES.iter().map(|name| format!("{name}.txt")).collect();
    assert_eq!(names, expected);
}

fn assert_holds(name: &str) {
    let table = fs::read_to_string(format!("{TESTS}/cases/{name}.txt")).expect("a table");
    let wanted = std::env::var("OSCOPE_CASE").unwrap_or_default();
    let (hold, failures) = outcome(&table, &wanted);
    let failures = failures.join("\n");
    assert!(
        failures.is_empty(),
        "{hold} cases hold, and not:\n{failures}"
    );
}

/// The number of the wanted cases that hold, and what is wrong with the others.
fn outcome(table: &str, wanted: &str) -> (usize, Vec<String>) {
    let root = tempfile::tempdir().expect("a temporary directory");
    let (_, table) = table.split_once("\n\n").expect("a subject comes first");
    let table = format!("\n{table}");
    let mut cases = table.split("\n# ");
    let mut prepared = Case::new(root.path().join("prepared"));
    fs::create_dir(&prepared.folder).expect("there is room");
    // Another user may pass through both.
    for folder in [root.path(), &prepared.folder] {
        fs::set_permissions(folder, Permissions::from_mode(0o755)).expect("it is ours");
    }
    if let Err(failure) = prepared.run(cases.next().unwrap_or_default()) {
        return (0, vec![failure]);
    }
    let mut failures = Vec::new();
    let mut hold = 0;
    for (index, case) in cases.enumerate() {
        let (name, steps) = case.split_once('\n').unwrap_or((case, ""));
        if !name.contains(wanted) {
            continue;
        }
        let mut case = Case::new(root.path().join(index.to_string()));
        let folders = [&prepared.folder, &case.folder];
        let copied = Command::new("cp").arg("-a").args(folders).status();
        assert!(copied.expect("cp(1)").success());
        case.made.clone_from(&prepared.made);
        match case.run(steps) {
            Ok(()) => hold += 1,
            Err(failure) => failures.push(format!("# {name}\n{failure}")),
        }
    }
    (hold, failures)
}

/// A line and the indented lines under it.
struct Step {
    line: String,
    below: Vec<String>,
}

fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_continued = false;
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (line, continues) = match line.strip_suffix('\\') {
            Some(line) => (line, true),
            None => (line, false),
        };
        match steps.last_mut() {
            Some(step) if is_continued => step.line.push_str(line.trim_start()),
            Some(step) if line.starts_with("  ") => step.below.push(line[2..].to_owned()),
            _ => steps.push(Step {
                line: line.to_owned(),
                below: Vec::new(),
            }),
        }
        is_continued = continues;
    }
    for index in (1..steps.len()).rev() {
        let (before, after) = steps.split_at_mut(index);
        let (step, next) = (&mut before[index - 1], &after[0]);
        let share = [&step.line, &next.line]
            .iter()
            .all(|line| line.starts_with("$ "));
        if share && step.below.is_empty() {
            step.below.clone_from(&next.below);
        }
    }
    steps
}

/// A case that runs in a folder of its own.
struct Case {
    folder: PathBuf,
    /// The variables that its steps set.
    made: Vec<(String, String)>,
    receiver: Option<Receiver>,
    mounted: Vec<Mounted>,
}

impl Case {
    fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            made: Vec::new(),
            receiver: None,
            mounted: Vec::new(),
        }
    }

    /// What went wrong, if something did.
    fn run(&mut self, text: &str) -> Result<(), String> {
        for Step { line, below } in steps(text) {
            let (word, rest) = line.split_once(' ').unwrap_or((&line, ""));
            match word {
                "--" => {}
                "do" => self.check(&line, &[], &self.output("-ec", rest))?,
                "$" => self.check(&line, &below, &self.output("-c", rest))?,
                "needs" => {
                    if !self.output("-c", rest).status.success() {
                        eprintln!("skipped: this fails here: {rest}");
                        return Ok(());
                    }
                }
                "sql" => {
                    let store = rusqlite::Connection::open(self.folder.join("oscope.db"));
                    let changed = store.and_then(|store| store.execute_batch(rest));
                    changed.map_err(|error| format!("{line}: {error}"))?;
                }
                "edit" => made::edit(&self.folder.join(rest), &below),
                "make" => self.made.extend(made::make(&self.folder, rest)),
                "mount" => {
                    let rest = self.with_folder(rest);
                    let words: Vec<&str> = rest.split(' ').collect();
                    let (folder, arguments) = words.split_last().expect("a folder");
                    match Mounted::new(arguments, &self.folder.join(folder)) {
                        Some(mounted) => self.mounted.push(mounted),
                        None => return Ok(()),
                    }
                }
                "receive" => {
                    // The one before ends first.
                    self.receiver = None;
                    let mut command = Command::new(program());
                    command.current_dir(&self.folder);
                    let options: Vec<&str> = rest.split(' ').collect();
                    let receiver = Receiver::start(command, &options);
                    self.made.push(("TO".to_owned(), receiver.address.clone()));
                    self.receiver = Some(receiver);
                }
                "received" => {
                    let receiver = self.receiver.take().expect("a receiver");
                    self.check(&line, &below, &receiver.end())?;
                }
                _ => return Err(format!("no such step: {line}")),
            }
        }
        Ok(())
    }

    /// The output of a line of bash; with `-ec`, its first failure ends it.
    fn output(&self, option: &str, line: &str) -> Output {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("bash");
        command
            .args(["-o", "pipefail", option, line])
            .current_dir(&self.folder)
            .env("HERE", &self.folder)
            .env("STORE", self.folder.join("oscope.db"))
            .env("PROGRAM", program())
            .env("RUNS", format!("{CRATES}/record/tests/fixtures"))
            .env("PATH", format!("{TESTS}/programs:{path}"))
            .env("NO_COLOR", "1")
            // script(1) gives its lines to this shell.
            .env("SHELL", "/bin/bash")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("XDG_DATA_HOME");
        for (name, value) in &self.made {
            command.env(name, value);
        }
        command.output().expect("bash(1)")
    }

    /// Compares the output of a command with what is expected; both, if they differ.
    fn check(&self, line: &str, expected: &[String], output: &Output) -> Result<(), String> {
        let mut expected: Vec<_> = expected.iter().map(|it| self.with_folder(it)).collect();
        if !expected.iter().any(|it| it.starts_with("exit ")) {
            expected.insert(0, "exit 0".to_owned());
        }
        let lines = expected.iter().filter_map(|it| it.strip_prefix("= "));
        let lines: Vec<&str> = lines.collect();
        let stdout = String::from_utf8_lossy(&output.stdout);
        let wrong = expected.iter().find_map(|it| wrong(it, &lines, output));
        let Some(wrong) = wrong else { return Ok(()) };
        let mut message = format!("{line}\nexpected: {wrong}\nfound: {}\n", output.status);
        for stream in [&stdout, &String::from_utf8_lossy(&output.stderr)] {
            let beginning: String = stream.chars().take(2000).collect();
            writeln!(message, "{beginning}").expect("a String has room");
        }
        Err(message)
    }

    fn with_folder(&self, text: &str) -> String {
        text.replace("$HERE", &self.folder.display().to_string())
    }
}

/// The expectation, and the value that differs, if it does not hold. `lines` are all that begin with `=`.
fn wrong(expected: &str, lines: &[&str], output: &Output) -> Option<String> {
    let stdout = String::from_utf8_lossy(&output.stdout);
    let (kind, text) = expected.split_once(' ').unwrap_or((expected, ""));
    let holds = match kind {
        "=" => stdout.lines().eq(lines.iter().copied()),
        "hides" => !unpacked(&stdout).contains(text),
        "schema" => {
            let errors = unlike(&json(&output.stdout), text);
            return (!errors.is_empty()).then(|| format!("{expected}: {}", errors.join("\n")));
        }
        _ if kind.starts_with('/') => {
            let Ok(document) = serde_json::from_str(&stdout) else {
                return Some(format!("{expected}, in JSON"));
            };
            return differing(expected, &document);
        }
        _ => holds(expected, output).unwrap_or(false),
    };
    (!holds).then(|| expected.to_owned())
}

/// All contents of `text`, including its compressed parts, in lower case.
fn unpacked(text: &str) -> String {
    let is_packed = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
    let pieces = text.split(|c| !is_packed(c)).filter(|it| it.len() > 40);
    let packed = pieces.filter_map(|it| BASE64_STANDARD.decode(it).ok());
    let inside = packed.filter_map(|it| io::read_to_string(ZlibDecoder::new(it.as_slice())).ok());
    (text.to_owned() + &inside.collect::<String>()).to_lowercase()
}

/// The expectation and the value in `document`, if it does not hold.
fn differing(expected: &str, document: &Value) -> Option<String> {
    let operators = [" = ", " < ", " > ", " has ", " counts "];
    let found = operators
        .iter()
        .filter_map(|it| Some((expected.find(it)?, it.len())));
    let (at, len) = found.min().expect("an operator");
    let (path, operator, text) = (
        &expected[..at],
        &expected[at..at + len],
        &expected[at + len..],
    );
    let found = match path {
        "/" => document,
        path => document.pointer(path).unwrap_or(&Value::Null),
    };
    let given: Value = serde_json::from_str(text).unwrap_or_else(|_| text.into());
    let numbers = found.as_f64().zip(given.as_f64());
    let holds = match operator.trim() {
        "=" => *found == given,
        "<" => numbers.is_some_and(|(found, bound)| found < bound),
        ">" => numbers.is_some_and(|(found, bound)| found > bound),
        "has" => match found {
            Value::String(found) => found.contains(text),
            found => found.to_string().contains(text),
        },
        _ => found.as_array().map(Vec::len) == text.parse().ok(),
    };
    (!holds).then(|| format!("{expected}, and not {found}"))
}

/// What is wrong with a document by a committed schema, such as `report/schema/runs-1`.
fn unlike(document: &Value, schema: &str) -> Vec<String> {
    let (_, version) = schema.rsplit_once('-').expect("a version");
    let version: u64 = version.parse().expect("a number");
    let text = fs::read_to_string(format!("{CRATES}/{schema}.schema.json"));
    let schema = serde_json::from_str(&text.expect("a committed schema")).expect("it is JSON");
    jsonschema::meta::validate(&schema).expect("a schema");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let errors = validator.iter_errors(document);
    let mut errors: Vec<_> = errors
        .map(|it| format!("{it} at {}", it.instance_path()))
        .collect();
    for part in document.as_array().unwrap_or(&vec![document.clone()]) {
        if part["format"] != version && part["version"] != version && !part.is_string() {
            errors.push(format!("no version in {part}"));
        }
    }
    errors
}

#[test]
fn each_kind_of_expectation_can_fail() {
    for (steps, wrong) in [
        ("do false; true", "exit 0"),
        ("$ exit 3\n  exit 0,1", "exit 0,1"),
        ("$ echo a\n  > b", "> b"),
        ("$ echo a\n  >", ">"),
        ("$ echo a\n  !> a", "!> a"),
        ("$ true\n  !>", "!>"),
        ("$ echo a\n  2> a", "2> a"),
        ("$ echo a >&2\n  2>", "2>"),
        ("$ echo a >&2\n  !2> a", "!2> a"),
        ("$ echo a; echo b\n  = a", "= a"),
        ("$ echo BAB\n  hides a", "hides a"),
        (
            "$ echo eJxLVChOTS5KLVEoyUgsUcjJTC1WyMxTSFQoSEzOTk0BUkUlCvlpYIH0VABsog+w\n  hides secret",
            "hides secret",
        ),
        ("$ false\n$ true\n  exit 0", "exit 0"),
        ("$ false \\\n  || exit 4", "exit 0"),
        ("$ true\n  nonsense", "nonsense"),
        ("nonsense", "no such step"),
        ("sql NONSENSE", "NONSENSE"),
        ("$ echo\n  /a = 1", "in JSON"),
        ("$ echo '{\"a\":1}'\n  /a = 2", "and not 1"),
        ("$ echo '{\"a\":1}'\n  /a < 1", "and not 1"),
        ("$ echo '{\"a\":1}'\n  /a > 1", "and not 1"),
        ("$ echo '{\"a\":1}'\n  / has 2", "and not {\"a\":1}"),
        ("$ echo '{\"a\":1}'\n  /b = 1", "and not null"),
        ("$ echo '[1]'\n  / counts 2", "and not [1]"),
        ("$ echo '{}'\n  schema report/schema/runs-1", "no version"),
    ] {
        let table = format!("A table.\n\n# it fails\n{steps}\n\n# it holds\ndo true\n");
        let (hold, failures) = outcome(&table, "");
        assert_eq!((hold, failures.len()), (1, 1), "{steps}: {failures:?}");
        let is_named = failures[0].contains("# it fails") && failures[0].contains(wrong);
        assert!(is_named, "{steps}: {}", failures[0]);
    }
}
