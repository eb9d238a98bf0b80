//! `memory.bandwidth`: how fast one core writes and reads blocks of memory, by their size.

mod figures;
mod findings;
mod fresh;
mod points;
mod swap;

pub(super) use findings::in_both_pages;

use super::levels::MODEL;
use super::pages::{self, PAGES};
use fresh::FreshMemory;
use instrument::experiment::{
    Better, Confinement, Definition, Experiment, Isolation, MeasureError, Metric,
};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
use kernels::InstructionSet;
use platform::machine::Machine;
use platform::memory::PageSize;
use std::cell::RefCell;
use std::hint::black_box;

/// How fast one core writes and reads blocks of memory, by their size.
pub(crate) struct Bandwidth;

pub(super) const BLOCK_SIZE: &str = "block_size";

const FIRST_WRITE: &str = "first_write";
pub(super) const READ: &str = "read";
pub(super) const WRITE: &str = "write";
/// Major and minor page faults of a pass through swap, for each page.
const READ_FAULTS: [&str; 2] = ["read_major_faults", "read_minor_faults"];
const WRITE_FAULTS: [&str; 2] = ["write_major_faults", "write_minor_faults"];

/// Two registers of 64 bytes a cycle at 8 GHz: more than any core loads or stores.
const MOST_BYTES_PER_SECOND: f64 = 128.0 * 8e9;

/// A last-level cache takes in a new block over a dozen passes and more: so much is read before
/// anything is timed.
const WARMING_BYTES: usize = 256 << 20;
/// Where the system does not tell its page size.
const SWAPPED_PAGE_BYTES: u64 = 4096;
/// Single passes over this much are long beside the clock, and too dear to repeat until they settle.
const SINGLE_PASSES_FROM: usize = 128 << 20;

impl Experiment for Bandwidth {
    fn id(&self) -> &'static str {
        "memory.bandwidth"
    }

    fn definition(&self) -> Definition {
        let metric = |name, title| {
            Metric::new(name, title, Unit::BytesPerSecond, Better::Higher)
                .bounded(MOST_BYTES_PER_SECOND)
        };
        let faults = |[major, minor]: [&'static str; 2], verb| {
            [(major, "major"), (minor, "minor")].map(|(name, kind)| {
                let title = format!("{kind} faults a page, {verb}");
                Metric::new(name, &title, Unit::Count, Better::Neither)
            })
        };
        let [read_major, read_minor] = faults(READ_FAULTS, "reading");
        let [write_major, write_minor] = faults(WRITE_FAULTS, "writing");
        Definition {
            id: self.id().into(),
            title: "Memory bandwidth by block size".into(),
            question: "How fast does one core write and read memory, and how large may a block be \
                       to stay in each cache?"
                .into(),
            method: format!(
                "One core goes over a block from its start to its end, again and again, with \
                     the widest vector instructions it has, several in turn. First write: memory \
                     fresh from the system, each sample its own, so that the time of the page \
                     faults and of the system's zeroing is in it; small blocks are taken many at a \
                     time, each on pages of its own. In huge pages only blocks that fill theirs, since \
                     the system zeroes whole pages, and once as much was written and given back: \
                     what the host of a virtual machine takes to find memory that it lent to \
                     others is not in it. Read: every byte is loaded and goes into a \
                     checksum that is used. Write: every byte is stored through the caches, with \
                     no instruction that bypasses them; so a line that is not in a cache is \
                     fetched before it is written, and counts once all the same. Bandwidth is the \
                     block's size over the time of a pass, by the difference of 2n and n passes, \
                     or, from 128 MiB on, of a single pass after one that is not timed. \
                     Base pages exclude huge ones; that huge ones back the block is asked for and \
                     verified. Swap: a block of random bytes, which no swap device can compress, is \
                     gone over by a process that may hold half of it, so that each pass drives out \
                     what the next one needs; where the memory of a process cannot be limited, the \
                     kernel is asked to move the block to swap before each pass, until it is gone \
                     from memory. Page faults of a pass are counted, those that read from swap \
                     (major) apart from those that found the page read ahead (minor). Capacities of caches are found from the reading curve, \
                     {MODEL}."
            ),
            source: "Report E, section 3".into(),
            axes: vec![
                Axis::bytes(BLOCK_SIZE, "block size"),
                Axis::choice(PAGES, "pages"),
            ],
            metrics: vec![
                Metric {
                    version: 2,
                    ..metric(FIRST_WRITE, "first write")
                },
                metric(READ, "read"),
                metric(WRITE, "write"),
                read_major,
                read_minor,
                write_major,
                write_minor,
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Memory(Bytes(points::LEAST_MEMORY))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
    }

    fn confinement(&self, point: &Point) -> Option<Confinement> {
        swap::confinement(point)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let block_size = point.number(BLOCK_SIZE)? as usize;
        let level = point.choice(PAGES)?;
        if level == swap::LIMITED || level == swap::PAGED_OUT {
            let page_bytes = Machine::read().page_bytes.unwrap_or(SWAPPED_PAGE_BYTES);
            return swap::measure(sampler, block_size, level, page_bytes as usize);
        }
        let (page_size, page_bytes) = pages::meant_by(level)?;
        let set = InstructionSet::best();
        let word = sampler.seed();

        let fresh = RefCell::new(FreshMemory::new(block_size, page_size, page_bytes)?);
        let touched_bytes = fresh.borrow().work_bytes();
        let renew = |_: &mut Sampler<'_>| {
            fresh.replace(FreshMemory::new(block_size, page_size, page_bytes)?);
            Ok(())
        };
        let touch = || {
            fresh
                .borrow_mut()
                .blocks()
                .for_each(|block| set.write(block, word));
            Ok(())
        };
        if page_size == PageSize::Huge {
            // Free memory in pieces of this size is what a virtual machine gives back to its host, which
            // takes many times as long to find it again as the system takes to fill it with zeros.
            touch()?;
        }
        if page_size == PageSize::Base || block_size.is_multiple_of(page_bytes) {
            sampler.once(FIRST_WRITE, touched_bytes, renew, touch)?;
        }

        let mut memory = fresh.into_inner();
        if let Some(remark) = pages::remark(memory.mapping(), page_size)? {
            sampler.remark(remark)?;
        }
        let block = memory.first_block();
        for _ in 0..(WARMING_BYTES / block_size).max(1) {
            black_box(set.read(black_box(block)));
        }
        time(sampler, READ, block_size, || {
            black_box(set.read(black_box(block)));
        })?;
        time(sampler, WRITE, block_size, || {
            set.write(black_box(block), word);
        })
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        figures::all(results)
    }
}

