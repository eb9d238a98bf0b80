use core::cell::Cell;
use core::hint::black_box;

use super::{Context, Entry, switch};

struct Pair {
    here: Cell<Context>,
    there: Cell<Context>,
    count: Cell<u64>,
}

unsafe extern "C" fn count_up(argument: *mut ()) -> ! {
    // SAFETY: the test passes its own `Pair`, which outlives the context.
    let pair = unsafe { &*argument.cast::<Pair>() };
    loop {
        pair.count.set(pair.count.get() + 1);
        // SAFETY: `here` was saved by the switch that led to this context.
        unsafe { switch(pair.there.as_ptr(), pair.here.as_ptr()) };
    }
}

impl Pair {
    const fn new() -> Self {
        Self {
            here: Cell::new(Context::empty()),
            there: Cell::new(Context::empty()),
            count: Cell::new(0),
        }
    }

    fn prepare(&self, stack: &mut [u128], entry: Entry) {
        let argument = core::ptr::from_ref(self).cast_mut().cast();
        let stack = stack.as_mut_ptr_range();
        let stack = stack.start.cast()..stack.end.cast();
        // SAFETY: a cell that nobody else uses now.
        unsafe { Context::write_fresh(self.there.as_ptr(), stack, entry, argument) };
    }
}

#[test]
fn a_fresh_context_runs_and_comes_back_each_time() {
    let mut stack = vec![0u128; 4096];
    let pair = Pair::new();
    pair.prepare(&mut stack, count_up);
    for round in 1..=1000 {
        // SAFETY: `there` is fresh or was saved by `count_up`; its stack is alive.
        unsafe { switch(pair.here.as_ptr(), pair.there.as_ptr()) };
        assert_eq!(pair.count.get(), round);
    }
}

#[test]
fn integers_and_floating_point_survive_a_switch() {
    let mut stack = vec![0u128; 4096];
    let pair = Pair::new();
    pair.prepare(&mut stack, count_up);
    let integers: [u64; 12] = core::array::from_fn(|i| black_box(i as u64 + 1));
    let floats: [f64; 12] = core::array::from_fn(|i| black_box(i as f64 + 0.5));
    let (mut sum, mut product) = (0, 1.0);
    for _ in 0..10 {
        let before: u64 = integers.iter().sum();
        // SAFETY: as above.
        unsafe { switch(pair.here.as_ptr(), pair.there.as_ptr()) };
        sum += before;
        product *= floats.iter().sum::<f64>();
    }
    assert_eq!(sum, 780);
    assert!((product / 72f64.powi(10) - 1.0).abs() < 1e-12);
}

/// Bits that select how numbers are rounded: up, in `MXCSR` or `FPCR`.
#[cfg(feature = "float-control")]
const UP: u64 = if cfg!(target_arch = "x86_64") {
    0x4000
} else {
    1 << 22
};

/// The register that says how numbers are rounded, set to `value` if there is one.
#[cfg(feature = "float-control")]
fn rounding(value: Option<u64>) -> u64 {
    let mut now: u64 = 0;
    // SAFETY: the test computes nothing while numbers are rounded in another way.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            if let Some(value) = value {
                core::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value);
            }
            core::arch::asm!("stmxcsr [{}]", in(reg) &raw mut now);
        }
        #[cfg(target_arch = "aarch64")]
        {
            if let Some(value) = value {
                core::arch::asm!("msr fpcr, {}", in(reg) value);
            }
            core::arch::asm!("mrs {}, fpcr", out(reg) now);
        }
    }
    now
}

#[test]
#[cfg(feature = "float-control")]
fn each_context_rounds_as_it_has_chosen() {
    unsafe extern "C" fn rounds_down(argument: *mut ()) -> ! {
        // SAFETY: as in `count_up`.
        let pair = unsafe { &*argument.cast::<Pair>() };
        let before = rounding(None);
        let mut mine = before | UP >> 1;
        rounding(Some(mine));
        loop {
            pair.count.set(mine - before);
            // SAFETY: as in `count_up`.
            unsafe { switch(pair.there.as_ptr(), pair.here.as_ptr()) };
            mine = rounding(None);
        }
    }
    let mut stack = vec![0u128; 4096];
    let pair = Pair::new();
    pair.prepare(&mut stack, rounds_down);
    let before = rounding(None);
    rounding(Some(before | UP));
    for _ in 0..3 {
        // SAFETY: as above.
        unsafe { switch(pair.here.as_ptr(), pair.there.as_ptr()) };
        assert_eq!((pair.count.get(), rounding(None)), (UP >> 1, before | UP));
    }
    rounding(Some(before));
}
