//! A small seeded random generator. The recorded seed reproduces every bootstrap resampling and
//! every random order, on any machine and with any later version.

/// The generator xoshiro256++ with its state filled by `SplitMix64`.
///
/// Source: D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators", ACM
/// Transactions on Mathematical Software 47 (2021). Not suitable for cryptography.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// The generator for `seed`; every seed is valid, zero included.
    pub fn new(seed: u64) -> Self {
        let mut counter = seed;
        Self {
            state: std::array::from_fn(|_| split_mix(&mut counter)),
        }
    }

    /// The next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let [a, b, c, d] = self.state;
        let output = a.wrapping_add(d).rotate_left(23).wrapping_add(a);
        let (c, d) = (c ^ a, d ^ b);
        self.state = [a ^ d, b ^ c, c ^ (b << 17), d.rotate_left(45)];
        output
    }

    /// A number in [0, 1), a multiple of 2⁻⁵³.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// An index in `0..bound`, by the high half of a product (Lemire 2019, without rejection: the
    /// bias is below `bound` / 2⁶⁴). Zero when `bound` is zero.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.bits()) * bound as u128) >> 64) as usize
    }

    /// A standard normal number (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    /// Puts the items in random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// Fills `target` with values drawn from `source` with replacement; leaves it unchanged if
    /// `source` is empty.
    pub fn resample(&mut self, source: &[f64], target: &mut [f64]) {
        if source.is_empty() {
            return;
        }
        for value in target {
            *value = source[self.below(source.len())];
        }
    }
}

fn split_mix(counter: &mut u64) -> u64 {
    *counter = counter.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *counter;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sequences_are_the_published_ones() {
        let mut random = Random {
            state: [1, 2, 3, 4],
        };
        let expected = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
        ];
        assert_eq!(expected.map(|_| random.bits()), expected);

        let mut counter = 1_234_567;
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        assert_eq!(expected.map(|_| split_mix(&mut counter)), expected);
    }

    #[test]
    fn uniform_normal_and_below_have_their_moments() {
        let mut random = Random::new(1);
        let n = 100_000;
        let (mut uniform, mut normal, mut square, mut below) = (0.0, 0.0, 0.0, [0_usize; 5]);
        for _ in 0..n {
            uniform += random.uniform();
            let z = random.normal();
            normal += z;
            square += z * z;
            below[random.below(5)] += 1;
        }
        let n = f64::from(n);
        assert!((uniform / n - 0.5).abs() < 0.005);
        assert!((normal / n).abs() < 0.015);
        assert!((square / n - 1.0).abs() < 0.02);
        assert!(below.iter().all(|&count| (19_000..21_000).contains(&count)));
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn shuffle_keeps_every_item_and_changes_the_order() {
        let mut items: Vec<u32> = (0..50).collect();
        Random::new(3).shuffle(&mut items);
        assert_ne!(items, (0..50).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
