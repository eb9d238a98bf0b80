use std::ffi::CStr;
use std::fs::File;

use super::refuse;
use crate::Result;

pub(crate) fn getpid_syscall() -> Result<u32> {
    refuse("getpid")
}

pub(crate) fn read_byte(_file: &File) -> Result<Option<u8>> {
    refuse("read")
}

pub(crate) fn seek(_file: &File) -> Result<u64> {
    refuse("lseek")
}

pub(crate) fn open_close(_path: &CStr) -> Result<()> {
    refuse("open")
}

pub(crate) fn fopen_fclose(_path: &CStr) -> Result<()> {
    refuse("fopen")
}

pub(crate) fn create_delete(_path: &CStr) -> Result<()> {
    refuse("unlink")
}

pub(crate) fn malloc_free(_bytes: usize) -> Result<()> {
    refuse("malloc")
}

pub(crate) fn fork_exit_wait() -> Result<()> {
    refuse("fork")
}

pub(crate) fn clock_gettime() -> Result<()> {
    refuse("clock_gettime")
}

pub(crate) fn clock_gettime_syscall() -> Result<()> {
    refuse("clock_gettime")
}

pub(crate) fn write_byte(_file: &File) -> Result<()> {
    refuse("write")
}

pub(crate) fn stat(_path: &CStr) -> Result<()> {
    refuse("stat")
}

pub(crate) fn map_unmap(_bytes: usize) -> Result<()> {
    refuse("mmap")
}

pub(crate) fn thread_create_join() -> Result<()> {
    refuse("pthread_create")
}

pub(crate) fn vfork_exit_wait() -> Result<()> {
    refuse("vfork")
}

pub(crate) fn fork_exec_wait(_program: &CStr) -> Result<()> {
    refuse("fork")
}

pub(crate) fn spawn_wait(_program: &CStr) -> Result<()> {
    refuse("posix_spawn")
}

pub(crate) enum SignalProbe {}

impl SignalProbe {
    pub(crate) fn new() -> Result<Self> {
        refuse("sigaction")
    }

    pub(crate) fn install(&self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn deliver(&self) -> Result<()> {
        match *self {}
    }
}
