//! Worker processes: each takes its batches in its own address space and exits.
//!
//! The program starts itself with a hidden sub-command. The worker reads one [`Request`] as a line
//! of JSON from its standard input. It visits the points of the request, and writes a line of JSON
//! for each, a [`Visited`], to its standard output.

use super::executor::{BatchError, Executor, Request};
use super::surroundings::Surroundings;
use crate::clock::SystemClock;
use crate::experiment::{Confinement, Experiment, MeasureError};
use crate::limits::{Bound, Limits};
use crate::point::Point;
use crate::quantity::Bytes;
use crate::removal::REMOVAL;
use crate::sample::Batch;
use crate::sampler::{Sampler, Task};
use platform::allocator;
use platform::clock::now_ns;
use platform::confinement::{MemoryGroup, SwapFile, free_swap_bytes};
use platform::memory::available_bytes;
use platform::placement::allowed_cpus;
use platform::process::{Worker, WorkerError, WorkerLimits, WorkerOptions};
use platform::signal::{Interrupt, pauses};
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, BufRead, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A visit to a point: a line that a worker writes.
#[derive(Debug, Serialize, Deserialize)]
struct Visited {
    /// The samples and remarks; the runner adds the rest.
    batch: Batch,
    failure: Option<BatchError>,
    /// In monotonic ns.
    ended_ns: u64,
}

impl From<MeasureError> for BatchError {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Disturbed(reason) => Self::Disturbed(reason),
            error if error.is_unavailable() => Self::Unsupported(error.to_string()),
            error => Self::Failed(error.to_string()),
        }
    }
}

/// The main function of a worker process: reads a request from `input`, visits its points, writes
/// their outcomes to `output`.
///
/// # Errors
/// If `input` holds no request or `output` is closed. Failures of the measurement are outcomes.
pub fn serve(
    experiments: &[&dyn Experiment],
    mut input: impl BufRead,
    mut output: impl Write,
) -> io::Result<()> {
    let mut line = String::new();
    input.read_line(&mut line)?;
    let request: Request = serde_json::from_str(&line)?;
    let id = &request.experiment;
    let found = experiments.iter().find(|experiment| experiment.id() == id);
    let experiment = *found.ok_or_else(|| {
        let unknown = format!("there is no experiment '{id}'");
        io::Error::new(io::ErrorKind::InvalidData, unknown)
    })?;
    // Many experiments need no directory; one that does reports that it is missing.
    let _ = fs::create_dir(&request.task.scratch);
    // The worker prints nothing until it ends: output would wake the parent process, perhaps on the
    // processor that is being measured.
    let visits: Vec<Visited> = request
        .visits()
        .map(|(point, task)| visit(experiment, point, &task))
        .collect();
    let mut lines = Vec::new();
    for visited in &visits {
        serde_json::to_writer(&mut lines, visited)?;
        lines.push(b'\n');
    }
    output.write_all(&lines)?;
    output.flush()
}

fn visit(experiment: &dyn Experiment, point: &Point, task: &Task) -> Visited {
    let mut batch = Batch {
        warm: true,
        ..Batch::default()
    };
    let measured = experiment.measure(point, &mut Sampler::new(&SystemClock, task, &mut batch));
    Visited {
        batch,
        failure: measured.err().map(BatchError::from),
        ended_ns: now_ns(),
    }
}

/// Grace period of a worker.
const PATIENCE: Duration = Duration::from_mins(1);

/// A device may be this many times slower than the least time of a long visit assumes.
const SLOWER: u64 = 64;

/// Starts a fresh worker process for each request.
#[derive(Debug)]
pub struct WorkerExecutor {
    /// The program to start.
    pub program: PathBuf,
    /// Its arguments: the hidden sub-command.
    pub arguments: Vec<String>,
    /// Variables added to the workers' environment.
    pub environment: Vec<(String, String)>,
    /// The processor to pin workers to.
    pub cpu: Option<usize>,
    /// The run's scratch directory, which also records resources created for workers.
    pub scratch: PathBuf,
    /// Swap for workers that need it.
    pub swap: Swap,
    /// The stop flag.
    pub interrupt: Interrupt,
    /// Other activity on the machine.
    pub surroundings: Surroundings,
    /// The limits of the run.
    pub limits: Limits,
    /// Memory available before the run, in bytes; `None` if the system does not report it.
    pub available_bytes: Option<u64>,
    /// Peak memory of any worker's control group, in bytes; `None` before the first group.
    pub group_peak_bytes: Option<u64>,
}

/// Swap for workers whose memory is limited.
#[derive(Debug, Default)]
pub struct Swap {
    /// True if a temporary swap file may be created.
    pub may_be_made: bool,
    /// The temporary swap file. It stays for later batches.
    made: Option<SwapFile>,
}

