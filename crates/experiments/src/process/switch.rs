//! `process.switch`: the cost of going from one process or thread to another.

use super::{PLACEMENT, Placement, Sides};
use crate::estimates::{found, ratio};
use crate::figures::{bars, curves, lines};
use crate::prelude::*;
use kernels::InstructionSet;
use platform::clock::now_ns;
use platform::memory::{Mapping, PageSize};
use platform::partner::Partner;
use platform::placement::pin_to;
use std::collections::BTreeSet;
use std::hint::black_box;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::thread::{self, Scope};

const KIND: AxisOf<Kind> = AxisOf::new("kind", "kind");
const COUNT: AxisOf<Count> = AxisOf::new("count", "number");
const WORKING_SET: AxisOf<Bytes> = AxisOf::new("working_set", "working set");

const SWITCH: Metric = Metric::time("switch", "context switch");
const PASS: Metric = Metric::time("pass", "pass of the token");
const ALONE: Metric = Metric::time("alone", "pass without a switch");

const TWO: Count = Count(2);
const NOTHING: Bytes = Bytes(0);

#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Processes,
    Threads,
}

fn point_of(kind: Kind, count: Count, working_set: Bytes, placement: Placement) -> Point {
    Point::new()
        .at(KIND, kind)
        .at(COUNT, count)
        .at(WORKING_SET, working_set)
        .at(PLACEMENT, placement)
}

pub(super) const DESIGN: Design = Design {
    id: "process.switch",
    title: "Context switches",
    question: "What does a context switch between processes or threads cost, and how does it grow with \
               their number and their working sets?",
    method: "Processes, or threads of one process, form a ring. Each member waits at a pipe for a \
             token of 1 byte, reads its whole working set, and writes the token into the pipe of \
             the next member. Only one member runs at a time. `pass` is the median time of a \
             round divided by the number of members; the clock's cost is subtracted. `alone` is \
             the same work without a switch: one member sends the token to itself through a pipe \
             and reads its working set, repeatedly. `switch` is pass minus alone, measured in the \
             same process. It contains the work of the scheduler, for processes the change of \
             address space, and the refill of caches and TLBs that other members have displaced. \
             On two cores it contains the wakeup of the other core. On one core, all members are \
             pinned to the same processor. On two cores, each member passes the token to one on \
             the other core. Memory is in base pages.",
    source: "common practice, after lmbench's lat_ctx",
    axes: &[
        KIND.axis(),
        COUNT.axis(),
        WORKING_SET.axis(),
        PLACEMENT.axis(),
    ],
    metrics: &[SWITCH, PASS, ALONE],
};

pub(crate) struct Switch;

/// Rounds before the first that is timed.
const WARMING_ROUNDS: u32 = 20;

impl Experiment for Switch {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    /// On one core, all numbers with all working sets, and fewer for threads in the quick profile. On
    /// two cores, two members: only one runs at a time, whatever their number.
    fn points(&self, setting: &Setting) -> Vec<Point> {
        let (counts, working_sets): (&[u64], &[u64]) = match setting.profile {
            Profile::Quick => (&[2, 8, 32], &[0, 16 * KIB, 64 * KIB]),
            Profile::Standard => (&[2, 8, 32], &[0, 16 * KIB, 64 * KIB, 256 * KIB]),
            Profile::Thorough => (
                &[2, 4, 8, 16, 32, 64, 96],
                &[0, 4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB],
            ),
        };
        let is_wanted = |kind: Kind, count: u64, working_set: u64| {
            let is_quick = setting.profile == Profile::Quick;
            !is_quick || kind == Kind::Processes || count == 2 || working_set == 0
        };
        let mut points = BTreeSet::new();
        for &kind in Kind::ALL {
            for &working_set in working_sets {
                let of = |count: u64, placement| {
                    point_of(kind, Count(count), Bytes(working_set), placement)
                };
                let counts = counts.iter().copied();
                let one_core = counts.filter(|count| is_wanted(kind, *count, working_set));
                points.extend(one_core.map(|count| of(count, Placement::OneCore)));
                points.insert(of(2, Placement::TwoCores));
            }
        }
        points.into_iter().collect()
    }

