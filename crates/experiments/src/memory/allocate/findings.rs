//! Findings, figures and claims of `memory.allocate`.

use super::crew::Work;
use super::{
    ALLOCATOR, Allocator, BLOCK_SIZE, COST, DESIGN, FAULTS, FREED_BY, FreedBy, HELD, ONE, TAKEN,
    THREADS,
};
use crate::estimates::{by_ratio, found, known, of_values, ratios, side_by_side};
use crate::figures::curves;
use crate::judging::{LITTLE, extremes, larger_along, larger_along_by};
use crate::prelude::*;
use crate::together::have_cores;
use instrument::claim::{Basis, Claim};
use instrument::quantity::counted;
use std::collections::BTreeSet;

/// Blocks that have a page fault for more than this part of their pages come from the system each time.
const FRESH: f64 = 0.5;

pub(crate) const CLAIMS: &[Claim] = &[
    Claim {
        key: "threads_that_allocate_slow_each_other",
        says: "Threads that allocate memory at the same time slow each other down.",
        source: "folklore, after Hoard (Berger and others, 2000)",
        basis: Basis::One(DESIGN.id, |results| {
            let (threads, ratios) = together(&usual(results))?;
            larger_along_by(LITTLE, "blocks of ", &ratios, |[least, most]| {
                sentence!(
                    "With {threads} threads, malloc and free take {least} to {most} as long as with one."
                )
            })
        }),
    },
    Claim {
        key: "memory_of_another_thread_costs_more_to_free",
        says: "Memory costs more if another thread frees it than the one that allocated it.",
        source: "folklore, after Larson and Krishnan (1998)",
        basis: Basis::One(DESIGN.id, |results| {
            larger_along(
                "blocks of ",
                &passed_on(&usual(results))?,
                |[least, most]| {
                    sentence!(
                        "Freed by another thread, a block costs {least} to {most} as much as freed by its own."
                    )
                },
            )
        }),
    },
];

/// All findings, the most important first.
pub(super) fn all(results: &Results) -> Vec<Finding> {
    let usual = usual(results);
    let usual = found([
        cost(&usual),
        fresh(&usual),
        several(&usual),
        elsewhere(&usual),
        held(&usual),
    ]);
    usual.into_iter().chain(preloaded(results)).collect()
}

/// A line for each allocator, number of threads and thread that frees.
pub(super) fn figures(results: &Results) -> Vec<Figure> {
    let points = results.points.iter();
    let allocators: BTreeSet<Option<Allocator>> =
        points.map(|it| it.point.level(ALLOCATOR).ok()).collect();
    let mut lines = Vec::new();
    for allocator in allocators {
        let of_one = results.only(|point| point.level(ALLOCATOR).ok() == allocator);
        for Count(threads) in results.levels(THREADS) {
            for freed_by in FreedBy::ALL {
                let mut label = counted(threads, "thread");
                if *freed_by == FreedBy::AnotherThread {
                    label.push_str(", freed by another");
                }
                if let Some(allocator) = &allocator {
                    label = format!("{}, {label}", allocator.name());
                }
                let levels = [THREADS.at(Count(threads)), FREED_BY.at(*freed_by)];
                lines.push(of_one.series(&label, COST, BLOCK_SIZE, &levels));
            }
        }
    }
    lines.retain(|line| !line.points.is_empty());
    let title = "malloc and free by the size of the block";
    vec![curves(COST, title, (BLOCK_SIZE, COST), lines)]
}

/// The results of the C library's allocator.
fn usual<'r>(results: &Results<'r>) -> Results<'r> {
    let is_usual = |allocator| allocator == Allocator::CLibrary;
    results.only(|point| point.level(ALLOCATOR).map_or(true, is_usual))
}

fn along<'r>(
    results: &'r Results,
    metric: Metric,
    threads: Count,
    freed_by: FreedBy,
) -> Vec<(Bytes, &'r Estimate)> {
    let levels = [THREADS.at(threads), FREED_BY.at(freed_by)];
    results.along(BLOCK_SIZE, metric, &levels)
}

fn by_one<'r>(results: &'r Results, metric: Metric) -> Vec<(Bytes, &'r Estimate)> {
    along(results, metric, ONE, FreedBy::SameThread)
}

/// The largest number of threads that each had a core, with their time over that of one thread by block.
fn together(results: &Results) -> Option<(Count, Vec<(Bytes, Quantity)>)> {
    let mut counts = results.levels(THREADS).into_iter();
    let threads = counts.rfind(|threads| have_cores(results.machine, *threads));
    let threads = threads.filter(|threads| *threads > ONE)?;
    let all = along(results, COST, threads, FreedBy::SameThread);
    Some((threads, ratios(&all, &by_one(results, COST))))
}

