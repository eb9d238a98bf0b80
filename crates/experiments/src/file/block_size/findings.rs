//! Findings and figures of `file.block_size`.

use super::curves::{at, cliff, curve, hits_overwriting, plateau};
use super::{PASS, Pass, USUAL_BLOCK};
use crate::estimates::ratio;
use crate::figures::{axis_of, curves, scale_of};
use crate::file::{BLOCK_SIZE, FILE_SIZE, THROUGHPUT};
use crate::prelude::*;
use crate::subjects::WARM_READ;
use instrument::claim::Ruling;
use instrument::figure::{Mark, MarkOrigin};

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let plateaus = Pass::ALL.iter().map(|pass| plateau_finding(results, *pass));
    plateaus.chain([cliff_finding(results)]).flatten().collect()
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let passes = || Pass::ALL.iter().copied();
    let line = |pass: Pass| results.series(pass.name(), THROUGHPUT, BLOCK_SIZE, &[PASS.at(pass)]);
    let mark = |pass: Pass| {
        let plateau = plateau(&curve(results, pass))?;
        Some(Mark {
            label: format!("plateau, {pass}"),
            at: plateau.size.0 as f64,
            interval: plateau.interval,
            origin: MarkOrigin::Found,
        })
    };
    vec![curves(
        THROUGHPUT,
        "Throughput of a file by block size",
        (axis_of(BLOCK_SIZE), scale_of(THROUGHPUT)),
        passes().map(line).collect(),
        passes().filter_map(mark).collect(),
    )]
}

fn cliff_finding(results: &Results) -> Option<Finding> {
    let found = cliff(results)?;
    let (best, throughput, from) = (found.best, found.throughput, found.from);
    let (least, most) = (found.least, found.most);
    let times = if least == most {
        sentence!("blocks of {from}, the largest measured, take {most} as long")
    } else {
        sentence!("blocks of {from} and more take {least} to {most} as long")
    };
    let overwriting = match hits_overwriting(results, &found) {
        Ruling::DoesNotHold => " They do not slow down overwriting.",
        Ruling::Holds => " They slow down overwriting too.",
        _ => "",
    };
    let said = sentence!(
        "New files are written fastest in blocks of {best}, at {throughput}; {times}.{overwriting}"
    );
    let finding = Finding::new("cliff_write_new", said).beside("least", least);
    Some(finding.weighing(0.8))
}

fn plateau_finding(results: &Results, pass: Pass) -> Option<Finding> {
    let curve = curve(results, pass);
    let found = plateau(&curve)?;
    let throughput = found.throughput;
    let gain = ratio(throughput, at(&curve, USUAL_BLOCK)?)?;
    let plateau = Quantity {
        interval: found.interval,
        ..found.size.into()
    };
    let (key, work, weight) = match pass {
        Pass::Write => ("plateau_write", "Overwriting a file in the page cache", 0.7),
        Pass::WriteNew => (
            "plateau_write_new",
            "Writing a new file into the page cache",
            0.6,
        ),
        Pass::ReadWarm => ("plateau_read_warm", "Reading a file that is in memory", 0.8),
        Pass::ReadCold => (
            "plateau_read_cold",
            "Reading a file that is not in memory",
            0.75,
        ),
    };
    let said = if found.is_at_the_end {
        sentence!(
            "{work} still gains at blocks of {plateau}, the largest measured: it reaches \
             {throughput} there, {gain} that of 4 KiB blocks."
        )
    } else if plateau.is_vague() {
        // A larger block may be better, but none is surely.
        let size = found.size;
        sentence!(
            "{work} reaches {throughput} in blocks of {size}, {gain} that of 4 KiB blocks; no \
             larger block is measurably faster."
        )
    } else if found.size <= USUAL_BLOCK {
        sentence!(
            "{work} gains nothing from blocks larger than {plateau}, where it reaches {throughput}."
        )
    } else {
        sentence!(
            "{work} gains nothing from blocks larger than {plateau}, where it reaches \
             {throughput}, {gain} that of 4 KiB blocks."
        )
    };
    let mut finding = Finding::new(key, said)
        .beside("plateau", plateau)
        .beside("gain", gain);
    if let (Pass::ReadWarm, Some(file)) = (pass, file_size(results)) {
        let blocks = found.size;
        let conditions = format!("one thread with blocks of {blocks} and a file of {file}");
        finding = finding.about(WARM_READ, throughput, conditions);
    }
    Some(finding.graded(found.grade()).weighing(weight))
}

/// The size of the file, the same at all points.
fn file_size(results: &Results) -> Option<Bytes> {
    results.points.first()?.point.level(FILE_SIZE).ok()
}

#[cfg(test)]
mod tests {
    use super::super::BlockSize;
    use super::*;
    use crate::made_up::{self, measured, measured_apart, value};
    use instrument::results::PointResult;

    fn point(pass: Pass, size: u64) -> Point {
        Point::new()
            .at(BLOCK_SIZE, Bytes(size))
            .at(PASS, pass)
            .at(FILE_SIZE, Bytes(1 << 26))
    }

    /// A rate that rises with the block size and is flat from `plateau` on.
    fn rising(pass: Pass, top: f64, plateau: u64) -> Vec<PointResult> {
        let at = |exponent: u32| {
            let size = 1_u64 << exponent;
            let rate = top * (size.min(plateau) as f64 / plateau as f64).sqrt();
            measured(point(pass, size), &[(THROUGHPUT, rate)])
        };
        (9..=22).map(at).collect()
    }