    fn component(&self, _point: &Point, _metric: &str) -> Option<Component> {
        Some(Component::Threads)
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let count = point.level(COUNT)?.0 as usize;
        let working_set = point.level(WORKING_SET)?.0 as usize;
        let kind = point.level(KIND)?;
        let sides = point.level(PLACEMENT)?.take(sampler)?;

        let (mut own, _) = members(1, working_set)?;
        let alone_ns = time_rounds(sampler, ALONE, 1, &mut own)?;
        drop(own);

        let (mut first, others) = members(count, working_set)?;
        let pass_ns = match kind {
            Kind::Processes => {
                let _partners = as_processes(others, sides)?;
                time_rounds(sampler, PASS, count, &mut first)
            }
            Kind::Threads => thread::scope(|scope| {
                // When it is dropped here, the next member ends, and so on round the ring.
                let mut first = first;
                as_threads(others, sides, scope)?;
                time_rounds(sampler, PASS, count, &mut first)
            }),
        }?;
        sampler.value(SWITCH, pass_ns - alone_ns);
        Ok(())
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        found([
            least(results),
            cores(results),
            address_space(results),
            crowd(results),
        ])
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let by_number = Kind::ALL.iter().flat_map(|kind| {
            let working_sets = results.levels(WORKING_SET).into_iter();
            working_sets.map(move |bytes| {
                let levels = [
                    KIND.at(*kind),
                    WORKING_SET.at(bytes),
                    PLACEMENT.at(Placement::OneCore),
                ];
                results.series(&format!("{kind}, {bytes}"), SWITCH, COUNT, &levels)
            })
        });
        let by_number = by_number.filter(|line| line.points.len() > 1);
        let pairs = [COUNT.at(TWO), WORKING_SET.at(NOTHING)];
        vec![
            curves(
                "number",
                "Context switches on one core",
                (COUNT, SWITCH),
                by_number.collect(),
            ),
            bars(
                PLACEMENT,
                "Context switches between two on one core and on two",
                (PLACEMENT, SWITCH),
                lines(results, SWITCH, PLACEMENT, KIND, &pairs),
            ),
        ]
    }
}

/// Times rounds of a ring of `count` members; returns the median time of a pass in ns.
fn time_rounds(
    sampler: &mut Sampler<'_>,
    metric: Metric,
    count: usize,
    first: &mut Member,
) -> Result<f64, MeasureError> {
    (0..WARMING_ROUNDS).try_for_each(|_| first.round())?;
    sampler.latencies_of(metric, count as f64, || {
        let begin_ns = now_ns();
        first.round()?;
        Ok(now_ns().saturating_sub(begin_ns))
    })
}

/// The memory that a member reads when it has the token.
struct WorkingSet {
    memory: Option<Mapping>,
    instructions: InstructionSet,
}

impl WorkingSet {
    /// Populated memory of this size; none for 0.
    fn new(bytes: usize) -> Result<Self, MeasureError> {
        let filled = |bytes| {
            let mut memory = Mapping::anonymous(bytes, PageSize::Base)?;
            // Without this, all pages would be the one shared page of zeros.
            memory.populate()?;
            Ok::<_, MeasureError>(memory)
        };
        Ok(Self {
            memory: (bytes > 0).then(|| filled(bytes)).transpose()?,
            instructions: InstructionSet::best(),
        })
    }

    fn read(&self) {
        if let Some(memory) = &self.memory {
            black_box(self.instructions.read(black_box(memory.as_slice())));
        }
    }
}

/// A member of the ring, with the pipe it reads the token from and the one it writes it to.
struct Member {
    input: PipeReader,
    output: PipeWriter,
    work: WorkingSet,
}

impl Member {
    /// Takes the token, reads the working set and passes the token on; false at the end of the pipe.
    fn pass(&mut self) -> io::Result<bool> {
        let mut token = [0];
        if self.input.read(&mut token)? == 0 {
            return Ok(false);
        }
        self.work.read();
        self.output.write_all(&token)?;
        Ok(true)
    }

    /// Passes tokens on until its pipe ends.
    fn pass_on(mut self) {
        while self.pass().unwrap_or(false) {}
    }

    /// Sends the token round once and waits for its return; each member reads its working set once.
    fn round(&mut self) -> Result<(), MeasureError> {
        self.go_round().map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => {
                unsupported("a member of the ring ended too early")
            }
            _ => MeasureError::system("pass the token")(error),
        })
    }

    fn go_round(&mut self) -> io::Result<()> {
        self.output.write_all(&[1])?;
        self.input.read_exact(&mut [0])?;
        self.work.read();
        Ok(())
    }
}

