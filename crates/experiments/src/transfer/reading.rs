//! Preparing a file for the state and the order in which the sender finds it.

use super::endpoint::Connection;
use super::levels::Reading;
use ::transfer::Timing;
use ::transfer::method::SendMethod;
use ::transfer::sender::Contents;
use instrument::experiment::MeasureError;
use instrument::statistics::random::Random;
use platform::file::{Access, LockedFile};
use platform::memory::FileMapping;
use std::fs::File;
use std::path::{Path, PathBuf};

/// Bytes that are read at a time in random order.
const BLOCK: usize = 4096;

impl Reading {
    /// Prepares the file for it.
    pub(super) fn prepare(
        self,
        method: SendMethod,
        file: File,
        path: &Path,
        seed: u64,
    ) -> Result<Prepared, MeasureError> {
        if self == Self::First {
            return Ok(Prepared::Closed(path.to_owned()));
        }
        let len = file
            .metadata()
            .map_err(MeasureError::system("look at the source"))?
            .len();
        let order = (self == Self::RandomOrder).then(|| {
            let mut offsets: Vec<u64> = (0..len).step_by(BLOCK).collect();
            Random::new(seed).shuffle(&mut offsets);
            offsets
        });
        match method {
            SendMethod::Mmap => Ok(Prepared::Mapped {
                source: Source::map(file, len)?,
                order,
            }),
            _ => Ok(Prepared::Open { file, order }),
        }
    }
}

/// A file that is ready to be sent.
pub(super) enum Prepared {
    Closed(PathBuf),
    Open {
        file: File,
        order: Option<Vec<u64>>,
    },
    Mapped {
        source: Source,
        order: Option<Vec<u64>>,
    },
}

/// A file that stays mapped. Its mapping borrows the lock, which never moves.
pub(super) struct Source {
    mapping: FileMapping<'static>,
}

impl Source {
    fn map(file: File, len: u64) -> Result<Self, MeasureError> {
        // Leaked: the mapping lives as long as the process, which ends after the
        // measurement.
        let locked = Box::leak(Box::new(LockedFile::lock(file, Access::Read)?));
        let mapping = FileMapping::new(locked, 0, len as usize)?;
        // Touches every page, so that all are present.
        std::hint::black_box(
            mapping
                .as_slice()
                .iter()
                .fold(0, |sum: u8, byte| sum ^ byte),
        );
        Ok(Self { mapping })
    }
}

impl Prepared {
    /// Sends the file, all of it, and waits until it is there.
    pub(super) fn transfer(
        &mut self,
        connection: &mut Connection,
        size: u64,
    ) -> Result<Timing, MeasureError> {
        match self {
            Self::Closed(path) => {
                let file = File::open(path).map_err(MeasureError::system("open the source"))?;
                connection.transfer(size, Contents::File(&file))
            }
            Self::Open { file, order: None } => connection.transfer(size, Contents::File(file)),
            Self::Open {
                file,
                order: Some(order),
            } => {
                let offsets = &mut order.iter().copied();
                connection.transfer(
                    size,
                    Contents::Scattered {
                        file,
                        block: BLOCK,
                        offsets,
                    },
                )
            }
            Self::Mapped {
                source,
                order: None,
            } => connection.transfer(size, Contents::Memory(source.mapping.as_slice())),
            Self::Mapped {
                source,
                order: Some(order),
            } => {
                let bytes = source.mapping.as_slice();
                let mut blocks = order.iter().map(|offset| {
                    let start = *offset as usize;
                    (*offset, &bytes[start..(start + BLOCK).min(bytes.len())])
                });
                connection.transfer(size, Contents::Blocks(&mut blocks))
            }
        }
    }
}
