//! `process.switch`: the cost of going from one process or thread to another.

pub(super) mod findings;

use super::{PLACEMENT, Placement, Sides};
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

const SWITCH: Metric<&str> = Metric::time("switch", "context switch");
const PASS: Metric<&str> = Metric::time("pass", "pass of the token");
const ALONE: Metric<&str> = Metric::time("alone", "pass without a switch");

/// The members of a ring.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Processes,
    Threads,
}

/// The ring of `count` members.
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

/// The cost of going from one process or thread to another.
pub(crate) struct Switch;

const KIB: u64 = 1 << 10;

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
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        findings::figures(results)
    }
}

/// Times rounds of a ring of `count` members; returns the median time of a pass in ns.
fn time_rounds(
    sampler: &mut Sampler<'_>,
    metric: Metric<&'static str>,
    count: usize,
    first: &mut First,
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
}

/// The member that measures: it sends the token and waits for its return.
struct First {
    member: Member,
}

impl First {
    /// Sends the token round once; each member reads its working set once.
    fn round(&mut self) -> Result<(), MeasureError> {
        self.go_round().map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof | ErrorKind::BrokenPipe => {
                MeasureError::Unsupported("a member of the ring ended too early".into())
            }
            _ => MeasureError::system("pass the token")(error),
        })
    }

    fn go_round(&mut self) -> io::Result<()> {
        self.member.output.write_all(&[1])?;
        self.member.input.read_exact(&mut [0])?;
        self.member.work.read();
        Ok(())
    }
}

/// The members of a ring of `count`, each with a working set of its own; the first is the caller's.
fn members(count: usize, working_set_bytes: usize) -> Result<(First, Vec<Member>), MeasureError> {
    let pipes: io::Result<Vec<_>> = (0..count).map(|_| io::pipe()).collect();
    let pipes = pipes.map_err(MeasureError::system("make the pipes of a ring"))?;
    let (inputs, mut outputs): (Vec<_>, Vec<_>) = pipes.into_iter().unzip();
    // A member reads from its own pipe and writes into that of the next.
    outputs.rotate_left(1.min(count));
    let members = inputs.into_iter().zip(outputs).map(|(input, output)| {
        let work = WorkingSet::new(working_set_bytes)?;
        Ok(Member {
            input,
            output,
            work,
        })
    });
    let mut members = members.collect::<Result<Vec<_>, MeasureError>>()?;
    let member = members.remove(0);
    Ok((First { member }, members))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{count, measure, setting, values};
    use std::path::Path;

    #[test]
    fn the_quick_profile_has_few_points_and_the_others_have_them_too() {
        let quick = Switch.points(&setting(Profile::Quick));
        assert!(quick.len() <= 20, "{}", quick.len());
        let standard = Switch.points(&setting(Profile::Standard));
        assert!(quick.iter().all(|point| standard.contains(point)));
    }

    fn point() -> Point {
        point_of(Kind::Threads, Count(3), Bytes(4096), Placement::OneCore)
    }

    #[test]
    fn a_ring_of_threads_goes_round_and_ends() {
        let taken = measure(&Switch, &point(), Path::new("/"));
        let (samples, _) = taken.expect("threads can be made");
        assert!(count(&samples, ALONE) >= 1 && count(&samples, PASS) >= 1);
        assert_eq!(values(&samples, SWITCH).len(), 1);
    }

    #[test]
    fn levels_of_another_version_are_refused() {
        #[derive(Choice, Clone, Copy, PartialEq)]
        enum Other {
            Fibres,
        }
        for axis in [KIND.name(), PLACEMENT.name()] {
            let point = point().at(AxisOf::new(axis, axis), Other::Fibres);
            let taken = measure(&Switch, &point, Path::new("/"));
            let error = taken.expect_err("there is no such level").to_string();
            assert!(error.contains(axis) && error.contains("fibres"), "{error}");
        }
    }
}
