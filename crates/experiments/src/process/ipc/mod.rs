//! `process.ipc`: what it costs to talk to another process.

mod end;
mod findings;
mod mechanism;
mod points;

use super::placement::{self, PLACEMENT, Placement};
use instrument::experiment::{Better, Definition, Experiment, Isolation, MeasureError, Metric};
use instrument::figure::Figure;
use instrument::finding::Finding;
use instrument::need::Need;
use instrument::plan::Setting;
use instrument::point::{Axis, Point};
use instrument::quantity::{Bytes, Unit};
use instrument::results::Results;
use instrument::sampler::Sampler;
pub(super) use mechanism::Mechanism;
use platform::partner::Partner;
use std::hint::black_box;

/// What it costs to talk to another process.
pub(crate) struct Ipc;

pub(super) const MECHANISM: &str = "mechanism";
pub(super) const MESSAGE: &str = "message_size";

pub(super) const ROUND_TRIP: &str = "round_trip";
pub(super) const BANDWIDTH: &str = "bandwidth";

/// Round trips before the first that is timed, where none takes a time slice.
const WARMING_ROUNDS: u32 = 200;
/// Bytes that a ring in shared memory holds: as many as a pipe does by default.
const RING_BYTES: usize = 64 << 10;
/// A message there and one back cross at least two caches.
const LEAST_ROUND_TRIP_NS: f64 = 5.0;
/// Two loads of 64 bytes a cycle at 8 GHz, which no core does: copying cannot be faster.
const MOST_BYTES_PER_SECOND: f64 = 128.0 * 8e9;

impl Experiment for Ipc {
    fn id(&self) -> &'static str {
        "process.ipc"
    }

    fn definition(&self) -> Definition {
        Definition {
            id: self.id().into(),
            title: "Talking between processes".into(),
            question: "By which means should two processes talk, and what does it cost?".into(),
            method: format!(
                "Two processes, pinned to one processor or to a core each. Round trip: one sends a \
                 message, the other waits for it and sends one of the same size back; single round \
                 trips are timed, the clock's cost taken off, and the value is their median. \
                 Bandwidth: one sends messages without end, the other receives n and then 2n of \
                 them, each whole before the next, and is timed; the difference is free of what was \
                 under way before; eventfd and futex carry nothing that would queue up, and have \
                 none. Each message is one write and at least one read. The means: pipe, one each way; Unix socket, a connected pair of streams; TCP, a connection \
                 over loopback that holds nothing back (TCP_NODELAY); eventfd, a counter each way; \
                 futex, a word of shared memory each way that the other side sleeps on; shared \
                 memory, a ring of {} each way that is copied into and out of without any system \
                 call: who waits looks again and again. On one core that wastes the rest of the \
                 waiting side's time slice each time, so that only its round trip is measured \
                 there.",
                Bytes(RING_BYTES as u64)
            ),
            source: "common practice, after lmbench".into(),
            axes: vec![
                Axis::choice(MECHANISM, "means"),
                Axis::bytes(MESSAGE, "message"),
                placement::axis(),
            ],
            metrics: vec![
                Metric::new(ROUND_TRIP, "round trip", Unit::Nanoseconds, Better::Lower)
                    .bounded(LEAST_ROUND_TRIP_NS),
                Metric::new(BANDWIDTH, "bandwidth", Unit::BytesPerSecond, Better::Higher)
                    .bounded(MOST_BYTES_PER_SECOND)
                    .shared(),
            ],
            isolation: Isolation::FreshProcess,
        }
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        Vec::new()
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points::all(setting)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let mechanism = Mechanism::named(point.choice(MECHANISM)?)?;
        let message = point.number(MESSAGE)? as usize;
        let placement = Placement::take(point.choice(PLACEMENT)?, sampler)?;
        let waits_for_slices = mechanism.spins() && placement.here == placement.there;
        let warming_rounds = if waits_for_slices { 1 } else { WARMING_ROUNDS };
        time_round_trips(mechanism, message, placement, warming_rounds, sampler)?;
        if mechanism.streams() && !waits_for_slices {
            time_stream(mechanism, message, placement, sampler)?;
        }
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

/// Times questions to a partner and its answers.
fn time_round_trips(
    mechanism: Mechanism,
    message: usize,
    placement: Placement,
    warming_rounds: u32,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let (mut own, mut others) = mechanism.connect()?;
    let mut buffer = mechanism.message(message)?;
    let mut answer = buffer.clone();
    let _partner = Partner::start(placement.there, move || {
        while others.receive(&mut answer).is_ok() && others.send(&answer).is_ok() {}
    })?;
    let mut round = || {
        own.send(&buffer)?;
        own.receive(&mut buffer)
    };
    (0..warming_rounds).try_for_each(|_| round())?;
    sampler.latencies(ROUND_TRIP, round)
}

/// Times the receiving of messages that a partner sends without end.
fn time_stream(
    mechanism: Mechanism,
    message: usize,
    placement: Placement,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let (mut own, mut others) = mechanism.connect()?;
    let outgoing = mechanism.message(message)?;
    let mut incoming = outgoing.clone();
    let _partner = Partner::start(placement.there, move || {
        while others.send(black_box(&outgoing)).is_ok() {}
    })?;
    sampler.repeat(BANDWIDTH, message as f64, |messages| {
        (0..messages).try_for_each(|_| own.receive(black_box(&mut incoming)))
    })
}
