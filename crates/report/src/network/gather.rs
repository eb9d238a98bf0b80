//! Gathers the measurements of links, and tells what lacks.

use super::aspect::Metric;
use super::{FEWEST_NODES, Network, Origin, judge};
use instrument::quantity::{Unit, counted};
use instrument::statistics::summary::median;
use network::{Measured, Protocol};
use std::collections::BTreeMap;

/// A larger share of lost datagrams is told.
const NOTABLE_LOSS: f64 = 0.01;
/// Number of links to list before the rest is counted.
const MOST_LISTED: usize = 5;

/// The measurements of the links between some nodes.
#[derive(Clone, Debug)]
pub struct Gathering {
    origin: Origin,
    nodes: Vec<String>,
    /// By metric and link, the values of the passes.
    pub(super) values: BTreeMap<Metric, BTreeMap<(usize, usize), Vec<f64>>>,
    passes: BTreeMap<(usize, usize), usize>,
    /// Datagrams by link: those that were lost, and all.
    datagrams: BTreeMap<(usize, usize), (u64, u64)>,
    /// By reason, the links that it concerns.
    lacking: BTreeMap<String, Vec<(usize, usize)>>,
    /// Remarks of whoever measured.
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
            values: BTreeMap::new(),
            passes: BTreeMap::new(),
            datagrams: BTreeMap::new(),
            lacking: BTreeMap::new(),
            remarks: Vec::new(),
            has_failed: false,
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
            self.take(Metric::of(latency), link, latency.p50_ns);
            if latency.protocol == Protocol::Udp {
                let (lost, all) = self.datagrams.entry(link).or_default();
                *lost += latency.lost;
                *all += latency.lost + latency.count;
            }
        }
        if let Some(throughput) = measured.throughput {
            self.take(Metric::Throughput, (asks, answers), throughput.there);
            self.take(Metric::Throughput, (answers, asks), throughput.back);
        }
        for reason in &measured.failures {
            self.lack(asks, answers, reason.clone());
        }
    }

    /// Adds a value of another program. As many as a link has of a metric count as its passes.
    pub(super) fn put(&mut self, metric: Metric, (from, to): (usize, usize), value: f64) {
        self.take(metric, (from, to), value);
        let of_metric = self
            .values
            .get(&metric)
            .and_then(|links| links.get(&(from, to)));
        let count = of_metric.map_or(0, Vec::len);
        let passes = self.passes.entry((from.min(to), from.max(to))).or_default();
        *passes = count.max(*passes);
    }

    fn take(&mut self, metric: Metric, link: (usize, usize), value: f64) {
        if value > 0.0 && value.is_finite() {
            let links = self.values.entry(metric).or_default();
            links.entry(link).or_default().push(value);
        }
    }

    /// Adds the reason why a link, or a part of it, could not be measured.
    pub fn lack(&mut self, asks: usize, answers: usize, reason: String) {
        let links = self.lacking.entry(reason).or_default();
        if links.last() != Some(&(asks, answers)) {
            links.push((asks, answers));
        }
    }

    /// Adds the reason why a node gave no measurements.
    pub fn fail(&mut self, reason: String) {
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
            judge::odd(&self.values, count, margin)
        };
        let matrices = self.values.iter().map(|(metric, links)| {
            let mut cells = vec![vec![None; count]; count];
            let mut all = Vec::new();
            for ((from, to), values) in links {
                let value = median(values);
                cells[*from][*to] = value;
                if metric.aspect().is_mutual() {
                    cells[*to][*from] = value;
                }
                all.extend(value);
            }
            super::Matrix {
                title: metric.title(),
                aspect: metric.aspect(),
                unit: metric.unit(),
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
            remarks: self.told(),
            lacks_something: self.has_failed || !self.lacking.is_empty() || self.unmeasured() > 0,
            nodes: self.nodes,
        }
    }

    /// Number of links without any measurement.
    fn unmeasured(&self) -> usize {
        let count = self.nodes.len();
        count * count.saturating_sub(1) / 2 - self.passes.len()
    }

    fn told(&self) -> Vec<String> {
        let mut told = Vec::new();
        if self.nodes.len() < FEWEST_NODES {
            told.push(format!(
                "Of fewer than {FEWEST_NODES} nodes, a slow port cannot be told from a slow link: nothing is named."
            ));
        }
        told.extend(self.remarks.iter().cloned());
        let link =
            |(one, other): (usize, usize)| format!("{} and {}", self.nodes[one], self.nodes[other]);
        let shares = self.datagrams.iter();
        let shares = shares.map(|(link, (lost, all))| (*link, *lost as f64 / (*all).max(1) as f64));
        let mut lossy: Vec<_> = shares.filter(|(_, share)| *share > NOTABLE_LOSS).collect();
        lossy.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        for (between, share) in lossy.iter().take(MOST_LISTED) {
            told.push(format!(
                "Between {}, {} of the datagrams were lost.",
                link(*between),
                Unit::Share.show(*share, 2)
            ));
        }
        if lossy.len() > MOST_LISTED {
            told.push(format!(
                "{} more links lost more than {} of their datagrams.",
                lossy.len() - MOST_LISTED,
                Unit::Share.show(NOTABLE_LOSS, 1)
            ));
        }
        for (reason, links) in &self.lacking {
            let listed = links.iter().take(MOST_LISTED).map(|it| link(*it));
            let listed = listed.collect::<Vec<_>>().join(", ");
            let more = links.len().saturating_sub(MOST_LISTED);
            let more = if more > 0 {
                format!(" and {more} more links")
            } else {
                String::new()
            };
            told.push(format!("Not measured between {listed}{more}: {reason}."));
        }
        if self.unmeasured() > 0 {
            told.push(format!(
                "No measurement of {}.",
                counted(self.unmeasured(), "link")
            ));
        }
        told
    }
}
