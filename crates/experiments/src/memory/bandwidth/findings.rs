//! The meaning of the bandwidths.

use super::{
    BLOCK_SIZE, Backing, FIRST_WRITE, Faults, PAGES, READ, READ_FAULTS, Swap, WRITE, WRITE_FAULTS,
};
use crate::estimates::{extra_cost, grade, ratio, time_ns};
use crate::memory::hierarchy::{self, DataCache, FoundCache};
use crate::memory::pages::Pages;
use crate::prelude::*;
use crate::subjects::GAIN_FROM_HUGE_PAGES;
use instrument::results::PointResult;

/// The page in which the report tells its costs, in bytes.
const REPORT_PAGE_BYTES: f64 = 4096.0;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let Some(base) = Pages::base(results.machine) else {
        return Vec::new();
    };
    let caches = caches_found(results, base);
    let capacities = caches.iter().enumerate();
    let mut findings: Vec<_> = capacities
        .filter_map(|(index, cache)| capacity(results, base, index, cache))
        .collect();
    if !caches.is_empty() {
        let not_found = hierarchy::not_found(results.machine, &caches).into_iter();
        findings.extend(not_found.filter_map(|cache| not_seen(results, base, cache)));
    }
    findings.extend(memory(results, base));
    findings.extend(memory_over_cache(results, base, caches.first()));
    findings.extend(first_touch(results, base));
    if let Some(huge) = Pages::huge(results.machine) {
        findings.extend(huge_pages(results, base, huge));
        findings.extend(huge_first_touch(results, base, huge));
    }
    findings.extend(match swapped(results) {
        Some(swapped) => swap(results, base, swapped),
        None => Some(no_swap()),
    });
    findings
}

/// The caches that the reading curve shows.
pub(super) fn caches_found(results: &Results, pages: Pages) -> Vec<FoundCache> {
    hierarchy::found(&curve(results, READ, pages), results.machine)
}

/// The sound estimates of a metric by block size.
pub(in crate::memory) fn curve<'r>(
    results: &'r Results,
    metric: Metric<&'static str>,
    pages: Pages,
) -> Vec<(Bytes, &'r Estimate)> {
    results.along(BLOCK_SIZE, metric, &[PAGES.at(Backing::Pages(pages))])
}

fn at<'r>(
    results: &'r Results,
    metric: Metric<&'static str>,
    size: Bytes,
    pages: Pages,
) -> Option<&'r Estimate> {
    let levels = [BLOCK_SIZE.at(size), PAGES.at(Backing::Pages(pages))];
    results.sound(metric, &levels)
}

/// The largest block of which each of these metrics is known with pages of each of these sizes.
fn largest(results: &Results, metrics: &[Metric<&'static str>], pages: &[Pages]) -> Option<Bytes> {
    let curve = curve(results, *metrics.first()?, *pages.first()?);
    let is_known = |size: &Bytes| {
        let mut wanted = pages
            .iter()
            .flat_map(|pages| metrics.iter().map(move |metric| (*metric, *pages)));
        wanted.all(|(metric, pages)| at(results, metric, *size, pages).is_some())
    };
    curve.into_iter().rev().map(|(size, _)| size).find(is_known)
}

/// The largest block that was read in both page sizes, and the rates in base and in huge pages.
pub(in crate::memory) fn in_both_pages<'r>(
    results: &'r Results,
) -> Option<(Bytes, &'r Estimate, &'r Estimate)> {
    let base = Pages::base(results.machine)?;
    let huge = Pages::huge(results.machine)?;
    let size = largest(results, &[READ], &[base, huge])?;
    let read = |pages| at(results, READ, size, pages);
    Some((size, read(base)?, read(huge)?))
}

