//! The wall time of a visit to a point, as earlier runs of the machine have shown it.

use crate::point::Point;
use std::collections::BTreeMap;

/// The wall time of visits, by experiment and point.
#[derive(Clone, Debug, Default)]
pub struct VisitCosts(BTreeMap<(String, Point), f64>);

impl VisitCosts {
    /// Adds the mean wall time of the visits to one point of the experiment `id`, in ns.
    pub fn add(&mut self, id: &str, point: Point, visit_ns: f64) {
        self.0.insert((id.to_owned(), point), visit_ns);
    }

    /// The mean wall time of a visit, in ns; `None` if no earlier run has visited the point.
    pub fn visit_ns(&self, id: &str, point: &Point) -> Option<f64> {
        self.0.get(&(id.to_owned(), point.clone())).copied()
    }
}
