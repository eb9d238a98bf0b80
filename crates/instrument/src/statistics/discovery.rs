//! Many tests at once: control of the share of false discoveries.

/// The adjusted p-values `min over j ≥ i of p₍ⱼ₎ m / j`, in the order given. Rejecting those of at
/// most q keeps the expected share of false rejections at most q.
///
/// Source: Y. Benjamini and Y. Hochberg, "Controlling the false discovery rate", Journal of the
/// Royal Statistical Society B 57 (1995). It holds for independent tests and for positively
/// dependent tests (Benjamini and Yekutieli 2001), such as the metrics of one machine.
pub fn adjusted(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_unstable_by(|a, b| p_values[*b].total_cmp(&p_values[*a]));
    let count = p_values.len() as f64;
    let mut adjusted = vec![1.0; p_values.len()];
    let mut smallest: f64 = 1.0;
    for (larger, &index) in order.iter().enumerate() {
        let rank = count - larger as f64;
        smallest = smallest.min(p_values[index] * count / rank);
        adjusted[index] = smallest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use super::adjusted;

    #[test]
    fn small_values_among_few_stay_small() {
        let found = adjusted(&[0.01, 0.04, 0.03, 0.9]);
        let expected = [0.04, 0.16 / 3.0, 0.16 / 3.0, 0.9];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
        }
        assert!(adjusted(&[]).is_empty());
    }
}
