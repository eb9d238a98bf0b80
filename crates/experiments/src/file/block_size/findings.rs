//! What the throughputs mean.

use super::pass::Pass;
use super::{BLOCK_SIZE, PASS, THROUGHPUT};
use crate::estimates::{WithEstimate, estimated, ratio};
use crate::judging::exceeds;
use instrument::claim::Ruling;
use instrument::figure::{Figure, FigureAxis, FigureKind, FigureScale, Mark, MarkOrigin};
use instrument::finding::{Finding, Grade};
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};
use instrument::statistics::plateau::{Better, CLOSE_ENOUGH, SizedEstimate, smallest_good_size};
use instrument::statistics::random::Random;
use instrument::statistics::{Confidence, Estimated, Interval, Scale, summary};

/// The block size that programs use when nobody has thought about it.
pub(in crate::file) const USUAL_BLOCK: u64 = 4096;
/// Blocks that take more than this as long as the best are behind a cliff. Less is what larger buffers
/// cost by themselves, where a cache is too small for them.
const CLIFF: f64 = 1.25;
/// Resamples from which a plateau's interval is read.
const RESAMPLES: usize = 400;
/// Decides how they are drawn, so that a stored run always gives the same interval.
const SEED: u64 = 1;

/// The part of a curve on which larger blocks gain nothing.
struct Plateau<'r> {
    /// The smallest block size whose interval reaches within 2 % of the best.
    size: u64,
    /// The sizes that resampled processes give.
    interval: Option<Interval>,
    /// What was measured at `size`.
    throughput: &'r Estimate,
    /// Whether it is the largest size measured, so that larger ones might gain more.
    is_at_the_end: bool,
}

impl Plateau<'_> {
    fn grade(&self) -> Grade {
        match self.interval {
            _ if self.is_at_the_end => Grade::CannotBeTold,
            Some(interval) if interval.low >= interval.high => Grade::Certain,
            _ => Grade::Likely,
        }
    }
}

/// Large blocks in which new files are written far more slowly than in smaller ones.
pub(in crate::file) struct Cliff<'r> {
    /// The block size that writes new files fastest.
    best: u64,
    /// The estimate at `best`.
    throughput: &'r Estimate,
    /// The smallest block size behind the cliff.
    pub(in crate::file) from: u64,
    /// Time of the blocks behind the cliff as a multiple of that of `best`, the least and the
    /// most.
    least: Estimated,
    most: Estimated,
}

pub(super) fn all(results: &Results) -> Vec<Finding> {
    Pass::ALL
        .into_iter()
        .filter_map(|pass| plateau_finding(results, pass))
        .chain(cliff_finding(results))
        .collect()
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let line = |pass: Pass| {
        results.series(
            pass.name(),
            THROUGHPUT,
            BLOCK_SIZE,
            &[(PASS, pass.name().into())],
        )
    };
    let mark = |pass: Pass| {
        let plateau = plateau(&curve(results, pass))?;
        Some(Mark {
            label: format!("plateau, {}", pass.name()),
            at: plateau.size as f64,
            interval: plateau.interval,
            origin: MarkOrigin::Found,
        })
    };
    vec![Figure {
        key: THROUGHPUT.into(),
        title: "Throughput of a file by block size".into(),
        kind: FigureKind::Curve,
        x: FigureAxis {
            title: "block size".into(),
            unit: Some(Unit::Bytes),
            scale: FigureScale::Logarithmic,
        },
        y: FigureAxis {
            title: "throughput".into(),
            unit: Some(Unit::BytesPerSecond),
            scale: FigureScale::Logarithmic,
        },
        series: Pass::ALL.map(line).into(),
        marks: Pass::ALL.into_iter().filter_map(mark).collect(),
    }]
}

fn curve<'r>(results: &'r Results, pass: Pass) -> Vec<(u64, &'r Estimate)> {
    results.curve(THROUGHPUT, BLOCK_SIZE, &[(PASS, pass.name().into())])
}

