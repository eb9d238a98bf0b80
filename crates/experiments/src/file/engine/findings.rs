//! Which way of reading gives the most.

use super::{BLOCK_SIZE, CACHE, DIRECT, ENGINE, RATE, SMALL_BLOCK, THROUGH};
use crate::estimates::{WithEstimate, estimated, grade, ratio};
use crate::figures::{bars, names};
use instrument::figure::{Figure, FigureAxis, FigureScale};
use instrument::finding::Finding;
use instrument::point::Level;
use instrument::quantity::{Bytes, Unit};
use instrument::results::{Estimate, Results};
use std::collections::BTreeSet;

const PREAD: &str = "pread";

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let mut found = Vec::new();
    for block in blocks(results) {
        for through in [CACHE, DIRECT] {
            found.extend(best(results, block, through));
        }
    }
    found
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let of_block = |block: u64| {
        let line = |through: &str| {
            let levels = [(BLOCK_SIZE, block.into()), (THROUGH, through.into())];
            results.series(through, RATE, ENGINE, &levels)
        };
        let rate = FigureAxis {
            title: "reads per second".into(),
            unit: Some(Unit::OperationsPerSecond),
            scale: FigureScale::Logarithmic,
        };
        bars(
            &format!("rate_{block}"),
            &format!("Random reads of {} by one thread", Bytes(block)),
            (names("way of reading"), rate),
            [CACHE, DIRECT].map(line).into(),
        )
    };
    blocks(results).into_iter().map(of_block).collect()
}

fn blocks(results: &Results) -> BTreeSet<u64> {
    let points = results.points.iter();
    points
        .filter_map(|result| result.point.number(BLOCK_SIZE).ok())
        .collect()
}

/// The way with the most reads, and what plain `pread` gives beside it.
fn best(results: &Results, block: u64, through: &str) -> Option<Finding> {
    let levels: [(&str, Level); 2] = [(BLOCK_SIZE, block.into()), (THROUGH, through.into())];
    let rates: Vec<(&str, &Estimate)> = results
        .points
        .iter()
        .filter(|result| result.point.matches(&levels))
        .filter_map(|result| Some((result.point.choice(ENGINE).ok()?, result.estimate(RATE)?)))
        .filter(|(_, rate)| rate.is_sound())
        .collect();
    let (_, pread) = rates.iter().find(|(engine, _)| *engine == PREAD)?;
    let others = rates.iter().filter(|(engine, _)| *engine != PREAD);
    let (engine, rate) = others.max_by(|a, b| a.1.centre.total_cmp(&b.1.centre))?;
    let gain = ratio(rate, pread)?;
    let (what, key) = match through {
        CACHE => ("Out of the page cache", "cache"),
        _ => ("Past the page cache", "direct"),
    };
    let verdict = match gain.interval {
        Some(interval) if interval.low > 1.0 => "the most",
        Some(interval) if interval.high < 1.0 => "the most of all ways but pread, which gives more",
        _ => "about as much as pread",
    };
    let template = format!(
        "{what}, one thread's random reads of {{block}} give {verdict} by {engine}: {{rate}}, \
         {{bandwidth}}, {{gain}} what pread gives ({{pread}})."
    );
    let bytes = estimated(rate);
    let bandwidth = rate.centre * block as f64;
    let weight = if block == SMALL_BLOCK { 0.65 } else { 0.45 };
    let finding = Finding::new(&format!("{key}_{block}"), &template)
        .with("rate", &bytes, Unit::OperationsPerSecond)
        .given("bandwidth", bandwidth, Unit::BytesPerSecond)
        .with("gain", &gain, Unit::Ratio)
        .with("pread", &estimated(pread), Unit::OperationsPerSecond)
        .given("block", block as f64, Unit::Bytes);
    Some(finding.graded(grade(&gain, 1.0)).weighing(weight))
}

#[cfg(test)]
mod tests {
    use super::super::{Engines, FILE_SIZE};
    use super::*;
    use crate::made_up::{machine, result, results, value};
    use instrument::experiment::Experiment;
    use instrument::finding::Grade;
    use instrument::point::Point;

    #[test]
    fn the_best_way_is_set_against_pread() {
        let (definition, machine) = (Engines.definition(), machine());
        let at = |engine: &str, through: &str, rate: f64| {
            let point = Point::new().with(ENGINE, engine).with(THROUGH, through);
            let point = point.with(BLOCK_SIZE, SMALL_BLOCK).with(FILE_SIZE, 1 << 26);
            result(point, &[(RATE, rate)])
        };
        let points = vec![
            at("pread", CACHE, 1.5e6),
            at("io_uring 64", CACHE, 1.2e6),
            at("pread", DIRECT, 1e4),
            at("io_uring 1", DIRECT, 1e4),
            at("io_uring 64", DIRECT, 8e4),
        ];
        let found = Engines.findings(&results(&definition, &machine, points));
        assert_eq!(found.len(), 2);
        assert!(found[0].template.contains("all ways but pread"));
        let gain = value(&found, "direct_4096", "gain");
        assert!((gain - 8.0).abs() < 0.1, "{gain}");
        assert_eq!(found[1].grade, Grade::Certain);
    }
}