impl Swap {
    /// Creates a swap file only if `may_be_made` is true and free swap is too small.
    pub fn new(may_be_made: bool) -> Self {
        Self {
            may_be_made,
            made: None,
        }
    }

    /// Ensures this much free swap.
    fn provide(&mut self, wanted_bytes: u64, scratch: &Path) -> Result<(), BatchError> {
        if free_swap_bytes() >= wanted_bytes {
            return Ok(());
        }
        if !self.may_be_made || self.made.is_some() {
            let reason = "too little swap is free: add some, or allow a temporary swap file";
            return Err(BatchError::Unsupported(reason.into()));
        }
        // Twice the size: the header needs some space, and the kernel frees a worker's swap only
        // shortly after its exit.
        let file = SwapFile::create(2 * wanted_bytes, scratch).map_err(|error| refused(&error))?;
        self.made = Some(file);
        Ok(())
    }
}

impl Executor for WorkerExecutor {
    fn execute(&mut self, request: &Request) -> Vec<Result<Batch, BatchError>> {
        let is_alone = request.points.len() == 1;
        match self.take(request) {
            Ok(taken) => taken,
            Err(BatchError::Interrupted) => {
                let points = request.points.iter();
                points.map(|_| Err(BatchError::Interrupted)).collect()
            }
            Err(error) if is_alone => vec![Err(error)],
            // A worker that died does not report at which point.
            Err(_) => {
                let visits = request.apart();
                visits.flat_map(|visit| self.execute(&visit)).collect()
            }
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_set()
    }
}

impl WorkerExecutor {
    /// Workers that `program` becomes with the hidden sub-command `name`, all on the last processor that this
    /// process may use, without limits and without extra swap.
    ///
    /// # Errors
    /// If the system does not report these processors.
    pub fn new(
        program: PathBuf,
        name: &str,
        scratch: &Path,
        interrupt: Interrupt,
    ) -> platform::Result<Self> {
        Ok(Self {
            program,
            arguments: vec![name.to_owned()],
            environment: Vec::new(),
            cpu: allowed_cpus()?.last().copied(),
            scratch: scratch.to_owned(),
            swap: Swap::default(),
            interrupt,
            surroundings: Surroundings::default(),
            limits: Limits::default(),
            available_bytes: None,
            group_peak_bytes: None,
        })
    }

    /// Takes the batches; once more if this process was stopped during the visit, as by Ctrl-Z: times across a
    /// pause mean nothing.
    fn take(&mut self, request: &Request) -> Result<Vec<Result<Batch, BatchError>>, BatchError> {
        loop {
            let pauses_before = pauses();
            let taken = self.take_confined(request);
            if pauses() == pauses_before || self.interrupt.is_set() {
                return taken;
            }
        }
    }

    fn take_confined(
        &mut self,
        request: &Request,
    ) -> Result<Vec<Result<Batch, BatchError>>, BatchError> {
        let memory_group = self.confine(request)?;
        let taken = self.take_in(memory_group.as_ref(), request);
        let peak_bytes = memory_group.as_ref().and_then(MemoryGroup::peak_bytes);
        self.group_peak_bytes = self.group_peak_bytes.max(peak_bytes);
        taken.map_err(|error| match error {
            BatchError::Worker(reason) => self.blame(reason, peak_bytes, request.confinement),
            other => other,
        })
    }

    /// The error for a worker that died. In a run with limits it ran out of memory if its group was full or an
    /// allocation failed. Where the limit is part of the question, it is a likely cause.
    fn blame(
        &self,
        reason: String,
        peak_bytes: Option<u64>,
        confinement: Option<Confinement>,
    ) -> BatchError {
        /// The standard library's message before it aborts. Stable Rust has no other way to learn the
        /// cause of the abort but a custom allocator, which would be part of each measurement.
        const NO_MEMORY: &str = "memory allocation of";
        let limit_bytes = self
            .limits
            .memory_bytes
            .map(|limit| self.group_bytes(limit));
        let was_full = peak_bytes.is_some() && peak_bytes >= limit_bytes;
        match (Bound::Memory.reason(&self.limits), confinement) {
            (Some(beyond), _) if was_full || reason.contains(NO_MEMORY) => {
                BatchError::Beyond(format!("{beyond}: {reason}"))
            }
            (_, Some(limit)) => BatchError::Unsupported(format!(
                "{reason}, with its memory limited to {}: the system stops a process that it cannot \
                 keep within its limit",
                Bytes(limit.memory_bytes)
            )),
            _ => BatchError::Worker(reason),
        }
    }

