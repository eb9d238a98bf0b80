use core::cell::Cell;
use core::hint::black_box;

use super::{Context, switch};

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

    fn prepare(&self, stack: &mut [u128]) {
        let argument = core::ptr::from_ref(self).cast_mut().cast();
        let stack = stack.as_mut_ptr_range();
        let stack = stack.start.cast()..stack.end.cast();
        self.there.set(Context::fresh(stack, count_up, argument));
    }
}

#[test]
fn a_fresh_context_runs_and_comes_back_each_time() {
    let mut stack = vec![0u128; 4096];
    let pair = Pair::new();
    pair.prepare(&mut stack);
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
    pair.prepare(&mut stack);
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
