//! The calls, and how each is done once.

use super::{Call, FILE_BYTES, LATENCY, MALLOC_BYTES, MAP_BYTES, RATE};
use crate::fresh_place::FreshPlace;
use crate::prelude::*;
use kernels::levels::Level;
use platform::call::{self, CallPath, SignalProbe};
use platform::file::{OpenMode, create, null_device};
use platform::memory::{Mapping, PageSize};
use std::fs::File;
use std::hint::black_box;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

pub(super) fn measure(
    call: Call,
    level: Level,
    sampler: &mut Sampler<'_>,
) -> Result<(), MeasureError> {
    let path = ScratchPath::new(sampler.scratch(), "process.calls")?;
    let name = &path.of_calls;
    match call {
        Call::Getpid | Call::QueryProcess => {
            time(level, sampler, || call::getpid_syscall().map(drop))
        }
        Call::Clock | Call::QueryCounter => time(level, sampler, call::clock_gettime),
        Call::ClockSyscall | Call::QueryCounterSyscall => {
            time(level, sampler, call::clock_gettime_syscall)
        }
        Call::Read | Call::ReadFile => {
            let mut file = path.make_file()?;
            time(level, sampler, || read_byte(&mut file))
        }
        Call::Write | Call::WriteFile => {
            let null = File::options()
                .write(true)
                .open(null_device()?)
                .map_err(MeasureError::system("open the null device"))?;
            time(level, sampler, || call::write_byte(&null))
        }
        Call::Seek | Call::SetFilePointer => {
            let file = path.make_file()?;
            time(level, sampler, || call::seek(&file).map(drop))
        }
        Call::Stat | Call::GetFileAttributes => {
            path.make_file()?;
            time(level, sampler, || call::stat(name))
        }
        Call::Open | Call::CreateFile => {
            path.make_file()?;
            time(level, sampler, || call::open_close(name))
        }
        Call::Fopen => {
            path.make_file()?;
            time(level, sampler, || call::fopen_fclose(name))
        }
        Call::Create | Call::CreateDeleteFile => {
            time_in_fresh_place(level, sampler, call::create_delete)
        }
        Call::FopenWrite => {
            path.make_empty()?;
            time(level, sampler, || call::fopen_write_fclose(name))
        }
        Call::OpenSync | Call::CreateFileThrough => {
            path.make_empty()?;
            time(level, sampler, || call::open_sync_close(name))
        }
        Call::CreateSync | Call::CreateDeleteFileThrough => {
            time_in_fresh_place(level, sampler, call::create_sync_delete)
        }
        Call::Map | Call::VirtualAlloc => {
            // The kernel places the next mapping below this one. This one is in base pages only, so the
            // kernel cannot merge the two, as it would with ordinary memory of the C library.
            let _neighbour = Mapping::anonymous(MAP_BYTES, PageSize::Base)?;
            time(level, sampler, || call::map_unmap(MAP_BYTES))
        }
        Call::Malloc => time(level, sampler, || {
            call::malloc_free(black_box(MALLOC_BYTES))
        }),
        Call::SignalInstall => {
            let probe = SignalProbe::new()?;
            time(level, sampler, || probe.install())
        }
        Call::SignalDeliver => {
            let probe = SignalProbe::new()?;
            time(level, sampler, || probe.deliver())
        }
        Call::Thread | Call::CreateThread => time(level, sampler, call::thread_create_join),
        Call::Vfork => time(level, sampler, call::vfork_exit_wait),
        Call::Fork => time(level, sampler, call::fork_exit_wait),
        Call::Spawn | Call::CreateProcess => {
            let program = call::program_that_does_nothing()?;
            time(level, sampler, || call::spawn_wait(&program))
        }
        Call::ForkExec => {
            let program = call::program_that_does_nothing()?;
            time(level, sampler, || call::fork_exec_wait(&program))
        }
    }
}

/// Times an operation: its rate in a loop of this level, and, once for all levels, its latency, in
/// which there is no loop.
fn time<E: Into<MeasureError>>(
    level: Level,
    sampler: &mut Sampler<'_>,
    mut operation: impl FnMut() -> Result<(), E>,
) -> Result<(), MeasureError> {
    sampler.repeat(RATE, 1.0, |iterations| {
        let mut failure = None;
        let mut went_well = || match operation() {
            Ok(()) => true,
            Err(error) => {
                failure = Some(error);
                false
            }
        };
        level.repeat(iterations, &mut went_well);
        failure.map_or(Ok(()), |error| Err(error.into()))
    })?;
    if level == Level::O3 {
        sampler.latencies(LATENCY, || operation().map_err(E::into))?;
    }
    Ok(())
}

/// As [`time`], of an operation that makes the file of this name in a directory where that is cheap.
fn time_in_fresh_place(
    level: Level,
    sampler: &mut Sampler<'_>,
    operation: fn(&CallPath) -> platform::Result<()>,
) -> Result<(), MeasureError> {
    let parent = sampler.scratch().join("process.calls places");
    let place = FreshPlace::find(parent, sampler.seed())?;
    let path = ScratchPath::new(place.path(), "file")?;
    time(level, sampler, || operation(&path.of_calls))
}

/// Reads the next byte, or seeks back to the start at the end of the file.
#[inline]
fn read_byte(file: &mut File) -> Result<(), MeasureError> {
    if black_box(call::read_byte(file)?).is_none() {
        file.seek(SeekFrom::Start(0))
            .map_err(MeasureError::system("seek to the start of the file"))?;
    }
    Ok(())
}

/// A path in the scratch directory in both of its forms.
struct ScratchPath {
    path: PathBuf,
    of_calls: CallPath,
}

