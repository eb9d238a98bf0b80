//! The search for the capacities that fit a curve best.

use super::equations::{MOST_UNKNOWNS, NormalEquations};
use super::misses::miss_share;

/// The search stops at this many levels. The base cost is one more unknown.
const MOST_LEVELS: usize = MOST_UNKNOWNS - 1;

/// Neighbouring levels differ at least by this factor in capacity.
const LEAST_RATIO: f64 = 2.0;

/// Sizes needed beyond a capacity to see its cost rise, so that one odd last point is no level.
const SIZES_BEYOND: usize = 2;

/// The relative error of the model itself. No level is added to explain it away: caches are not
/// fully associative, and prefetching bends the curve.
const MODEL_ERROR: f64 = 0.01;

/// The weight of a level in the information criterion: its cost, its capacity, and once more for
/// the search for the capacity.
const PARAMETERS_OF_LEVEL: f64 = 3.0;

/// Capacities tried for each doubling of the size before the best is refined.
const STEPS_PER_OCTAVE: f64 = 4.0;

/// Refinement stops once it moves capacities by less than this factor.
const FINEST_FACTOR: f64 = 1.001;

/// The model with certain capacities, fitted to a curve.
#[derive(Clone)]
pub(super) struct Fit {
    pub(super) base_cost: f64,
    /// In ascending order.
    pub(super) capacities: Vec<f64>,
    pub(super) added_costs: Vec<f64>,
    /// The sum of the squared relative errors.
    pub(super) residual: f64,
}

/// The costs to which the model is fitted, and the capacities to try.
pub(super) struct Curve<'a> {
    sizes: &'a [f64],
    costs: &'a [f64],
    grid: Vec<f64>,
}

impl<'a> Curve<'a> {
    pub(super) fn new(sizes: &'a [f64], costs: &'a [f64]) -> Self {
        let (smallest, largest) = (sizes[1], sizes[sizes.len() - 1 - SIZES_BEYOND]);
        let steps = ((largest / smallest).log2() * STEPS_PER_OCTAVE)
            .ceil()
            .max(1.0);
        let grid = (0..=steps as usize)
            .map(|step| smallest * (largest / smallest).powf(step as f64 / steps))
            .collect();
        Self { sizes, costs, grid }
    }

    /// The fit with the number of levels that the information criterion prefers.
    pub(super) fn best_fit(&self) -> Option<Fit> {
        let mut best = self.solve(&[])?;
        let mut latest = best.clone();
        while latest.capacities.len() < MOST_LEVELS {
            let candidates = self.grid.iter().map(|&capacity| {
                let mut capacities = latest.capacities.clone();
                capacities.push(capacity);
                capacities
            });
            let Some(added) = self.best_of(candidates) else {
                break;
            };
            latest = self.refine(self.exchange(added));
            if self.criterion(&latest) < self.criterion(&best) {
                best = latest.clone();
            }
        }
        Some(best)
    }

    fn criterion(&self, fit: &Fit) -> f64 {
        let n = self.sizes.len() as f64;
        let parameters = 1.0 + PARAMETERS_OF_LEVEL * fit.capacities.len() as f64;
        n * (fit.residual / n + MODEL_ERROR * MODEL_ERROR).ln() + parameters * n.ln()
    }

    /// Moves one capacity at a time over the whole grid, until no move improves the fit.
    fn exchange(&self, mut best: Fit) -> Fit {
        while let Some(better) = self.best_move(&best, |_| self.grid.clone()) {
            best = better;
        }
        best
    }

    /// Moves one capacity at a time by ever smaller factors.
    pub(super) fn refine(&self, mut best: Fit) -> Fit {
        let mut factor = LEAST_RATIO;
        while factor > FINEST_FACTOR {
            factor = factor.sqrt();
            while let Some(better) = self.best_move(&best, |at| vec![at / factor, at * factor]) {
                best = better;
            }
        }
        best
    }

    /// The best fit with one capacity moved to one of its `places`, if it is better than `from`.
    fn best_move(&self, from: &Fit, places: impl Fn(f64) -> Vec<f64>) -> Option<Fit> {
        let moved = (0..from.capacities.len()).flat_map(|index| {
            places(from.capacities[index])
                .into_iter()
                .map(move |place| {
                    let mut capacities = from.capacities.clone();
                    capacities[index] = place;
                    capacities
                })
        });
        // A gain within the rounding error of the residual could make the search go in circles.
        self.best_of(moved)
            .filter(|fit| fit.residual < from.residual * (1.0 - 1e-9) - 1e-12)
    }

    fn best_of(&self, candidates: impl Iterator<Item = Vec<f64>>) -> Option<Fit> {
        candidates
            .filter_map(|capacities| self.solve(&capacities))
            .min_by(|left, right| left.residual.total_cmp(&right.residual))
    }

    /// The least-squares costs for given capacities; `None` when the capacities are out of range
    /// or too close, or when a cost would not be positive.
    pub(super) fn solve(&self, capacities: &[f64]) -> Option<Fit> {
        let mut capacities = capacities.to_vec();
        capacities.sort_unstable_by(f64::total_cmp);
        let (smallest, largest) = (self.grid[0], self.grid[self.grid.len() - 1]);
        let in_range = |&capacity: &f64| (smallest..=largest).contains(&capacity);
        let apart = |pair: &[f64]| pair[1] >= LEAST_RATIO * pair[0];
        if !capacities.iter().all(in_range) || !capacities.windows(2).all(apart) {
            return None;
        }

        // Every row is divided by its measured cost: then each measurement is 1 and errors are
        // relative. The first cost is the unit, so that squares stay in range.
        let unit = self.costs[0];
        let mut equations = NormalEquations::new(capacities.len() + 1);
        for (&size, &cost) in self.sizes.iter().zip(self.costs) {
            let mut row = [unit / cost; MOST_UNKNOWNS];
            for (index, (term, &capacity)) in row[1..].iter_mut().zip(&capacities).enumerate() {
                *term *= miss_share(index, capacity, size);
            }
            equations.add(&row);
        }
        let solution = equations.solve()?;
        if solution.iter().any(|&cost| cost <= 0.0) {
            return None;
        }
        let explained: f64 = solution
            .iter()
            .zip(&equations.sums)
            .map(|(a, b)| a * b)
            .sum();
        Some(Fit {
            base_cost: solution[0] * unit,
            added_costs: solution[1..].iter().map(|cost| cost * unit).collect(),
            residual: (self.sizes.len() as f64 - explained).max(0.0),
            capacities,
        })
    }
}