    fn take_in(
        &mut self,
        memory_group: Option<&MemoryGroup>,
        request: &Request,
    ) -> Result<Vec<Result<Batch, BatchError>>, BatchError> {
        self.surroundings.before();
        let started_ns = now_ns();
        let mut command = Command::new(&self.program);
        command.args(&self.arguments);
        let variables = self.environment.iter();
        command.envs(variables.map(|(name, value)| (name, value)));
        if let Some(library) = &request.preload {
            allocator::preload(&mut command, library).map_err(|error| refused(&error))?;
        }
        let options = WorkerOptions {
            // An allocator counts the processors when it is loaded, so the experiment pins its threads itself.
            pin_cpu: self.cpu.filter(|_| request.preload.is_none()),
            memory_group,
            limits: WorkerLimits {
                // A control group counts used memory only, so the address space needs no limit:
                // stacks, for example, reserve more than they use.
                address_space_bytes: match memory_group {
                    Some(_) => None,
                    None => self.limits.memory_bytes,
                },
                file_bytes: self.limits.disk_bytes,
            },
        };
        let mut worker = Worker::spawn(command, &options).map_err(broken)?;
        let mut line = serde_json::to_vec(request).expect("a request is plain data");
        line.push(b'\n');
        let deadline_ns = started_ns.saturating_add(Self::patience_ns(request));
        worker
            .send(&line, deadline_ns, self.interrupt.flag())
            .map_err(broken)?;
        let visits: Vec<Visited> = request
            .points
            .iter()
            .map(|_| self.next_visit(&mut worker, deadline_ns))
            .collect::<Result<_, _>>()?;
        let ended = worker
            .wait(deadline_ns, self.interrupt.flag())
            .map_err(broken)?;
        let ended_ns = now_ns();
        let own_ns = ended.usage.user_ns + ended.usage.system_ns;
        let disturbance = self.surroundings.after(own_ns);
        let last = visits.len() - 1;
        let mut begun_ns = started_ns;
        let batches = visits.into_iter().enumerate().map(|(index, visited)| {
            // The start of the process belongs to its first visit, and its end to the last.
            let end_ns = if index == last {
                ended_ns
            } else {
                visited.ended_ns
            };
            let wall_ns = end_ns.saturating_sub(std::mem::replace(&mut begun_ns, end_ns));
            match visited.failure {
                Some(failure) => Err(failure),
                None => Ok(Batch {
                    cpu: self.cpu,
                    started_ns,
                    wall_ns,
                    disturbance: disturbance(wall_ns),
                    ..visited.batch
                }),
            }
        });
        Ok(batches.collect())
    }

    /// Applies the limits for the worker of `request`: first its memory, then swap for the rest.
    /// Each worker gets its own control group, so that no pages of another are charged to it.
    fn confine(&mut self, request: &Request) -> Result<Option<MemoryGroup>, BatchError> {
        let Some(Confinement {
            memory_bytes,
            swap_bytes,
        }) = request.confinement
        else {
            return Ok(self.limits.memory_bytes.and_then(|limit| self.group(limit)));
        };
        check_binding(memory_bytes, available_bytes())?;
        let group = MemoryGroup::create(memory_bytes, &self.scratch, REMOVAL.exit_wait);
        let group = group.map_err(|error| refused(&error))?;
        self.swap.provide(swap_bytes, &self.scratch)?;
        Ok(Some(group))
    }

    /// A control group that keeps a worker within the run's limit. `None` if none can be created;
    /// the address space is limited instead.
    fn group(&self, limit_bytes: u64) -> Option<MemoryGroup> {
        let limit_bytes = self.group_bytes(limit_bytes);
        let group = MemoryGroup::create(limit_bytes, &self.scratch, REMOVAL.exit_wait).ok()?;
        group.forbid_swap().ok()?;
        Some(group)
    }

    /// The limit of a group: at most half of the available memory, if the system reports it.
    fn group_bytes(&self, limit_bytes: u64) -> u64 {
        let half = self.available_bytes.map(|available| available / 2);
        half.map_or(limit_bytes, |half| limit_bytes.min(half))
    }

    /// A worker that is silent for longer hangs and is killed: twice its `batch_ns` for each point, plus [`SLOWER`]
    /// times the least time of its points, plus [`PATIENCE`].
    fn patience_ns(request: &Request) -> u64 {
        let visits = request.points.len() as u64;
        (PATIENCE.as_nanos() as u64)
            .saturating_add(request.task.precision.batch_ns.saturating_mul(2 * visits))
            .saturating_add(request.least_ns.saturating_mul(SLOWER))
    }

