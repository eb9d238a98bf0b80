//! The loops of one arithmetic operation.

use kernels_level3::Loops;

/// The loops of one operation on one type. All start from the value with the low bits of `x`, and
/// apply the operation with the value of `y` as the other operand. They return the bits of the
/// result, or a mix of all results. A caller that times them must use the returned value, or the
/// compiler may remove the loop.
#[derive(Clone, Copy, Debug)]
pub struct Operation(Loops);

impl Operation {
    /// The entry called `name`: from the loops for AVX2 and FMA if the processor supports them,
    /// otherwise from those for any processor.
    pub(super) fn choose(
        name: &str,
        plain: impl Fn(&str) -> Option<Loops>,
        avx2: impl Fn(&str) -> Option<Loops>,
    ) -> Option<Self> {
        if has_avx2() {
            return avx2(name).map(Self);
        }
        // x86-64 without FMA would call a library function.
        let is_missing = cfg!(target_arch = "x86_64") && name.starts_with("fused");
        (!is_missing).then(|| plain(name)).flatten().map(Self)
    }

    /// Runs `turns` times [`super::OPERATIONS_IN_A_TURN`] operations, each on the result of the
    /// previous one.
    pub fn latency(&self, turns: u64, x: u64, y: u64) -> u64 {
        self.run(0, turns, x, y)
    }

    /// Runs `turns` times [`super::OPERATIONS_IN_A_TURN`] operations, in [`super::CHAINS`]
    /// independent chains.
    pub fn throughput(&self, turns: u64, x: u64, y: u64) -> u64 {
        self.run(1, turns, x, y)
    }

    /// Makes `turns` passes over two arrays of [`super::ELEMENTS_BYTES`], and stores the results in
    /// the first. A compiler may vectorise this loop.
    pub fn array(&self, turns: u64, x: u64, y: u64) -> u64 {
        self.run(2, turns, x, y)
    }

    fn run(&self, index: usize, turns: u64, x: u64, y: u64) -> u64 {
        // SAFETY: the processor has the instructions, as `choose` checked. The loops access only
        // their own variables, for any arguments.
        unsafe { self.0[index](turns, x, y) }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx2() -> bool {
    false
}
