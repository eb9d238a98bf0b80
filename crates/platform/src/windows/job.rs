//! No launcher that speaks PMIx runs on Windows.

use std::ffi::CStr;
use std::sync::mpsc::Sender;
use std::time::Duration;

use crate::error::{absent, refuse};
use crate::job::{Published, Result};

absent! {
    fn host_name() -> Option<String> = None;
}

absent! {
    enum Job = refuse("a job of several processes") => {
        fn join() -> Result<Self>;
        fn rank(&self) -> u32;
        fn size(&self) -> u32;
        fn rank_on_node(&self) -> Result<u16>;
        fn host_of(&self, u32) -> Result<String>;
        fn fence(&self, &[u32], Duration) -> Result<()>;
        fn publish(&self, &'static CStr, &[u8]) -> Result<()>;
        fn request(&self, &'static CStr, u32, Sender<Published>) -> Result<()>;
    }
}
