//! The calls of each system, and the calls of two systems that serve the same purpose.

use super::call::Call;
use crate::prelude::*;

const KERNEL: &str =
    "Each is a short call into the kernel: getpid tells one fact, NtQueryInformationProcess six.";
const CLOCK: &str = "Each system has calls of its own for its clock: clock_gettime converts to nanoseconds, the calls \
                     of Windows return ticks.";
const OPEN_FILE: &str = "Each system has calls of its own for open files: read, write and lseek; ReadFile, WriteFile \
                         and SetFilePointerEx.";
const NAMED_FILE: &str = "Each system has calls and a file system of its own: GetFileAttributesEx for stat, \
                          CreateFile for open, CloseHandle for close, DeleteFile for unlink.";
const WRITE_THROUGH: &str =
    "CreateFile with FILE_FLAG_WRITE_THROUGH stands beside open with O_SYNC.";
const MEMORY: &str =
    "VirtualAlloc and VirtualFree stand beside mmap and munmap; the memory is not touched.";
const LIBRARY: &str = "The source is the same, the C library is that of each system.";
const THREAD: &str =
    "CreateThread and a wait for the thread stand beside pthread_create and pthread_join.";
pub(in super::super) const PROGRAM: &str = "CreateProcess makes a process and starts its program in one call, Linux by fork and exec. The \
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
    /// The calls that `system` has.
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

    /// The call of Linux for the same purpose: itself, or the one in whose place it stands.
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
    use super::Call;
    use crate::prelude::*;

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
