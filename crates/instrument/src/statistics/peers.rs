//! Many nodes that should be alike, judged against each other without a baseline.
//!
//! A value of a node is compared with the median over all nodes, which a minority of bad nodes cannot
//! move. The spread of healthy nodes is the median absolute deviation, for the same reason. With few
//! nodes it is hardly known, so it is drawn towards that of equally noisy metrics
//! ([`moderation`](super::moderation)), and it is bounded by the error that the nodes' own processes
//! show. Where all of that is known by a degree of freedom or two, a spread of the size of the margin is
//! assumed instead, unless the nodes show a larger one. A node whose run was clearly noisier than usual has
//! a wider interval in proportion.
//!
//! Values of one *family*, such as all about the disk, are also judged together: their common
//! deviation in a node is the weighted median of their deviations, where steady values weigh most. So
//! at least half of the family's weight must deviate. The spread of that deviation comes from the nodes
//! as well, so that it includes all that the values of a family share.
//!
//! Sources: F. Hampel, "The influence curve and its role in robust estimation", Journal of the American
//! Statistical Association 69 (1974), for the median absolute deviation; C. Croux and P. Rousseeuw,
//! "Time-efficient algorithms for two highly robust estimators of scale", Computational Statistics 1
//! (1992), for its factors in small samples; B. Efron, "Large-scale simultaneous hypothesis testing: the
//! choice of a null hypothesis", Journal of the American Statistical Association 99 (2004), for a null
//! distribution that is taken from the many cases themselves.

use super::Interval;
use super::bisection::bisect;
use super::moderation::{Contrast, Moderated, Variance, moderate, prior};
use super::student::t_quantile_at;
use super::summary::{NORMAL_SCALE, median, median_absolute_deviation, quantile, weighted_median};

/// Fewer nodes have no majority: of two that differ, either may be the odd one.
pub const FEWEST_NODES: usize = 3;

/// The share of a family's weight that a node must have measured to be judged by it.
const LEAST_WEIGHT: f64 = 0.5;
/// Errors of the values of one run are partly shared. More values than this are not trusted to lessen
/// the error of their common deviation any further.
const MOST_INDEPENDENT: usize = 4;
/// Precision of the median absolute deviation relative to that of the standard deviation, for normal
/// values.
const EFFICIENCY: f64 = 0.37;
/// Variance of a median relative to that of a mean, for normal values.
const MEDIAN_VARIANCE: f64 = std::f64::consts::FRAC_PI_2;
/// With fewer values, the weight of the tails is not known.
const LEAST_FOR_TAILS: usize = 900;
/// The errors that nodes estimate from few processes vary among themselves by about this factor, as
/// variances. A larger one means a noisy run.
const USUAL_NOISE: f64 = 2.0;
/// Weight of the error within nodes against the spread that many nodes show, in degrees of freedom: few
/// nodes may agree by chance, many know better.
const ERROR_DEGREES: f64 = 4.0;
/// Healthy nodes are assumed to differ by this standard deviation, with a degree of freedom for each node, where
/// few values of few nodes hardly show their spread. It is of the size of a margin, so it hides no difference
/// that is some times as large.
const ASSUMED_SPREAD: f64 = 0.02;
/// The confidence at which the spread from the nodes is compared with the assumed one.
const SMALL_RISK: f64 = 0.999;
/// Tails are not taken to be heavier than those of Student's t with this many degrees of freedom.
const FEWEST_TAIL_DEGREES: f64 = 4.0;

/// A value of one node, on a scale of differences: the logarithm, for ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// The value.
    pub value: f64,
    /// Its error variance as estimated from the node alone; `None` if unknown.
    pub error: Option<Variance>,
}

/// One metric over all nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Index of the family: metrics that deviate together.
    pub family: usize,
    /// The value of each node, in the same order in every metric.
    pub nodes: Vec<Option<Observation>>,
}

/// The deviations of all nodes. `None` for what a node or too many of its peers did not measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Deviations {
    /// For each metric, those of all nodes.
    pub metrics: Vec<Vec<Option<Moderated>>>,
    /// For each family, those of all nodes.
    pub families: Vec<Vec<Option<Moderated>>>,
}

