//! Linear least squares by the normal equations.

/// The most unknowns that a system can have.
pub(super) const MOST_UNKNOWNS: usize = 5;

/// The normal equations of a least-squares problem whose measurements are all 1.
#[derive(Clone)]
pub(super) struct NormalEquations {
    unknowns: usize,
    products: [[f64; MOST_UNKNOWNS]; MOST_UNKNOWNS],
    sums: [f64; MOST_UNKNOWNS],
}

impl NormalEquations {
    /// The equations of these columns, one for each unknown.
    pub(super) fn new(columns: &[Vec<f64>]) -> Self {
        let mut equations = Self {
            unknowns: columns.len(),
            products: [[0.0; MOST_UNKNOWNS]; MOST_UNKNOWNS],
            sums: [0.0; MOST_UNKNOWNS],
        };
        for (index, column) in columns.iter().enumerate() {
            equations.replace(index, column, columns);
        }
        equations
    }

    /// Puts `column` in the place of the column at `index`; all others are as in `columns`.
    pub(super) fn replace(&mut self, index: usize, column: &[f64], columns: &[Vec<f64>]) {
        self.sums[index] = column.iter().sum();
        for (other, with) in columns.iter().enumerate() {
            let with = if other == index { column } else { with };
            let product = column
                .iter()
                .zip(with)
                .map(|(one, other)| one * other)
                .sum();
            self.products[index.max(other)][index.min(other)] = product;
        }
    }

    /// The part of the squares of all measurements that a solution explains.
    pub(super) fn explained(&self, solution: &[f64]) -> f64 {
        let parts = solution.iter().zip(&self.sums);
        parts.map(|(solved, sum)| solved * sum).sum()
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
