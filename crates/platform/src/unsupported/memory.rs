use std::fs::File;

use crate::error::{Result, refuse};
use crate::file::Access;
pub(crate) use crate::memory::lacking::*;
use crate::memory::{Advice, PageSize};

#[derive(Debug)]
pub(crate) enum Region {}

impl Region {
    pub(crate) fn anonymous(_len: usize, _page_size: PageSize) -> Result<Self> {
        refuse("memory of a known page size")
    }

    pub(crate) fn file(_file: &File, _offset: u64, _len: usize, _access: Access) -> Result<Self> {
        refuse("mapping a file")
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        match *self {}
    }

    pub(crate) fn as_mut_slice(&mut self) -> &mut [u8] {
        match *self {}
    }

    pub(crate) fn has_lost(&self) -> bool {
        match *self {}
    }

    pub(crate) fn populate(&mut self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn huge_bytes(&self) -> Result<u64> {
        match *self {}
    }

    pub(crate) fn advise(&mut self, _advice: Advice) -> Result<()> {
        match *self {}
    }

    pub(crate) fn page_out(&mut self) -> Result<()> {
        match *self {}
    }

    pub(crate) fn bind_to_node(&mut self, _node: usize) -> Result<()> {
        match *self {}
    }

    pub(crate) fn bytes_on_node(&self, _node: usize) -> Result<u64> {
        match *self {}
    }

    pub(crate) fn resident_bytes(&self) -> Result<u64> {
        match *self {}
    }

    pub(crate) fn sync(&self) -> Result<()> {
        match *self {}
    }
}