/// The deviation of each node from its peers, by metric and by family.
pub fn deviations(metrics: &[Metric], families: usize) -> Deviations {
    let found: Vec<Option<Column>> = metrics
        .iter()
        .map(|metric| Column::of_metric(&metric.nodes))
        .collect();
    let by_metric = moderated(found);
    let by_family = (0..families)
        .map(|family| {
            let members = metrics.iter().zip(&by_metric);
            let members = members.filter(|(metric, _)| metric.family == family);
            Column::of_family(
                &members
                    .filter_map(|(_, column)| column.as_ref())
                    .collect::<Vec<_>>(),
            )
        })
        .collect();
    let nodes = metrics.iter().map(|metric| metric.nodes.len()).max();
    let judged = |columns: Vec<Option<Judged>>| -> Vec<Vec<Option<Moderated>>> {
        let of_all = tail_degrees(columns.iter().flatten()).unwrap_or(f64::INFINITY);
        let columns = columns.into_iter();
        columns
            .map(|column| match column {
                Some(column) => {
                    let tails = tail_degrees([&column]).unwrap_or(of_all);
                    column.found(tails)
                }
                None => vec![None; nodes.unwrap_or(0)],
            })
            .collect()
    };
    let by_family = judged(moderated(by_family));
    Deviations {
        metrics: judged(by_metric),
        families: by_family,
    }
}

/// The deviations of all nodes in one metric or family, before their spread is moderated.
#[derive(Clone, Debug)]
struct Column {
    nodes: Vec<Option<Cell>>,
    /// Spread between nodes, and the error within them.
    contrast: Contrast,
    /// Bounds the spread from below.
    floor: Option<Variance>,
}

/// The deviation of one node.
#[derive(Clone, Copy, Debug)]
struct Cell {
    deviation: f64,
    /// Its error variance over the usual one.
    noise: f64,
}

/// A column with the spread of a healthy node.
#[derive(Clone, Debug)]
struct Judged {
    column: Column,
    healthy: Moderated,
}

impl Column {
    /// `None` if too few nodes have a value.
    fn of_metric(nodes: &[Option<Observation>]) -> Option<Self> {
        let values: Vec<f64> = nodes.iter().flatten().map(|node| node.value).collect();
        let errors: Option<Vec<Variance>> = nodes.iter().flatten().map(|node| node.error).collect();
        let within = errors.and_then(|errors| typical(&errors));
        let centre = median(&values)?;
        let cell = |node: &Observation| Cell {
            deviation: node.value - centre,
            noise: noise(node.error, within),
        };
        Self::new(
            nodes.iter().map(|node| node.as_ref().map(cell)).collect(),
            within,
        )
    }

    /// The common deviation of each node in the metrics of a family.
    fn of_family(members: &[&Judged]) -> Option<Self> {
        let weights: Vec<f64> = members.iter().map(|member| member.weight()).collect();
        let total: f64 = weights.iter().sum();
        let common = |node: usize, read: fn(&Cell) -> f64| -> Option<f64> {
            let cells = members.iter().zip(&weights);
            let cells = cells.filter_map(|(member, weight)| {
                Some((read(member.column.nodes[node].as_ref()?), *weight))
            });
            weighted_median(cells.collect(), total * LEAST_WEIGHT)
        };
        let cell = |node| {
            Some(Cell {
                deviation: common(node, |cell| cell.deviation)?,
                noise: common(node, |cell| cell.noise)?,
            })
        };
        let nodes = members.first()?.column.nodes.len();
        Self::new((0..nodes).map(cell).collect(), shared_error(members))?.of_whole()
    }

    fn new(nodes: Vec<Option<Cell>>, within: Option<Variance>) -> Option<Self> {
        let deviations: Vec<f64> = nodes.iter().flatten().map(|cell| cell.deviation).collect();
        let count = deviations.len();
        if count < FEWEST_NODES {
            return None;
        }
        let scale =
            NORMAL_SCALE * small_sample_factor(count) * median_absolute_deviation(&deviations)?;
        let variance = Variance {
            value: scale.powi(2),
            degrees: (EFFICIENCY * (count as f64 - 1.0)).max(1.0),
        };
        Some(Self {
            nodes,
            floor: within,
            contrast: Contrast {
                difference: 0.0,
                variance,
                within,
                // The deviation of a node, and that of the median from which it is measured.
                factor: (1.0 + MEDIAN_VARIANCE / count as f64).sqrt(),
            },
        })
    }