/// The members of a ring of `count`, each with its own working set; the first is the caller's.
fn members(count: usize, working_set_bytes: usize) -> Result<(Member, Vec<Member>), MeasureError> {
    let pipes: io::Result<Vec<_>> = (0..count).map(|_| io::pipe()).collect();
    let pipes = pipes.map_err(MeasureError::system("make the pipes of a ring"))?;
    let (inputs, mut outputs): (Vec<_>, Vec<_>) = pipes.into_iter().unzip();
    // A member reads from its own pipe and writes into that of the next.
    outputs.rotate_left(1.min(count));
    let members = inputs.into_iter().zip(outputs).map(|(input, output)| {
        Ok(Member {
            input,
            output,
            work: WorkingSet::new(working_set_bytes)?,
        })
    });
    let mut members = members.collect::<Result<Vec<_>, MeasureError>>()?;
    Ok((members.remove(0), members))
}

/// Starts each of `members` as a process, which ends when its partner is dropped.
fn as_processes(members: Vec<Member>, sides: Sides) -> Result<Vec<Partner>, MeasureError> {
    let start = |(index, member): (usize, Member)| {
        let cpu = sides.of_member(index + 1);
        Ok(Partner::start(cpu, move || member.pass_on())?)
    };
    members.into_iter().enumerate().map(start).collect()
}

/// Starts each of `members` as a thread, which ends after the first member is dropped.
fn as_threads<'scope>(
    members: Vec<Member>,
    sides: Sides,
    scope: &'scope Scope<'scope, '_>,
) -> Result<(), MeasureError> {
    for (index, member) in members.into_iter().enumerate() {
        let cpu = sides.of_member(index + 1);
        let run = move || {
            // A thread that cannot be pinned ends, which breaks the ring; the first member reports it.
            if pin_to(&[cpu]).is_ok() {
                member.pass_on();
            }
        };
        thread::Builder::new()
            .spawn_scoped(scope, run)
            .map_err(MeasureError::system("start a thread"))?;
    }
    Ok(())
}

fn switch<'r>(results: &'r Results, ring: &Point) -> Option<&'r Estimate> {
    let mut points = results.points.iter();
    points.find(|result| result.point == *ring)?.sound(SWITCH)
}

/// The switch between two members that read nothing.
pub(super) fn pair<'r>(
    results: &'r Results,
    kind: Kind,
    placement: Placement,
) -> Option<&'r Estimate> {
    switch(results, &point_of(kind, TWO, NOTHING, placement))
}

fn least(results: &Results) -> Option<Finding> {
    let switch = pair(results, Kind::Processes, Placement::OneCore)?;
    let said = sentence!(
        "A context switch between two processes on one core takes {switch} if they touch no memory of \
         their own."
    );
    Some(Finding::new("least", said).weighing(0.6))
}

fn cores(results: &Results) -> Option<Finding> {
    let one = pair(results, Kind::Processes, Placement::OneCore)?;
    let two = pair(results, Kind::Processes, Placement::TwoCores)?;
    let times = ratio(two, one)?;
    let said = sentence!(
        "Passing control to a process that sleeps on another core takes {two}, {times} as long as on the \
         same core: put processes that only take turns on one core."
    );
    let is_slower = times.differs_from(1.0) && times.value > 1.0;
    is_slower.then(|| Finding::new("cores", said).weighing(0.75))
}

fn address_space(results: &Results) -> Option<Finding> {
    let processes = pair(results, Kind::Processes, Placement::OneCore)?;
    let threads = pair(results, Kind::Threads, Placement::OneCore)?;
    let times = ratio(processes, threads)?;
    let is_slower = times.differs_from(1.0) && times.value > 1.0;
    let said = sentence!(
        "A context switch between processes takes {times} as long as between threads of one process, \
         {threads}: the address space changes too."
    );
    is_slower.then(|| Finding::new("address_space", said).weighing(0.4))
}

/// The largest ring with the largest working set against the smallest with none.
fn crowd(results: &Results) -> Option<Finding> {
    let count = *results.levels(COUNT).last()?;
    let working_set = *results.levels(WORKING_SET).last()?;
    let largest = point_of(Kind::Processes, count, working_set, Placement::OneCore);
    let crowd = switch(results, &largest)?;
    let times = ratio(crowd, pair(results, Kind::Processes, Placement::OneCore)?)?;
    let said = sentence!(
        "Among {count} processes that read {working_set} each, a context switch takes {crowd}, {times} as \
         long as between two that read nothing: each fetches again what the others displaced from the \
         caches."
    );
    let follows = times.differs_from(1.0) && times.value > 1.0 && working_set > NOTHING;
    follows.then(|| Finding::new("crowd", said).weighing(0.5))
}
