//! Verdicts on ports and links.

use super::aspect::{Aspect, Metric};
use super::polish::{Polished, polish};
use super::{Link, Odd};
use crate::fleet::{FALSE_DISCOVERY_RATE, Standing, tested};
use instrument::statistics::moderation::Variance;
use instrument::statistics::peers::{self, Observation, deviations};
use instrument::statistics::summary::{mean, median, standard_deviation};
use std::collections::BTreeMap;
use std::f64::consts::FRAC_PI_2;

/// The values of the passes, by link.
type Links = BTreeMap<(usize, usize), Vec<f64>>;

/// The ports and the links that differ from the others between `nodes`.
pub(super) fn odd(
    values: &BTreeMap<Metric, Links>,
    nodes: &[String],
    margin: f64,
) -> (Vec<Odd>, Vec<Odd>) {
    let all = 0..nodes.len();
    let fitted: Vec<Fitted> = values
        .iter()
        .map(|(metric, links)| Fitted::of(*metric, links, nodes.len()))
        .collect();
    let pairs = all
        .clone()
        .flat_map(|from| all.clone().map(move |to| Link { from, to }));
    let (every_port, every_link): (Vec<Link>, Vec<Link>) = pairs.partition(|it| it.from == it.to);
    let of_ports = fitted.iter().flat_map(Fitted::ports).collect::<Vec<_>>();
    let of_links: Vec<_> = fitted.iter().map(|it| it.links(&every_link)).collect();
    let mut links = differing(&of_links, &every_link, nodes, margin);
    links.retain(|odd| stands_out(odd, &fitted, margin));
    (differing(&of_ports, &every_port, nodes, margin), links)
}

/// True if a link also differs by more than the margin from the other links of each of its ports. Where a port is so
/// slow that it alone decides, the model expects more of its links to fast ports than of those to others.
fn stands_out(odd: &Odd, fitted: &[Fitted], margin: f64) -> bool {
    let by_metric = fitted.iter().filter(|it| it.aspect == odd.aspect);
    let excess: Vec<[f64; 2]> = by_metric.filter_map(|it| it.excess(odd.link)).collect();
    let by_port = [0, 1].map(|port| median(&excess.iter().map(|it| it[port]).collect::<Vec<_>>()));
    let margin = margin.ln_1p();
    by_port
        .into_iter()
        .flatten()
        .all(|excess| match odd.standing {
            Standing::Slower => excess < -margin,
            _ => excess > margin,
        })
}

/// A metric of all links, and its model.
struct Fitted {
    aspect: Aspect,
    /// The logarithms, from `[from][to]`.
    cells: Vec<Vec<Option<f64>>>,
    polished: Polished,
    /// The error variance of each cell, from its passes.
    errors: Vec<Vec<Option<Variance>>>,
}

impl Fitted {
    fn of(metric: Metric, links: &Links, count: usize) -> Self {
        let aspect = metric.aspect;
        let mut cells = vec![vec![None; count]; count];
        let mut errors = vec![vec![None; count]; count];
        for ((from, to), values) in links {
            let merits: Vec<f64> = values.iter().map(|value| aspect.merit(*value)).collect();
            let places = [(*from, *to), (*to, *from)];
            for (from, to) in places.into_iter().take(1 + usize::from(aspect.is_mutual())) {
                cells[from][to] = median(&merits);
                errors[from][to] = error_of_median(&merits);
            }
        }
        Self {
            aspect,
            polished: polish(&cells, aspect.is_mutual()),
            cells,
            errors,
        }
    }

    /// By how much a link differs from the other links of the port that sends, and of the one that receives.
    fn excess(&self, Link { from, to }: Link) -> Option<[f64; 2]> {
        let cell = self.cells[from][to]?;
        let nodes = 0..self.cells.len();
        let sent = nodes.clone().filter(|it| *it != to);
        let sent: Vec<f64> = sent.filter_map(|it| self.cells[from][it]).collect();
        let received = nodes.filter(|it| *it != from);
        let received: Vec<f64> = received.filter_map(|it| self.cells[it][to]).collect();
        Some([cell - median(&sent)?, cell - median(&received)?])
    }

    /// The effects of the ports, by aspect.
    fn ports(&self) -> Vec<peers::Metric> {
        let of_row = |node: usize| self.errors[node].clone();
        let of_column = |node: usize| self.errors.iter().map(|row| row[node]).collect();
        let sending = effects(self.aspect, &self.polished.sending, of_row);
        if self.aspect.is_mutual() {
            return vec![sending];
        }
        vec![
            sending,
            effects(Aspect::Receiving, &self.polished.receiving, of_column),
        ]
    }

    /// The rests of `every` link. A mutual one is judged once, from the smaller index to the larger one.
    fn links(&self, every: &[Link]) -> peers::Metric {
        let nodes = every.iter().map(|Link { from, to }| {
            if self.aspect.is_mutual() && from > to {
                return None;
            }
            Some(Observation {
                value: self.polished.rest[*from][*to]?,
                error: self.errors[*from][*to],
            })
        });
        peers::Metric {
            family: self.aspect as usize,
            nodes: nodes.collect(),
        }
    }
}

fn effects(
    aspect: Aspect,
    effects: &[Option<f64>],
    errors: impl Fn(usize) -> Vec<Option<Variance>>,
) -> peers::Metric {
    let nodes = effects.iter().enumerate().map(|(node, effect)| {
        Some(Observation {
            value: (*effect)?,
            error: error_over(&errors(node)),
        })
    });
    peers::Metric {
        family: aspect as usize,
        nodes: nodes.collect(),
    }
}

/// The error variance of the median of a few normal values; `None` for fewer than two.
fn error_of_median(values: &[f64]) -> Option<Variance> {
    let deviation = standard_deviation(values)?;
    let count = values.len() as f64;
    (deviation > 0.0).then(|| Variance {
        value: FRAC_PI_2 * deviation.powi(2) / count,
        degrees: count - 1.0,
    })
}

/// The error variance of the median over cells with these errors.
fn error_over(errors: &[Option<Variance>]) -> Option<Variance> {
    let known: Vec<Variance> = errors.iter().flatten().copied().collect();
    let values: Vec<f64> = known.iter().map(|it| it.value).collect();
    Some(Variance {
        value: FRAC_PI_2 * mean(&values)? / known.len() as f64,
        degrees: known.iter().map(|it| it.degrees).sum(),
    })
}

/// Those of `links` that differ by more than the margin in an aspect.
fn differing(metrics: &[peers::Metric], links: &[Link], nodes: &[String], margin: f64) -> Vec<Odd> {
    let found = tested(&deviations(metrics, Aspect::ALL.len()).families, margin);
    let found = Aspect::ALL.iter().zip(&found);
    let mut odd: Vec<Odd> = found
        .flat_map(|(aspect, column)| {
            links.iter().zip(column).filter_map(|(link, found)| {
                let found = (*found)?;
                let standing = found.standing(FALSE_DISCOVERY_RATE);
                (standing != Standing::Alike).then(|| Odd {
                    name: link.name(nodes, *aspect),
                    link: *link,
                    aspect: *aspect,
                    standing,
                    ratio: found.ratio(),
                    interval: found.interval(),
                    adjusted_p: found.adjusted_p,
                })
            })
        })
        .collect();
    odd.sort_by(|one, other| {
        let size = |odd: &Odd| odd.ratio.ln().abs();
        let worst = one.standing.cmp(&other.standing);
        let larger = size(other).total_cmp(&size(one));
        worst.then(larger).then_with(|| one.link.cmp(&other.link))
    });
    odd
}