    /// The same deviations, measured from their median. The error within nodes bounds their spread only
    /// as far as few nodes do not know it better.
    fn of_whole(mut self) -> Option<Self> {
        let deviations: Vec<f64> = self.cells().map(|cell| cell.deviation).collect();
        let centre = median(&deviations)?;
        for cell in self.nodes.iter_mut().flatten() {
            cell.deviation -= centre;
        }
        let own = self.contrast.variance;
        let degrees = ERROR_DEGREES + own.degrees;
        self.floor = self.floor.map(|error| Variance {
            value: (ERROR_DEGREES * error.value + own.degrees * own.value) / degrees,
            degrees,
        });
        Some(self)
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.nodes.iter().flatten()
    }
}

impl Cell {
    /// Its spread over that of a node with usual noise.
    fn widening(&self) -> f64 {
        (self.noise / USUAL_NOISE).max(1.0).sqrt()
    }
}

impl Judged {
    /// Weight of the metric in its family: steady values weigh most.
    fn weight(&self) -> f64 {
        self.healthy.standard_error.max(f64::MIN_POSITIVE).recip()
    }

    /// Each deviation over the spread that its node has if it is healthy.
    fn standardised(&self) -> impl Iterator<Item = f64> {
        let cells = self.column.cells();
        cells.map(|cell| (cell.deviation / (self.healthy.standard_error * cell.widening())).abs())
    }

    /// The spread from the nodes, or the assumed one if that shows differences sooner: with a degree of freedom
    /// or two, a node that is half as fast would be within the tails of Student's t.
    fn better_known(&self) -> Moderated {
        let of_nodes = self.healthy;
        let assumed = Moderated {
            standard_error: of_nodes
                .standard_error
                .max(ASSUMED_SPREAD * self.column.contrast.factor),
            degrees: self.column.cells().count() as f64,
            ..of_nodes
        };
        let reach = |it: &Moderated| {
            let quantile = t_quantile_at(SMALL_RISK, it.degrees)?;
            Some(quantile * it.standard_error)
        };
        match (reach(&assumed), reach(&of_nodes)) {
            (Some(near), Some(far)) if near < far => assumed,
            _ => of_nodes,
        }
    }

    fn found(self, tails: f64) -> Vec<Option<Moderated>> {
        let healthy = self.better_known();
        let found = |cell: Cell| Moderated {
            difference: cell.deviation,
            standard_error: healthy.standard_error * cell.widening(),
            degrees: healthy.degrees.min(tails),
        };
        let nodes = self.column.nodes.into_iter();
        nodes.map(|cell| cell.map(found)).collect()
    }
}

/// The spread of a healthy node in each column, drawn towards that of equally noisy columns and at
/// least the error within nodes. The column's own spread is no bound of it: that of few nodes is so
/// little known that it would hide what all columns together show.
fn moderated(columns: Vec<Option<Column>>) -> Vec<Option<Judged>> {
    let contrasts: Vec<Contrast> = columns.iter().flatten().map(|it| it.contrast).collect();
    let Some(prior) = prior(&contrasts) else {
        return vec![None; columns.len()];
    };
    let mut moderated = moderate(&contrasts, prior).into_iter();
    let judged = columns.into_iter().map(|column| {
        let column = column?;
        let bounded = Contrast {
            within: column.floor,
            ..column.contrast
        };
        let healthy = bounded.at_least_within(moderated.next()?);
        Some(Judged { column, healthy })
    });
    judged.collect()
}

/// The usual error of the nodes; as well known as all of them together know it.
fn typical(errors: &[Variance]) -> Option<Variance> {
    let values: Vec<f64> = errors.iter().map(|error| error.value).collect();
    let degrees: f64 = errors.iter().map(|error| error.degrees).sum();
    let value = median(&values).filter(|value| *value > 0.0)?;
    (degrees > 0.0).then_some(Variance { value, degrees })
}

/// The error of the common deviation of these metrics, of which some is shared.
fn shared_error(members: &[&Judged]) -> Option<Variance> {
    let known: Option<Vec<(f64, f64)>> = members
        .iter()
        .map(|member| Some((member.column.contrast.within?.value, member.weight())))
        .collect();
    let least_degrees = members
        .iter()
        .filter_map(|member| member.column.contrast.within);
    let least_degrees = least_degrees
        .map(|within| within.degrees)
        .reduce(f64::min)?;
    Some(Variance {
        value: weighted_median(known?, 0.0)? / members.len().min(MOST_INDEPENDENT) as f64,
        degrees: least_degrees,
    })
}

