use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};

pub(crate) use crate::block_io::lacking::*;
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
