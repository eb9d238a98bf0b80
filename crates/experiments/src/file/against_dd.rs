//! `file.against_dd`: the same reading, writing and copying by oscope and by dd.

use super::page_cache::warm;
use super::scratch_file::ScratchFile;
use super::sizes::{KIB, MIB, by_profile, file_size};
use super::{BLOCK_SIZE, FILE_SIZE, MOST_BYTES_PER_SECOND, not_done};
use crate::estimates::{WithEstimate, grade, ratio};
use crate::figures::{curves, logarithmic};
use files::Watch;
use files::dd::Dd;
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use platform::memory::{Mapping, PageSize};
use std::io::{Read, Write};
use std::path::Path;

/// The same work by oscope and by dd.
pub(crate) struct AgainstDd;

pub(super) const WORK: &str = "work";
pub(super) const PROGRAM: &str = "program";
pub(super) const OURS: &str = "oscope";
pub(super) const DD: &str = "dd";
pub(super) const THROUGHPUT: &str = "throughput";

const READ: &str = "read";
const WRITE: &str = "write";
pub(super) const COPY: &str = "copy";

impl Experiment for AgainstDd {
    fn id(&self) -> &'static str {
        "file.against_dd"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Against dd".into(),
            question: "Does oscope read, write and copy files as fast as dd does?".into(),
            method: "The same work on files that are in the page cache, in blocks of the same size, \
                     by read and write calls: read a file and throw it away (dd: to /dev/null), \
                     write over a file (dd: zeros from /dev/zero, which it reads block by block; \
                     oscope: one block again and again), copy one file over another. Targets are \
                     written over in place, and nothing is waited for on the device. Ours is the \
                     wall time without opening and closing. dd's is by its own clock, as its report \
                     gives it: the start of its process is not in it, its opening of files is. One \
                     run of dd a process, after one that is not counted."
                .into(),
            source: "Reports A and B, section 2".into(),
            axes: vec![
                Axis::bytes(BLOCK_SIZE, "block size"),
                Axis::choice(WORK, "work"),
                Axis::choice(PROGRAM, "program"),
                Axis::bytes(FILE_SIZE, "file size"),
            ],
            metrics: vec![
                Metric::new(
                    THROUGHPUT,
                    "throughput",
                    Unit::BytesPerSecond,
                    Better::Higher,
                )
                .bounded(MOST_BYTES_PER_SECOND),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        let files = Bytes(2 * sizes(setting).iter().sum::<u64>());
        vec![Need::Space(files), Need::Memory(files)]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let blocks: &[u64] = by_profile(
            setting.profile,
            [
                &[512, 4 * KIB, 128 * KIB],
                &[512, KIB, 2 * KIB, 4 * KIB, 32 * KIB, 128 * KIB, MIB],
                &[
                    512,
                    KIB,
                    2 * KIB,
                    4 * KIB,
                    16 * KIB,
                    64 * KIB,
                    128 * KIB,
                    512 * KIB,
                    4 * MIB,
                ],
            ],
        );
        let mut points = Vec::new();
        for size in sizes(setting) {
            for &block in blocks {
                for work in [READ, WRITE, COPY] {
                    for program in [OURS, DD] {
                        let point = Point::new().with(BLOCK_SIZE, block).with(WORK, work);
                        points.push(point.with(PROGRAM, program).with(FILE_SIZE, size));
                    }
                }
            }
        }
        points
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let len = point.number(FILE_SIZE)?;
        let block_bytes = point.number(BLOCK_SIZE)? as usize;
        let work = point.choice(WORK)?;
        let open = |name: &str| {
            let path = sampler
                .scratch()
                .join(format!("{} {name} {len}", self.id()));
            ScratchFile::open_or_make(&path, len, sampler.seed())
        };
        let (from, to) = (open("source")?, open("target")?);
        warm(&from)?;
        warm(&to)?;
        if point.choice(PROGRAM)? == OURS {
            return ours(work, &from, &to, block_bytes, len, sampler);
        }
        let dd = Dd {
            input: if work == WRITE {
                Path::new("/dev/zero")
            } else {
                &from.path
            },
            output: if work == READ {
                Path::new("/dev/null")
            } else {
                &to.path
            },
            block_bytes,
            count: Some(len / block_bytes as u64),
            in_place: true,
        };
        dd.run(&Watch::default()).map_err(not_done)?;
        let report = dd.run(&Watch::default()).map_err(not_done)?;
        let per_second = report.bytes as f64 * 1e9 / report.wall_ns.max(1.0);
        sampler.value(THROUGHPUT, per_second)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        [READ, WRITE, COPY]
            .into_iter()
            .filter_map(|work| compared(results, work))
            .collect()
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let line = |work: &str, program: &str| {
            let levels = [(WORK, work.into()), (PROGRAM, program.into())];
            results.series(
                &format!("{work}, {program}"),
                THROUGHPUT,
                BLOCK_SIZE,
                &levels,
            )
        };
        let axes = (
            logarithmic("block size", Unit::Bytes),
            logarithmic("throughput", Unit::BytesPerSecond),
        );
        let works = [READ, WRITE, COPY].into_iter();
        let lines = works.flat_map(|work| [line(work, OURS), line(work, DD)]);
        let title = "oscope and dd at the same work";
        vec![curves(THROUGHPUT, title, axes, lines.collect(), Vec::new())]
    }
}

