use crate::error::{Result, refuse};
pub(crate) use crate::shared::lacking::*;

#[derive(Debug)]
pub(crate) enum Ring {}

impl Ring {
    pub(crate) fn new(_capacity: usize) -> Result<Self> {
        refuse("memory shared with another process")
    }

    pub(crate) fn send(&self, _message: &[u8]) {
        match *self {}
    }

    pub(crate) fn receive(&self, _message: &mut [u8]) {
        match *self {}
    }
}
