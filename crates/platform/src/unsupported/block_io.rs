use std::fs::File;
use std::time::Duration;

use super::refuse;
use crate::Result;
use crate::block_io::{DirectAlignment, ReadManner};

pub(crate) fn read_at(_file: &File, _block: &mut [u8], _offset: u64) -> Result<usize> {
    refuse("reading at an offset")
}

pub(crate) fn write_at(_file: &File, _block: &[u8], _offset: u64) -> Result<()> {
    refuse("writing at an offset")
}

pub(crate) fn read_at_as(
    _file: &File,
    _block: &mut [u8],
    _offset: u64,
    _manner: ReadManner,
) -> Result<Option<usize>> {
    refuse("reading in another manner")
}

pub(crate) fn copy_range(_from: &File, _to: &File, _len: usize) -> Result<usize> {
    refuse("copying within the kernel")
}

pub(crate) fn share_blocks(_from: &File, _to: &File) -> Result<()> {
    refuse("sharing blocks between files")
}

pub(crate) fn direct_alignment(_file: &File) -> Result<Option<DirectAlignment>> {
    refuse("direct input and output")
}

pub(crate) fn wait_readable(_file: &File, _timeout: Duration) -> Result<bool> {
    refuse("waiting for a file")
}
