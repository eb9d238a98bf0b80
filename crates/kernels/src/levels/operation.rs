//! The loops of one arithmetic operation.

use kernels_level3::Loops;

/// The loops of one operation on one type. All of them start from the value whose bits are the low
/// ones of `x`, apply the operation with the value of `y` as the other operand, and give the bits of
/// the outcome, or a mix of them where there are several: a caller that times them must use it.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    loops: Loops,
    instructions: &'static str,
}

impl Operation {
    /// The entry called `name`: out of those for AVX2 and FMA where the processor has them, else out
    /// of those for any processor.
    pub(super) fn choose(
        name: &str,
        plain: impl Fn(&str) -> Option<Loops>,
        avx2: impl Fn(&str) -> Option<Loops>,
    ) -> Option<Self> {
        if has_avx2() {
            let loops = avx2(name)?;
            let instructions = "AVX2 and FMA";
            return Some(Self {
                loops,
                instructions,
            });
        }
        // x86-64 without FMA would call a library for it.
        let is_missing = cfg!(target_arch = "x86_64") && name.starts_with("fused");
        let loops = (!is_missing).then(|| plain(name)).flatten()?;
        let instructions = std::env::consts::ARCH;
        Some(Self {
            loops,
            instructions,
        })
    }

    /// The instructions for which the loops are compiled.
    pub fn instructions(&self) -> &'static str {
        self.instructions
    }

    /// `turns` times [`super::OPERATIONS_IN_A_TURN`] operations, each on the outcome of the one
    /// before.
    pub fn latency(&self, turns: u64, x: u64, y: u64) -> u64 {
        self.run(0, turns, x, y)
    }

    /// `turns` times [`super::OPERATIONS_IN_A_TURN`] operations, in [`super::CHAINS`] chains that do
    /// not wait for each other.
    pub fn throughput(&self, turns: u64, x: u64, y: u64) -> u64 {
        self.run(1, turns, x, y)
    }

    /// `turns` passes over two arrays of [`super::ELEMENTS_BYTES`], the first of which takes the
    /// outcome: what a compiler may do with vectors.
    pub fn array(&self, turns: u64, x: u64, y: u64) -> u64 {
        self.run(2, turns, x, y)
    }

    fn run(&self, index: usize, turns: u64, x: u64, y: u64) -> u64 {
        // SAFETY: the processor has the instructions, as `choose` made sure; the loops touch nothing
        // but their own variables, for any arguments.
        unsafe { self.loops[index](turns, x, y) }
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
