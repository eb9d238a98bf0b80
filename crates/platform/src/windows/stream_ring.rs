//! Windows has no `io_uring(7)`.

use std::io;
use std::ops::Range;
use std::time::Duration;

use crate::Result;
use crate::error::refuse;
use crate::stream_ring::Block;
use crate::stream_ring::Done;
use crate::stream_ring::Operation;

#[derive(Debug)]
pub enum StreamRing {}

impl StreamRing {
    pub fn new(_depth: u32, _patience: Duration) -> Result<Self> {
        refuse("io_uring")
    }

    pub fn in_flight(&self) -> usize {
        match *self {}
    }

    pub fn begin(
        &mut self,
        _tag: u64,
        _operation: Operation<'_>,
        _block: Block,
        _range: Range<usize>,
    ) -> io::Result<()> {
        match *self {}
    }

    pub fn wait(&mut self, _timeout: Duration) -> io::Result<Done> {
        match *self {}
    }
}
