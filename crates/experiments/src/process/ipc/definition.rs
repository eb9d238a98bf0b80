//! The design of `process.ipc`.

use super::super::placement::PLACEMENT;
use super::mechanism::{Mechanism, RING_BYTES};
use crate::prelude::*;

pub(in crate::process) const MECHANISM: AxisOf<Mechanism> = AxisOf::new("mechanism", "means");
pub(in crate::process) const MESSAGE: AxisOf<Bytes> = AxisOf::new("message_size", "message");

pub(in crate::process) const ROUND_TRIP: Metric<&str> =
    Metric::time("round_trip", "round trip").bounded(LEAST_ROUND_TRIP_NS);
pub(in crate::process) const BANDWIDTH: Metric<&str> = Metric::bandwidth("bandwidth", "bandwidth")
    .bounded(MOST_BYTES_PER_SECOND)
    .shared();

/// A message and its answer cross at least two caches.
const LEAST_ROUND_TRIP_NS: f64 = 5.0;
/// Two loads of 64 bytes a cycle at 8 GHz. No core is that fast, so no copy is.
const MOST_BYTES_PER_SECOND: f64 = 128.0 * 8e9;

pub(in crate::process) const DESIGN: Design = Design {
    id: "process.ipc",
    title: "Talking between processes",
    question: "Which means of communication between two processes is fastest, and what does it cost?",
    method: formatcp!(
        "Two processes run on one core or on a core each. Round trip: one process sends a message; \
         the other waits for it and sends a message of the same size back. Single round trips are \
         timed and the clock's cost is subtracted; the value is the median. Bandwidth: one process \
         sends messages back-to-back. The other receives n of them in each leg, each whole before \
         the next. The fixed cost that shorter legs show is subtracted, so that messages queued \
         before the start cancel. An eventfd and a futex cannot queue data, so they have no \
         bandwidth. Each message is one write and at least one read. Pipe: one pipe each way. Unix \
         socket: a connected pair of stream sockets. TCP: a connection over loopback with \
         TCP_NODELAY. Eventfd: one counter each way. Futex: one word of shared memory each way, on \
         which the receiver sleeps. Shared memory: a ring of {} KiB each way; data is copied in \
         and out without a system call, and the receiver spins. On one core, spinning wastes the \
         rest of the receiver's time slice each time, so shared memory has only the round trip \
         there.",
        RING_BYTES >> 10,
    ),
    source: "common practice, after lmbench",
    axes: &[MECHANISM.axis(), MESSAGE.axis(), PLACEMENT.axis()],
    metrics: &[ROUND_TRIP, BANDWIDTH],
};
