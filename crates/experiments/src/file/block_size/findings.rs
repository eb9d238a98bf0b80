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
    let (largest, _) = *curve(results, Pass::WriteNew).last()?;
    let times = if from == largest {
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
    let finding = Finding::new("cliff_write_new", said).with_number("least", least);
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
    } else if plateau.known() == Known::Nothing {
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
        .with_number("plateau", plateau)
        .with_number("gain", gain);
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
    use crate::made_up::{figures, measured};

    #[test]
    fn the_figure_shows_the_passes_there_are_and_their_plateaus() {
        let at = |size: u64| {
            let point = Point::new()
                .at(PASS, Pass::ReadWarm)
                .at(BLOCK_SIZE, Bytes(size));
            measured(point, &[(THROUGHPUT, size.min(65_536) as f64)])
        };
        let figures = figures(
            &BlockSize,
            (9..=22).map(|exponent| at(1 << exponent)).collect(),
        );
        assert_eq!(figures[0].marks.len(), 1);
        assert_eq!(figures[0].marks[0].origin, MarkOrigin::Found);
        assert_eq!(figures[0].series[1].points.len(), 14);
    }
}
