//! The search for the capacities that fit a curve best.

use super::equations::{MOST_UNKNOWNS, NormalEquations};
use super::misses::miss_share;
use std::iter;

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

impl Fit {
    /// True if the gain is more than the rounding error of the residual, which could make a search
    /// go in circles.
    fn is_better_than(&self, other: &Self) -> bool {
        self.residual < other.residual * (1.0 - 1e-9) - 1e-12
    }
}

/// The costs to which the model is fitted, and the capacities to try.
pub(super) struct Curve {
    /// The first cost, in which all are expressed so that squares stay in range.
    unit: f64,
    /// `unit` over each cost: with rows divided by their measured cost, each measurement is 1 and
    /// errors are relative.
    weights: Vec<f64>,
    /// The logarithm of each size, which every candidate needs.
    log2_sizes: Vec<f64>,
    grid: Vec<f64>,
}

impl Curve {
    pub(super) fn new(sizes: &[f64], costs: &[f64]) -> Self {
        let (smallest, largest) = (sizes[1], sizes[sizes.len() - 1 - SIZES_BEYOND]);
        let steps = ((largest / smallest).log2() * STEPS_PER_OCTAVE)
            .ceil()
            .max(1.0);
        let grid = (0..=steps as usize)
            .map(|step| smallest * (largest / smallest).powf(step as f64 / steps))
            .collect();
        let log2_sizes = sizes.iter().map(|size| size.log2()).collect();
        let unit = costs[0];
        Self {
            unit,
            weights: costs.iter().map(|cost| unit / cost).collect(),
            log2_sizes,
            grid,
        }
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
        let n = self.weights.len() as f64;
        let parameters = 1.0 + PARAMETERS_OF_LEVEL * fit.capacities.len() as f64;
        n * (fit.residual / n + MODEL_ERROR * MODEL_ERROR).ln() + parameters * n.ln()
    }

    /// Moves one capacity at a time over the whole grid, until no move improves the fit.
    fn exchange(&self, mut best: Fit) -> Fit {
        while let Some(better) = self.best_move(&best) {
            best = better;
        }
        best
    }

    /// Moves one capacity at a time by ever smaller factors. No such move changes the order of the
    /// capacities, so all other columns of the equations stay as they are.
    pub(super) fn refine(&self, mut best: Fit) -> Fit {
        let mut columns = self.columns(&best.capacities);
        let mut equations = NormalEquations::new(&columns);
        let mut factor = LEAST_RATIO;
        while factor > FINEST_FACTOR {
            factor = factor.sqrt();
            loop {
                let places = (0..best.capacities.len())
                    .flat_map(|index| [(index, 1.0 / factor), (index, factor)]);
                let moved = places.filter_map(|(index, by)| {
                    let mut capacities = best.capacities.clone();
                    capacities[index] *= by;
                    if !self.is_allowed(&capacities) {
                        return None;
                    }
                    let column = self.column(index, capacities[index]);
                    let mut equations = equations.clone();
                    equations.replace(index + 1, &column, &columns);
                    Some((index, column, self.solved(capacities, &equations)?))
                });
                let better = moved
                    .min_by(|(.., left), (.., right)| left.residual.total_cmp(&right.residual))
                    .filter(|(.., fit)| fit.is_better_than(&best));
                let Some((index, column, fit)) = better else {
                    break;
                };
                equations.replace(index + 1, &column, &columns);
                columns[index + 1] = column;
                best = fit;
            }
        }
        best
    }

    /// The best fit with one capacity moved to another place of the grid, if it is better than
    /// `from`.
    fn best_move(&self, from: &Fit) -> Option<Fit> {
        let moved = (0..from.capacities.len()).flat_map(|index| {
            self.grid.iter().map(move |&place| {
                let mut capacities = from.capacities.clone();
                capacities[index] = place;
                capacities
            })
        });
        self.best_of(moved).filter(|fit| fit.is_better_than(from))
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
        if !self.is_allowed(&capacities) {
            return None;
        }
        let equations = NormalEquations::new(&self.columns(&capacities));
        self.solved(capacities, &equations)
    }

    /// True if the capacities, in ascending order, are in range and apart.
    fn is_allowed(&self, capacities: &[f64]) -> bool {
        let (smallest, largest) = (self.grid[0], self.grid[self.grid.len() - 1]);
        let in_range = |&capacity: &f64| (smallest..=largest).contains(&capacity);
        let apart = |pair: &[f64]| pair[1] >= LEAST_RATIO * pair[0];
        capacities.iter().all(in_range) && capacities.windows(2).all(apart)
    }

    /// The columns of the equations: the base cost, and the share that misses each level.
    fn columns(&self, capacities: &[f64]) -> Vec<Vec<f64>> {
        let of_levels = capacities.iter().enumerate();
        let of_levels = of_levels.map(|(index, &capacity)| self.column(index, capacity));
        iter::once(self.weights.clone()).chain(of_levels).collect()
    }

    fn column(&self, index: usize, capacity: f64) -> Vec<f64> {
        let log2_capacity = capacity.log2();
        let sizes = self.weights.iter().zip(&self.log2_sizes);
        sizes
            .map(|(weight, log2_size)| weight * miss_share(index, log2_size - log2_capacity))
            .collect()
    }

    /// The solution of the equations of these capacities; `None` if a cost would not be positive.
    fn solved(&self, capacities: Vec<f64>, equations: &NormalEquations) -> Option<Fit> {
        let solution = equations.solve()?;
        if solution.iter().any(|&cost| cost <= 0.0) {
            return None;
        }
        let explained = equations.explained(&solution);
        Some(Fit {
            base_cost: solution[0] * self.unit,
            added_costs: solution[1..].iter().map(|cost| cost * self.unit).collect(),
            residual: (self.weights.len() as f64 - explained).max(0.0),
            capacities,
        })
    }
}
