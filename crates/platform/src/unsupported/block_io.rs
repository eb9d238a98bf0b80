use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::time::Duration;

use super::refuse;
use crate::block_io::{DirectAlignment, ReadManner};
use crate::{Error, Result};

// The file position moves here, since no portable call keeps it.

pub(crate) fn read_at(mut file: &File, block: &mut [u8], offset: u64) -> Result<usize> {
    let read = file.seek(SeekFrom::Start(offset));
    read.and_then(|_| file.read(block))
        .map_err(Error::os("read a file"))
}

pub(crate) fn write_at(mut file: &File, block: &[u8], offset: u64) -> Result<()> {
    let written = file.seek(SeekFrom::Start(offset));
    written
        .and_then(|_| file.write_all(block))
        .map_err(Error::os("write a file"))
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

pub(crate) fn wait_writable(_file: &File, _timeout: Duration) -> Result<bool> {
    refuse("waiting for a file")
}

pub(crate) fn wait_readable(_file: &File, _timeout: Duration) -> Result<bool> {
    refuse("waiting for a file")
}
