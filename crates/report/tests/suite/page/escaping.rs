//! Text from a run never becomes markup.

use super::packed::whole;
use crate::fixture;
use oscope_report::page;
use scraper::{Html, Selector};

const HOSTILE: &str =
    "</script><script>document.title='taken'</script><img src=x onerror=x>\"'&{{1}}";

/// The run with all text replaced, except numbers, times and the format's own keywords.
fn hostile_run() -> record::Run {
    let mut run = fixture::run();
    run.header.name = Some(HOSTILE.into());
    run.header.id = HOSTILE.into();
    run.header.version = HOSTILE.into();
    run.header.directory = HOSTILE.into();
    run.header.machine_fingerprint = HOSTILE.into();
    run.header.command_line = vec!["oscope".into(), HOSTILE.into()];
    run.header.tags.insert(HOSTILE.into(), HOSTILE.into());
    run.machine.cpu.model = Some(HOSTILE.into());
    run.environment.os_name = Some(HOSTILE.into());
    run.environment
        .mitigations
        .insert(HOSTILE.into(), HOSTILE.into());
    for experiment in &mut run.experiments {
        let definition = &mut experiment.definition;
        let texts = [
            &mut definition.title,
            &mut definition.question,
            &mut definition.method,
            &mut definition.source,
        ];
        for text in texts {
            *text = HOSTILE.into();
        }
        definition
            .axes
            .iter_mut()
            .for_each(|axis| axis.title = HOSTILE.into());
        definition
            .metrics
            .iter_mut()
            .for_each(|metric| metric.title = HOSTILE.into());
    }
    if let Some(skipped) = run
        .experiments
        .iter_mut()
        .find_map(|one| one.skipped.as_mut())
    {
        *skipped = HOSTILE.into();
    }
    run
}

#[test]
fn no_text_of_a_run_becomes_markup() {
    let run = hostile_run();
    let mut analysis = fixture::analysis(&run);
    for experiment in &mut analysis.experiments {
        for point in &mut experiment.points {
            point.remarks.push(HOSTILE.into());
        }
        for finding in &mut experiment.findings {
            finding.sentence.push_text(HOSTILE);
        }
        for figure in &mut experiment.figures {
            figure.title = HOSTILE.into();
            figure.key = HOSTILE.into();
            figure.x.title = HOSTILE.into();
            figure.y.title = HOSTILE.into();
            figure
                .series
                .iter_mut()
                .for_each(|series| series.label = HOSTILE.into());
            figure
                .marks
                .iter_mut()
                .for_each(|mark| mark.label = HOSTILE.into());
        }
    }
    let calm = fixture::run();
    let calm = whole(&page::render(&fixture::analysis(&calm)).expect("a page"));
    let page = whole(&page::render(&analysis).expect("a page"));
    let document = Html::parse_document(&page);
    assert!(document.errors.is_empty(), "{:?}", document.errors);
    let count = |page: &str, selector: &str| {
        let selector = Selector::parse(selector).expect("a selector");
        Html::parse_document(page).select(&selector).count()
    };
    for tag in ["script", "img", "style", "iframe"] {
        assert_eq!(
            count(&page, tag),
            count(&calm, tag),
            "number of {tag} elements"
        );
    }
    assert_eq!(count(&page, "[onerror]"), 0);
    assert!(page.contains("&lt;/script&gt;") || page.contains("&#60;/script&#62;"));
}
