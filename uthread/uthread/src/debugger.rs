//! The table in which a debugger finds all threads: `gdb/uthread.py` reads it.

use core::sync::atomic::AtomicPtr;

use crate::stack::{Extent, SLABS};
use crate::thread::Places;

#[repr(C)]
struct Table {
    slabs: &'static AtomicPtr<Extent>,
    places: Places,
}

/// The script knows it by this name.
static TABLE: Table = Table {
    slabs: &SLABS,
    places: Places::OF_CONTROL,
};

/// Keeps the table in the program: nothing else uses it.
pub(crate) fn keep_table() {
    core::hint::black_box(&raw const TABLE);
}