    fn findings(points: Vec<PointResult>) -> Vec<Finding> {
        made_up::findings(&BlockSize, points)
    }

    fn near(value: f64, expected: f64) -> bool {
        (value / expected - 1.0).abs() < 0.01
    }

    #[test]
    fn the_plateau_is_found_where_it_is() {
        let found = findings(rising(Pass::ReadWarm, 8e9, 65536));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].grade, Grade::Certain);
        assert!(near(value(&found, "plateau_read_warm", "plateau"), 65536.0));
        assert!(near(value(&found, "plateau_read_warm", "throughput"), 8e9));
        assert!(near(value(&found, "plateau_read_warm", "gain"), 4.0));
    }

    #[test]
    fn a_noisy_curve_leaves_room_for_larger_plateaus() {
        let noisy = rising(Pass::Write, 2e9, 65536).into_iter().map(|result| {
            let rate = result.estimates[0].centre;
            measured_apart(result.point, &[(THROUGHPUT, rate)], 0.02)
        });
        let found = findings(noisy.collect());
        assert_eq!(found[0].grade, Grade::Likely);
        let interval = found[0]
            .number("plateau")
            .expect("it is beside")
            .interval
            .expect("one is always told");
        assert!(
            interval.contains(65536.0) && interval.low < interval.high,
            "{interval:?}"
        );
    }

    #[test]
    fn a_plateau_that_may_begin_anywhere_is_no_plateau() {
        let noisy = rising(Pass::ReadWarm, 2e9, 65536)
            .into_iter()
            .map(|result| {
                let rate = result.estimates[0].centre;
                measured_apart(result.point, &[(THROUGHPUT, rate)], 0.1)
            });
        let found = findings(noisy.collect());
        let said = found[0].sentence.to_string();
        assert!(
            said.contains("no larger block is measurably faster"),
            "{said}"
        );
        assert!(
            found[0].is_sayable() && !said.contains("gains nothing"),
            "{said}"
        );
    }

    #[test]
    fn a_curve_that_still_rises_has_no_plateau_yet() {
        let found = findings(rising(Pass::Write, 2e9, 1 << 30));
        assert_eq!(found[0].grade, Grade::CannotBeTold);
        assert!(found[0].sentence.to_string().contains("still gains"));
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
            measured_apart(
                point(Pass::WriteNew, size),
                &[(THROUGHPUT, share * TOP)],
                step,
            )
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
        let said = found[1].sentence.to_string();
        assert!(said.contains("1 MiB and more take 2.50 × to 5.00 ×"));
        assert!(!said.contains("slow down"), "{said}");
    }

    #[test]
    fn a_cliff_before_the_largest_block_alone_is_told_of_that() {
        let found = findings(new_files([0.95, 0.2], 0.01));
        assert!(near(value(&found, "cliff_write_new", "from"), 4_194_304.0));
        assert!(
            found[1]
                .sentence
                .to_string()
                .contains("the largest measured")
        );
    }

    #[test]
    fn the_cliff_says_how_it_is_with_overwriting() {
        let with_overwriting = |behind: f64| {
            let over = rising(Pass::Write, TOP, 65536).into_iter().map(|result| {
                let Bytes(size) = result.point.level(BLOCK_SIZE).expect("all have one");
                let share = if size < 1 << 20 { 1.0 } else { behind };
                let rate = result.estimates[0].centre * share;
                measured_apart(result.point, &[(THROUGHPUT, rate)], 0.01)
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
            cliff.expect("there is one").sentence.to_string()
        };
        assert!(with_overwriting(1.0).contains("not slow down overwriting"));
        assert!(with_overwriting(0.5).contains("slow down overwriting too"));
        assert!(!with_overwriting(1.0 / 1.25).contains("slow down"));
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
        let without = |missing: fn(Bytes) -> bool| {
            let mut points = new_files([0.4, 0.2], 0.01);
            points.retain(|result| !result.point.level(BLOCK_SIZE).is_ok_and(missing));
            findings(points)
        };
        let no_large = without(|Bytes(size)| size >= 1 << 20);
        assert!(
            !keys(&no_large).contains(&"cliff_write_new"),
            "{no_large:?}"
        );
        assert_eq!(without(|Bytes(size)| size < 4 << 20).len(), 0);
        let no_4_mib = without(|Bytes(size)| size == 4 << 20);
        assert!(near(value(&no_4_mib, "cliff_write_new", "most"), 2.5));
    }

    #[test]
    fn too_little_gives_no_finding() {
        assert_eq!(findings(Vec::new()), []);
        let two = rising(Pass::ReadWarm, 8e9, 65536)
            .into_iter()
            .take(2)
            .collect();
        assert_eq!(findings(two), []);
    }

    #[test]
    fn the_figure_shows_the_passes_there_are_and_their_plateaus() {
        let figures = made_up::figures(&BlockSize, rising(Pass::ReadWarm, 8e9, 65536));
        assert_eq!(figures[0].marks.len(), 1);
        assert_eq!(figures[0].marks[0].origin, MarkOrigin::Found);
        assert_eq!(figures[0].series[1].points.len(), 14);
    }

    #[test]
    fn the_figure_shows_new_files_too() {
        let figure = &made_up::figures(&BlockSize, new_files([0.4, 0.2], 0.01))[0];
        let line = figure.series.iter().find(|line| line.label == "write new");
        assert_eq!(line.expect("it is shown").points.len(), 5);
        assert_eq!(figure.marks[0].label, "plateau, write new");
    }
}
