//! The design of `compute.arithmetic`.

use super::operations::{Number, Operation};
use crate::optimisation::{COMPILER, OPTIMISATION};
use crate::prelude::*;
use kernels::VECTORS_IN_A_TURN;
use kernels::levels::{CHAINS, ELEMENTS_BYTES, OPERATIONS_IN_A_TURN};

pub(super) const OPERATION: AxisOf<Operation> = AxisOf::new("operation", "operation");
pub(super) const TYPE: AxisOf<Number> = AxisOf::new("type", "type");

pub(super) const LATENCY: Metric<&str> =
    Metric::time("latency", "latency").bounded(LEAST_LATENCY_NS);
pub(super) const THROUGHPUT: Metric<&str> =
    Metric::rate("throughput", "throughput").bounded(MOST_PER_SECOND);
pub(super) const ARRAY: Metric<&str> =
    Metric::rate("array", "in arrays").bounded(MOST_OF_ELEMENTS_PER_SECOND);
pub(super) const LATENCY_CYCLES: Metric<&str> =
    Metric::cost("latency_cycles", "cycles of latency", Unit::Count);
pub(super) const THROUGHPUT_CYCLES: Metric<&str> = Metric::cost(
    "throughput_cycles",
    "cycles of independent operations",
    Unit::Count,
);
pub(super) const VECTORS: Metric<&str> =
    Metric::rate("vectors", "in vectors").bounded(MOST_OF_ELEMENTS_PER_SECOND);
pub(super) const VECTOR_CYCLES: Metric<&str> =
    Metric::cost("vector_cycles", "cycles of a vector", Unit::Count);

/// No core runs at more than 10 GHz, and an operation takes at least a cycle, optimised or not.
const LEAST_LATENCY_NS: f64 = 0.1;
/// Ten operations a cycle at 10 GHz.
const MOST_PER_SECOND: f64 = 10.0 * 10e9;
/// Four registers of 16 elements a cycle at 10 GHz.
const MOST_OF_ELEMENTS_PER_SECOND: f64 = 64.0 * 10e9;

pub(super) const DESIGN: Design = Design {
    id: "compute.arithmetic",
    title: "Arithmetic",
    question: "What do integer and floating-point operations cost, and what does the compiler's \
               optimisation gain?",
    method: formatcp!(
        "Latency: a chain of operations, each of which needs the result of the previous one; \
         {OPERATIONS_IN_A_TURN} in one iteration of the loop. Throughput: {CHAINS} independent \
         chains side by side. Array: the operation on each element of two arrays of \
         {ELEMENTS_BYTES} bytes; the first array takes the result. Its loads and stores are \
         included, and the compiler may vectorise it. Vectors: the operation on all elements of \
         the widest registers of this processor, in its own instructions, {VECTORS_IN_A_TURN} of \
         them in one iteration, in independent chains. Vectors are measured once, beside \
         optimisation 3 in Rust, and not for integer division, which has no vector instruction. \
         The other loops are one source, compiled at optimisation 0 to 3 by rustc, and a second \
         source in C, for AVX2 and FMA if the processor has them. Each result is hidden from the \
         compiler in its register, without an instruction, so that it cannot fold a chain; the \
         final results are used. Without optimisation a variable lives in memory, so each \
         operation contains a store and a load, and Rust calls a function for square root and \
         multiply-add. Integers are unsigned. Each division is by the previous result, so that \
         quotients have about half the bits of their type; in Rust it includes the test against \
         zero. After each {OPERATIONS_IN_A_TURN} square roots of a chain (each 2 in the \
         throughput), a multiplication keeps the numbers away from 1; its time is included. \
         Cycles: a chain of 64-bit additions, which take one cycle each, is timed alternately \
         with the loop. The value is the median of a few pairs, in cycles of the core's own clock \
         at any frequency."
    ),
    source: "Report E, section 6",
    axes: &[
        OPERATION.axis(),
        TYPE.axis(),
        OPTIMISATION.axis(),
        COMPILER.axis(),
    ],
    metrics: &[
        LATENCY,
        THROUGHPUT,
        ARRAY,
        LATENCY_CYCLES,
        THROUGHPUT_CYCLES,
        VECTORS,
        VECTOR_CYCLES,
    ],
};
