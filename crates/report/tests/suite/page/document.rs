//! The page as a document: complete and well formed.

use super::packed::{unpacked, whole};
use super::select;
use crate::fixture;
use oscope_report::{Analysis, page, reference};
use record::Run;
use scraper::Html;
use std::collections::BTreeSet;

fn page_of(run: &Run) -> String {
    page::render(&fixture::analysis_of(run))
}

/// The page of the made-up run after its script has run.
fn fixture_page() -> Html {
    Html::parse_document(&whole(&page_of(&fixture::run())))
}

fn texts(document: &Html, selector: &str) -> Vec<String> {
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let found = select(document, selector).into_iter();
    found.map(|found| words(found.text().collect())).collect()
}

/// The attribute of all elements that have it.
fn attributes<'d>(document: &'d Html, selector: &str, name: &str) -> Vec<&'d str> {
    let elements = select(document, selector).into_iter();
    let values = elements.map(|element| element.value().attr(name));
    values.map(|value| value.expect("selected by it")).collect()
}

#[test]
fn the_page_begins_with_one_line_on_trust_which_is_red_for_a_run_that_was_disturbed() {
    let mut run = fixture::run();
    let begins = |run: &Run, words: &str| {
        let document = Html::parse_document(&page_of(run));
        let line = texts(&document, "header > p.verdict:nth-child(2)").concat();
        assert!(
            line.starts_with(&format!("How far to trust it: {words}")),
            "{line}"
        );
        !select(&document, "header > p.caution").is_empty()
    };
    begins(&run, "");
    run.environment.is_traced = Some(true);
    assert!(begins(
        &run,
        "During this run, another program traced oscope."
    ));
    run.environment.stand_in = Some("Wine 8.0".into());
    let caution = "Measured under Wine 8.0, not on Linux: its times say nothing about that system.";
    assert!(begins(&run, caution));
}

#[test]
fn ids_are_unique_and_every_link_has_its_place() {
    let document = fixture_page();
    let ids = attributes(&document, "[id]", "id");
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len());
    let links = attributes(&document, "a[href^='#']", "href").into_iter();
    let links = links.map(|link| link.trim_start_matches('#'));
    for target in links.chain(attributes(
        &document,
        "[aria-labelledby]",
        "aria-labelledby",
    )) {
        assert!(unique.contains(target), "nothing is called {target}");
    }
}

#[test]
fn nothing_is_fetched_from_elsewhere() {
    let page = page_of(&fixture::run());
    let document = Html::parse_document(&page);
    let outward =
        "[src], link:not([rel=icon]), iframe, img, object, form, a[href]:not([href^='#'])";
    assert!(select(&document, outward).is_empty());
    assert!(!page.contains("url(") && !page.contains("@import"));
}

#[test]
fn the_page_answers_in_the_order_in_which_readers_ask() {
    let document = fixture_page();
    let headings = texts(&document, "h2");
    assert_eq!(
        headings[..8],
        [
            "Memory staircase",
            "What is unusual here",
            "What to set here",
            "How far to trust it",
            "The machine",
            "What was found",
            "What to set here",
            "What is said, and whether it holds here",
        ]
    );
    assert_eq!(select(&document, ".unusual li").len(), 3);
    assert_eq!(select(&document, ".unusual li a[href^='#']").len(), 3);
}

#[test]
fn each_chapter_has_its_words() {
    let document = fixture_page();
    for (chapter, selector) in [
        ("findings", "#findings li"),
        ("settings", "#settings li"),
        ("trust", "#trust p, #trust li"),
        (
            "machine",
            "#machine h3, #machine summary, #machine dl > div",
        ),
        ("estimates", ".estimates tr"),
    ] {
        insta::assert_snapshot!(chapter, texts(&document, selector).join("\n"));
    }
}

#[test]
fn each_experiment_is_folded_and_its_title_has_a_sentence() {
    let document = Html::parse_document(&page_of(&fixture::run()));
    let article = "section.group > article";
    let count = |inside: &str| select(&document, &format!("{article}{inside}")).len();
    let sentences = texts(&document, &format!("{article} > details > summary .brief"));
    assert_eq!(count(" > details.fold:not([open])"), count(""));
    assert_eq!(sentences.len(), count(""));
    assert!(sentences.iter().all(|sentence| !sentence.is_empty()));
}

#[test]
fn settings_that_gain_most_are_named_above_all_chapters() {
    assert_eq!(
        texts(&fixture_page(), "#glance .three li"),
        [
            "Block size for reading files: 256 KiB instead of 4 KiB, 2.87 × as fast. \
          dd if=FILE of=COPY bs=262144"
        ]
    );
}

