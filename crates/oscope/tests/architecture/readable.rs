//! Sentences for readers are short, of short words, and in plain English, as CONTRIBUTING.md asks: those
//! of findings, claims and advice, and the questions and methods of experiments.

use std::fs;
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, FieldValue, ItemMod, LitStr, Macro, Member};

/// The most words of a sentence: in nine of ten texts when this bound was chosen.
const MOST_WORDS: usize = 30;
/// The most words of a sentence of a method, which names files, calls and options.
const MOST_WORDS_OF_METHOD: usize = 32;
/// The most years of school of the automated readability index (Senter and Smith, 1967): 19 of 20
/// texts were below when it was chosen.
const MOST_YEARS: f64 = 14.0;
/// The index means nothing for fewer words.
const FEWEST_WORDS: usize = 10;
/// A longer word counts as one of this many letters: a name of a call or an option is no hard word.
const LONGEST_WORD: usize = 12;
/// Words of an estimated number with its unit.
const NUMBER: &str = "1234";

/// Words that readers stumble over, or for which there is a plainer one.
const AVOIDED: &[&str] = &[
    "again and again",
    "aforementioned",
    "any more",
    "approximately",
    "by lot",
    "for the while",
    "goes nowhere",
    "gone round",
    "gone through",
    "hence",
    "in order to",
    "lest",
    "leverage",
    "line of the caches",
    "meanwhile",
    "one who",
    "prior to",
    "respectively",
    "subsequently",
    "that which",
    "thereby",
    "therein",
    "thus",
    "utilise",
    "whereby",
    "whichever",
    "whilst",
    "whoever",
];

/// The fewest texts that must be found: else the test looks in the wrong place.
const FEWEST_TEXTS: usize = 400;

/// A text for readers.
struct Text {
    path: PathBuf,
    is_method: bool,
    words: String,
}

#[test]
fn every_text_for_readers_is_short_and_plain() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../experiments/src");
    let texts: Vec<Text> = super::circles::files(&source)
        .iter()
        .flat_map(|path| texts(path))
        .collect();
    assert!(texts.len() > FEWEST_TEXTS, "only {} texts", texts.len());
    let objections: Vec<String> = texts
        .iter()
        .filter_map(|text| {
            let objection = objection(&text.words, text.is_method)?;
            let path = text.path.strip_prefix(&source).unwrap_or(&text.path);
            Some(format!("{}: {objection}: {}", path.display(), text.words))
        })
        .collect();
    assert!(objections.is_empty(), "{}", objections.join("\n"));
}

/// The reason why a text is hard to read.
fn objection(text: &str, is_method: bool) -> Option<String> {
    let lower = text.to_lowercase();
    let avoided = AVOIDED.iter().find(|avoided| has_words(&lower, avoided));
    if let Some(avoided) = avoided {
        return Some(format!("'{avoided}'"));
    }
    let most = if is_method {
        MOST_WORDS_OF_METHOD
    } else {
        MOST_WORDS
    };
    let lengths = sentences(text).map(|sentence| words(sentence).count());
    let longest = lengths.max().unwrap_or(0);
    if longest > most {
        return Some(format!("a sentence of {longest} words, {most} at most"));
    }
    let years = years_of_school(text)?;
    (years > MOST_YEARS).then(|| format!("readable after {years:.1} years, {MOST_YEARS} at most"))
}

/// True if `text` has these words, not only as parts of others.
fn has_words(text: &str, words: &str) -> bool {
    let is_end = |letter: Option<char>| letter.is_none_or(|letter| !letter.is_alphanumeric());
    text.match_indices(words).any(|(start, _)| {
        is_end(text[..start].chars().next_back())
            && is_end(text[start + words.len()..].chars().next())
    })
}

fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines();
    lines.flat_map(|line| {
        let mut rest = line;
        std::iter::from_fn(move || {
            let end = [". ", "! ", "? "]
                .iter()
                .filter_map(|end| rest.find(end))
                .min()
                .map_or(rest.len(), |end| end + 2);
            let (sentence, others) = rest.split_at(end);
            rest = others;
            (!sentence.is_empty()).then_some(sentence)
        })
    })
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let has_letter = |word: &&str| word.chars().any(char::is_alphanumeric);
    text.split_whitespace().filter(has_letter)
}

