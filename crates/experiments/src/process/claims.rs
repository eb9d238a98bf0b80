//! Claims about processes and calls.

use super::calls::{AXIS, FOPEN, FORK, GETPID, MALLOC, OPEN, RATE};
use crate::judging::{is_larger, is_larger_by};
use instrument::claim::{Claim, Evidence};
use instrument::quantity::Unit;
use instrument::results::Estimate;

const CALLS: &str = "process.calls";

pub(crate) const ALL: &[Claim] = &[
    Claim {
        key: "malloc_needs_no_system_call",
        says: "Memory is taken and given back several times faster than the system is called.",
        source: "Report E, section 5.1: 11.69 against 1.49 million a second",
        experiments: &[CALLS],
        test: |evidence| {
            is_larger(
                (rate(evidence, MALLOC)?, rate(evidence, GETPID)?),
                Unit::OperationsPerSecond,
                "malloc and free: {one}; a bare system call: {other}; {ratio}.",
            )
        },
    },
    Claim {
        key: "streams_cost_more_than_descriptors",
        says: "Opening a file as a stream of the C library costs more than opening it alone.",
        source: "Report E, section 5.1: 0.0946 against 0.3895 million a second",
        experiments: &[CALLS],
        test: |evidence| {
            is_larger(
                (rate(evidence, OPEN)?, rate(evidence, FOPEN)?),
                Unit::OperationsPerSecond,
                "open and close: {one}; fopen and fclose: {other}; {ratio}.",
            )
        },
    },
    Claim {
        key: "a_process_costs_hundreds_of_calls",
        says: "A new process costs as much as hundreds of system calls.",
        source: "Report E, section 5.1: 0.0033 against 1.4867 million a second",
        experiments: &[CALLS],
        test: |evidence| {
            is_larger_by(
                100.0,
                (rate(evidence, GETPID)?, rate(evidence, FORK)?),
                Unit::OperationsPerSecond,
                "a bare system call: {one}; fork, exit and wait: {other}; {ratio}.",
            )
        },
    },
];

fn rate<'a>(evidence: &Evidence<'a>, call: &str) -> Option<&'a Estimate> {
    let point = evidence.of(CALLS)?.at(&[(AXIS, call.into())])?;
    point.estimate(RATE).filter(|rate| rate.is_sound())
}
