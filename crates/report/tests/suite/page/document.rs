//! The page as a document: complete and well formed.

use super::packed::{unpacked, whole};
use crate::fixture;
use oscope_report::{Analysis, page, reference};
use scraper::{Html, Selector};
use std::collections::BTreeSet;

fn fixture_page() -> String {
    let run = fixture::run();
    page::render(&fixture::analysis(&run)).expect("a page")
}

fn select<'d>(document: &'d Html, selector: &str) -> Vec<scraper::ElementRef<'d>> {
    document
        .select(&Selector::parse(selector).expect("a selector"))
        .collect()
}

fn texts(document: &Html, selector: &str) -> Vec<String> {
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    select(document, selector)
        .into_iter()
        .map(|found| words(found.text().collect()))
        .collect()
}

#[test]
fn the_page_is_html_without_errors_and_is_kept_for_the_browser_test() {
    let page = fixture_page();
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/page.html");
    std::fs::write(path, &page).expect("the build folder can be written to");
    let document = Html::parse_document(&page);
    assert_eq!(document.errors, Vec::<String>::new());
}

#[test]
fn the_page_begins_with_one_line_on_trust_which_is_red_for_a_run_that_was_disturbed() {
    let trust = |page: &str| {
        let document = Html::parse_document(page);
        let line = texts(&document, "header > p.verdict:nth-child(2)").concat();
        (line, !select(&document, "header > p.caution").is_empty())
    };
    let (line, _) = trust(&fixture_page());
    assert!(line.starts_with("How far to trust it: "), "{line}");
    let mut run = fixture::run();
    run.environment.is_traced = Some(true);
    let page = page::render(&fixture::analysis(&run)).expect("a page");
    let (line, is_red) = trust(&page);
    let traced = "How far to trust it: During this run, another program traced oscope.";
    assert!(is_red && line.starts_with(traced), "{line}");
    run.environment.stand_in = Some("Wine 8.0".into());
    let page = page::render(&fixture::analysis(&run)).expect("a page");
    let (line, is_red) = trust(&page);
    let stand_in = "How far to trust it: Measured under Wine 8.0, not on Linux: its times say nothing about that \
                    system.";
    assert!(is_red && line.starts_with(stand_in), "{line}");
}

#[test]
fn ids_are_unique_and_every_link_has_its_place() {
    let document = Html::parse_document(&whole(&fixture_page()));
    let ids: Vec<&str> = select(&document, "[id]")
        .iter()
        .filter_map(|e| e.attr("id"))
        .collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len());
    for link in select(&document, "a[href^='#']") {
        let target = link
            .attr("href")
            .expect("selected by it")
            .trim_start_matches('#');
        assert!(unique.contains(target), "nothing is called {target}");
    }
    for labelled in select(&document, "[aria-labelledby]") {
        let target = labelled.attr("aria-labelledby").expect("selected by it");
        assert!(unique.contains(target), "nothing is called {target}");
    }
}

#[test]
fn nothing_is_fetched_from_elsewhere() {
    let page = fixture_page();
    let document = Html::parse_document(&page);
    let outward =
        "[src], link:not([rel=icon]), iframe, img, object, form, a[href]:not([href^='#'])";
    assert!(select(&document, outward).is_empty());
    assert!(!page.contains("url("));
    assert!(!page.contains("@import"));
}

#[test]
fn the_page_answers_in_the_order_in_which_readers_ask() {
    let document = Html::parse_document(&whole(&fixture_page()));
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
    insta::assert_snapshot!(texts(&document, "#findings li").join("\n"));
}

#[test]
fn each_experiment_is_folded_and_its_title_has_a_sentence() {
    let document = Html::parse_document(&fixture_page());
    let folded = select(
        &document,
        "section.group > article > details.fold:not([open])",
    );
    assert_eq!(
        folded.len(),
        select(&document, "section.group > article").len()
    );
    let sentences = texts(
        &document,
        "section.group > article > details > summary .brief",
    );
    assert!(sentences.iter().all(|sentence| !sentence.is_empty()));
    assert_eq!(sentences.len(), folded.len());
}

#[test]
fn no_text_has_raw_backticks() {
    let document = Html::parse_document(&whole(&fixture_page()));
    for text in texts(&document, "main") {
        let around = text
            .find('`')
            .map(|at| text[..at].chars().rev().take(60).collect::<String>());
        assert_eq!(around, None);
    }
}

#[test]
fn settings_that_gain_most_come_first_and_are_named_above_all_chapters() {
    let document = Html::parse_document(&whole(&fixture_page()));
    assert_eq!(
        texts(&document, "#glance .three li"),
        [
            "Block size for reading files: 256 KiB instead of 4 KiB, 2.87 × as fast. \
          dd if=FILE of=COPY bs=262144"
        ]
    );
    insta::assert_snapshot!(texts(&document, "#settings li").join("\n"));
}

#[test]
fn trust_comes_with_causes_and_advice() {
    let document = Html::parse_document(&whole(&fixture_page()));
    insta::assert_snapshot!(texts(&document, "#trust p, #trust li").join("\n"));
}

#[test]
fn the_machine_is_described_and_what_is_not_known_is_named() {
    let document = Html::parse_document(&whole(&fixture_page()));
    insta::assert_snapshot!(
        texts(
            &document,
            "#machine h3, #machine summary, #machine dl > div"
        )
        .join("\n")
    );
}

#[test]
fn estimates_come_with_interval_processes_and_warnings() {
    let document = Html::parse_document(&whole(&fixture_page()));
    insta::assert_snapshot!(texts(&document, ".estimates tr").join("\n"));
    // Only rows with sound values have a strip.
    let rows = select(&document, ".estimates tbody tr:not(.metric, .reason)").len();
    let unsound = select(&document, ".estimates td.unsound").len();
    assert!(unsound > 0);
    assert_eq!(
        select(&document, ".estimates svg.strip").len(),
        rows - unsound
    );
}

#[test]
fn what_is_missing_has_its_reason() {
    let document = Html::parse_document(&whole(&fixture_page()));
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
        let page = page::render(&fixture::analysis(&run)).expect("a page");
        texts(&Html::parse_document(&whole(&page)), "footer").join(" ")
    };
    let measured = footer_of("0.1.0");
    for expected in [
        "another run of the same command",
        "oscope run --seed 42",
        "resolution 1 ns",
        "21.5 ns a reading",
        "oscope 0.1.0",
    ] {
        assert!(
            measured.contains(expected),
            "{expected} is not in: {measured}"
        );
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
    let document = Html::parse_document(&whole(&fixture_page()));
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
    let page = page::render(&fixture::analysis(&run)).expect("a page");
    let document = Html::parse_document(&page);
    assert!(document.errors.is_empty(), "{:?}", document.errors);
    let trust = texts(&document, "#trust").join(" ");
    assert!(trust.contains("Nothing was measured."), "{trust}");
    assert!(trust.contains("cut off or is still under way"), "{trust}");
}

#[test]
fn claims_that_are_decided_are_seen_at_once_and_the_others_on_demand() {
    let document = Html::parse_document(&whole(&fixture_page()));
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
    let page = page::render(&Analysis::new(&run)).expect("a page");
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
