//! Claims of report E about the phases of changing a file in place, and about streams.

use super::definition::CHUNK_SIZE;
use super::phases::{self, BUFFER_SIZE, LOOP, MAP, MAP_LOOP, READ, UNMAP, WRITE};
use super::remote::{self, Place};
use super::rewrite_passes::{self, WAY, Way};
use crate::estimates::{ratios, ratios_within};
use crate::judging::{Along, Ratios, larger_by};
use crate::prelude::*;
use instrument::claim::{Claim, Evidence, Judgement};

/// Two orders of magnitude, as a factor that a rounded exponent of ten leaves room for.
const ORDERS: f64 = 31.6;

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "mapping_a_buffer_is_faster_than_reading_it",
        says: "To map a part of a file is faster than to read it, since nothing is loaded yet.",
        source: "Report E, section 4.3.2",
        experiments: &[phases::DESIGN.id],
        test: |evidence| phase(evidence, READ, MAP),
    },
    Claim {
        key: "looping_over_a_mapping_is_slower",
        says: "The loop over a mapping is slower than over a buffer, since it loads the pages.",
        source: "Report E, section 4.3.2",
        experiments: &[phases::DESIGN.id],
        test: |evidence| phase(evidence, MAP_LOOP, LOOP),
    },
    Claim {
        key: "unmapping_is_faster_than_writing",
        says: "To unmap a changed part of a file is faster than to write it with O_SYNC.",
        source: "Report E, section 4.3.2",
        experiments: &[phases::DESIGN.id],
        test: |evidence| phase(evidence, WRITE, UNMAP),
    },
    Claim {
        key: "streams_write_slower_without_their_buffer",
        says: "fwrite is slower without the buffer of its stream.",
        source: "Report E, section 4.1.1.2, Figure 8",
        experiments: &[rewrite_passes::DESIGN.id],
        test: |evidence| {
            let results = evidence.of(rewrite_passes::DESIGN.id)?;
            let curve = |way| results.along(CHUNK_SIZE, rewrite_passes::REWRITE, &[WAY.at(way)]);
            WITHOUT_BUFFER.judge(&ratios(&curve(Way::StdioUnbuffered), &curve(Way::Stdio)))
        },
    },
    Claim {
        key: "remote_files_are_two_orders_slower",
        says: "Writing a remote file is two orders of magnitude slower than writing a local one.",
        source: "Report E, section 4.4.2",
        experiments: &[remote::DESIGN.id],
        test: |evidence| {
            let results = evidence.of(remote::DESIGN.id)?;
            let last = |place| remote::along(results, place).pop();
            let ((_, one), (_, other)) = (last(Place::Remote)?, last(Place::Local)?);
            larger_by(ORDERS, one, other, |ratio| {
                sentence!(
                    "A write of the largest chunk takes {one} there and {other} here: {ratio}."
                )
            })
        },
    },
];

/// One phase over another of the same processes, by buffer size.
fn phase(
    evidence: &Evidence<'_>,
    one: Metric<&'static str>,
    other: Metric<&'static str>,
) -> Option<Judgement> {
    let results = evidence.of(phases::DESIGN.id)?;
    let curve = |metric| results.along(BUFFER_SIZE, metric, &[]);
    PHASE.judge(&ratios_within(&curve(one), &curve(other)))
}

/// The slower phase over the faster, by buffer size.
const PHASE: Along = {
    fn said(Ratios { least, most, .. }: Ratios) -> Sentence {
        sentence!("The phase called slower takes {least} to {most} as long as the other.")
    }
    Along {
        everywhere: said,
        from_on: |Ratios { least, most, from }| {
            sentence!(
                "From buffers of {from} on; in all, the phase called slower takes {least} to {most} \
                 as long as the other."
            )
        },
        nowhere: said,
        mixed: said,
    }
};

/// Without the stream's buffer over with it, by chunk size.
const WITHOUT_BUFFER: Along = {
    fn said(Ratios { least, most, .. }: Ratios) -> Sentence {
        sentence!("Without the buffer, overwriting takes {least} to {most} as long.")
    }
    Along {
        everywhere: said,
        from_on: said,
        nowhere: said,
        mixed: said,
    }
};
