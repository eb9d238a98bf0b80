//! `process.calls`: the cost of calls into the system and its library.

mod findings;
pub(super) mod operations;

use crate::estimates::{grade, ratio, time_ns};
use crate::figures::bars;
use crate::optimisation::{self, Compiler, OPTIMISATION, Optimisation};
use crate::prelude::*;

pub(super) const CALL: AxisOf<Call> = AxisOf::new("call", "call");

pub(super) const RATE: Metric = Metric::rate("rate", "rate").bounded(MOST_PER_SECOND);
const LATENCY: Metric = Metric::time("latency", "latency");

/// Even a pair of calls that do nothing takes half a nanosecond.
const MOST_PER_SECOND: f64 = 2e9;

impl Call {
    fn component(self) -> Component {
        match self.on_linux() {
            // Neither enters the kernel as a rule.
            Self::Clock | Self::Malloc => Component::Core,
            Self::Thread => Component::Threads,
            Self::Vfork | Self::Fork | Self::Spawn | Self::ForkExec => Component::Processes,
            Self::OpenSync | Self::CreateSync => Component::Disk,
            _ => Component::Calls,
        }
    }

    /// True if the process is afterwards as it was: without new mappings, handlers, files or children.
    fn leaves_nothing(self) -> bool {
        matches!(
            self.on_linux(),
            Self::Getpid
                | Self::Clock
                | Self::ClockSyscall
                | Self::Read
                | Self::Write
                | Self::Seek
                | Self::Stat
                | Self::Open
                | Self::Fopen
        )
    }
}

/// The calls of the report, which it measured with and without optimisation.
const REPORTED: &[Call] = &[
    Call::Getpid,
    Call::Fopen,
    Call::Open,
    Call::Create,
    Call::FopenWrite,
    Call::OpenSync,
    Call::CreateSync,
    Call::Malloc,
    Call::Fork,
];

/// The calls with the flags that the report gives them.
const AS_REPORTED: [Call; 3] = [Call::FopenWrite, Call::OpenSync, Call::CreateSync];

/// Bytes taken from the allocator, as in the report.
const MALLOC_BYTES: usize = 4;
/// Bytes mapped: a page of the smallest size that is common.
const MAP_BYTES: usize = 4096;
/// Length of the file that is read byte by byte. Seeking back to its start costs two calls in this
/// many.
const FILE_BYTES: u64 = 16 << 10;

fn point(call: Call, optimisation: Optimisation) -> Point {
    Point::new().at(CALL, call).at(OPTIMISATION, optimisation)
}

pub(super) const DESIGN: Design = Design {
    id: "process.calls",
    title: "Calls per second",
    question: "What do system calls cost, and what do the library calls on top of them cost?",
    method: formatcp!(
        "Each operation is repeated n times in each leg. Shorter legs show the fixed cost of the \
         loop and the clock, which is subtracted. The loop is compiled at optimisation 3 and, for \
         the calls of the report, also at 0. It calls the operation through a pointer; the C \
         library is the same at both levels. Latency is measured separately: single operations, \
         each between two readings of the clock, whose cost is subtracted. It is the median of single \
         calls, where a rate has the mean of calls in a row: the two differ. On Linux all calls \
         go through the C library. getpid: one system call that no library answers from memory. \
         clock_gettime: the monotonic clock as programs read it, and separately by a system call. \
         read 1 byte: one read of a regular file in the page cache, with a seek to its start after \
         {FILE_BYTES} bytes. write 1 byte: one write to /dev/null. lseek: one step of 1 byte. \
         stat: an existing file. open+close: one of each on an existing file. fopen+fclose: the \
         same through a stream, without a read. create+delete: open of a file that did not exist, \
         close and unlink, without waiting for the device, in a directory where nothing was \
         removed lately, as file.metadata describes. fopen w+fclose, open O_SYNC+close and create \
         O_SYNC+delete: the same as the report calls them, with \"w\", which cuts the empty file \
         to nothing, and with O_RDWR, O_SYNC and O_CREAT. mmap+munmap: {MAP_BYTES} bytes of \
         private memory, untouched, next to no mapping with which the kernel would merge them. \
         malloc+free: {MALLOC_BYTES} bytes, untouched. signal: sigaction installs a handler that \
         only counts; separately, a signal to this thread (tgkill) is handled and returns. thread \
         create+join: a thread that ends at once. fork+exit+wait: a child that ends at once; the \
         parent waits for it before it makes the next. vfork+exit+wait: the same with a child that \
         borrows its parent's memory (clone with CLONE_VM and CLONE_VFORK). posix_spawn+wait and \
         fork+exec+wait: the program `true`, started without environment and waited for; its own \
         start and end are included. The parent of the children is a small process; \
         process.fork_size measures larger ones. Files are in the scratch directory. Windows has its own \
         calls for the same purposes, by their own names; what it does not have is not \
         measured there. NtQueryInformationProcess: the process id, asked of the kernel. \
         QueryPerformanceCounter: the clock as programs read it; NtQueryPerformanceCounter: by a \
         system call. ReadFile, WriteFile and SetFilePointerEx: as read, write and lseek, with NUL \
         for /dev/null. GetFileAttributesEx: as stat. CreateFile, CloseHandle and DeleteFile: as \
         open, close and unlink; WRITE_THROUGH is FILE_FLAG_WRITE_THROUGH, in place of O_SYNC. \
         VirtualAlloc+VirtualFree: {MAP_BYTES} bytes, reserved and committed, untouched. \
         CreateThread+wait: a thread that ends at once. CreateProcess+wait: cmd.exe, which exits \
         at once, with the environment of its parent. malloc and fopen are those of msvcrt.dll."
    ),
    source: "Report E, section 5.1, and common practice",
    axes: &[CALL.axis(), OPTIMISATION.axis()],
    metrics: &[RATE, LATENCY],
};

