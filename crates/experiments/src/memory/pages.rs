//! The pages of a block, as a level of an axis.

use instrument::experiment::MeasureError;
use instrument::quantity::Bytes;
use platform::machine::Machine;
use platform::memory::{Mapping, PageSize};

/// The axis of page sizes in the experiments that have one.
pub(crate) const PAGES: &str = "pages";

/// The level for pages of this many bytes: `4 KiB pages`, which no block size can be mistaken for.
pub(crate) fn name(bytes: u64) -> String {
    format!("{} pages", Bytes(bytes))
}

/// The level for the smallest pages of `machine`.
pub(crate) fn base(machine: &Machine) -> Option<String> {
    machine.page_bytes.map(name)
}

/// The level for its huge pages.
pub(crate) fn huge(machine: &Machine) -> Option<String> {
    machine.huge_page_bytes.map(name)
}

/// The pages that a level means here, and their size in bytes.
pub(crate) fn meant_by(level: &str) -> Result<(PageSize, usize), MeasureError> {
    let machine = Machine::read();
    let pages = [
        (PageSize::Base, machine.page_bytes),
        (PageSize::Huge, machine.huge_page_bytes),
    ];
    let found = pages.into_iter().find_map(|(page_size, bytes)| {
        bytes
            .filter(|bytes| name(*bytes) == level)
            .map(|bytes| (page_size, bytes as usize))
    });
    found.ok_or_else(|| MeasureError::Unsupported(format!("this machine has no {level}")))
}

/// Whether memory that was touched throughout is in the pages asked for: what to say if only some of
/// it is, and an error if none.
pub(crate) fn remark(
    mapping: &Mapping,
    page_size: PageSize,
) -> Result<Option<String>, MeasureError> {
    if page_size == PageSize::Base {
        return Ok(None);
    }
    let wanted = mapping.len() as u64;
    match mapping.huge_bytes()? {
        0 => Err(MeasureError::Unsupported(
            "the system gave no huge pages: memory may be too fragmented".into(),
        )),
        found if found < wanted => Ok(Some(format!(
            "only {:.3} of {:.3} were in huge pages",
            Bytes(found),
            Bytes(wanted)
        ))),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::{meant_by, name};
    use platform::machine::Machine;
    use platform::memory::PageSize;

    #[test]
    fn a_level_names_pages_that_this_machine_has() {
        let Some(bytes) = Machine::read().page_bytes else {
            println!("skipped: the system does not tell its page size");
            return;
        };
        let (page_size, found) = meant_by(&name(bytes)).expect("it has them");
        assert_eq!((page_size, found as u64), (PageSize::Base, bytes));
        let error = meant_by("12345 B pages").expect_err("no machine has them");
        assert_eq!(error.to_string(), "this machine has no 12345 B pages");
    }
}
