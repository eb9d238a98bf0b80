//! Pages of real runs: of a quiet machine, of a disturbed one and of another machine. No sentence on them
//! says more than is known, is one that nobody can follow, or is in words that make a reader stop. Each page is
//! small enough for an e-mail.

use super::packed::whole;
use super::select;
use flate2::read::GzDecoder;
use oscope_report::{Analysis, page};
use record::{Run, file};
use scraper::{ElementRef, Html};
use std::fs::File;

/// A value whose interval is wider than this, relative to the value, is not shown as one.
const WIDEST: f64 = 0.5;

/// A larger page is no attachment.
const MOST_BYTES: usize = 2_000_000;

/// What no page says, each with the reason.
const NEVER: [(&str, &str); 18] = [
    ("export OSCOPE_", "no program reads such a variable"),
    ("OSCOPE_LOOP", "no program reads such a variable"),
    ("OSCOPE_START", "no program reads such a variable"),
    ("fio --", "a benchmark is no setting"),
    ("cannot be told", "it says that nothing is known"),
    ("not told", "it says that nothing is known"),
    (
        "256 KiB (256 KiB)",
        "a place that no measured point surrounds",
    ),
    ("keeps to", "words that make a reader stop"),
    ("hands on", "words that make a reader stop"),
    ("so many", "words that make a reader stop"),
    ("rule of thumb", "a bound that every machine keeps"),
    ("as many)", "a ratio without its unit"),
    (">999", "no spread is that wide and shown"),
    (
        "% of it came from storage",
        "the device is not the storage behind it",
    ),
    (" of of ", "a name cut in the middle"),
    ("NaN", "no number"),
    ("inf ", "no number"),
    ("`", "raw markup"),
];

/// Words for which the field has others.
const WORDS: [&str; 9] = [
    "told", "beside", "lack", "lacks", "stands", "bears", "serves", "whoever", "met",
];

/// The run `name` of `reference/runs`.
fn recorded(name: &str) -> Run {
    let path = format!(
        "{}/../../reference/runs/{name}.oscope.json.gz",
        env!("CARGO_MANIFEST_DIR")
    );
    let file = File::open(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    file::import(GzDecoder::new(file)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The text of an element on one line, without what is code and without the labels of charts.
fn prose(element: ElementRef) -> String {
    let is_skipped = |name: &str| matches!(name, "code" | "pre" | "svg" | "script" | "style");
    let mut text = String::new();
    for node in element.descendants() {
        let inside_code = node
            .ancestors()
            .filter_map(ElementRef::wrap)
            .any(|around| is_skipped(around.value().name()));
        if let (Some(words), false) = (node.value().as_text(), inside_code) {
            text.push_str(words);
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What is written around `place`.
fn around(text: &str, place: usize) -> &str {
    &text[text.floor_char_boundary(place.saturating_sub(60))..text.ceil_char_boundary(place + 40)]
}

/// Each spread in `text`, "± 7.7 %", as a share.
fn spreads(text: &str) -> impl Iterator<Item = f64> {
    text.split('±').skip(1).filter_map(|after| {
        let (number, _) = after
            .trim_start()
            .split_once([' ', '\u{202f}', '\u{a0}', '%'])?;
        Some(number.parse::<f64>().ok()? / 100.0)
    })
}

/// The ends of each interval in `text`, "(4.35 to 4.56 ms)", where both have one unit.
fn intervals(text: &str) -> impl Iterator<Item = (f64, f64)> {
    text.split('(').skip(1).filter_map(|after| {
        let (inside, _) = after.split_once(')')?;
        let (low, high) = inside.split_once(" to ")?;
        let high = high.split_whitespace().next()?;
        Some((low.parse().ok()?, high.parse().ok()?))
    })
}

/// What is wrong with the page of the run `name`.
fn faults(name: &str) -> Vec<String> {
    let run = recorded(name);
    let page = page::render(&Analysis::new(&run));
    let document = Html::parse_document(&whole(&page));
    let mut faults: Vec<String> = document.errors.iter().map(ToString::to_string).collect();
    let body = prose(select(&document, "body")[0]);
    let mut says = |what: &str, why: &str| faults.push(format!("{name}: \"{what}\": {why}"));
    for (sentence, why) in NEVER {
        for (place, _) in body.match_indices(sentence) {
            says(around(&body, place), why);
        }
    }
    let mut place = 0;
    for word in body.split_inclusive(|letter: char| !letter.is_alphabetic()) {
        let letters = word.trim_end_matches(|letter: char| !letter.is_alphabetic());
        if WORDS.contains(&letters.to_lowercase().as_str()) {
            says(around(&body, place), "a word that makes a reader stop");
        }
        place += word.len();
    }
    let said = select(
        &document,
        "header, .unusual li, #findings li, #advice li, .settings li",
    );
    assert!(said.len() > 3, "{name}: the page has nothing to say");
    assert!(page.len() < MOST_BYTES, "{name}: {} bytes", page.len());
    for text in said.into_iter().map(prose) {
        for spread in spreads(&text).filter(|spread| *spread > WIDEST) {
            says(&text, &format!("±{spread} is shown as a value"));
        }
        for (low, high) in intervals(&text) {
            // Beyond three to one, no value is within half of itself from both ends.
            if low < 0.0 || high < low || high > 3.0 * low {
                says(&text, &format!("{low} to {high} is shown as a value"));
            }
        }
        let is_graded = ["certain", "likely"]
            .iter()
            .any(|grade| text.starts_with(grade));
        let has_no_grade = ["every result was correct", "was not measured"];
        if is_graded && has_no_grade.iter().any(|sentence| text.contains(sentence)) {
            says(&text, "it is no estimate, and has no grade");
        }
    }
    // Orders of threads that a simulation prints are no surprise of this machine.
    for text in select(&document, ".unusual li").into_iter().map(prose) {
        if text.contains("B, C, A") || text.contains("C, A, B") {
            says(&text, "a simulation");
        }
    }
    faults
}

#[test]
fn pages_of_recorded_runs_are_small_and_say_only_what_is_known() {
    let faults: Vec<String> = ["quiet", "disturbed", "emulated"]
        .iter()
        .flat_map(|name| faults(name))
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn faulty_sentences_are_found() {
    assert_eq!(
        spreads("4 ns ± 2137 % and 5 ± 3.0 %").collect::<Vec<_>>(),
        [21.37, 0.03]
    );
    let text = "0.7 × (0.019 to 23 ×), 4.45 ms (4.35 to 4.56 ms), a call (that is one)";
    assert_eq!(
        intervals(text).collect::<Vec<_>>(),
        [(0.019, 23.0), (4.35, 4.56)]
    );
}