/// The time of blocks that another thread frees over that of others, by block.
fn passed_on(results: &Results) -> Option<Vec<(Bytes, Quantity)>> {
    let threads = *results.levels(THREADS).last()?;
    let of = |freed_by| along(results, COST, threads, freed_by);
    Some(ratios(
        &of(FreedBy::AnotherThread),
        &of(FreedBy::SameThread),
    ))
}

fn cost(results: &Results) -> Option<Finding> {
    let [(small, of_small), .., (large, of_large)] = by_one(results, COST)[..] else {
        return None;
    };
    let said = sentence!(
        "One thread allocates and frees a block of {small} in {of_small}, and one of {large} in \
         {of_large}, with a write to each page."
    );
    Some(of_values("cost", said, [of_small, of_large]).weighing(0.6))
}

/// The block from which on each has fresh pages, though as many were freed before.
fn fresh(results: &Results) -> Option<Finding> {
    let page = results.machine.page_bytes?;
    let curve = by_one(results, FAULTS);
    let is_fresh = |(size, faults): &&(Bytes, &Estimate)| {
        let pages = size.0.div_ceil(page) as f64;
        faults.quantity().extent().low > FRESH * pages
    };
    let (from, faults) = *curve.iter().rev().take_while(is_fresh).last()?;
    let alone = [THREADS.at(ONE), FREED_BY.at(FreedBy::SameThread)];
    let cost = results.sound(COST, &[alone.as_slice(), &[BLOCK_SIZE.at(from)]].concat())?;
    let said = sentence!(
        "The allocator returns freed blocks of {from} and more to the system: the next one of {from} takes \
         {faults} page faults and {cost}."
    );
    Some(of_values("fresh", said, [faults, cost]).weighing(0.55))
}

fn several(results: &Results) -> Option<Finding> {
    let (threads, ratios) = together(results)?;
    let [(_, least), (size, most)] = extremes(&ratios)?;
    let said = sentence!(
        "If {threads} threads allocate at the same time, malloc and free take {least} to {most} as long \
         as in one thread alone, the longest for blocks of {size}."
    );
    Some(by_ratio("several_threads", said, &most).weighing(0.6))
}

fn elsewhere(results: &Results) -> Option<Finding> {
    let [(_, least), (size, most)] = extremes(&passed_on(results)?)?;
    let said = sentence!(
        "A block that another thread frees costs {least} to {most} as much as one that its own thread \
         frees, the most at {size}."
    );
    Some(by_ratio("freed_by_another", said, &most).weighing(0.5))
}

/// The block size of which the process holds the most after all is freed.
fn held(results: &Results) -> Option<Finding> {
    let both = side_by_side(&by_one(results, TAKEN), &by_one(results, HELD));
    let by_held =
        |a: &&(_, _, &Estimate), b: &&(_, _, &Estimate)| a.2.centre.total_cmp(&b.2.centre);
    let (size, taken, held) = *both.iter().max_by(by_held)?;
    let said = sentence!(
        "{blocks} in blocks of {size} take {taken} of memory. After all are freed, the process still \
         holds {held}.",
        blocks = Work::on_blocks_of(size.0 as usize).hoard_bytes(),
    );
    Some(of_values("held", said, [taken, held]).weighing(0.5))
}

/// A sentence for each preloaded allocator, next to the C library if that was measured too.
fn preloaded(results: &Results) -> Vec<Finding> {
    let allocators = results.levels(ALLOCATOR).into_iter();
    let preloaded = allocators.filter(|it| *it != Allocator::CLibrary);
    let usual = usual(results);
    let finding = |allocator: Allocator| {
        let name = allocator.name();
        let own = results.only(|point| point.level(ALLOCATOR) == Ok(allocator.clone()));
        let (own, usual) = (by_one(&own, COST), by_one(&usual, COST));
        let (said, grade) = if let Some([(fastest, least), (slowest, most)]) =
            extremes(&ratios(&own, &usual))
        {
            let said = sentence!(
                "With {name}, malloc and free take {least} to {most} as long as with the C library: the \
                 least for blocks of {fastest}, the most for blocks of {slowest}."
            );
            (said, known([least, most]))
        } else {
            let &(size, cost) = own.first()?;
            let said = sentence!("With {name}, malloc and free of a block of {size} take {cost}.");
            (said, known([cost]))
        };
        let finding = Finding::new(&format!("preloaded {name}"), said);
        Some(finding.graded(grade).weighing(0.7))
    };
    preloaded.filter_map(finding).collect()
}
