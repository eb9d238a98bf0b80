//! The design of `process.calls`.

use super::call::Call;
use crate::optimisation::{OPTIMISATION, Optimisation};
use crate::prelude::*;

pub(super) const CALL: AxisOf<Call> = AxisOf::new("call", "call");

pub(super) const RATE: Metric<&str> = Metric::rate("rate", "rate").bounded(MOST_PER_SECOND);
pub(super) const LATENCY: Metric<&str> = Metric::time("latency", "latency");

/// Even a pair of calls that do nothing takes half a nanosecond.
const MOST_PER_SECOND: f64 = 2e9;

impl Call {
    /// The component that its cost speaks of.
    pub(super) fn component(self) -> Component {
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
    pub(super) fn leaves_nothing(self) -> bool {
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
pub(super) const REPORTED: &[Call] = &[
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
pub(super) const AS_REPORTED: [Call; 3] = [Call::FopenWrite, Call::OpenSync, Call::CreateSync];

/// Bytes taken from the allocator, as in the report.
pub(super) const MALLOC_BYTES: usize = 4;
/// Bytes mapped: a page of the smallest size that is common.
pub(super) const MAP_BYTES: usize = 4096;
/// Length of the file that is read byte by byte. Seeking back to its start costs two calls in this
/// many.
pub(super) const FILE_BYTES: u64 = 16 << 10;

/// The point of a call, repeated by a loop of this level.
pub(super) fn point(call: Call, optimisation: Optimisation) -> Point {
    Point::new().at(CALL, call).at(OPTIMISATION, optimisation)
}

pub(in crate::process) const DESIGN: Design = Design {
    id: "process.calls",
    title: "Calls per second",
    question: "What do system calls cost, and what do the library calls on top of them cost?",
    method: formatcp!(
        "Each operation is repeated n times in each leg. Shorter legs show the fixed cost of the \
         loop and the clock, which is subtracted. The loop is compiled at optimisation 3 and, for \
         the calls of the report, also at 0. It calls the operation through a pointer; the C \
         library is the same at both levels. Latency is measured separately: single operations, \
         each between two readings of the clock, whose cost is subtracted. On Linux all calls \
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
         process.fork_size measures larger ones. Files are in the scratch directory. Windows has \
         calls of its own for the same purposes, by their own names; what it lacks is not \
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