fn capacity(results: &Results, pages: Pages, index: usize, cache: &FoundCache) -> Option<Finding> {
    let read = at(results, READ, cache.typical, pages)?;
    let write = at(results, WRITE, cache.typical, pages)?;
    let capacity = cache.capacity;
    let said = if let Some(it) = cache.documented {
        sentence!(
            "Blocks of up to {capacity} stay in the level {level} cache, documented as {documented}. \
             There one core reads at {read} and writes at {write}.",
            level = it.level.to_string(),
            documented = it.size,
        )
    } else {
        sentence!(
            "Reading slows down beyond blocks of {capacity}, though no cache of that size is \
             documented: the reach of the TLB, or a shared part of a cache, may end there. Below it, \
             one core reads at {read} and writes at {write}."
        )
    };
    let grade = if cache.documented.is_some() && capacity.interval.is_some() {
        Grade::Certain
    } else {
        Grade::Likely
    };
    let finding = Finding::new(&format!("capacity_{}", index + 1), said);
    Some(finding.graded(grade).weighing(0.6))
}

/// A documented cache that the curve goes past without showing it.
fn not_seen(results: &Results, pages: Pages, cache: DataCache) -> Option<Finding> {
    let is_within = largest(results, &[READ], &[pages])?.0 > 2 * cache.size.0;
    let said = sentence!(
        "The level {level} cache, documented as {documented}, does not show: reading does not \
         slow down near that size.",
        level = cache.level.to_string(),
        documented = cache.size,
    );
    let finding = Finding::new(&format!("not_seen_{}", cache.level), said);
    is_within.then(|| finding.graded(Grade::Likely).weighing(0.5))
}

fn memory(results: &Results, pages: Pages) -> Option<Finding> {
    let size = largest(results, &[READ, WRITE], &[pages])?;
    let read = at(results, READ, size, pages)?;
    let write = at(results, WRITE, size, pages)?;
    let is_beyond = size.0 >= 2 * hierarchy::last_bytes(results.machine);
    let (said, grade) = if is_beyond {
        (
            sentence!(
                "One core reads blocks of {size}, which no cache holds, at {read} and writes them \
                 at {write}."
            ),
            Grade::Certain,
        )
    } else {
        (
            sentence!(
                "One core reads the largest block measured, {size}, at {read} and writes it at {write}. \
                 A cache may hold much of it: no block takes more than a quarter of the memory \
                 available."
            ),
            Grade::CannotBeTold,
        )
    };
    Some(Finding::new("memory", said).graded(grade).weighing(0.8))
}

/// The extra time for a page of the report of `slow` over `fast`.
fn extra(slow: &Estimate, fast: &Estimate) -> Option<Quantity> {
    let time = |rate| time_ns(rate, REPORT_PAGE_BYTES);
    Some(time(slow)?.minus(time(fast)?))
}

fn memory_over_cache(
    results: &Results,
    pages: Pages,
    first: Option<&FoundCache>,
) -> Option<Finding> {
    let size = largest(results, &[READ, WRITE], &[pages])?;
    let over_cache = |metric| {
        let cached = at(results, metric, first?.typical, pages)?;
        extra(at(results, metric, size, pages)?, cached)
    };
    let (read, write) = (over_cache(READ)?, over_cache(WRITE)?);
    let said = if read.value > 0.0 && write.value > 0.0 {
        sentence!(
            "Reading 4 KiB takes {read} longer from memory than from the nearest cache, and writing \
             them takes {write} longer."
        )
    } else {
        sentence!("Memory is not measurably slower than the nearest cache.")
    };
    let grade = extra_cost(&read).max(extra_cost(&write));
    let finding = Finding::new("memory_over_cache", said)
        .beside("read", read)
        .beside("write", write);
    Some(finding.graded(grade).weighing(0.55))
}

