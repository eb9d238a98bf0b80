//! What programs should use that work on large blocks of memory.

use super::subloop;
use crate::estimates::{WithEstimate, ratio};
use crate::judging::{MARGIN, exceeds};
use instrument::advice::{Advice, Rule};
use instrument::claim::{Evidence, Ruling};
use instrument::finding::Finding;
use instrument::quantity::Unit;

const SUBLOOP: &str = "memory.subloop";

pub(crate) const ALL: &[Rule] = &[Rule {
    setting: "loop_piece_size",
    title: "size of the pieces into which repeated work on a large block is cut",
    unit: Some(Unit::Bytes),
    experiments: &[SUBLOOP],
    find: piece_size,
}];

/// The largest piece of the largest block that is as good as the best: the fewer pieces there are,
/// the less a program has to do between them.
fn piece_size(evidence: &Evidence<'_>) -> Option<Advice> {
    let results = evidence.of(SUBLOOP)?;
    let block = *subloop::blocks(results).last()?;
    let (_, best) = subloop::best(results, block)?;
    let as_good = (1.0 - MARGIN) * best.centre;
    let (piece, write) = subloop::curve(results, block)
        .into_iter()
        .rfind(|(_, write)| write.centre >= as_good)?;
    let gain = ratio(write, subloop::whole(results, block)?)?;
    if exceeds(&gain, 1.0 + MARGIN) != Ruling::Holds {
        return None;
    }
    let because = Finding::new(
        "because",
        "Repeated work on a block of {block} runs {gain} as fast in such pieces as over the whole; \
         smaller ones gain no more, larger ones less.",
    )
    .given("block", block as f64, Unit::Bytes)
    .with("gain", &gain, Unit::Ratio);
    Some(Advice {
        value: piece.into(),
        usual: block.into(),
        gain: Some(gain),
        because,
    })
}
