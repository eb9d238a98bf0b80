//! Dependent loads: each load needs the result of the previous one.

use std::marker::PhantomData;

/// A cyclic chain of places in memory, each of which holds the address of the next.
///
/// A processor cannot start a load before the previous one is complete. If the order is random, it
/// cannot prefetch either. So the time of a step is the latency of a load.
#[derive(Debug)]
pub struct Chain<'m> {
    at: *const Place,
    memory: PhantomData<&'m mut [u8]>,
}

/// Contents of each place.
#[derive(Debug)]
#[repr(transparent)]
struct Place {
    next: *const Place,
}

/// Steps per iteration of the loop.
const UNROLLED: u64 = 8;

impl<'m> Chain<'m> {
    /// Links the places at `offsets` in `memory`, in their order.
    ///
    /// # Panics
    /// If there is no place, or a place is unaligned or not entirely within `memory`.
    pub fn link(memory: &'m mut [u8], offsets: impl IntoIterator<Item = usize>) -> Self {
        let mut places = offsets.into_iter().map(|offset| {
            let bytes = &mut memory[offset..offset + size_of::<Place>()];
            #[expect(clippy::cast_ptr_alignment, reason = "it is asserted")]
            let place = bytes.as_mut_ptr().cast::<Place>();
            assert!(place.is_aligned(), "{offset} is no place for an address");
            place
        });
        let first = places.next().expect("a chain has a place");
        let mut last = first;
        for place in places {
            // SAFETY: each place was checked to be aligned, in bounds and borrowed for `'m`.
            unsafe { last.write(Place { next: place }) };
            last = place;
        }
        // SAFETY: as above.
        unsafe { last.write(Place { next: first }) };
        Self {
            at: first,
            memory: PhantomData,
        }
    }

    /// Follows the chain for `steps` steps from the end of the previous call.
    #[inline(never)]
    pub fn follow(&mut self, steps: u64) {
        let mut at = self.at;
        for _ in 0..steps / UNROLLED {
            at = next(next(next(next(next(next(next(next(at))))))));
        }
        for _ in 0..steps % UNROLLED {
            at = next(at);
        }
        // Keeps the compiler from removing the loop.
        self.at = std::hint::black_box(at);
    }
}

#[inline]
fn next(place: *const Place) -> *const Place {
    // SAFETY: every place of a chain holds the address of another place, written by `Chain::link`,
    // and nothing else can write there while the memory is borrowed.
    unsafe { (*place).next }
}

#[cfg(test)]
mod tests {
    use super::Chain;

    #[test]
    fn a_chain_goes_through_its_places_in_order_and_begins_again() {
        let mut words = [0_u64; 64];
        // SAFETY: any bytes are words.
        let bytes = unsafe { words.align_to_mut::<u8>().1 };
        let start = bytes.as_ptr();
        let offsets = [0, 8, 504, 64, 16, 80, 72, 320, 400, 240];
        let mut chain = Chain::link(bytes, offsets);
        let offset = |chain: &Chain<'_>| chain.at.addr() - start.addr();
        for step in 0..3 * offsets.len() {
            assert_eq!(offset(&chain), offsets[step % offsets.len()]);
            chain.follow(1);
        }
        for steps in 0..40 {
            let before = offset(&chain);
            let index = offsets.iter().position(|offset| *offset == before);
            chain.follow(steps);
            let expected = offsets[(index.expect("a place") + steps as usize) % offsets.len()];
            assert_eq!(offset(&chain), expected);
        }
    }

    #[test]
    #[should_panic(expected = "out of range")]
    fn a_place_outside_is_refused() {
        Chain::link(&mut [0; 64], [60]);
    }
}
