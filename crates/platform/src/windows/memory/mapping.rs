//! Private memory.

use std::io;
use std::ptr::{self, NonNull};

use windows_sys::Win32::System::Memory::{
    MEM_COMMIT, MEM_DECOMMIT, MEM_LARGE_PAGES, MEM_RELEASE, MEM_RESERVE, PAGE_NOACCESS,
    PAGE_READWRITE, VIRTUAL_ALLOCATION_TYPE, VirtualAllocExNuma, VirtualFree,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

use super::{Page, base_page_bytes, bytes_of, large_page_bytes};
use crate::error::{Error, Result, refuse};
use crate::memory::{Advice, PageSize};
use crate::windows::outcome::{check, failed};
use crate::windows::private::{LOCK_MEMORY, has};
use crate::windows::topology;

const ACTION: &str = "map memory";

/// Committed memory within a reserved range.
#[derive(Debug)]
pub struct Mapping {
    start: NonNull<u8>,
    /// Requested length, in bytes.
    len: usize,
    reserved: NonNull<u8>,
    is_large: bool,
}

// SAFETY: a mapping owns its memory, as a Box does.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference only reads.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub fn anonymous(len: usize, page_size: PageSize) -> Result<Self> {
        if len == 0 {
            return Err(Error::os(ACTION)(io::ErrorKind::InvalidInput));
        }
        match page_size {
            PageSize::Base => Self::with_base_pages(len, ANY_NODE),
            PageSize::Huge => Self::with_large_pages(len, ANY_NODE),
        }
    }

    /// Reserved pages on both sides stay inaccessible.
    fn with_base_pages(len: usize, node: u32) -> Result<Self> {
        let page = base_page_bytes();
        let alignment = large_page_bytes().unwrap_or(page);
        let reserved_len = len
            .checked_next_multiple_of(page)
            .and_then(|len| len.checked_add(2 * alignment))
            .ok_or_else(|| Error::os(ACTION)(io::ErrorKind::OutOfMemory))?;
        let reserved = allocate(None, reserved_len, MEM_RESERVE, node)?;
        let offset =
            (reserved.addr().get() + page).next_multiple_of(alignment) - reserved.addr().get();
        // SAFETY: the offset is at most the alignment, within the reserved range.
        let start = unsafe { reserved.add(offset) };
        let mapping = Self {
            start,
            len,
            reserved,
            is_large: false,
        };
        mapping.commit()?;
        Ok(mapping)
    }

    /// Large pages are allocated and locked at once, and need no guard: nothing is merged with them.
    fn with_large_pages(len: usize, node: u32) -> Result<Self> {
        let no_large_pages = |reason: &str| Error::NoHugePages {
            reason: reason.to_owned(),
        };
        let page = large_page_bytes()
            .ok_or_else(|| no_large_pages("this processor or system has no large pages"))?;
        if !has(LOCK_MEMORY)? {
            return Err(no_large_pages(
                "they take the right to lock pages in memory (SeLockMemoryPrivilege), which an \
                 administrator grants in the local security policy",
            ));
        }
        let mapped_len = len
            .checked_next_multiple_of(page)
            .ok_or_else(|| Error::os(ACTION)(io::ErrorKind::OutOfMemory))?;
        let kind = MEM_RESERVE | MEM_COMMIT | MEM_LARGE_PAGES;
        let start = allocate(None, mapped_len, kind, node)
            .map_err(|error| no_large_pages(&error.to_string()))?;
        Ok(Self {
            start,
            len,
            reserved: start,
            is_large: true,
        })
    }

    fn commit(&self) -> Result<()> {
        allocate(Some(self.start), self.len, MEM_COMMIT, ANY_NODE).map(drop)
    }

    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the memory is committed and initialised by the system for as long as `self` lives,
        // and only `as_mut_slice` changes it.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }

    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above; `&mut self` excludes every other slice.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }

    pub fn populate(&mut self) -> Result<()> {
        for byte in self.as_mut_slice().iter_mut().step_by(base_page_bytes()) {
            // A write of the existing value that the compiler must keep.
            *byte = std::hint::black_box(*byte);
        }
        Ok(())
    }

    pub fn huge_bytes(&self) -> Result<u64> {
        bytes_of(self.as_slice(), Page::is_large)
    }

    pub fn resident_bytes(&self) -> Result<u64> {
        bytes_of(self.as_slice(), Page::is_resident)
    }

    /// The system chooses a node when it reserves a range, so another range takes the place of this one, which
    /// must be empty. It prefers that node and may take another: see [`Self::bytes_on_node`].
    pub fn bind_to_node(&mut self, node: usize) -> Result<()> {
        let exists = topology::all().iter().any(|other| other.number == node);
        let number = u32::try_from(node).ok().filter(|_| exists);
        let number = number
            .ok_or_else(|| Error::os("bind memory to a node")(io::ErrorKind::InvalidInput))?;
        if !self.is_large && self.resident_bytes()? > 0 {
            return refuse("binding memory that is in use already to a node");
        }
        *self = if self.is_large {
            Self::with_large_pages(self.len, number)?
        } else {
            Self::with_base_pages(self.len, number)?
        };
        Ok(())
    }

    pub fn bytes_on_node(&self, node: usize) -> Result<u64> {
        bytes_of(self.as_slice(), |page| page.is_on_node(node))
    }

    pub fn advise(&mut self, advice: Advice) -> Result<()> {
        match advice {
            Advice::Sequential | Advice::Random => refuse("advice on the order of access"),
            Advice::DontNeed if self.is_large => refuse("giving large pages back"),
            Advice::DontNeed => self.start_over(),
        }
    }

    /// Gives the pages back. New ones read as zeros.
    fn start_over(&mut self) -> Result<()> {
        // SAFETY: the range belongs to this mapping, and no slice of it exists. It is committed again
        // before the next one, or this fails.
        let outcome = unsafe { VirtualFree(self.start.as_ptr().cast(), self.len, MEM_DECOMMIT) };
        check(outcome, "give memory back")?;
        if let Err(error) = self.commit() {
            // Without memory, the slices must be empty.
            self.len = 0;
            return Err(error);
        }
        Ok(())
    }

    pub fn page_out(&mut self) -> Result<()> {
        refuse("moving memory to swap on request")
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the range belongs to this mapping, and no slice of it can outlive `self`.
        unsafe { VirtualFree(self.reserved.as_ptr().cast(), 0, MEM_RELEASE) };
    }
}