#[test]
fn rows_with_sound_values_alone_have_a_strip() {
    let document = fixture_page();
    let count = |inside: &str| select(&document, &format!(".estimates {inside}")).len();
    let unsound = count("td.unsound");
    assert!(unsound > 0);
    let rows = count("tbody tr:not(.metric, .reason)");
    assert_eq!(count("svg.strip"), rows - unsound);
}

#[test]
fn what_is_missing_has_its_reason() {
    let document = fixture_page();
    let folded = texts(&document, "summary .brief").join("\n");
    assert!(
        folded.contains("Not measured: ") && folded.contains("rights of root"),
        "{folded}"
    );
    let missing = texts(&document, ".missing").join("\n");
    assert!(
        missing.contains("read cold, block size 1 MiB: the file's pages could not be evicted"),
        "{missing}"
    );
}

#[test]
fn the_footer_has_the_method_by_which_the_run_was_measured_and_the_command_for_another() {
    let footer_of = |version: &str| {
        let mut run = fixture::run();
        run.header.version = version.into();
        texts(&Html::parse_document(&whole(&page_of(&run))), "footer").join(" ")
    };
    let measured = footer_of("0.1.0");
    for expected in [
        "another run of the same command",
        "oscope run --seed 42",
        "resolution 1 ns",
        "21.5 ns a reading",
        "oscope 0.1.0",
    ] {
        assert!(measured.contains(expected), "{expected}: {measured}");
    }
    let printed = footer_of("reported");
    assert!(
        printed.contains("that the publication printed"),
        "{printed}"
    );
    assert!(!printed.contains("oscope run"), "{printed}");
}

#[test]
fn the_numbers_are_inside_as_json() {
    let document = fixture_page();
    let data: serde_json::Value = unpacked(&document, "data");
    let estimate = &data["experiments"][0]["points"][0]["estimates"][0];
    assert_eq!(estimate["metric"], "first_write");
    assert_eq!(estimate["by_process"].as_array().map(Vec::len), Some(5));
}

#[test]
fn a_run_that_was_cut_off_before_anything_was_measured_still_makes_a_page() {
    let mut run = fixture::run();
    run.experiments.clear();
    run.header.name = None;
    run.header.ended = None;
    run.machine = platform::machine::Machine::default();
    run.storage = None;
    let document = Html::parse_document(&page_of(&run));
    assert!(document.errors.is_empty(), "{:?}", document.errors);
    let trust = texts(&document, "#trust").join(" ");
    assert!(trust.contains("Nothing was measured."), "{trust}");
    assert!(trust.contains("cut off or is still under way"), "{trust}");
}

#[test]
fn claims_that_are_decided_are_seen_at_once_and_the_others_on_demand() {
    let document = fixture_page();
    assert_eq!(
        texts(&document, "#claims .contents > .findings .grade"),
        ["holds", "holds in part", "does not hold"]
    );
    assert_eq!(
        texts(&document, "#claims .contents details .grade"),
        ["undecided"]
    );
    let sources = select(&document, "#claims li:has(a[href^='#'])");
    assert_eq!(sources.len(), 4, "each leads to its charts");
}

/// The first screen of the page of a published report.
fn first_screen(reference: &str) -> Html {
    let reference = reference::find(reference).expect("it is one");
    let run = reference.run();
    let page = page::render(&Analysis::new(&run));
    Html::parse_document(&whole(&page))
}

#[test]
fn a_report_without_pictures_of_a_machine_begins_with_its_first_charts() {
    let document = first_screen("threads-linux");
    assert!(!select(&document, "#glance figure svg.chart").is_empty());
    let titles = texts(&document, "#glance figure h2");
    let chapters = texts(&document, "figure.figure h4");
    assert!(
        titles.iter().all(|title| chapters.contains(title)),
        "{titles:?}"
    );
    let keys = texts(&document, "#glance svg [data-series] .name");
    assert_eq!(keys, ["Lock", "SpinLock", "Lock", "SpinLock"]);
    let headings = texts(&document, "h2");
    assert_eq!(headings[0], titles[0]);
}

#[test]
fn every_report_begins_with_a_picture_or_a_sentence_that_leads_to_its_numbers() {
    for reference in reference::ALL {
        let document = first_screen(reference.name);
        let has_picture = !select(&document, "#glance svg.chart").is_empty();
        let leads = !select(&document, "#glance p a[href^='#']").is_empty();
        assert!(has_picture != leads, "{}", reference.name);
    }
}
