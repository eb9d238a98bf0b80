use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;

use crate::error::{Error, Result, refuse};
use crate::file::OpenMode;
pub(crate) use crate::file::lacking::*;

pub(crate) fn set_mode(_options: &mut OpenOptions, mode: OpenMode) -> Result<()> {
    match mode {
        OpenMode::Plain => Ok(()),
        OpenMode::Direct => refuse("direct input and output"),
        OpenMode::Synchronous | OpenMode::DataSynchronous => refuse("synchronous output"),
    }
}

pub(crate) fn open_without_waiting(path: &Path) -> io::Result<(File, Metadata)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

pub(crate) fn become_like(file: &File, model: &Metadata) -> Result<()> {
    file.set_permissions(model.permissions())
        .map_err(Error::os("set the permissions of a file"))
}
