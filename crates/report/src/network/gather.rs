//! Gathers the measurements of links, and reports which are missing.

use super::aspect::Metric;
use super::{FEWEST_NODES, Network, Origin, judge};
use instrument::quantity::{Unit, counted};
use instrument::statistics::summary::median;
use network::{Measured, Protocol};
use std::collections::BTreeMap;

/// A larger share of lost datagrams is a remark.
const NOTABLE_LOSS: f64 = 0.01;
/// Number of links to list before the rest is counted.
const MOST_LISTED: usize = 5;

/// The measurements of the links between some nodes.
#[derive(Clone, Debug, Default)]
pub struct Gathering {
    origin: Origin,
    nodes: Vec<String>,
    /// By metric and link, the values of the passes.
    pub(super) values: BTreeMap<Metric, BTreeMap<(usize, usize), Vec<f64>>>,
    passes: BTreeMap<(usize, usize), usize>,
    /// Datagrams by link: those that were lost, and all.
    datagrams: BTreeMap<(usize, usize), (u64, u64)>,
    /// By reason, the links that could not be measured.
    failed: BTreeMap<String, Vec<(usize, usize)>>,
    /// Remarks of the program that measured.
    remarks: Vec<String>,
    /// True if a node gave no measurements.
    has_failed: bool,
}

impl Gathering {
    /// Nodes without any measurement.
    pub fn new(nodes: Vec<String>) -> Self {
        Self::of(nodes, Origin::Oscope)
    }

    pub(super) fn of(nodes: Vec<String>, origin: Origin) -> Self {
        Self {
            origin,
            nodes,
            ..Self::default()
        }
    }

    /// Adds a measurement that node `asks` made of its link to node `answers`.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn add(&mut self, asks: usize, answers: usize, measured: &Measured) {
        assert!(asks.max(answers) < self.nodes.len(), "no such node");
        let link = (asks.min(answers), asks.max(answers));
        *self.passes.entry(link).or_default() += 1;
        for latency in &measured.latencies {
            self.take(Metric::round_trip(latency), link, latency.p50_ns);
            if latency.protocol == Protocol::Udp {
                let (lost, all) = self.datagrams.entry(link).or_default();
                *lost += latency.lost;
                *all += latency.lost + latency.count;
            }
        }
        if let Some(throughput) = measured.throughput {
            self.take(Metric::THROUGHPUT, (asks, answers), throughput.there);
            self.take(Metric::THROUGHPUT, (answers, asks), throughput.back);
        }
        for reason in &measured.failures {
            self.fail_link(asks, answers, reason.clone());
        }
    }

    /// Adds a value of another program. As many as a link has of a metric count as its passes.
    pub(super) fn put(&mut self, metric: Metric, (from, to): (usize, usize), value: f64) {
        let count = self.take(metric, (from, to), value);
        let passes = self.passes.entry((from.min(to), from.max(to))).or_default();
        *passes = count.max(*passes);
    }

    /// Adds a value, and returns the number that the link has then.
    fn take(&mut self, metric: Metric, (from, to): (usize, usize), value: f64) -> usize {
        if !value.is_finite() || value <= 0.0 {
            return 0;
        }
        let link = if metric.aspect.is_mutual() {
            (from.min(to), from.max(to))
        } else {
            (from, to)
        };
        let links = self.values.entry(metric).or_default();
        let values = links.entry(link).or_default();
        values.push(value);
        values.len()
    }

    /// Adds the reason why a link, or a part of it, could not be measured.
    pub fn fail_link(&mut self, asks: usize, answers: usize, reason: String) {
        let links = self.failed.entry(reason).or_default();
        if links.last() != Some(&(asks, answers)) {
            links.push((asks, answers));
        }
    }

    /// Adds the reason why a node gave no measurements.
    pub fn fail_node(&mut self, reason: String) {
        self.has_failed = true;
        self.remarks.push(reason);
    }

    /// Adds a caveat.
    pub fn remark(&mut self, remark: String) {
        self.remarks.push(remark);
    }

    /// Judges the ports and links. Differences up to `margin` are ignored: 0.1 for 10 %.
    pub fn judge(self, margin: f64) -> Network {
        let count = self.nodes.len();
        let (ports, links) = if count < FEWEST_NODES {
            (Vec::new(), Vec::new())
        } else {
            judge::odd(&self.values, &self.nodes, margin)
        };
        let matrices = self.values.iter().map(|(metric, links)| {
            let mut cells = vec![vec![None; count]; count];
            let mut all = Vec::new();
            for ((from, to), values) in links {
                let value = median(values);
                cells[*from][*to] = value;
                if metric.aspect.is_mutual() {
                    cells[*to][*from] = value;
                }
                all.extend(value);
            }
            super::Matrix {
                title: metric.title(),
                aspect: metric.aspect,
                unit: metric.aspect.unit(),
                typical: median(&all).unwrap_or(f64::NAN),
                cells,
            }
        });
        Network {
            origin: self.origin,
            matrices: matrices.collect(),
            passes: self.passes.values().copied().max().unwrap_or(0),
            margin,
            ports,
            links,
            remarks: self.caveats(),
            is_incomplete: self.has_failed || !self.failed.is_empty() || self.unmeasured() > 0,
            nodes: self.nodes,
        }
    }

    /// Number of links without any measurement.
    fn unmeasured(&self) -> usize {
        let count = self.nodes.len();
        count * count.saturating_sub(1) / 2 - self.passes.len()
    }

    fn caveats(&self) -> Vec<String> {
        let mut caveats = Vec::new();
        if self.nodes.len() < FEWEST_NODES {
            caveats.push(format!(
                "Of fewer than {FEWEST_NODES} nodes, a slow port cannot be distinguished from a slow link: nothing is named."
            ));
        }
        caveats.extend(self.remarks.iter().cloned());
        let link =
            |(one, other): (usize, usize)| format!("{} and {}", self.nodes[one], self.nodes[other]);
        let shares = self.datagrams.iter();
        let shares = shares.map(|(link, (lost, all))| (*link, *lost as f64 / (*all).max(1) as f64));
        let mut lossy: Vec<_> = shares.filter(|(_, share)| *share > NOTABLE_LOSS).collect();
        lossy.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let lossy = lossy.into_iter();
        let lossy =
            lossy.map(|(it, share)| format!("{} ({})", link(it), Unit::Share.show(share, 2)));
        let lossy: Vec<String> = lossy.collect();
        if !lossy.is_empty() {
            caveats.push(format!("Datagrams were lost between {}.", listed(&lossy)));
        }
        for (reason, links) in &self.failed {
            let links: Vec<String> = links.iter().map(|it| link(*it)).collect();
            caveats.push(format!(
                "Not measured between {}: {reason}.",
                listed(&links)
            ));
        }
        if self.unmeasured() > 0 {
            caveats.push(format!(
                "No measurement of {}.",
                counted(self.unmeasured(), "link")
            ));
        }
        caveats
    }
}

/// The first of `links`, and the number of the others.
fn listed(links: &[String]) -> String {
    let (first, others) = links.split_at(links.len().min(MOST_LISTED));
    let more = match others.len() {
        0 => String::new(),
        more => format!(" and {more} more links"),
    };
    first.join(", ") + &more
}