fn first_touch(results: &Results, pages: Pages) -> Option<Finding> {
    let size = largest(results, &[FIRST_WRITE, WRITE], &[pages])?;
    let page_bytes = results.machine.page_bytes? as f64;
    let time = |metric| time_ns(at(results, metric, size, pages)?, page_bytes);
    let cost = time(FIRST_WRITE)?.minus(time(WRITE)?);
    let said = if cost.value > 0.0 {
        sentence!(
            "The first write to each of the {pages} of fresh memory costs {cost} more than writing it \
             again."
        )
    } else {
        sentence!(
            "The first write to each of the {pages} of fresh memory costs no more than writing it \
             again."
        )
    };
    let finding = Finding::new("first_touch", said).beside("cost", cost);
    Some(finding.graded(extra_cost(&cost)).weighing(0.6))
}

fn huge_pages(results: &Results, base: Pages, huge: Pages) -> Option<Finding> {
    let size = largest(results, &[READ, WRITE], &[base, huge])?;
    let gain = |metric| {
        ratio(
            at(results, metric, size, huge)?,
            at(results, metric, size, base)?,
        )
    };
    let (read, write) = (gain(READ)?, gain(WRITE)?);
    let said = sentence!(
        "In {huge}, blocks of {size} are read {read} and written {write} as fast as in {base}."
    );
    let grade = grade(&read, 1.0).min(grade(&write, 1.0));
    let finding = Finding::new("huge_pages", said).about(
        GAIN_FROM_HUGE_PAGES,
        read,
        format!("reads in order of a block of {size}"),
    );
    Some(finding.graded(grade).weighing(0.55))
}

fn huge_first_touch(results: &Results, base: Pages, huge: Pages) -> Option<Finding> {
    let size = largest(results, &[FIRST_WRITE], &[base, huge])?;
    let first = |pages| at(results, FIRST_WRITE, size, pages);
    let gain = ratio(first(huge)?, first(base)?)?;
    let said = sentence!(
        "The first write to fresh memory of {size} is {gain} as fast in {huge} as in {base}."
    );
    let finding = Finding::new("huge_first_touch", said);
    Some(finding.graded(grade(&gain, 1.0)).weighing(0.6))
}

/// A block in swap, if one was measured.
fn swapped<'r>(results: &'r Results) -> Option<&'r PointResult> {
    let by = |swap| results.at(&[PAGES.at(Backing::Swap(swap))]);
    by(Swap::MemoryLimited).or_else(|| by(Swap::PagedOut))
}

fn swap(results: &Results, pages: Pages, swapped: &PointResult) -> Option<Finding> {
    let size = largest(results, &[READ, WRITE], &[pages])?;
    let over_memory = |metric| {
        let memory = at(results, metric, size, pages)?;
        extra(swapped.estimate(metric)?, memory)
    };
    let (read, write) = (over_memory(READ)?, over_memory(WRITE)?);
    let faults = |of: Faults| swapped.estimate(of.major);
    let (read_faults, write_faults) = (faults(READ_FAULTS)?, faults(WRITE_FAULTS)?);
    let said = if read.value > 0.0 && write.value > 0.0 {
        sentence!(
            "From swap, 4 KiB take {read} longer to read and {write} longer to write than from \
             memory. On average a page read waits for {read_faults} faults and a page written for \
             {write_faults}, since the kernel reads ahead."
        )
    } else {
        sentence!(
            "Swap is not measurably slower than memory, although a page read waits for \
             {read_faults} faults on average and a page written for {write_faults}."
        )
    };
    let grade = extra_cost(&read).max(extra_cost(&write));
    let finding = Finding::new("swap", said)
        .beside("read", read)
        .beside("write", write);
    Some(finding.graded(grade).weighing(0.65))
}

/// The way to get the cost of swap measured.
fn no_swap() -> Finding {
    let said = sentence!(
        "Swap was not measured: it needs a swap area, or permission to create a temporary one \
         (`--allow-swap-file`, as root)."
    );
    let finding = Finding::new("no_swap", said);
    finding.graded(Grade::CannotBeTold).weighing(0.1)
}

#[cfg(test)]
mod tests;
