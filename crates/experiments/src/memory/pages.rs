//! The pages that back a block, as a level of an axis.

use crate::estimates::side_by_side;
use crate::prelude::*;
use instrument::finding::Say;
use platform::machine::Machine;
use platform::memory::{Mapping, PageSize, page_bytes};
use std::fmt;

/// The axis of page sizes in the experiments that have one.
pub(crate) const AXIS: AxisOf<Pages> = AxisOf::new("pages", "pages");

/// Pages of one size. The level is called `4 KiB pages`, which nobody takes for a block size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pages(Bytes);

impl Pages {
    /// True for pages that are larger than any base page.
    pub(crate) fn is_huge(self) -> bool {
        self.0.0 >= 1 << 20
    }

    pub(crate) fn base(machine: &Machine) -> Option<Self> {
        machine.page_bytes.map(|bytes| Self(Bytes(bytes)))
    }

    pub(crate) fn huge(machine: &Machine) -> Option<Self> {
        machine.huge_page_bytes.map(|bytes| Self(Bytes(bytes)))
    }

    /// The page sizes of `machine`, the smallest first.
    pub(crate) fn of_machine(machine: &Machine) -> impl Iterator<Item = Self> {
        [Self::base(machine), Self::huge(machine)]
            .into_iter()
            .flatten()
    }

    /// The page size to ask for here, and its size in bytes.
    ///
    /// # Errors
    /// If this machine has no such pages.
    pub(crate) fn here(self) -> Result<(PageSize, usize), MeasureError> {
        let mut sizes = [PageSize::Base, PageSize::Huge].into_iter();
        let found = sizes.find(|size| page_bytes(*size) == Some(self.0.0));
        let missing = || unsupported(format!("this machine has no {self}"));
        Ok((found.ok_or_else(missing)?, self.0.0 as usize))
    }
}

/// True if a point has the level that a query names. Base pages differ in size from machine to machine: the name
/// `base pages` stands for those of each.
pub fn is_named(named: &Level, level: &Level) -> bool {
    let are_base = || Pages::of(level).is_some_and(|pages| !pages.is_huge());
    level == named || *named == Level::from("base pages") && are_base()
}

/// Two curves side by side, in base pages and in huge ones, where the machine has both.
pub(crate) fn in_both<'r, L: Copy + PartialEq>(
    machine: &Machine,
    curve: impl Fn(Pages) -> Vec<(L, &'r Estimate)>,
) -> Vec<(L, &'r Estimate, &'r Estimate)> {
    let both = Pages::base(machine).zip(Pages::huge(machine));
    both.map_or_else(Vec::new, |(base, huge)| {
        side_by_side(&curve(base), &curve(huge))
    })
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} pages", self.0)
    }
}

impl LevelOf for Pages {
    const KIND: AxisKind = AxisKind::Choice;

    fn level(&self) -> Level {
        Level::Choice(self.to_string())
    }

    fn of(level: &Level) -> Option<Self> {
        read_back(level, |name| {
            Some(Self(name.strip_suffix(" pages")?.parse().ok()?))
        })
    }
}

impl Say for Pages {
    fn say(&self, _name: &'static str, sentence: &mut Sentence) {
        sentence.push_text(&self.to_string());
    }
}

/// Memory in huge pages, or in base pages where the system has no others.
pub(super) fn largest(len: usize) -> platform::Result<Mapping> {
    Mapping::anonymous(len, PageSize::Huge).or_else(|_| Mapping::anonymous(len, PageSize::Base))
}

/// Remarks on the part of memory, touched throughout, that is in base pages.
pub(super) fn remark_on_base(
    sampler: &mut Sampler<'_>,
    memory: &Mapping,
) -> Result<(), MeasureError> {
    let (huge, all) = (Bytes(memory.huge_bytes()?), Bytes(memory.len() as u64));
    if huge < all {
        sampler.remark(format!(
            "{huge:.3} of {all:.3} were in huge pages: loads from the rest include address translation"
        ));
    }
    Ok(())
}

/// Makes sure that memory, touched throughout, is in the pages asked for. Remarks it if only a part is.
///
/// # Errors
/// If none of it is.
pub(crate) fn verify(
    sampler: &mut Sampler<'_>,
    mapping: &Mapping,
    page_size: PageSize,
) -> Result<(), MeasureError> {
    if page_size == PageSize::Base {
        return Ok(());
    }
    let wanted = Bytes(mapping.len() as u64);
    match Bytes(mapping.huge_bytes()?) {
        Bytes(0) => Err(unsupported(
            "the system gave no huge pages: memory may be too fragmented",
        )),
        found => {
            if found < wanted {
                let remark = format!("only {found:.3} of {wanted:.3} were in huge pages");
                sampler.remark(remark);
            }
            Ok(())
        }
    }
}

#[cfg(test)]
pub(crate) mod made_up {
    //! The pages of [`machine`](crate::made_up::machine).

    use super::Pages;
    use instrument::quantity::Bytes;

    pub(crate) const BASE: Pages = Pages(Bytes(4 << 10));
    pub(crate) const HUGE: Pages = Pages(Bytes(2 << 20));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_pages_are_those_of_each_machine() {
        for (level, is_it) in [
            ("4 KiB pages", true),
            ("16 KiB pages", true),
            ("2 MiB pages", false),
            ("swap, paged out", false),
        ] {
            assert_eq!(is_named(&"base pages".into(), &level.into()), is_it);
            assert!(is_named(&level.into(), &level.into()));
        }
        assert!(!is_named(&"4 KiB pages".into(), &"16 KiB pages".into()));
    }
}
