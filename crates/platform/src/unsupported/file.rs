use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use super::refuse;
use crate::Result;
use crate::file::{Caches, Eviction, OpenMode, Reach, Residency};

pub(crate) fn set_mode(_options: &mut OpenOptions, mode: OpenMode) -> Result<()> {
    match mode {
        OpenMode::Plain => Ok(()),
        OpenMode::Direct => refuse("direct input and output"),
        OpenMode::Synchronous | OpenMode::DataSynchronous => refuse("synchronous output"),
    }
}

pub(crate) fn is_named_pipe(_metadata: &Metadata) -> bool {
    false
}

pub(crate) fn is_character_device(_metadata: &Metadata) -> bool {
    false
}

pub(crate) fn open_write_without_waiting(_path: &Path, _mode: OpenMode) -> Result<Option<File>> {
    refuse("opening a pipe without waiting")
}

pub(crate) fn open_without_waiting(path: &Path) -> io::Result<(File, Metadata)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

pub(crate) fn set_permissions(_options: &mut OpenOptions, _model: &Metadata) {}

pub(crate) fn become_like(file: &File, model: &Metadata) -> Result<()> {
    file.set_permissions(model.permissions())
        .map_err(crate::Error::os("set the permissions of a file"))
}

pub(crate) fn path_of_descriptor(_file: &File) -> Option<PathBuf> {
    None
}

pub(crate) fn standard_input() -> Result<File> {
    refuse("standard input as a file")
}

pub(crate) fn is_socket(_metadata: &Metadata) -> bool {
    false
}

pub(crate) fn allocated_bytes(_metadata: &Metadata) -> Option<u64> {
    None
}

pub(crate) fn is_same(_one: &Metadata, _other: &Metadata) -> bool {
    false
}

pub(crate) fn allocate(_file: &File, _offset: u64, _len: u64) -> Result<()> {
    refuse("allocating room for a file")
}

pub(crate) fn reserve(_file: &File, _offset: u64, _len: u64) -> Result<()> {
    refuse("allocating room for a file")
}

pub(crate) fn finds_room_by_page(_file: &File) -> bool {
    false
}

pub(crate) fn create_secret(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn next_data(_file: &File, offset: u64, len: u64) -> io::Result<Option<(u64, u64)>> {
    Ok((offset < len).then_some((offset, len)))
}

pub(crate) fn evict(_file: &File, _reach: Reach) -> Result<Eviction> {
    refuse("evicting a file from the page cache")
}

pub(crate) fn drop_caches(_caches: Caches) -> Result<()> {
    refuse("dropping caches")
}

pub(crate) fn residency(_file: &File) -> Result<Residency> {
    refuse("asking for the residency of a file")
}