fn plateau<'r>(curve: &[(u64, &'r Estimate)]) -> Option<Plateau<'r>> {
    if curve.len() < 3 {
        return None;
    }
    let sized = curve
        .iter()
        .map(|(size, estimate)| sized(*size, estimated(estimate)));
    let size = smallest_good_size(&sized.collect::<Vec<_>>(), Better::Higher, CLOSE_ENOUGH)?.size;
    let (size, throughput) = curve
        .iter()
        .find(|(measured, _)| *measured as f64 >= size)?;
    Some(Plateau {
        size: *size,
        interval: resampled(curve, *size as f64),
        throughput,
        is_at_the_end: *size == curve.last()?.0,
    })
}

fn sized(size: u64, value: Estimated) -> SizedEstimate {
    SizedEstimate {
        size: size as f64,
        value,
    }
}

/// The middle 95 % of the plateaus that the centres of resampled processes show, stretched to hold
/// `found`; `None` where some size has a single process.
fn resampled(curve: &[(u64, &Estimate)], found: f64) -> Option<Interval> {
    if curve.iter().any(|(_, estimate)| estimate.processes < 2) {
        return None;
    }
    let mut random = Random::new(SEED);
    let mut plateaus = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let mut resample = |(size, estimate): &(u64, &Estimate)| {
            let mut processes = vec![0.0; estimate.by_process.len()];
            random.resample(&estimate.by_process, &mut processes);
            let centre = summary::mean(&processes)?;
            let n = processes.len();
            let value = Estimated {
                centre,
                interval: None,
                n,
                scale: Scale::Ranks,
            };
            Some(sized(*size, value))
        };
        let resampled: Option<Vec<_>> = curve.iter().map(&mut resample).collect();
        plateaus.push(smallest_good_size(&resampled?, Better::Higher, CLOSE_ENOUGH)?.size);
    }
    // Sizes that were measured, not values between them.
    plateaus.sort_unstable_by(f64::total_cmp);
    let cut = (RESAMPLES as f64 * Confidence::NINETY_FIVE.tail()) as usize;
    let (low, high) = (plateaus[cut], plateaus[RESAMPLES - 1 - cut]);
    Interval::new(low.min(found), high.max(found))
}

/// The smallest block size that leaves nothing to gain in `pass`, what it gives, and what the usual one
/// gives; `None` where larger blocks than were measured may gain more.
pub(in crate::file) fn best<'r>(
    results: &'r Results,
    pass: Pass,
) -> Option<(u64, &'r Estimate, &'r Estimate)> {
    let curve = curve(results, pass);
    let plateau = plateau(&curve).filter(|plateau| !plateau.is_at_the_end)?;
    let (_, usual) = curve.iter().find(|(size, _)| *size == USUAL_BLOCK)?;
    Some((plateau.size, plateau.throughput, usual))
}

/// As [`best`], of the block sizes below `end` alone, whether or not larger ones gain more.
pub(in crate::file) fn best_below<'r>(
    results: &'r Results,
    pass: Pass,
    end: u64,
) -> Option<(u64, &'r Estimate, &'r Estimate)> {
    let mut curve = curve(results, pass);
    curve.retain(|(size, _)| *size < end);
    let plateau = plateau(&curve)?;
    let (_, usual) = curve.iter().find(|(size, _)| *size == USUAL_BLOCK)?;
    Some((plateau.size, plateau.throughput, usual))
}

/// The cliff of new files: the largest block sizes measured, as far down as the intervals leave no
/// doubt that each takes longer than the best; `None` where not even the largest does.
pub(in crate::file) fn cliff<'r>(results: &'r Results) -> Option<Cliff<'r>> {
    let curve = curve(results, Pass::WriteNew);
    let by_centre = |one: &&(u64, &Estimate), other: &&(u64, &Estimate)| {
        one.1.centre.total_cmp(&other.1.centre)
    };
    let sound = curve.iter().filter(|(_, rate)| rate.is_sound());
    let (best, throughput) = sound.max_by(by_centre)?;
    let is_behind = |(_, times): &(u64, Estimated)| exceeds(times, CLIFF) == Ruling::Holds;
    let times_as_long = |(size, rate): &(u64, &Estimate)| Some((*size, ratio(throughput, rate)?));
    let behind: Vec<_> = curve
        .iter()
        .rev()
        .take_while(|(size, _)| size > best)
        .map_while(times_as_long)
        .take_while(is_behind)
        .collect();
    let times = || behind.iter().map(|(_, times)| *times);
    Some(Cliff {
        best: *best,
        throughput,
        from: behind.last()?.0,
        least: times().min_by(|one, other| one.centre.total_cmp(&other.centre))?,
        most: times().max_by(|one, other| one.centre.total_cmp(&other.centre))?,
    })
}

