//! The address range of the program's own instructions.

use core::ffi::{c_int, c_void};
use core::ops::Range;

struct Search {
    /// An address inside the program.
    here: usize,
    found: Option<Range<usize>>,
}

/// The executable segment that contains an address, by default that of this code. An instruction outside it belongs to a shared
/// library (libc, the unwinder), the dynamic linker or the vDSO. Such code may hold locks and does
/// not expect to be interrupted by another thread.
pub(crate) fn text_range(address: Option<usize>) -> Option<Range<usize>> {
    let mut search = Search {
        here: address.unwrap_or(text_range as *const () as usize),
        found: None,
    };
    // SAFETY: `visit` gets back the `Search` passed here, which outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), (&raw mut search).cast()) };
    search.found
}

unsafe extern "C" fn visit(
    info: *mut libc::dl_phdr_info,
    _size: libc::size_t,
    search: *mut c_void,
) -> c_int {
    // SAFETY: both pointers come from `text_range` through dl_iterate_phdr(3), whose headers are
    // valid during the call.
    let (info, search) = unsafe { (&*info, &mut *search.cast::<Search>()) };
    // SAFETY: as above.
    let headers = unsafe { core::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum.into()) };
    for header in headers {
        let start = (info.dlpi_addr + header.p_vaddr) as usize;
        let segment = start..start + header.p_memsz as usize;
        if header.p_type == libc::PT_LOAD && segment.contains(&search.here) {
            search.found = Some(segment);
            return 1;
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::text_range;

    #[test]
    fn the_program_is_inside_and_the_c_library_outside() {
        let text = text_range(None).expect("a program has text");
        assert!(text.contains(&(text_range as *const () as usize)));
        // SAFETY: the call only looks up a name.
        let malloc = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr()) };
        assert!(!text.contains(&malloc.addr()));
    }
}
