//! Comments begin with their noun or verb, as CONTRIBUTING.md asks.

use std::fs;
use std::path::Path;

/// Words that begin a riddle: its noun comes later, if at all.
const QUESTIONS: &[&str] = &["What", "How", "Whether", "Where", "Who", "Why", "Which"];

#[test]
fn no_comment_begins_with_a_question() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut wrong = Vec::new();
    for path in super::circles::files(&crates) {
        let text = fs::read_to_string(&path).expect("it can be read");
        let lines = text.lines().enumerate();
        let found = lines.filter(|(_, line)| asks(line));
        wrong.extend(found.map(|(index, line)| {
            let path = path.strip_prefix(&crates).unwrap_or(&path);
            format!("{}:{}: {}", path.display(), index + 1, line.trim())
        }));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// True if the line is a comment that begins with a question word, and a lower-case word after it.
fn asks(line: &str) -> bool {
    let Some(comment) = line.trim_start().strip_prefix("//") else {
        return false;
    };
    let comment = comment.trim_start_matches(['/', '!']).trim_start();
    let Some((first, rest)) = comment.split_once(' ') else {
        return false;
    };
    QUESTIONS.contains(&first) && rest.starts_with(|letter: char| letter.is_ascii_lowercase())
}

#[test]
fn questions_are_found_at_the_beginning_only() {
    assert!(asks("/// What a slot holds."));
    assert!(asks("    // Where the kernel lacks it, nothing happens."));
    assert!(!asks("/// Size of what a slot holds."));
    assert!(!asks("/// How"));
    assert!(!asks("let what = \"What is it\";"));
}