/// Tells if writing over a file is slowed down by the blocks behind the cliff too.
fn hits_overwriting(results: &Results, cliff: &Cliff<'_>) -> Ruling {
    let curve = curve(results, Pass::Write);
    let Some((_, at_best)) = curve.iter().find(|(size, _)| *size == cliff.best) else {
        return Ruling::CannotBeTold;
    };
    let behind = curve.iter().filter(|(size, _)| *size >= cliff.from);
    let rulings: Option<Vec<_>> = behind
        .map(|(_, rate)| Some(exceeds(&ratio(at_best, rate)?, CLIFF)))
        .collect();
    let rulings = rulings.unwrap_or_default();
    match rulings.first() {
        Some(first) if rulings.iter().all(|ruling| ruling == first) => *first,
        _ => Ruling::CannotBeTold,
    }
}

fn cliff_finding(results: &Results) -> Option<Finding> {
    let cliff = cliff(results)?;
    let times = if cliff.least == cliff.most {
        "those of {from}, the largest measured, take {most} as long"
    } else {
        "those of {from} and more take {least} to {most} as long"
    };
    let overwriting = match hits_overwriting(results, &cliff) {
        Ruling::DoesNotHold => " Writing over what is there is not slowed down by them.",
        Ruling::Holds => " Writing over what is there is slowed down by them too.",
        _ => "",
    };
    let template = format!(
        "New files are written fastest in blocks of {{best}}, at {{throughput}}; {times}.{overwriting}"
    );
    let finding = Finding::new("cliff_write_new", &template)
        .given("best", cliff.best as f64, Unit::Bytes)
        .with(
            "throughput",
            &estimated(cliff.throughput),
            Unit::BytesPerSecond,
        )
        .given("from", cliff.from as f64, Unit::Bytes)
        .with("least", &cliff.least, Unit::Ratio)
        .with("most", &cliff.most, Unit::Ratio);
    Some(finding.weighing(0.8))
}

fn plateau_finding(results: &Results, pass: Pass) -> Option<Finding> {
    let curve = curve(results, pass);
    let plateau = plateau(&curve)?;
    let (_, usual) = curve.iter().find(|(size, _)| *size == USUAL_BLOCK)?;
    let gain = ratio(plateau.throughput, usual)?;
    let (key, what, weight) = match pass {
        Pass::Write => (
            "plateau_write",
            "Writing over what is there, into the page cache,",
            0.7,
        ),
        Pass::WriteNew => (
            "plateau_write_new",
            "Writing a new file, into the page cache,",
            0.6,
        ),
        Pass::ReadWarm => ("plateau_read_warm", "Reading a file that is in memory", 0.8),
        Pass::ReadCold => (
            "plateau_read_cold",
            "Reading a file that is not in memory",
            0.75,
        ),
    };
    let template = if plateau.is_at_the_end {
        format!(
            "{what} still gains at blocks of {{plateau}}, the largest measured: {{throughput}} \
             there, {{gain}} that of 4 KiB blocks."
        )
    } else if plateau.size <= USUAL_BLOCK {
        format!(
            "{what} gains nothing from blocks larger than {{plateau}}, where it reaches \
             {{throughput}}."
        )
    } else {
        format!(
            "{what} gains nothing from blocks larger than {{plateau}}, where it reaches \
             {{throughput}}, {{gain}} that of 4 KiB blocks."
        )
    };
    let finding = Finding::new(key, &template)
        .estimated(
            "plateau",
            plateau.size as f64,
            plateau.interval,
            Unit::Bytes,
        )
        .with(
            "throughput",
            &estimated(plateau.throughput),
            Unit::BytesPerSecond,
        )
        .with("gain", &gain, Unit::Ratio);
    Some(finding.graded(plateau.grade()).weighing(weight))
}