/// Times passes over a block: as many as it takes, or single ones once they are long enough.
fn time(
    sampler: &mut Sampler<'_>,
    metric: &str,
    block_size: usize,
    mut pass: impl FnMut(),
) -> Result<(), MeasureError> {
    let work_bytes = block_size as f64;
    if block_size < SINGLE_PASSES_FROM {
        return sampler.repeat(metric, work_bytes, |passes| {
            (0..passes).for_each(|_| pass());
            Ok(())
        });
    }
    // Leaves the caches as every pass finds them.
    pass();
    sampler.once(
        metric,
        work_bytes,
        |_| Ok(()),
        || {
            pass();
            Ok(())
        },
    )
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_SIZE, Bandwidth, FIRST_WRITE, READ, WRITE};
    use crate::made_up::{count, measure};
    use crate::memory::pages::{self, PAGES};
    use instrument::experiment::MeasureError;
    use instrument::point::Point;
    use platform::machine::Machine;
    use std::path::Path;

    fn point(size: u64, page_bytes: u64) -> Point {
        let level = pages::name(page_bytes);
        Point::new()
            .with(BLOCK_SIZE, size)
            .with(PAGES, level.as_str())
    }

    #[test]
    fn all_metrics_of_a_point_are_measured_here() {
        let Some(page_bytes) = Machine::read().page_bytes else {
            println!("skipped: the system does not tell its page size");
            return;
        };
        for size in [1 << 10, 1 << 20] {
            let point = point(size, page_bytes);
            let (samples, remarks) =
                measure(&Bandwidth, &point, Path::new("/")).expect("memory works here");
            for metric in [FIRST_WRITE, READ, WRITE] {
                assert!(count(&samples, metric) >= 1, "{point}: {metric}");
            }
            let first = samples.iter().find(|sample| sample.metric == FIRST_WRITE);
            let faults = first.map(|sample| sample.usage.minor_faults);
            assert!(
                faults >= Some(512 * 1024 / page_bytes),
                "{point}: {faults:?}"
            );
            assert!(remarks.is_empty());
        }
    }

    #[test]
    fn huge_pages_are_there_or_the_point_says_why_not() {
        let Some(huge_bytes) = Machine::read().huge_page_bytes else {
            println!("skipped: this machine has no huge pages");
            return;
        };
        // A block that fills half of its page says nothing of the first write.
        for (size, first_writes) in [(huge_bytes / 2, false), (huge_bytes, true)] {
            match measure(&Bandwidth, &point(size, huge_bytes), Path::new("/")) {
                Ok((samples, _)) => {
                    assert!(count(&samples, READ) >= 1);
                    assert_eq!(count(&samples, FIRST_WRITE) >= 1, first_writes);
                }
                Err(MeasureError::Unsupported(reason)) => assert!(reason.contains("huge pages")),
                Err(MeasureError::Platform(error)) => assert!(error.to_string().contains("huge")),
                Err(other) => panic!("{other}"),
            }
        }
    }

    #[test]
    fn memory_that_cannot_be_had_is_an_error() {
        let Some(page_bytes) = Machine::read().page_bytes else {
            println!("skipped: the system does not tell its page size");
            return;
        };
        let error = measure(&Bandwidth, &point(1 << 50, page_bytes), Path::new("/"));
        let error = error.expect_err("no machine has as much");
        assert!(error.to_string().contains("map memory"), "{error}");
    }

    #[test]
    fn pages_of_another_machine_are_refused() {
        let error = measure(&Bandwidth, &point(1 << 10, 12345), Path::new("/"));
        let error = error.expect_err("no machine has such pages");
        assert!(
            error
                .to_string()
                .starts_with("this machine has no 12345 B pages"),
            "{error}"
        );
    }
}
