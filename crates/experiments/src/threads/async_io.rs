//! `threads.async_io`: other threads run while one waits for a file.

use super::kind::UserThreads;
use crate::figures::{bars, lines_of, logarithmic};
use crate::prelude::*;

pub(crate) struct AsyncIo;

pub(super) const BACKEND: AxisOf<Backend> = AxisOf::new("backend", "backend");

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    Automatic,
    HelpingThreads,
}

/// A step of the thread that waits.
pub(super) struct Step {
    does: &'static str,
    pub(super) time: Metric,
    /// The turns that the other thread had in that time.
    pub(super) turns: Metric,
}

pub(super) const STEPS: [Step; 3] = [WRITE, SYNC, READ];
const WRITE: Step = Step {
    does: "writes",
    time: Metric::time("write", "time: writes"),
    turns: Metric::fact("turns_while_writing", "turns: writes", Unit::Count),
};
const SYNC: Step = Step {
    does: "puts on the device",
    time: Metric::time("sync", "time: puts on the device"),
    turns: Metric::fact(
        "turns_while_syncing",
        "turns: puts on the device",
        Unit::Count,
    ),
};
const READ: Step = Step {
    does: "reads",
    time: Metric::time("read", "time: reads"),
    turns: Metric::fact("turns_while_reading", "turns: reads", Unit::Count),
};

const DESIGN: Design = Design {
    id: "threads.async_io",
    title: "Other threads while one waits for a file",
    question: "Do other threads run while one waits for a file?",
    method: "On one worker, a user thread writes \"hello world\" to a new file, waits until it is \
             on the device (fsync), and reads it back; the text is checked. Another thread counts \
             its turns and yields, over and over. The time of each of the three steps is wall \
             time from the call until the first thread has its turn again. The turns are those of \
             the other thread in that time. The backend is the one that the library chooses, \
             or kernel threads that wait in place of the user thread. The library chooses io_uring if \
             the system allows it. On Windows it transfers by overlapped requests, and a kernel thread \
             waits for the device.",
    source: "Report D, Test-async-io",
    axes: &[BACKEND.axis()],
    metrics: &[
        WRITE.time,
        SYNC.time,
        READ.time,
        WRITE.turns,
        SYNC.turns,
        READ.turns,
    ],
};

impl Experiment for AsyncIo {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _: &Setting) -> Vec<Need> {
        vec![Need::Space(Bytes(4096))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        let backends = match setting.profile {
            Profile::Quick => &[Backend::Automatic],
            Profile::Standard | Profile::Thorough => Backend::ALL,
        };
        [Point::new()].by(BACKEND, backends)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        self.take(point, sampler)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let figure = |key, title, metric: fn(&Step) -> Metric| {
            let steps = STEPS.map(|step| (metric(&step), step.does));
            let axes = (BACKEND, logarithmic(key, metric(&WRITE).unit));
            bars(key, title, axes, lines_of(results, BACKEND, steps))
        };
        let turns: fn(&Step) -> Metric = |step| step.turns;
        vec![
            figure("time", "What the waiting thread sees", |step| step.time),
            figure("turns", "Turns of the other thread in that time", turns),
        ]
    }
}