#[cfg(test)]
mod tests {
    use super::super::{BLOCK_SIZE, BlockSize, FILE_SIZE, PASS, THROUGHPUT};
    use crate::made_up::{machine, result, results, spread, value};
    use instrument::experiment::Experiment;
    use instrument::figure::MarkOrigin;
    use instrument::finding::{Finding, Grade};
    use instrument::point::Point;
    use instrument::results::PointResult;

    fn point(pass: &str, size: u64) -> Point {
        Point::new()
            .with(BLOCK_SIZE, size)
            .with(PASS, pass)
            .with(FILE_SIZE, 1 << 26)
    }

    /// A rate that rises with the block size and is flat from `plateau` on.
    fn rising(pass: &str, top: f64, plateau: u64) -> Vec<PointResult> {
        let at = |exponent: u32| {
            let size = 1_u64 << exponent;
            let rate = top * (size.min(plateau) as f64 / plateau as f64).sqrt();
            result(point(pass, size), &[(THROUGHPUT, rate)])
        };
        (9..=22).map(at).collect()
    }

    fn findings(points: Vec<PointResult>) -> Vec<Finding> {
        BlockSize.findings(&results(&BlockSize.definition(), &machine(), points))
    }

    fn near(value: f64, expected: f64) -> bool {
        (value / expected - 1.0).abs() < 0.01
    }

