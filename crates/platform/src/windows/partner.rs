//! Windows cannot copy a process.

use crate::Result;
use crate::error::refuse;

#[derive(Debug)]
pub enum Partner {}

impl Partner {
    pub fn start(_cpu: usize, _body: impl FnOnce()) -> Result<Self> {
        refuse("a partner process")
    }
}
