//! The first lines about a run: under which conditions, when, where, on which machine, and the verdict.

use super::style::Style;
use super::text::labelled;
use crate::thumb::Sides;
use crate::{Analysis, Verdict, show};
use record::Header;

/// One line each for the run, the machine, the directory and the verdict. Before them a caution, if the
/// system was not itself, and the conditions, if they may have moved the values.
pub(super) fn opening(analysis: &Analysis, style: &Style) -> String {
    let run = analysis.run;
    let lines = [
        ("caution", show::stand_in(run).unwrap_or_default()),
        (
            "conditions",
            analysis.surroundings.first().unwrap_or_default(),
        ),
        ("run", measured(analysis)),
        ("machine", show::machine(run)),
        ("files", files(&run.header)),
        ("verdict", Verdict::of(analysis).text()),
        ("sides", Sides::of(analysis).text()),
    ];
    let known: Vec<_> = lines
        .into_iter()
        .filter(|(_, text)| !text.is_empty())
        .collect();
    labelled(&known, style)
}

/// The directory of the scratch files; empty for printed values.
fn files(header: &Header) -> String {
    if header.is_reported() {
        return String::new();
    }
    header.directory.display().to_string()
}

/// Name, time, profile and duration of the run.
fn measured(analysis: &Analysis) -> String {
    let header = &analysis.run.header;
    if let Some(printed) = show::printed(header) {
        let name = header.name.clone();
        return name
            .into_iter()
            .chain([printed])
            .collect::<Vec<_>>()
            .join(", ");
    }
    let took = header.ended.map(|ended| {
        let took = ended.duration_since(header.started).as_secs_f64();
        format!("took {}", show::length(took * 1e9))
    });
    let parts = [
        header.name.clone(),
        Some(show::moment(header.started)),
        Some(format!("{} profile", header.profile)),
        took,
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
