//! Derivatives of the logarithm of the gamma function.

/// The second derivative of ln Γ for positive arguments: by recurrence up to where the asymptotic
/// series holds (Abramowitz and Stegun, 6.4.6 and 6.4.12).
pub(super) fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 15.0 {
        sum += x.powi(-2);
        x += 1.0;
    }
    let y = x.powi(-2);
    let series =
        1.0 / 6.0 - y * (1.0 / 30.0 - y * (1.0 / 42.0 - y * (1.0 / 30.0 - y * 5.0 / 66.0)));
    sum + 1.0 / x + y / 2.0 + y / x * series
}

/// The third derivative of ln Γ for positive arguments (6.4.6 and 6.4.13).
fn tetragamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 15.0 {
        sum -= 2.0 * x.powi(-3);
        x += 1.0;
    }
    let y = x.powi(-2);
    let series = 0.5 - y * (1.0 / 6.0 - y * (1.0 / 6.0 - y * (3.0 / 10.0 - y * 5.0 / 6.0)));
    sum - y - y / x - y * y * series
}

/// The argument at which [`trigamma`] is `value`, by Newton's method on its reciprocal, which is
/// nearly straight (Smyth 2004, appendix).
pub(super) fn trigamma_inverse(value: f64) -> f64 {
    const STEPS: usize = 50;
    if value > 1e7 {
        return 1.0 / value.sqrt();
    }
    if value < 1e-6 {
        return 1.0 / value;
    }
    let mut x = 0.5 + 1.0 / value;
    for _ in 0..STEPS {
        let at = trigamma(x);
        let step = at * (1.0 - at / value) / tetragamma(x);
        x += step;
        if -step / x < 1e-12 {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::{tetragamma, trigamma, trigamma_inverse};
    use std::f64::consts::PI;

    fn assert_close(ours: f64, exact: f64) {
        assert!((ours / exact - 1.0).abs() < 1e-12, "{ours} for {exact}");
    }

    #[test]
    fn derivatives_of_the_gamma_function_where_they_are_known() {
        const APERY: f64 = 1.202_056_903_159_594_2;
        assert_close(trigamma(1.0), PI * PI / 6.0);
        assert_close(trigamma(0.5), PI * PI / 2.0);
        assert_close(tetragamma(1.0), -2.0 * APERY);
        assert_close(tetragamma(0.5), -14.0 * APERY);
    }

    #[test]
    fn the_inverse_leads_back() {
        for x in [0.01, 0.5, 1.0, 3.7, 40.0, 1e5] {
            let there_and_back = trigamma_inverse(trigamma(x));
            assert!(
                (there_and_back / x - 1.0).abs() < 1e-6,
                "{x}: {there_and_back}"
            );
        }
    }
}