    #[test]
    fn the_plateau_is_found_where_it_is() {
        let found = findings(rising("read warm", 8e9, 65536));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].grade, Grade::Certain);
        assert!(near(value(&found, "plateau_read_warm", "plateau"), 65536.0));
        assert!(near(value(&found, "plateau_read_warm", "throughput"), 8e9));
        assert!(near(value(&found, "plateau_read_warm", "gain"), 4.0));
    }

    #[test]
    fn a_noisy_curve_leaves_room_for_larger_plateaus() {
        let noisy = rising("write", 2e9, 65536).into_iter().map(|result| {
            let rate = result.estimates[0].centre;
            spread(result.point, &[(THROUGHPUT, rate)], 0.02)
        });
        let found = findings(noisy.collect());
        assert_eq!(found[0].grade, Grade::Likely);
        let interval = found[0].numbers[0].interval.expect("one is always told");
        assert!(
            interval.contains(65536.0) && interval.low < interval.high,
            "{interval:?}"
        );
    }

    #[test]
    fn a_curve_that_still_rises_has_no_plateau_yet() {
        let found = findings(rising("write", 2e9, 1 << 30));
        assert_eq!(found[0].grade, Grade::CannotBeTold);
        assert!(found[0].template.contains("still gains"));
    }

    /// New files: `top` in blocks of 64 and 512 KiB, `behind` of it in those of 1 and 4 MiB.
    fn new_files(behind: [f64; 2], step: f64) -> Vec<PointResult> {
        let rates = [
            (4 << 10, 0.25),
            (64 << 10, 0.9),
            (512 << 10, 1.0),
            (1 << 20, behind[0]),
            (4 << 20, behind[1]),
        ];
        let at = |(size, share): (u64, f64)| {
            spread(point("write new", size), &[(THROUGHPUT, share * TOP)], step)
        };
        rates.into_iter().map(at).collect()
    }

    const TOP: f64 = 2e9;

    fn keys(findings: &[Finding]) -> Vec<&str> {
        findings
            .iter()
            .map(|finding| finding.key.as_str())
            .collect()
    }

    #[test]
    fn a_cliff_of_new_files_is_named() {
        let found = findings(new_files([0.4, 0.2], 0.01));
        assert_eq!(keys(&found), ["plateau_write_new", "cliff_write_new"]);
        let of_cliff = |name| value(&found, "cliff_write_new", name);
        assert!(near(of_cliff("best"), 524_288.0) && near(of_cliff("throughput"), TOP));
        assert!(near(of_cliff("from"), 1_048_576.0), "{found:?}");
        assert!(near(of_cliff("least"), 2.5) && near(of_cliff("most"), 5.0));
        let template = &found[1].template;
        assert!(template.contains("{from} and more take {least} to {most}"));
        assert!(!template.contains("Writing over"), "{template}");
    }

    #[test]
    fn a_cliff_before_the_largest_block_alone_is_told_of_that() {
        let found = findings(new_files([0.95, 0.2], 0.01));
        assert!(near(value(&found, "cliff_write_new", "from"), 4_194_304.0));
        assert!(found[1].template.contains("the largest measured"));
    }

    #[test]
    fn the_cliff_says_how_it_is_with_overwriting() {
        let with_overwriting = |behind: f64| {
            let over = rising("write", TOP, 65536).into_iter().map(|result| {
                let size = result.point.number(BLOCK_SIZE).expect("all have one");
                let share = if size < 1 << 20 { 1.0 } else { behind };
                let rate = result.estimates[0].centre * share;
                spread(result.point, &[(THROUGHPUT, rate)], 0.01)
            });
            let found = findings(
                new_files([0.4, 0.2], 0.01)
                    .into_iter()
                    .chain(over)
                    .collect(),
            );
            let cliff = found
                .into_iter()
                .find(|found| found.key == "cliff_write_new");
            cliff.expect("there is one").template
        };
        assert!(with_overwriting(1.0).contains("over what is there is not slowed down"));
        assert!(with_overwriting(0.5).contains("slowed down by them too"));
        assert!(!with_overwriting(1.0 / 1.25).contains("Writing over"));
    }

    #[test]
    fn no_cliff_is_seen_in_what_is_flat_or_noisy_or_comes_back() {
        let plateau_only = ["plateau_write_new"];
        // Buffers that a cache is too small for cost a little by themselves.
        assert_eq!(keys(&findings(new_files([0.95, 0.85], 0.01))), plateau_only);
        assert_eq!(keys(&findings(new_files([0.6, 0.5], 0.4))), plateau_only);
        assert_eq!(keys(&findings(new_files([0.2, 1.0], 0.01))), plateau_only);
    }

    #[test]
    fn a_cliff_needs_both_of_its_sides() {
        let without = |missing: fn(u64) -> bool| {
            let mut points = new_files([0.4, 0.2], 0.01);
            points.retain(|result| !result.point.number(BLOCK_SIZE).is_ok_and(missing));
            findings(points)
        };
        let no_large = without(|size| size >= 1 << 20);
        assert!(
            !keys(&no_large).contains(&"cliff_write_new"),
            "{no_large:?}"
        );
        assert_eq!(without(|size| size < 4 << 20).len(), 0);
        let no_4_mib = without(|size| size == 4 << 20);
        assert!(near(value(&no_4_mib, "cliff_write_new", "most"), 2.5));
    }

    #[test]
    fn too_little_gives_no_finding() {
        assert_eq!(findings(Vec::new()), []);
        let two = rising("read warm", 8e9, 65536)
            .into_iter()
            .take(2)
            .collect();
        assert_eq!(findings(two), []);
    }

    #[test]
    fn the_figure_shows_the_passes_there_are_and_their_plateaus() {
        let (definition, machine) = (BlockSize.definition(), machine());
        let results = results(&definition, &machine, rising("read warm", 8e9, 65536));
        let figures = BlockSize.figures(&results);
        assert_eq!(figures[0].marks.len(), 1);
        assert_eq!(figures[0].marks[0].origin, MarkOrigin::Found);
        assert_eq!(figures[0].series[1].points.len(), 14);
    }

    #[test]
    fn the_figure_shows_new_files_too() {
        let (definition, machine) = (BlockSize.definition(), machine());
        let results = results(&definition, &machine, new_files([0.4, 0.2], 0.01));
        let figure = &BlockSize.figures(&results)[0];
        let line = figure.series.iter().find(|line| line.label == "write new");
        assert_eq!(line.expect("it is shown").points.len(), 5);
        assert_eq!(figure.marks[0].label, "plateau, write new");
    }
}
