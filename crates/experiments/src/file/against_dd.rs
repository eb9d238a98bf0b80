//! `file.against_dd`: the same reading, writing and copying by oscope and by dd.

use super::page_cache::warm;
use super::scratch_file::{ScratchFile, Walk};
use super::{
    BLOCK_SIZE, FILE_SIZE, THROUGHPUT_OF_PIECES as THROUGHPUT, file_size, not_done, room,
    whole_blocks,
};
use crate::figures::curves;
use crate::prelude::*;
use files::Watch;
use files::dd::Dd;
use platform::file::{null_device, zero_device};

pub(crate) struct AgainstDd;

pub(super) const WORK: AxisOf<Work> = AxisOf::new("work", "work");
pub(super) const PROGRAM: AxisOf<Program> = AxisOf::new("program", "program");

/// The work that both programs do.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    Read,
    Write,
    Copy,
}

/// The program that does it.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Program {
    #[choice("oscope")]
    Ours,
    Dd,
}

pub(super) const DESIGN: Design = Design {
    id: "file.against_dd",
    title: "Against dd",
    question: "Does oscope read, write and copy files as fast as dd does?",
    method: "The same work on files in the page cache, in blocks of the same size, by read and \
             write calls. Read: a file is read and discarded (dd: to /dev/null). Overwrite: dd \
             writes zeros from /dev/zero, which it reads block by block; oscope writes the same \
             block each time. Copy: one file is copied over another. Targets are overwritten in \
             place, and nothing waits for the device. oscope's time is the wall time without \
             opening and closing, in short pieces of the file, one after the other. dd's time is \
             that of its own report, which includes opening its files but not the start of its \
             process. Each process runs dd once to warm up and then once for each sample.",
    source: "Reports A and B, section 2",
    axes: &[
        BLOCK_SIZE.open(1, 1 << 30),
        WORK.axis(),
        PROGRAM.axis(),
        FILE_SIZE.open(1, 1 << 40),
    ],
    metrics: &[THROUGHPUT],
};

impl Experiment for AgainstDd {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, setting: &Setting) -> Vec<Need> {
        room(2 * wanted_size(setting))
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        // In sectors of 512 bytes.
        let blocks: &[u64] = match setting.profile {
            Profile::Quick => &[1, 8],
            Profile::Standard => &[1, 2, 4, 8, 64, 256, 2048],
            Profile::Thorough => &[1, 2, 4, 8, 32, 128, 256, 1024, 8192],
        };
        let blocks = blocks.iter().map(|sectors| Bytes(512 * sectors));
        let blocks = [Point::new()].by(BLOCK_SIZE, blocks);
        let programs = blocks.by(WORK, Work::ALL).by(PROGRAM, Program::ALL);
        programs.by(FILE_SIZE, [Bytes(wanted_size(setting))])
    }

    /// A file that is larger than all planned ones, as the reports', takes seconds in small blocks, four times over.
    fn least_ns(&self, point: &Point) -> u64 {
        match (point.level(BLOCK_SIZE), point.level(FILE_SIZE)) {
            (Ok(Bytes(block)), Ok(Bytes(file))) if file > LARGEST_FILE => {
                4 * (file / block * BLOCK_NS + file)
            }
            _ => 0,
        }
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let Bytes(len) = point.level(FILE_SIZE)?;
        let block_bytes = point.level(BLOCK_SIZE)?.0 as usize;
        whole_blocks(len, block_bytes as u64)?;
        let work = point.level(WORK)?;
        let open = |name: &str| {
            let path = sampler
                .scratch()
                .join(format!("{} {name} {len}", self.id()));
            ScratchFile::open_or_make(&path, len, sampler.seed())
        };
        let (from, to) = (open("source")?, open("target")?);
        warm(&from)?;
        warm(&to)?;
        if point.level(PROGRAM)? == Program::Ours {
            return ours(work, &from, &to, block_bytes, sampler);
        }
        let dd = Dd {
            input: if work == Work::Write {
                zero_device()?
            } else {
                &from.path
            },
            output: if work == Work::Read {
                null_device()?
            } else {
                &to.path
            },
            block_bytes,
            count: Some(len / block_bytes as u64),
            in_place: true,
        };
        dd.run(&Watch::default()).map_err(not_done)?;
        for _ in 0..sampler.samples() {
            let report = dd.run(&Watch::default()).map_err(not_done)?;
            let per_second = report.bytes as f64 * 1e9 / report.wall_ns.max(1.0);
            sampler.value(THROUGHPUT, per_second);
        }
        Ok(())
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let line = |(work, program): (Work, Program)| {
            let levels = [WORK.at(work), PROGRAM.at(program)];
            let label = format!("{work}, {program}");
            results.series(&label, THROUGHPUT, BLOCK_SIZE, &levels)
        };
        let both = |work: &Work| [Program::Ours, Program::Dd].map(|program| (*work, program));
        let lines = Work::ALL.iter().flat_map(both).map(line).collect();
        let title = "oscope and dd at the same work";
        vec![curves(THROUGHPUT, title, (BLOCK_SIZE, THROUGHPUT), lines)]
    }
}

/// The largest file of any profile.
const LARGEST_FILE: u64 = 512 * MIB;
/// Two calls for a block take about as long, next to a nanosecond for a byte.
const BLOCK_NS: u64 = 1000;

/// One size, since sizes would mix in one figure; the reports' own are for those who choose them.
fn wanted_size(setting: &Setting) -> u64 {
    file_size(setting, 2, [16 * MIB, 64 * MIB, LARGEST_FILE])
}

fn ours(
    work: Work,
    from: &ScratchFile,
    to: &ScratchFile,
    block_bytes: usize,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let mut buffer = super::buffer(block_bytes)?;
    let block = buffer.as_mut_slice();
    let (mut reading, mut writing) = (Walk::new(from), Walk::new(to));
    sampler.repeat(THROUGHPUT, block_bytes as f64, |blocks| match work {
        Work::Read => reading.read(blocks, block),
        Work::Write => writing.write(blocks, block),
        Work::Copy => (0..blocks).try_for_each(|_| {
            reading.read(1, block)?;
            writing.write(1, block)
        }),
    })
}

/// Throughput of a program at its work, by block size.
pub(super) fn curve<'r>(
    results: &'r Results,
    work: Work,
    program: Program,
) -> Vec<(Bytes, &'r Estimate)> {
    let levels = [WORK.at(work), PROGRAM.at(program)];
    results.along(BLOCK_SIZE, THROUGHPUT, &levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_beyond_the_planned_ones_gets_the_time_of_its_blocks() {
        let least_ns = |block, file| {
            let point = Point::new().at(BLOCK_SIZE, Bytes(block));
            AgainstDd.least_ns(&point.at(FILE_SIZE, Bytes(file)))
        };
        assert_eq!(least_ns(512, 512 * MIB), 0);
        assert!(least_ns(512, 2048 * MIB) > 2 * least_ns(4 * KIB, 2048 * MIB));
    }
}
