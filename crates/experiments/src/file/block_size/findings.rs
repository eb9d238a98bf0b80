//! Findings and figures of `file.block_size`.

use super::curves::{cliff, curve, hits_overwriting};
use super::{PASS, Pass, USUAL_BLOCK};
use crate::estimates::{ratio, value_at};
use crate::figures::{curves, lines};
use crate::file::{BLOCK_SIZE, FILE_SIZE, THROUGHPUT};
use crate::judging::{NEAR_BEST, exceeds, near_best};
use crate::prelude::*;
use crate::subjects::WARM_READ;
use instrument::curve::Open;
use instrument::figure::Mark;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let plateaus = Pass::ALL.iter().map(|pass| plateau_finding(results, *pass));
    plateaus.chain([cliff_finding(results)]).flatten().collect()
}

pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let passes = Pass::ALL.iter();
    let marks = passes.filter_map(|pass| {
        let plateau = Curve::within(NEAR_BEST, &curve(results, *pass), Better::Higher).plateau();
        Some(Mark::found(&format!("plateau, {pass}"), plateau.ok()?))
    });
    let title = "Throughput of a file by block size";
    let lines = lines(results, THROUGHPUT, BLOCK_SIZE, PASS, &[]);
    vec![Figure {
        marks: marks.collect(),
        ..curves(THROUGHPUT, title, (BLOCK_SIZE, THROUGHPUT), lines)
    }]
}

fn cliff_finding(results: &Results) -> Option<Finding> {
    let found = cliff(results)?;
    let (best, throughput, from) = (found.best, found.throughput, found.from);
    let (least, most) = (found.least, found.most);
    let (largest, _) = *curve(results, Pass::WriteNew).last()?;
    let times = if from == largest {
        sentence!("in blocks of {from}, the largest measured, they take {most} as long")
    } else {
        sentence!("in blocks of {from} and more, they take {least} to {most} as long")
    };
    let overwriting = match hits_overwriting(results, &found) {
        Ruling::DoesNotHold => " Overwriting does not slow down in them.",
        Ruling::Holds => " Overwriting slows down in them too.",
        _ => "",
    };
    let said = sentence!(
        "New files are written at {throughput} in blocks of {best}; {times}.{overwriting}"
    );
    let finding = Finding::new("cliff_write_new", said).with_number("least", least);
    Some(finding.weighing(0.8))
}

/// The smallest block that larger ones do not beat.
fn plateau_finding(results: &Results, pass: Pass) -> Option<Finding> {
    let curve = curve(results, pass);
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
    let (onset, size) = match Curve::within(NEAR_BEST, &curve, Better::Higher).plateau() {
        Ok(onset) => (Some(onset), onset.from),
        Err(Open::Beyond(largest)) => (None, largest),
        Err(Open::TooFew) => return None,
        Err(Open::Between(first, last)) => {
            let said = sentence!(
                "{work}: it is undecided which blocks suffice. Any from {first} to {last} may be as fast as the \
                 fastest."
            );
            let finding = Finding::new(key, said).graded(Grade::Undecided);
            return Some(finding.weighing(weight));
        }
    };
    let throughput = value_at(&curve, size)?;
    let gain = ratio(throughput, value_at(&curve, USUAL_BLOCK)?)?;
    let plateau = onset.map_or_else(|| size.into(), Quantity::from);
    let at_most = near_best();
    let is_faster = size > USUAL_BLOCK && exceeds(&gain, 1.0) == Ruling::Holds;
    let over_usual = if is_faster {
        sentence!(", {gain} that of {USUAL_BLOCK} blocks")
    } else {
        Sentence::default()
    };
    let said = match onset {
        None => sentence!(
            "{work} still gains at blocks of {plateau}, the largest measured: it reaches \
             {throughput} there{over_usual}."
        ),
        Some(Onset { after, .. }) if plateau.is_vague() => sentence!(
            "{work} reaches {throughput} in blocks of {size}{over_usual}. Larger blocks gain at most \
             {at_most}; blocks of {after} are too small."
        ),
        Some(_) => sentence!(
            "{work} gains at most {at_most} from blocks larger than {plateau}, where it reaches \
             {throughput}{over_usual}."
        ),
    };
    let mut finding = Finding::new(key, said)
        .with_number("plateau", plateau)
        .with_number("gain", gain);
    if let (Pass::ReadWarm, Some(file)) = (pass, file_size(results)) {
        let conditions = format!("one thread with blocks of {size} and a file of {file}");
        finding = finding.about(WARM_READ, throughput, conditions);
    }
    let grade = match onset {
        None => Grade::Undecided,
        Some(_) => Grade::Certain,
    };
    Some(finding.graded(grade).weighing(weight))
}

/// The size of the file, the same at all points.
fn file_size(results: &Results) -> Option<Bytes> {
    results.points.first()?.point.level(FILE_SIZE).ok()
}
