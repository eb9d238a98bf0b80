//! Text from a run never becomes markup.

use super::packed::whole;
use super::select;
use crate::fixture;
use oscope_report::page;
use scraper::Html;

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
        let axes = definition.axes.iter_mut().map(|axis| &mut axis.title);
        let metrics = definition.metrics.iter_mut().map(|it| &mut it.title);
        let texts = texts.into_iter().chain(axes).chain(metrics);
        for text in texts.chain(&mut experiment.skipped) {
            *text = HOSTILE.into();
        }
    }
    run
}

#[test]
fn no_text_of_a_run_becomes_markup() {
    let run = hostile_run();
    let mut analysis = fixture::analysis_of(&run);
    for experiment in &mut analysis.experiments {
        for point in &mut experiment.points {
            point.remarks.push(HOSTILE.into());
        }
        for finding in &mut experiment.findings {
            finding.sentence.push_text(HOSTILE);
        }
        for figure in &mut experiment.figures {
            let axes = [&mut figure.x, &mut figure.y].map(|axis| &mut axis.title);
            let series = figure.series.iter_mut().map(|series| &mut series.label);
            let marks = figure.marks.iter_mut().map(|mark| &mut mark.label);
            let texts = [&mut figure.title, &mut figure.key].into_iter().chain(axes);
            for text in texts.chain(series).chain(marks) {
                *text = HOSTILE.into();
            }
        }
    }
    let calm = whole(&page::render(&fixture::analysis()));
    let page = whole(&page::render(&analysis));
    let document = Html::parse_document(&page);
    assert!(document.errors.is_empty(), "{:?}", document.errors);
    let count = |page: &str, text: &str| select(&Html::parse_document(page), text).len();
    for tag in ["script", "img", "style", "iframe"] {
        assert_eq!(count(&page, tag), count(&calm, tag), "{tag} elements");
    }
    assert_eq!(count(&page, "[onerror]"), 0);
    assert!(page.contains("&lt;/script&gt;") || page.contains("&#60;/script&#62;"));
}
