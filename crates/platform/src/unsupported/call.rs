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
