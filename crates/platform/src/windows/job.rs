//! No launcher that speaks PMIx runs on Windows.

use std::ffi::CStr;
use std::sync::mpsc::Sender;
use std::time::Duration;

use crate::error::{absent, refuse};
use crate::job::{Published, Result};

pub fn host_name() -> Option<String> {
    None
}

absent! {
    enum Job = refuse("a job of several processes") => {
        fn join() -> Result<Self>;
        fn rank(&self) -> u32;
        fn size(&self) -> u32;
        fn rank_on_node(&self) -> Result<u16>;
        fn host_of(&self, _rank: u32) -> Result<String>;
        fn fence(&self, _ranks: &[u32], _limit: Duration) -> Result<()>;
        fn publish(&self, _name: &'static CStr, _bytes: &[u8]) -> Result<()>;
        fn request(&self, _name: &'static CStr, _rank: u32, _receiver: Sender<Published>) -> Result<()>;
    }
}
