//! The component that a block of memory speaks of.

use super::pages::Pages;
use crate::prelude::*;

/// Blocks up to this lie in the caches of one core.
const CACHES_OF_CORE: Bytes = Bytes(1 << 20);
/// Blocks from this on lie beyond the cache that cores share: what one core gets of it is rarely more.
const BEYOND_CACHES: Bytes = Bytes(64 << 20);

/// The component that a block of this size in these pages speaks of; huge pages show where translating
/// addresses costs, which is beyond the caches of the core.
pub(super) fn of_block(size: Bytes, pages: Option<Pages>) -> Component {
    if size.0 <= CACHES_OF_CORE.0 {
        Component::Core
    } else if pages.is_some_and(Pages::is_huge) {
        Component::HugePages
    } else if size.0 < BEYOND_CACHES.0 {
        Component::SharedCache
    } else {
        Component::Memory
    }
}

#[cfg(test)]
mod tests {
    use super::super::pages::made_up::{BASE, HUGE};
    use super::of_block;
    use crate::prelude::*;

    #[test]
    fn blocks_speak_of_the_place_in_which_they_lie() {
        let of = |mib: u64, pages| of_block(Bytes(mib << 20), Some(pages));
        assert_eq!(of(1, BASE), Component::Core);
        assert_eq!(of(1, HUGE), Component::Core);
        assert_eq!(of(8, BASE), Component::SharedCache);
        assert_eq!(of(256, BASE), Component::Memory);
        assert_eq!(of(256, HUGE), Component::HugePages);
    }
}