/// The automated readability index; `None` for few words.
fn years_of_school(text: &str) -> Option<f64> {
    let count = words(text).count();
    let sentences = sentences(text).filter(|it| words(it).next().is_some());
    let letters = |word: &str| word.chars().filter(|c| c.is_alphanumeric()).count();
    let letters: usize = words(text)
        .map(|word| letters(word).min(LONGEST_WORD))
        .sum();
    let (count_f, sentences) = (count as f64, sentences.count() as f64);
    let years = 4.71 * letters as f64 / count_f + 0.5 * count_f / sentences - 21.43;
    (count >= FEWEST_WORDS).then_some(years)
}

fn texts(path: &Path) -> Vec<Text> {
    let source = fs::read_to_string(path).expect("it can be read");
    let mut found = Found::default();
    found.visit_file(&syn::parse_file(&source).expect("it compiles"));
    let text = |(is_method, words): (bool, String)| Text {
        path: path.to_owned(),
        is_method,
        words: with_numbers(&words),
    };
    found.texts.into_iter().map(text).collect()
}

/// A template with a number in place of each name.
fn with_numbers(template: &str) -> String {
    let mut text = String::new();
    let mut depth = 0;
    for letter in template.chars() {
        match letter {
            '{' => {
                depth += 1;
                text += NUMBER;
            }
            '}' => depth -= 1,
            letter if depth == 0 => text.push(letter),
            _ => {}
        }
    }
    text
}

/// The texts of a file, each with whether it is a method.
#[derive(Default)]
struct Found {
    texts: Vec<(bool, String)>,
}

impl<'a> Visit<'a> for Found {
    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        if !item.attrs.iter().any(is_for_tests) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_macro(&mut self, called: &'a Macro) {
        if called.path.is_ident("sentence") {
            self.texts.extend(first_text(called).map(|it| (false, it)));
        }
    }

    fn visit_field_value(&mut self, field: &'a FieldValue) {
        let Member::Named(name) = &field.member else {
            return;
        };
        if ["method", "question", "says"].iter().any(|it| name == it) {
            let text = text_of(&field.expr).map(|text| (name == "method", text));
            self.texts.extend(text);
        }
        visit::visit_field_value(self, field);
    }
}

/// The text of a literal, or of the first one of a macro that puts texts together.
fn text_of(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Lit(literal) => match &literal.lit {
            syn::Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        Expr::Macro(called) => first_text(&called.mac),
        _ => None,
    }
}

fn first_text(called: &Macro) -> Option<String> {
    let first = called.tokens.clone().into_iter().next()?;
    let literal: LitStr = syn::parse2(first.into()).ok()?;
    Some(literal.value())
}

fn is_for_tests(attribute: &Attribute) -> bool {
    let list = attribute.meta.require_list();
    attribute.path().is_ident("cfg") && list.is_ok_and(|list| list.tokens.to_string() == "test")
}

#[test]
fn long_hard_and_odd_texts_are_found() {
    let plain = "A switch takes 1234, twice as long as a call, since the kernel has more to do.";
    assert_eq!(objection(plain, false), None);
    let long = "one two three ".repeat(11);
    assert!(objection(&long, false).is_some_and(|it| it.contains("33 words")));
    let hard = "Synchronously scheduled preemptive multithreading unconditionally outperforms \
                asynchronously scheduled cooperative multithreading implementations considerably.";
    assert!(objection(hard, false).is_some_and(|it| it.contains("years")));
    let odd = "Whoever waits, waits long.";
    assert!(objection(odd, false).is_some_and(|it| it.contains("whoever")));
    assert_eq!(
        objection("This enthuses us, and lessons follow.", false),
        None
    );
    assert_eq!(with_numbers("{a} and {b} more."), "1234 and 1234 more.");
}