/// The calls, related ones next to each other, those of Linux before those of Windows. Each goes by the name
/// that its system gives it.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Getpid,
    #[choice("clock_gettime")]
    Clock,
    #[choice("clock_gettime, system call")]
    ClockSyscall,
    #[choice("read 1 byte")]
    Read,
    #[choice("write 1 byte")]
    Write,
    #[choice("lseek")]
    Seek,
    Stat,
    #[choice("open+close")]
    Open,
    #[choice("fopen+fclose")]
    Fopen,
    #[choice("create+delete")]
    Create,
    /// The report's own flags: cut to nothing, and `O_SYNC` with `O_CREAT`.
    #[choice("fopen w+fclose")]
    FopenWrite,
    #[choice("open O_SYNC+close")]
    OpenSync,
    #[choice("create O_SYNC+delete")]
    CreateSync,
    #[choice("mmap+munmap")]
    Map,
    #[choice("malloc+free")]
    Malloc,
    #[choice("signal, install")]
    SignalInstall,
    #[choice("signal, deliver")]
    SignalDeliver,
    #[choice("thread create+join")]
    Thread,
    #[choice("vfork+exit+wait")]
    Vfork,
    #[choice("fork+exit+wait")]
    Fork,
    #[choice("posix_spawn+wait")]
    Spawn,
    #[choice("fork+exec+wait")]
    ForkExec,
    #[choice("NtQueryInformationProcess")]
    QueryProcess,
    #[choice("QueryPerformanceCounter")]
    QueryCounter,
    #[choice("NtQueryPerformanceCounter")]
    QueryCounterSyscall,
    #[choice("ReadFile 1 byte")]
    ReadFile,
    #[choice("WriteFile 1 byte")]
    WriteFile,
    #[choice("SetFilePointerEx")]
    SetFilePointer,
    #[choice("GetFileAttributesEx")]
    GetFileAttributes,
    #[choice("CreateFile+CloseHandle")]
    CreateFile,
    #[choice("CreateFile+CloseHandle+DeleteFile")]
    CreateDeleteFile,
    #[choice("CreateFile WRITE_THROUGH+CloseHandle")]
    CreateFileThrough,
    #[choice("CreateFile WRITE_THROUGH+CloseHandle+DeleteFile")]
    CreateDeleteFileThrough,
    #[choice("VirtualAlloc+VirtualFree")]
    VirtualAlloc,
    #[choice("CreateThread+wait")]
    CreateThread,
    #[choice("CreateProcess+wait")]
    CreateProcess,
}

pub(crate) struct Calls;

