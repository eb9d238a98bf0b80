//! No launcher that speaks PMIx runs on Windows.

use std::ffi::CStr;
use std::sync::mpsc::Sender;
use std::time::Duration;

use crate::error::refuse;
use crate::job::{Published, Result};

pub fn host_name() -> Option<String> {
    None
}

#[derive(Debug)]
pub enum Job {}

impl Job {
    pub fn join() -> Result<Self> {
        refuse("a job of several processes")
    }

    pub fn rank(&self) -> u32 {
        match *self {}
    }

    pub fn size(&self) -> u32 {
        match *self {}
    }

    pub fn rank_on_node(&self) -> Result<u16> {
        match *self {}
    }

    pub fn host_of(&self, _rank: u32) -> Result<String> {
        match *self {}
    }

    pub fn fence(&self, _ranks: &[u32], _limit: Duration) -> Result<()> {
        match *self {}
    }

    pub fn publish(&self, _name: &'static CStr, _bytes: &[u8]) -> Result<()> {
        match *self {}
    }

    pub fn request(
        &self,
        _name: &'static CStr,
        _rank: u32,
        _receiver: Sender<Published>,
    ) -> Result<()> {
        match *self {}
    }
}
