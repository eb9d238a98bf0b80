//! The calls by their names.

use crate::prelude::*;

/// The calls, related ones side by side, those of Linux before those of Windows. Each goes by the name that its
/// system gives it.
#[derive(Choice, Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::process) enum Call {
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
