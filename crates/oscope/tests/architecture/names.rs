//! Experiments are named by `experiments` alone: every other crate takes them as they come.

use instrument::experiment::Experiment;
use std::fs;
use std::path::{Path, PathBuf};

/// The crate that names experiments.
const NAMES_THEM: &str = "experiments";

/// Files and folders that name experiments all the same, and the reason.
const EXCEPTIONS: &[(&str, &str)] = &[(
    "oscope/src/arguments/",
    "help texts show commands that work as they stand",
)];

#[test]
fn only_the_experiments_name_experiments() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut wrong = Vec::new();
    let mut used = Vec::new();
    for folder in fs::read_dir(&crates).expect("the crates are there") {
        let folder = folder.expect("it can be listed").path();
        if folder.ends_with(NAMES_THEM) {
            continue;
        }
        for path in super::circles::files(&folder.join("src")) {
            let text = fs::read_to_string(&path).expect("it can be read");
            let path = path.strip_prefix(&crates).expect("it lies there");
            let named = named(path, &text);
            let mut exceptions = EXCEPTIONS.iter().map(|(exception, _)| *exception);
            match exceptions.find(|exception| path.to_string_lossy().starts_with(exception)) {
                Some(exception) if !named.is_empty() => used.push(exception),
                Some(_) => {}
                None => wrong.extend(named),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for (exception, reason) in EXCEPTIONS {
        assert!(used.contains(exception), "{exception}: no longer, {reason}");
    }
}

/// The lines of a file that name an experiment outside of its tests, which come last in it.
fn named(path: &Path, text: &str) -> Vec<String> {
    if path.file_stem().is_some_and(|stem| stem == "tests") {
        return Vec::new();
    }
    let lines = text.lines().enumerate();
    let lines = lines.take_while(|(_, line)| *line != "mod tests {");
    let ids: Vec<&str> = experiments::all().map(Experiment::id).collect();
    lines
        .filter(|(_, line)| ids.iter().any(|id| is_in(line, id)))
        .map(|(index, line)| format!("{}:{}: {}", path.display(), index + 1, line.trim()))
        .collect()
}

/// True if `line` contains `id` as a whole, and not as a call such as `file.size()`.
fn is_in(line: &str, id: &str) -> bool {
    let is_of_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    line.match_indices(id).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + id.len()..].chars().next();
        !before.is_some_and(is_of_word)
            && !after.is_some_and(|letter| is_of_word(letter) || letter == '(')
    })
}

#[test]
fn names_are_found_as_whole_words_outside_of_tests() {
    let path = PathBuf::from("made/up.rs");
    let named = |text: &str| named(&path, text).len();
    assert_eq!(named("let id = \"memory.latency\";"), 1);
    assert_eq!(named("/// As `process.calls.rate`.\nfile.size();"), 1);
    assert_eq!(named("file.sync_all(); file.size()"), 0);
    assert_eq!(named("struct One;\nmod tests {\n\"memory.latency\""), 0);
}
