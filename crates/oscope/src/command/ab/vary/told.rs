//! The comparison in words, and as JSON, as `schema/ab-vary-1.schema.json` describes it.

use super::super::words::on_one_line;
use crate::arguments::Vary;
use crate::command::ab::told;
use instrument::ab::{Ending, Pair, Rules, Verdict};
use instrument::point::Point;
use instrument::quantity::counted;
use serde::Serialize;

/// Version of the document.
const FORMAT: u32 = 1;

/// The result at one point.
#[derive(Debug)]
pub struct Judged {
    pub experiment: String,
    /// The levels that all ways share.
    pub point: Point,
    /// The same for readers.
    pub shown: String,
    pub result: Result<Metrics, String>,
}

/// The pairs of each metric.
#[derive(Debug)]
pub struct Metrics {
    pub ending: Ending,
    pub blocks: usize,
    pub pairs: Vec<(String, Vec<Pair>)>,
    /// The error that ended it.
    pub failure: Option<String>,
}

impl Judged {
    /// The reason why it could not be measured, or not to its end.
    pub fn failure(&self) -> Option<&str> {
        match &self.result {
            Ok(metrics) => metrics.failure.as_deref(),
            Err(reason) => Some(reason),
        }
    }

    pub fn pairs(&self) -> impl Iterator<Item = &Pair> {
        let metrics = self.result.iter().flat_map(|it| &it.pairs);
        metrics.flat_map(|(_, pairs)| pairs)
    }
}

/// The whole comparison for readers.
pub fn all(judged: &[Judged], values: &[String], rules: &Rules) -> String {
    let lines: String = judged.iter().flat_map(|at| lines(at, values)).collect();
    let told = || judged.iter().flat_map(Judged::pairs);
    let count = |verdict| told().filter(|pair| pair.verdict == verdict).count();
    format!(
        "{lines}\n{} faster, {} slower, {} equivalent, {} not yet told. Margin {} %. Each interval \
         holds in 199 of 200 comparisons, at whatever moment they stop.\n",
        count(Verdict::Faster),
        count(Verdict::Slower),
        count(Verdict::Equivalent),
        count(Verdict::Untold),
        rules.margin * 100.0
    )
}

/// A line for each pair of each metric at one point.
fn lines(at: &Judged, values: &[String]) -> Vec<String> {
    let comma = if at.shown.is_empty() { "" } else { ", " };
    let place = format!("{}{comma}{}", at.experiment, at.shown);
    let result = match &at.result {
        Err(reason) => return vec![format!("{place}: could not be measured: {reason}\n")],
        Ok(result) => result,
    };
    let of_metric = |(metric, pairs): &(String, Vec<Pair>)| -> Vec<String> {
        if pairs.is_empty() {
            return vec![format!(
                "{place}, {metric}: nothing is decided, no round of all was finished\n"
            )];
        }
        let sentence = |pair: &Pair| told::sentence(&values[0], &values[pair.rival], pair);
        let line = |pair| format!("{place}, {metric}: {}\n", sentence(pair));
        pairs.iter().map(line).collect()
    };
    let ended = result.failure.as_ref().map(|reason| {
        let blocks = counted(result.blocks, "block");
        format!(
            "{place}: ended after {blocks} by an error: {}\n",
            on_one_line(reason)
        )
    });
    result
        .pairs
        .iter()
        .flat_map(of_metric)
        .chain(ended)
        .collect()
}

/// The document that `--json` prints.
#[derive(Serialize)]
pub struct Document<'a> {
    format: u32,
    /// Number of the run in the store.
    run: u64,
    /// The thing that varied, as it was named.
    vary: &'a str,
    values: &'a [String],
    seed: u64,
    margin: f64,
    /// Probability that an equal pair is called different, for each point and metric.
    error: f64,
    points: Vec<At<'a>>,
}

#[derive(Serialize)]
struct At<'a> {
    experiment: &'a str,
    point: &'a Point,
    /// The reason why it could not be measured, or not to its end.
    failed: Option<&'a str>,
    ending: Option<Ending>,
    blocks: usize,
    pairs: Vec<Told<'a>>,
}

#[derive(Serialize)]
struct Told<'a> {
    metric: &'a str,
    #[serde(flatten)]
    judged: told::Judged<'a>,
}

impl<'a> Document<'a> {
    pub fn new(
        judged: &'a [Judged],
        key: &'a str,
        vary: &'a Vary,
        rules: &Rules,
        (run, seed): (u64, u64),
    ) -> Self {
        let values = &vary.values;
        let told = |metric: &'a str, pair: &Pair| Told {
            metric,
            judged: told::Judged::new(&values[0], &values[pair.rival], pair),
        };
        let points = judged.iter().map(|at| {
            let found = at.result.as_ref().ok();
            let metrics = found.into_iter().flat_map(|it| &it.pairs);
            At {
                experiment: &at.experiment,
                point: &at.point,
                failed: at.failure(),
                ending: found.map(|it| it.ending),
                blocks: found.map_or(0, |it| it.blocks),
                pairs: metrics
                    .flat_map(|(metric, pairs)| pairs.iter().map(|pair| told(metric, pair)))
                    .collect(),
            }
        });
        Self {
            format: FORMAT,
            run,
            vary: key,
            values,
            seed,
            margin: rules.margin,
            error: rules.error,
            points: points.collect(),
        }
    }
}