    fn next_visit(&self, worker: &mut Worker, deadline_ns: u64) -> Result<Visited, BatchError> {
        let line = worker
            .read_line_until(deadline_ns, self.interrupt.flag())
            .map_err(broken)?
            .ok_or_else(|| BatchError::Worker("the worker ended without a result".into()))?;
        serde_json::from_str(&line).map_err(|error| {
            BatchError::Worker(format!("the worker's result cannot be read: {error}"))
        })
    }
}

/// Refuses a limit that the worker could not reach: the machine would run out of memory first, to the
/// harm of other programs, and the limit would change nothing.
fn check_binding(limit_bytes: u64, available_bytes: Option<u64>) -> Result<(), BatchError> {
    match available_bytes.filter(|available| *available < limit_bytes) {
        Some(available) => Err(BatchError::Unsupported(format!(
            "the point needs {:.3} of memory, and {:.3} are available",
            Bytes(limit_bytes),
            Bytes(available)
        ))),
        None => Ok(()),
    }
}

fn refused(error: &platform::Error) -> BatchError {
    if error.is_unavailable() {
        BatchError::Unsupported(error.to_string())
    } else {
        BatchError::Failed(error.to_string())
    }
}

fn broken(error: WorkerError) -> BatchError {
    match error {
        WorkerError::Interrupted => BatchError::Interrupted,
        other => BatchError::Worker(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::{BatchError, MeasureError, check_binding};
    use std::io::{Error, ErrorKind};

    #[test]
    fn a_limit_that_the_machine_cannot_fill_is_refused_with_both_amounts() {
        const GIB: u64 = 1 << 30;
        assert!(check_binding(GIB, Some(GIB)).is_ok());
        assert!(check_binding(GIB, None).is_ok());
        assert!(matches!(
            check_binding(2 * GIB, Some(GIB)),
            Err(BatchError::Unsupported(reason))
                if reason == "the point needs 2.00 GiB of memory, and 1.00 GiB are available"
        ));
    }

    #[test]
    fn a_missing_feature_a_disturbance_and_a_failure_differ() {
        let refused =
            |kind: ErrorKind| MeasureError::system("open a ring")(Error::from(kind)).into();
        assert!(matches!(
            refused(ErrorKind::Unsupported),
            BatchError::Unsupported(reason) if reason.starts_with("open a ring: ")
        ));
        assert!(matches!(
            refused(ErrorKind::PermissionDenied),
            BatchError::Unsupported(_)
        ));
        assert!(matches!(
            refused(ErrorKind::BrokenPipe),
            BatchError::Failed(_)
        ));
        assert!(matches!(
            MeasureError::Disturbed("it left".into()).into(),
            BatchError::Disturbed(reason) if reason == "it left"
        ));
    }
}

#[cfg(all(test, target_os = "linux"))]
mod pauses {
    use super::{Batch, Executor, Interrupt, Point, Request, Task, Visited, WorkerExecutor};
    use crate::clock::calibrate;
    use crate::setting::Profile;

    /// A process that is continued was stopped before.
    #[test]
    fn a_visit_across_a_pause_is_done_again() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let visited = serde_json::to_string(&Visited {
            batch: Batch::default(),
            failure: None,
            ended_ns: 1,
        });
        let visited = visited.unwrap();
        // A thread has taken the signal, and has a moment to count it.
        let taken = "while grep -q 'ShdPnd.*[1-9a-f]' /proc/$PPID/status; do :; done; sleep 0.1";
        let script = format!(
            "echo visit >> {0}; read request; test $(wc -l < {0}) -gt 2 || {{ kill -CONT $PPID; {taken}; }}; \
             echo '{visited}'",
            log.display()
        );
        let mut executor = WorkerExecutor {
            arguments: ["-c".into(), script].into(),
            cpu: None,
            ..WorkerExecutor::new("sh".into(), "", dir.path(), Interrupt::install().unwrap())
                .unwrap()
        };
        let request = Request {
            experiment: "made.up".into(),
            points: vec![Point::new()],
            confinement: None,
            preload: None,
            space_bytes: 0,
            least_ns: 0,
            task: Task::new(
                Profile::Quick.precision(),
                calibrate(),
                dir.path().into(),
                1,
            ),
        };
        let measured = executor.execute(&request);
        assert!(matches!(measured[..], [Ok(_)]), "{measured:?}");
        // A visit that takes minutes is given them.
        let of_minutes = Request {
            least_ns: 100_000_000_000,
            ..request.clone()
        };
        let more_ns =
            WorkerExecutor::patience_ns(&of_minutes) - WorkerExecutor::patience_ns(&request);
        assert_eq!(more_ns, 6_400_000_000_000);
        assert_eq!(std::fs::read_to_string(&log).unwrap().lines().count(), 3);
    }
}