impl Experiment for Calls {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Space(Bytes(2 * FILE_BYTES))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points_on(System::here(), setting.profile)
    }

    fn shares_process(&self, point: &Point) -> bool {
        point.level(CALL).is_ok_and(Call::leaves_nothing)
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        Some(point.level(CALL).ok()?.component())
    }

    fn counterpart(&self, point: &Point, _metric: &str, other: System) -> Option<Counterpart> {
        let (call, optimisation) = (point.level(CALL).ok()?, point.level(OPTIMISATION).ok()?);
        let (call, difference) = call.counterpart(other)?;
        Some(Counterpart::Like {
            point: self::point(call, optimisation),
            difference,
        })
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let (call, optimisation) = (point.level(CALL)?, point.level(OPTIMISATION)?);
        if !call.is_of(System::here()) {
            let missing = format!("{} has no {call}", System::here());
            return Err(MeasureError::Unsupported(missing));
        }
        optimisation::loops(Compiler::Rust, optimisation, sampler);
        operations::measure(call, optimisation.0, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let figure = |metric, title: &str| {
            let series = [Optimisation::FULL, Optimisation::NONE].map(|level| {
                let label = format!("optimisation {}", level.digit());
                results.series(&label, metric, CALL, &[OPTIMISATION.at(level)])
            });
            let series = series.into_iter().filter(|line| !line.points.is_empty());
            bars(metric, title, (CALL, metric), series.collect())
        };
        vec![
            figure(RATE, "Calls per second"),
            figure(LATENCY, "Time of a single call"),
        ]
    }
}

fn points_on(system: System, profile: Profile) -> Vec<Point> {
    // The report's own flags are for comparison with it; the shorter profiles have little time for them.
    let is_wanted = |call: Call, shortest: Profile| {
        let profiles = Profile::ALL.into_iter();
        let mut enough = profiles.skip_while(|profile| *profile != shortest);
        !AS_REPORTED.contains(&call.on_linux()) || enough.any(|it| it == profile)
    };
    let optimised = Call::of(system).filter(|call| is_wanted(*call, Profile::Standard));
    let optimised = optimised.map(|call| point(call, Optimisation::FULL));
    let unoptimised = REPORTED.iter().copied();
    let unoptimised = unoptimised.filter(|call| call.is_of(system));
    let unoptimised = unoptimised.filter(|call| is_wanted(*call, Profile::Thorough));
    let unoptimised = unoptimised.map(|call| point(call, Optimisation::NONE));
    optimised.chain(unoptimised).collect()
}

/// The rate of a call in a loop at optimisation 3.
pub(super) fn rate<'r>(results: &'r Results, call: Call) -> Option<&'r Estimate> {
    let levels = [CALL.at(call), OPTIMISATION.at(Optimisation::FULL)];
    results.sound(RATE, &levels)
}

fn cost(results: &Results, call: Call) -> Option<Quantity> {
    time_ns(rate(results, call)?, 1.0)
}

fn times(results: &Results, call: Call, other: Call) -> Option<Quantity> {
    ratio(rate(results, other)?, rate(results, call)?)
}

/// Two calls side by side.
struct Compared {
    cost: Quantity,
    other: Quantity,
    times: Quantity,
}

fn comparison(
    results: &Results,
    key: &str,
    (call, other): (Call, Call),
    say: impl FnOnce(&Compared) -> Sentence,
) -> Option<Finding> {
    let compared = Compared {
        cost: cost(results, call)?,
        other: cost(results, other)?,
        times: times(results, call, other)?,
    };
    let finding = Finding::new(key, say(&compared))
        .with_number("cost", compared.cost)
        .with_number("other", compared.other)
        .with_number("times", compared.times);
    Some(finding.graded(grade(&compared.times, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::{count, sampled, setting};

    fn calls(system: System, profile: Profile) -> Vec<Call> {
        let points = points_on(system, profile).into_iter();
        points.filter_map(|it| it.level(CALL).ok()).collect()
    }

    #[test]
    fn each_system_has_points_of_its_own() {
        let linux = calls(System::Linux, Profile::Thorough);
        assert_eq!(linux.len(), 22 + REPORTED.len());
        assert_eq!((linux[0], linux[21]), (Call::Getpid, Call::ForkExec));
        let windows = calls(System::Windows, Profile::Thorough);
        assert_eq!(windows.len(), 17 + 3);
        assert!(windows.contains(&Call::CreateFileThrough) && !windows.contains(&Call::Open));
        let quick = calls(System::Windows, Profile::Quick);
        assert!(quick.contains(&Call::CreateProcess) && !quick.contains(&Call::CreateFileThrough));
    }

    #[test]
    fn every_call_is_measured_here() {
        for point in Calls.points(&setting(Profile::Thorough)) {
            let samples = sampled(&Calls, &point, &[RATE]);
            let is_optimised = point.level(OPTIMISATION) == Ok(Optimisation::FULL);
            let latencies = count(&samples, LATENCY);
            assert_eq!(latencies, usize::from(is_optimised), "{point}");
            let mut costs = samples.iter().flat_map(|it| it.reading.costs());
            assert!(costs.all(|cost| cost.raw_ns >= 0.0), "{point}");
        }
    }
}