/// One size, since sizes would mix in one figure; the reports' own are for `oscope file copy
/// --against dd`.
fn sizes(setting: &Setting) -> [u64; 1] {
    let wanted = by_profile(setting.profile, [16 * MIB, 64 * MIB, 512 * MIB]);
    [file_size(setting, 2, wanted)]
}

fn ours(
    work: &str,
    from: &ScratchFile,
    to: &ScratchFile,
    block_bytes: usize,
    len: u64,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let mut buffer = Mapping::anonymous(block_bytes, PageSize::Base)?;
    buffer.populate()?;
    let block = buffer.as_mut_slice();
    let prepare = |_: &mut Sampler<'_>| {
        from.wind_back()?;
        to.wind_back()
    };
    sampler.once(THROUGHPUT, len as f64, prepare, || match work {
        READ => from.read_through(block),
        WRITE => to.write_through(block),
        _ => {
            for _ in 0..len / block.len() as u64 {
                (&from.file)
                    .read_exact(block)
                    .and_then(|()| (&to.file).write_all(block))
                    .map_err(MeasureError::system("copy the scratch file"))?;
            }
            Ok(())
        }
    })
}

/// The two programs in the largest blocks and in those of 4 KiB.
fn compared(results: &Results, work: &str) -> Option<Finding> {
    let curve = |program: &str| {
        let levels = [(WORK, work.into()), (PROGRAM, program.into())];
        results.curve(THROUGHPUT, BLOCK_SIZE, &levels)
    };
    let (ours, dd) = (curve(OURS), curve(DD));
    let at = |size: u64| {
        let find = |curve: &[(u64, _)]| curve.iter().position(|(other, _)| *other == size);
        ratio(ours[find(&ours)?].1, dd[find(&dd)?].1)
    };
    let (smallest, largest) = (ours.first()?.0, ours.last()?.0);
    let (small, large) = (at(smallest)?, at(largest)?);
    let what = match work {
        READ => "reads",
        WRITE => "writes",
        _ => "copies",
    };
    let template = format!(
        "oscope {what} {{small}} as fast as dd in blocks of {{smallest}} and {{large}} as fast in \
         blocks of {{largest}}."
    );
    let finding = Finding::new(work, &template)
        .with("small", &small, Unit::Ratio)
        .with("large", &large, Unit::Ratio)
        .given("smallest", smallest as f64, Unit::Bytes)
        .given("largest", largest as f64, Unit::Bytes);
    let grade = grade(&small, 1.0).max(grade(&large, 1.0));
    Some(finding.graded(grade).weighing(0.3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::testing::scratch;
    use crate::made_up::{count, machine, measure, result, results, setting, value};
    use instrument::plan::Profile;

    fn point(work: &str, program: &str, block: u64) -> Point {
        let point = Point::new().with(BLOCK_SIZE, block).with(WORK, work);
        point.with(PROGRAM, program).with(FILE_SIZE, MIB)
    }

    #[test]
    fn the_two_are_compared_at_both_ends() {
        let (definition, machine) = (AgainstDd.definition(), machine());
        let at = |program, block, rate| result(point(COPY, program, block), &[(THROUGHPUT, rate)]);
        let points = vec![
            at(OURS, 512, 3e8),
            at(DD, 512, 2e8),
            at(OURS, MIB, 4e9),
            at(DD, MIB, 4e9),
        ];
        let found = AgainstDd.findings(&results(&definition, &machine, points));
        let small = value(&found, COPY, "small");
        assert!((small - 1.5).abs() < 0.01, "{small}");
    }

    #[test]
    fn each_work_is_done_by_both() {
        let scratch = scratch();
        for work in [READ, WRITE, COPY] {
            for program in [OURS, DD] {
                match measure(&AgainstDd, &point(work, program, 4 * KIB), scratch.path()) {
                    Ok((samples, _)) => assert!(count(&samples, THROUGHPUT) >= 1),
                    Err(error) => {
                        assert!(program == DD, "{error}");
                        println!("skipped: {error}");
                    }
                }
            }
        }
        assert_eq!(AgainstDd.points(&setting(Profile::Quick)).len(), 18);
    }
}