fn noise(own: Option<Variance>, usual: Option<Variance>) -> f64 {
    let ratio = own.zip(usual).map(|(own, usual)| own.value / usual.value);
    ratio.filter(|ratio| ratio.is_finite()).unwrap_or(1.0)
}

/// The factor that makes the median absolute deviation of few normal values unbiased (Croux and
/// Rousseeuw 1992).
fn small_sample_factor(count: usize) -> f64 {
    const OF_FEW: [f64; 7] = [1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107];
    match count.checked_sub(FEWEST_NODES) {
        Some(index) if index < OF_FEW.len() => OF_FEW[index],
        _ => count as f64 / (count as f64 - 0.8),
    }
}

/// Degrees of freedom of the Student distribution whose tails are as heavy as those of all these
/// deviations, infinite for normal ones; `None` if there are too few. They follow from the quantile at 0.9
/// over the median: a tenth of the values may belong to bad nodes.
fn tail_degrees<'j>(columns: impl IntoIterator<Item = &'j Judged>) -> Option<f64> {
    const FAR: f64 = 0.9;
    const MOST_DEGREES: f64 = 1000.0;
    let columns = columns.into_iter();
    let sizes: Vec<f64> = columns
        .flat_map(Judged::standardised)
        .filter(|size| size.is_finite())
        .collect();
    let (far, near) = (quantile(&sizes, FAR)?, median(&sizes)?);
    if sizes.len() < LEAST_FOR_TAILS || near <= 0.0 {
        return None;
    }
    let is_as_heavy = |degrees: f64| {
        let at = |share| t_quantile_at(share, degrees);
        at(FAR)
            .zip(at(0.5))
            .is_some_and(|(of_far, of_near)| of_far / of_near >= far / near)
    };
    if is_as_heavy(MOST_DEGREES) {
        return Some(f64::INFINITY);
    }
    // The most degrees whose tails are heavy enough, to 1 %.
    let logarithms = Interval {
        low: FEWEST_TAIL_DEGREES.ln(),
        high: MOST_DEGREES.ln(),
    };
    Some(bisect(logarithms, 9, |it| is_as_heavy(it.exp())).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::random::Random;

    #[test]
    fn the_scale_of_few_normal_values_is_unbiased() {
        for count in [3, 4, 5, 9, 10, 40] {
            let mut random = Random::new(count as u64);
            let draws = 4000;
            let mut sum = 0.0;
            for _ in 0..draws {
                let values: Vec<f64> = (0..count).map(|_| random.normal()).collect();
                sum += NORMAL_SCALE
                    * small_sample_factor(count)
                    * median_absolute_deviation(&values).unwrap();
            }
            let scale = sum / f64::from(draws);
            assert!((scale - 1.0).abs() < 0.05, "{count} values: {scale}");
        }
    }

    /// One column of `count` nodes whose deviations are drawn by `draw`.
    fn column(count: usize, draw: impl FnMut() -> f64) -> Option<Judged> {
        let mut draw = draw;
        let nodes = (0..count).map(|_| {
            Some(Observation {
                value: draw(),
                error: None,
            })
        });
        let column = Column::of_metric(&nodes.collect::<Vec<_>>());
        moderated(vec![column]).pop()?
    }

    #[test]
    fn heavy_tails_differ_from_normal_ones() {
        let mut random = Random::new(1);
        let normal = tail_degrees(&column(5000, || random.normal())).unwrap();
        assert!(normal > 20.0, "{normal}");
        let mut random = Random::new(2);
        // Student's t with three degrees of freedom.
        let heavy = column(5000, || {
            let square = (0..3).map(|_| random.normal().powi(2)).sum::<f64>() / 3.0;
            random.normal() / square.sqrt()
        });
        let heavy = tail_degrees(&heavy).unwrap();
        assert!((FEWEST_TAIL_DEGREES..7.0).contains(&heavy), "{heavy}");
        let mut random = Random::new(3);
        assert_eq!(tail_degrees(&column(100, || random.normal())), None);
    }
}