/// Any node that the system chooses (`NUMA_NO_PREFERRED_NODE`).
const ANY_NODE: u32 = u32::MAX;

/// Reserves or commits memory, at a given address or one that the system chooses. `node` counts where a range is
/// reserved.
fn allocate(
    at: Option<NonNull<u8>>,
    len: usize,
    kind: VIRTUAL_ALLOCATION_TYPE,
    node: u32,
) -> Result<NonNull<u8>> {
    let protection = if kind == MEM_RESERVE {
        PAGE_NOACCESS
    } else {
        PAGE_READWRITE
    };
    let at = at.map_or(ptr::null(), |at| at.as_ptr().cast_const());
    // SAFETY: the system selects a free range, or commits pages that the caller has reserved and to
    // which no reference exists.
    let start =
        unsafe { VirtualAllocExNuma(GetCurrentProcess(), at.cast(), len, kind, protection, node) };
    NonNull::new(start.cast()).ok_or_else(|| failed(ACTION))
}

pub fn page_size_bytes(size: PageSize) -> Option<u64> {
    let bytes = match size {
        PageSize::Base => Some(base_page_bytes()),
        PageSize::Huge => large_page_bytes(),
    };
    bytes.map(|bytes| bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untouched_memory_can_be_bound_to_a_node_that_exists() {
        let mut memory = Mapping::anonymous(64 << 10, PageSize::Base).unwrap();
        let Some(node) = topology::all().into_iter().next() else {
            return println!("skipped: the system reports no nodes");
        };
        memory.bind_to_node(node.number).unwrap();
        memory.bind_to_node(63).unwrap_err();
        memory.as_mut_slice().fill(7);
        assert_eq!(memory.bytes_on_node(node.number).unwrap(), 64 << 10);
        assert_eq!(memory.bytes_on_node(node.number + 1).unwrap(), 0);
        memory.bind_to_node(node.number).unwrap_err();
        assert!(memory.as_slice().iter().all(|byte| *byte == 7));
    }

    #[test]
    fn large_pages_are_large_or_refused_with_a_reason() {
        match Mapping::anonymous(4 << 20, PageSize::Huge) {
            Ok(mut memory) => {
                memory.populate().unwrap();
                assert!(memory.huge_bytes().unwrap() <= 4 << 20);
                assert!(memory.as_slice().iter().all(|byte| *byte == 0));
            }
            Err(Error::NoHugePages { reason }) => println!("skipped: {reason}"),
            Err(error) => panic!("{error}"),
        }
    }
}
