//! Advice for programs that work on large blocks of memory.

use super::{bandwidth, hierarchy, latency, subloop, tlb};
use crate::advising::{Ways, bytes};
use crate::estimates::ratio;
use crate::judging::{MARGIN, exceeds};
use crate::listing::LISTING;
use crate::prelude::*;
use crate::subjects::GAIN_FROM_HUGE_PAGES;
use instrument::advice::{Action, Advice, Audience, Rule};

const BANDWIDTH: &str = "memory.bandwidth";
const LATENCY: &str = "memory.latency";
const SUBLOOP: &str = "memory.subloop";
const TLB: &str = "memory.tlb";

pub(crate) const ALL: &[Rule] = &[
    Rule {
        setting: "loop_piece_size",
        title: "size of the pieces into which repeated work on a large block is cut",
        audience: Audience::Programs,
        unit: Some(Unit::Bytes),
        basis: Basis::One(SUBLOOP, piece_that_fits),
        act: |value, _| {
            let piece = bytes(value);
            Action::Code(sentence!(
                "Cut repeated work on a large block into pieces of {piece}, and finish each before the next."
            ))
        },
    },
    Rule {
        setting: "large_block_pages",
        title: "pages for large blocks of memory",
        audience: Audience::Services,
        unit: None,
        basis: Basis::Several(&[LATENCY, TLB, BANDWIDTH], pages),
        act: |_, system| match system {
            System::Linux => {
                Action::Command("env GLIBC_TUNABLES=glibc.malloc.hugetlb=1 PROGRAM".into())
            }
            System::Windows => Action::Code(sentence!(
                "Allocate large blocks by VirtualAlloc with MEM_LARGE_PAGES."
            )),
            System::Other => Action::Code(sentence!("Allocate large blocks in huge pages.")),
        },
    },
];

/// The largest measured piece that fits the first cache, or the second where pieces of that size are
/// shown to be no slower. Larger pieces are fewer, and leave a program less to do between them.
fn piece_that_fits(results: &Results<'_>) -> Option<Advice> {
    let results = &results.without(subloop::CHOSEN_PASSES);
    let block = *results.levels(subloop::BLOCK_SIZE).last()?;
    let whole = subloop::whole(results, block)?;
    let curve = subloop::curve(results, block);
    let caches = hierarchy::documented(results.machine);
    let in_cache = |level: u32| {
        let cache = caches.iter().find(|cache| cache.level == level)?;
        let mut pieces = curve.iter().rev();
        let fits = |(piece, _): &&(Bytes, &_)| *piece < block && *piece < cache.size;
        pieces
            .find(fits)
            .map(|(piece, rate)| (level, *piece, *rate))
    };
    let first = in_cache(1)?;
    let is_as_fast = |second: &(u32, Bytes, &Estimate)| {
        let ratio = ratio(second.2, first.2);
        ratio.is_some_and(|ratio| exceeds(&ratio, 1.0 - MARGIN) == Ruling::Holds)
    };
    let (level, piece, rate) = in_cache(2).filter(is_as_fast).unwrap_or(first);
    let said = sentence!(
        "Pieces of {piece} fit the level {level} cache: repeated work on a block of {block} writes {rate} in \
         them and {whole} over the whole block.",
        level = level.to_string(),
    );
    Ways::new(results, whole, rate).advised(piece.level(), block.level(), said)
}

/// Huge pages or base pages. Random loads decide, which gain most by huge pages; without them, reading
/// in order.
fn pages(evidence: &Evidence<'_>) -> Option<Advice> {
    let of_bandwidth = evidence
        .of(BANDWIDTH)
        .map(|results| results.without(LISTING));
    let by_latency = || {
        let results = evidence.of(LATENCY)?;
        let (size, base, huge) = latency::in_both_pages(results)?;
        let said = sentence!(
            "A random load from a block of {size} takes {huge} in huge pages and {base} in base pages."
        );
        let conditions = format!("random loads from a block of {size}");
        Some((results, [base, huge], said, conditions))
    };
    let by_tlb = || {
        let results = evidence.of(TLB)?;
        let (count, base, huge) = tlb::in_both_pages(results)?;
        let said = sentence!(
            "A random load from {count} places 4 KiB apart takes {huge} in huge pages and {base} in base \
             pages."
        );
        let conditions = format!("random loads from {count} places 4 KiB apart");
        Some((results, [base, huge], said, conditions))
    };
    let by_bandwidth = || {
        let results = of_bandwidth.as_ref()?;
        let (size, base, huge) = bandwidth::in_both_pages(results)?;
        let said = sentence!(
            "A block of {size} is read in order at {huge} in huge pages and at {base} in base pages."
        );
        let conditions = format!("reads in order of a block of {size}");
        Some((results, [base, huge], said, conditions))
    };
    let (results, [usual, other], said, conditions) =
        by_latency().or_else(by_tlb).or_else(by_bandwidth)?;
    let ways = Ways::new(results, usual, other);
    let advice = ways.advised("huge", "base", said)?;
    let because = advice.because.clone();
    Some(Advice {
        because: because.about(GAIN_FROM_HUGE_PAGES, ways.gain()?, conditions),
        ..advice
    })
}
