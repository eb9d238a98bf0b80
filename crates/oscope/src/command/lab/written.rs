//! The files of a hand-in.

use crate::arguments::Common;
use crate::arguments::lab::Start;
use crate::exit::first_error;
use crate::output;
use crate::target::{Replaces, Target, make_directory};
use anyhow::Result;
use files::Watch;
use instrument::figure::Figure;
use instrument::results::Results;
use report::lab::{HandIn, Lab};
use report::{markdown, page, view};
use std::path::PathBuf;

/// Most graphs of a hand-in.
const MOST: usize = 4;

/// The places of a hand-in, each known to be free before the work begins.
pub struct Files {
    markdown: Target,
    page: Target,
    document: Target,
    graphs: Vec<Target>,
    /// The experiments whose figures are drawn.
    experiments: Vec<&'static str>,
}

impl Files {
    /// The files of a student's hand-in.
    pub fn new(
        lab: &'static Lab,
        student: &str,
        arguments: &Start,
        common: &Common,
    ) -> Result<Self> {
        make_directory(&arguments.output)?;
        let stem = format!("lab-{}-{}", lab.name, plain(student));
        let target = |ending: &str| {
            let path = arguments.output.join(format!("{stem}{ending}"));
            Target::new(&path, Replaces::with(arguments.force), common)
        };
        let graphs = (1..=MOST).map(|number| target(&format!("-{number}.svg")));
        Ok(Self {
            markdown: target(".md")?,
            page: target(".html")?,
            document: target(".json")?,
            graphs: graphs.collect::<Result<_>>()?,
            experiments: lab.experiments(),
        })
    }

    /// Writes all of them, the document last, each also if another cannot be written.
    pub fn write(&self, hand_in: &HandIn, results: &[Results<'_>], common: &Common) -> Result<()> {
        let is_drawn = |of: &&Results<'_>| self.experiments.contains(&of.definition.id.as_str());
        let drawn = results.iter().filter(is_drawn);
        let mut figures: Vec<Figure> = drawn.flat_map(figures).collect();
        figures.truncate(MOST);
        let write = |target: &Target, text: Result<String>| {
            target.write(text?.as_bytes(), &Watch::default())
        };
        let graphs = || figures.iter().zip(&self.graphs);
        let named = graphs().map(|(figure, target)| {
            let name: PathBuf = target.path().file_name().unwrap_or_default().into();
            (figure.clone(), Some(name.display().to_string()))
        });
        let document = view::hand_in(hand_in, named.collect());
        let texts = [
            (&self.markdown, Ok(markdown::paint(&document, 1))),
            (&self.page, Ok(page::paint(&document, None))),
            (&self.document, output::json(hand_in)),
        ];
        let texts = texts.into_iter().map(|(target, text)| {
            write(target, text)?;
            output::note(common, &format!("hand-in: {}", target.path().display()));
            Ok(())
        });
        let student = &hand_in.student;
        let about = format!("{}. Measured {}.", student.machine, student.measured);
        let graphs = graphs().map(|(figure, target)| write(target, Ok(page::plot(figure, &about))));
        first_error(graphs.chain(texts))
    }
}

/// The figures of an experiment that have a point.
fn figures(results: &Results<'_>) -> Vec<Figure> {
    let known = experiments::find(&results.definition.id);
    let mut figures = known.map_or_else(Vec::new, |known| known.figures(results));
    figures.retain(|figure| figure.series.iter().any(|series| !series.points.is_empty()));
    figures
}

/// A name for files: letters and digits, in lower case.
fn plain(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join("-").to_lowercase()
}
