//! Windows has no `poll` and no `epoll` of files.

use std::fs::File;

use crate::Result;
use crate::error::refuse;

pub fn most_descriptors() -> Option<u64> {
    None
}

pub fn allow_descriptors(_count: u64) -> Result<()> {
    refuse("a limit of open files")
}

#[derive(Debug)]
pub enum PollList {}

impl PollList {
    pub fn new(_files: Vec<File>) -> Result<Self> {
        refuse("poll")
    }

    pub fn wait(&mut self) -> Result<usize> {
        match *self {}
    }
}

#[derive(Debug)]
pub enum Epoll {}

impl Epoll {
    pub fn new(_files: Vec<File>) -> Result<Self> {
        refuse("epoll")
    }

    pub fn wait(&mut self) -> Result<usize> {
        match *self {}
    }

    pub fn add_remove(&self, _file: &File) -> Result<()> {
        match *self {}
    }
}
