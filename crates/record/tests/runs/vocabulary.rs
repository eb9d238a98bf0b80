//! The words that stay in a redacted run are those of the program's own messages.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

const RENEW: &str = "OSCOPE_RENEW_VOCABULARY";
/// The crates whose messages reach a run.
const CRATES: &[&str] = &[
    "experiments",
    "files",
    "instrument",
    "kernels",
    "platform",
    "transfer",
];

/// Collects the words of all texts in the sources below `folder`, except tests, known answers of
/// ciphers, and code for other systems.
fn gather(folder: &Path, words: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() && !["tests", "examples", "target"].contains(&name) {
            gather(&path, words);
        } else if path.extension().is_some_and(|extension| extension == "rs")
            && name != "vectors.rs"
        {
            let source = fs::read_to_string(&path).unwrap();
            let source = source.split("#[cfg(test)]\nmod tests").next().unwrap();
            let lines = source.lines();
            let code: Vec<&str> = lines
                .filter(|line| !line.trim_start().starts_with("//"))
                .collect();
            words_of(&code.join("\n"), words);
        }
    }
}

/// The words between quotes in `code`.
fn words_of(code: &str, words: &mut BTreeSet<String>) {
    let without_quotes = code.replace("\\\"", " ").replace("'\"'", " ");
    for text in without_quotes.split('"').skip(1).step_by(2) {
        let text = text.replace("\\n", " ").replace("\\t", " ");
        // Text in braces is a name in the code.
        let pieces = text.split('{').flat_map(|piece| {
            let outside = piece.split_once('}').map_or(piece, |(_, outside)| outside);
            outside.split(|c: char| !c.is_ascii_alphabetic())
        });
        let long = pieces.filter(|word| word.len() > 1);
        words.extend(long.map(str::to_ascii_lowercase));
    }
}

/// A few new words do no harm: they are redacted until the list is renewed.
#[test]
fn the_words_of_the_program_are_known() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut words = BTreeSet::new();
    for name in CRATES {
        gather(&crates.join(name), &mut words);
    }
    assert!(words.len() > 1000, "{}", words.len());
    let list = crates.join("record/src/redact/program.txt");
    if std::env::var_os(RENEW).is_some() {
        let mut text =
            String::from("# Words of the messages of oscope, without those of one letter.\n");
        let mut width = 0;
        for word in &words {
            let end = if width + word.len() > 98 { '\n' } else { ' ' };
            let between = if width == 0 { None } else { Some(end) };
            width = if end == '\n' { 0 } else { width } + word.len() + 1;
            text.extend(between);
            write!(text, "{word}").unwrap();
        }
        fs::write(&list, text + "\n").unwrap();
    }
    let listed = fs::read_to_string(&list).unwrap();
    let listed: BTreeSet<&str> = listed.split_whitespace().collect();
    let new: Vec<&String> = words
        .iter()
        .filter(|word| !listed.contains(word.as_str()))
        .collect();
    assert!(
        new.len() * 20 < words.len(),
        "many words are new: renew the list with {RENEW}=1 cargo test -p oscope-record --test \
         vocabulary; {new:?}"
    );
}
