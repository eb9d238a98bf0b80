//! Linear least squares by the normal equations.

/// The most unknowns that a system can have.
pub(super) const MOST_UNKNOWNS: usize = 5;

/// The normal equations of a least-squares problem whose measurements are all 1.
pub(super) struct NormalEquations {
    unknowns: usize,
    products: [[f64; MOST_UNKNOWNS]; MOST_UNKNOWNS],
    pub(super) sums: [f64; MOST_UNKNOWNS],
}

impl NormalEquations {
    pub(super) fn new(unknowns: usize) -> Self {
        Self {
            unknowns,
            products: [[0.0; MOST_UNKNOWNS]; MOST_UNKNOWNS],
            sums: [0.0; MOST_UNKNOWNS],
        }
    }

    pub(super) fn add(&mut self, row: &[f64; MOST_UNKNOWNS]) {
        for i in 0..self.unknowns {
            self.sums[i] += row[i];
            for j in 0..=i {
                self.products[i][j] += row[i] * row[j];
            }
        }
    }

    /// The solution by Cholesky factorisation; `None` when the columns depend on each other.
    pub(super) fn solve(&self) -> Option<Vec<f64>> {
        let mut factor = self.products;
        let mut solution = self.sums[..self.unknowns].to_vec();
        for i in 0..self.unknowns {
            for j in 0..=i {
                let known: f64 = (0..j).map(|k| factor[i][k] * factor[j][k]).sum();
                let rest = factor[i][j] - known;
                if i > j {
                    factor[i][j] = rest / factor[j][j];
                } else if rest > 1e-12 * self.products[i][i] {
                    factor[i][i] = rest.sqrt();
                } else {
                    return None;
                }
            }
            let known: f64 = (0..i).map(|k| factor[i][k] * solution[k]).sum();
            solution[i] = (solution[i] - known) / factor[i][i];
        }
        for i in (0..self.unknowns).rev() {
            let known: f64 = (i + 1..self.unknowns)
                .map(|k| factor[k][i] * solution[k])
                .sum();
            solution[i] = (solution[i] - known) / factor[i][i];
        }
        Some(solution)
    }
}
