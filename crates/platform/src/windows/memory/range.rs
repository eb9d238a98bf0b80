//! Questions and advice about a range of mapped memory.

use windows_sys::Win32::Foundation::ERROR_NOT_LOCKED;
use windows_sys::Win32::System::Memory::{
    PrefetchVirtualMemory, VirtualUnlock, WIN32_MEMORY_RANGE_ENTRY,
};
use windows_sys::Win32::System::ProcessStatus::{
    K32QueryWorkingSetEx, PSAPI_WORKING_SET_EX_INFORMATION,
};
use windows_sys::Win32::System::Threading::GetCurrentProcess;

use crate::Result;
use crate::error::Error;
use crate::windows::machine::page_bytes;
use crate::windows::outcome::{check, code};

/// Pages per query.
const PAGES_AT_ONCE: usize = 4096;

/// State of a resident page
/// ([PSAPI_WORKING_SET_EX_BLOCK](https://learn.microsoft.com/en-us/windows/win32/api/psapi/ns-psapi-psapi_working_set_ex_block)).
#[derive(Clone, Copy)]
pub(super) struct Page(usize);

impl Page {
    pub(super) fn is_resident(self) -> bool {
        self.0 & 1 == 1
    }

    pub(super) fn is_large(self) -> bool {
        self.is_resident() && self.0 >> 23 & 1 == 1
    }

    pub(super) fn is_on_node(self, node: usize) -> bool {
        self.is_resident() && self.0 >> 16 & 0x3f == node
    }
}

/// Bytes of the pages of a range for which `counts` is true.
pub(super) fn bytes_of(range: &[u8], counts: impl Fn(Page) -> bool) -> Result<u64> {
    let mut found = 0;
    for part in range.chunks(PAGES_AT_ONCE * page_bytes()) {
        let mut pages: Vec<PSAPI_WORKING_SET_EX_INFORMATION> = part
            .chunks(page_bytes())
            .map(|page| PSAPI_WORKING_SET_EX_INFORMATION {
                VirtualAddress: page.as_ptr().cast_mut().cast(),
                ..PSAPI_WORKING_SET_EX_INFORMATION::default()
            })
            .collect();
        // SAFETY: the buffer has the given length.
        let outcome = unsafe {
            K32QueryWorkingSetEx(
                GetCurrentProcess(),
                pages.as_mut_ptr().cast(),
                size_of_val(&pages[..]) as u32,
            )
        };
        check(outcome, "ask for the residency of memory")?;
        found += pages
            .iter()
            // SAFETY: both variants of the union are one number.
            .filter(|page| counts(Page(unsafe { page.VirtualAttributes.Flags })))
            .count();
    }
    Ok((found * page_bytes()) as u64)
}

/// Starts to read a range from its file or from the page file.
pub(super) fn prefetch(range: &[u8]) -> Result<()> {
    let entry = WIN32_MEMORY_RANGE_ENTRY {
        VirtualAddress: range.as_ptr().cast_mut().cast(),
        NumberOfBytes: range.len(),
    };
    // SAFETY: there is one entry, and the contents of the range stay.
    let outcome = unsafe { PrefetchVirtualMemory(GetCurrentProcess(), 1, &raw const entry, 0) };
    check(outcome, "prefetch memory")
}

/// Removes a range from the working set. The contents stay.
pub(super) fn remove_from_working_set(range: &[u8]) -> Result<()> {
    // SAFETY: the contents of the range stay.
    let outcome = unsafe { VirtualUnlock(range.as_ptr().cast(), range.len()) };
    match check(outcome, "remove memory from the working set") {
        // That is what the call reports after it removed pages that were not locked.
        Err(Error::Os { source, .. }) if code(&source) == Some(ERROR_NOT_LOCKED) => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::Page;

    #[test]
    fn the_parts_of_a_state_are_told_apart() {
        let (valid, locked, large) = (1, 1 << 22, 1 << 23);
        assert!(Page(valid | large).is_large() && !Page(large).is_large());
        assert!(!Page(valid | locked).is_large());
        let on_five = Page(valid | 5 << 16 | locked);
        assert!(on_five.is_on_node(5) && !on_five.is_on_node(0));
        assert!(Page(valid).is_on_node(0) && !Page(0).is_on_node(0));
    }
}