impl ScratchPath {
    fn new(scratch: &Path, name: &str) -> Result<Self, MeasureError> {
        let path = scratch.join(name);
        let of_calls = CallPath::new(&path)?;
        Ok(Self { path, of_calls })
    }

    fn make_empty(&self) -> Result<(), MeasureError> {
        create(&self.path, OpenMode::Plain)?;
        Ok(())
    }

    fn make_file(&self) -> Result<File, MeasureError> {
        let mut file = create(&self.path, OpenMode::Plain)?;
        file.write_all(&[1; FILE_BYTES as usize])
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .map_err(MeasureError::system("fill a scratch file"))?;
        Ok(file)
    }
}

const KERNEL: &str =
    "Each is a short call into the kernel: getpid tells one fact, NtQueryInformationProcess six.";
const CLOCK: &str = "Each system has its own calls for its clock: clock_gettime converts to nanoseconds, the calls \
                     of Windows return ticks.";
const OPEN_FILE: &str = "Each system has its own calls for open files: read, write and lseek; ReadFile, WriteFile \
                         and SetFilePointerEx.";
const NAMED_FILE: &str = "Each system has its own calls and file system: GetFileAttributesEx for stat, \
                          CreateFile for open, CloseHandle for close, DeleteFile for unlink.";
const WRITE_THROUGH: &str =
    "CreateFile with FILE_FLAG_WRITE_THROUGH is compared with open with O_SYNC.";
const MEMORY: &str =
    "VirtualAlloc and VirtualFree are compared with mmap and munmap; the memory is not touched.";
const LIBRARY: &str = "The source is the same, the C library is that of each system.";
const THREAD: &str =
    "CreateThread and a wait for the thread are compared with pthread_create and pthread_join.";
pub(in crate::process) const PROGRAM: &str = "CreateProcess makes a process and starts its program in one call, Linux by fork and exec. The \
                       program is cmd.exe on Windows and true on Linux.";

/// The calls of Linux and of Windows for one purpose, with their difference. A call on both sides is one source.
const PAIRS: [(Call, Call, &str); 17] = [
    (Call::Getpid, Call::QueryProcess, KERNEL),
    (Call::Clock, Call::QueryCounter, CLOCK),
    (Call::ClockSyscall, Call::QueryCounterSyscall, CLOCK),
    (Call::Read, Call::ReadFile, OPEN_FILE),
    (Call::Write, Call::WriteFile, OPEN_FILE),
    (Call::Seek, Call::SetFilePointer, OPEN_FILE),
    (Call::Stat, Call::GetFileAttributes, NAMED_FILE),
    (Call::Open, Call::CreateFile, NAMED_FILE),
    (Call::Create, Call::CreateDeleteFile, NAMED_FILE),
    (Call::Fopen, Call::Fopen, LIBRARY),
    (Call::FopenWrite, Call::FopenWrite, LIBRARY),
    (Call::OpenSync, Call::CreateFileThrough, WRITE_THROUGH),
    (
        Call::CreateSync,
        Call::CreateDeleteFileThrough,
        WRITE_THROUGH,
    ),
    (Call::Map, Call::VirtualAlloc, MEMORY),
    (Call::Malloc, Call::Malloc, LIBRARY),
    (Call::Thread, Call::CreateThread, THREAD),
    (Call::ForkExec, Call::CreateProcess, PROGRAM),
];

impl Call {
    pub(super) fn of(system: System) -> impl Iterator<Item = Self> {
        let calls = Self::ALL.iter().copied();
        calls.filter(move |call| call.is_of(system))
    }

    /// True if `system` has the call. Systems other than Windows have those of POSIX.
    pub(super) fn is_of(self, system: System) -> bool {
        match system {
            System::Windows => PAIRS.iter().any(|(_, windows, _)| *windows == self),
            System::Linux | System::Other => self.on_linux() == self,
        }
    }

    /// The call of Linux for the same purpose: itself, or the one that it replaces.
    pub(super) fn on_linux(self) -> Self {
        let pair = PAIRS.iter().find(|(_, windows, _)| *windows == self);
        pair.map_or(self, |(linux, ..)| *linux)
    }

    /// The call of `other` for the same purpose, and the difference for readers.
    pub(super) fn counterpart(self, other: System) -> Option<(Self, &'static str)> {
        let found = PAIRS.iter().find_map(|(linux, windows, difference)| {
            let (own, counterpart) = match other {
                System::Windows => (*linux, *windows),
                System::Linux | System::Other => (*windows, *linux),
            };
            (own == self).then_some((counterpart, *difference))
        });
        found.filter(|_| other != System::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_call_is_of_one_system_unless_its_source_is_the_same() {
        for call in Call::ALL {
            let of_both = call.is_of(System::Linux) && call.is_of(System::Windows);
            let of_one = call.is_of(System::Linux) || call.is_of(System::Windows);
            let is_c = matches!(call, Call::Fopen | Call::FopenWrite | Call::Malloc);
            assert!(of_one && of_both == is_c, "{call}");
        }
        assert_eq!(Call::of(System::Linux).count(), 22);
        assert_eq!(Call::of(System::Windows).count(), 17);
    }

    #[test]
    fn a_counterpart_leads_back() {
        for call in Call::of(System::Windows) {
            let (linux, difference) = call.counterpart(System::Linux).expect("all have one");
            assert_eq!(linux, call.on_linux());
            assert_eq!(linux.counterpart(System::Windows), Some((call, difference)));
        }
        for call in [Call::Fork, Call::Vfork, Call::Spawn, Call::SignalDeliver] {
            assert_eq!(call.counterpart(System::Windows), None);
        }
    }
}
