//! The schedule: how often each point is visited in the rest of a run.

/// More processes than this in one pass add little: they see the same moments of the machine.
const MOST_IN_A_PASS: usize = 4;

/// A point as the schedule sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Expected wall time of a visit, in ns.
    pub visit_ns: f64,
    /// Visits still missing to the fewest on which an estimate may rest.
    pub missing: usize,
    /// True if its interval is wider than the profile's target.
    pub is_wide: bool,
}

/// The indices of the candidates that the time leaves without an estimate, and the time in ns that
/// would suffice for all.
pub(super) fn out_of_reach(candidates: &[Candidate], left_ns: f64) -> (Vec<usize>, f64) {
    let in_reach = Shares::new(candidates, left_ns).give_what_is_missing();
    let out_of_reach = (0..candidates.len()).filter(|index| !in_reach[*index]);
    let missing_ns = candidates
        .iter()
        .map(|candidate| candidate.missing as f64 * candidate.visit_ns);
    (out_of_reach.collect(), missing_ns.sum())
}

/// The number of visits that each candidate can expect in `left_ns` of wall time and `passes` more
/// passes.
///
/// First every point gets what an estimate needs, the cheapest points first. Then every point gets a
/// visit in each pass, so that its interval covers the whole run. What is left goes to more visits
/// in each pass, first for the points whose intervals are too wide, and in the end to points for
/// which the time does not suffice.
pub(super) fn expected_visits(candidates: &[Candidate], left_ns: f64, passes: usize) -> Vec<f64> {
    let mut shares = Shares::new(candidates, left_ns);
    let in_reach = shares.give_what_is_missing();
    let each_pass = |times: usize| (passes * times) as f64;
    shares.fill(|index, _| in_reach[index], each_pass(1));
    for times in 2..=MOST_IN_A_PASS {
        let is_wide = |index: usize, candidate: &Candidate| in_reach[index] && candidate.is_wide;
        shares.fill(is_wide, each_pass(times));
        shares.fill(|index, _| in_reach[index], each_pass(times));
    }
    shares.fill(|index, _| !in_reach[index], each_pass(1));
    shares.visits
}

/// The visits given so far, and the time left for more.
struct Shares<'c> {
    candidates: &'c [Candidate],
    visits: Vec<f64>,
    left_ns: f64,
}

impl<'c> Shares<'c> {
    fn new(candidates: &'c [Candidate], left_ns: f64) -> Self {
        Self {
            candidates,
            visits: vec![0.0; candidates.len()],
            left_ns,
        }
    }

    /// Gives each candidate the visits that are missing to an estimate, all of them or none. Returns
    /// for each whether it has them now.
    fn give_what_is_missing(&mut self) -> Vec<bool> {
        let mut in_reach = vec![false; self.candidates.len()];
        for (cost_ns, index, missing) in self.by_cost(|_, candidate| candidate.missing as f64) {
            if cost_ns <= self.left_ns {
                in_reach[index] = true;
                self.visits[index] = missing;
                self.left_ns -= cost_ns;
            }
        }
        in_reach
    }

    /// Raises the visits of the chosen candidates to `goal`, the cheapest first, as far as the time
    /// suffices.
    fn fill(&mut self, is_chosen: impl Fn(usize, &Candidate) -> bool, goal: f64) {
        for (cost_ns, index, more) in self.by_cost(|index, _| goal - self.visits[index]) {
            if cost_ns > 0.0 && is_chosen(index, &self.candidates[index]) {
                let share = (self.left_ns / cost_ns).min(1.0);
                self.visits[index] += more * share;
                self.left_ns = (self.left_ns - cost_ns).max(0.0);
            }
        }
    }

    /// Cost, index and number of the visits that each candidate wants, the cheapest first.
    fn by_cost(&self, wanted: impl Fn(usize, &Candidate) -> f64) -> Vec<(f64, usize, f64)> {
        let mut by_cost: Vec<(f64, usize, f64)> = self
            .candidates
            .iter()
            .enumerate()
            .map(|(index, candidate)| {
                let visits = wanted(index, candidate).max(0.0);
                (visits * candidate.visit_ns, index, visits)
            })
            .collect();
        by_cost.sort_by(|one, other| one.0.total_cmp(&other.0));
        by_cost
    }
}

#[cfg(test)]
mod tests {
    use super::{Candidate, expected_visits, out_of_reach};
    use proptest::prelude::*;

    const CHEAP: Candidate = Candidate {
        visit_ns: 10.0,
        missing: 4,
        is_wide: false,
    };
    const DEAR: Candidate = Candidate {
        visit_ns: 1000.0,
        ..CHEAP
    };

    #[test]
    fn what_an_estimate_needs_comes_first_and_the_cheapest_points_before_others() {
        assert_eq!(expected_visits(&[DEAR, CHEAP], 40.0, 9), [0.0, 4.0]);
        assert_eq!(expected_visits(&[DEAR, CHEAP], 4040.0, 9), [4.0, 4.0]);
        assert_eq!(expected_visits(&[DEAR, CHEAP], 4090.0, 9), [4.0, 9.0]);
        assert_eq!(expected_visits(&[DEAR, CHEAP], 9090.0, 9), [9.0, 9.0]);
    }

    #[test]
    fn time_left_over_goes_to_wide_intervals_first() {
        let wide = Candidate {
            is_wide: true,
            missing: 0,
            ..CHEAP
        };
        let narrow = Candidate {
            is_wide: false,
            ..wide
        };
        assert_eq!(expected_visits(&[narrow, wide], 150.0, 5), [5.0, 10.0]);
        assert_eq!(expected_visits(&[narrow, wide], 1e9, 5), [20.0, 20.0]);
    }

    #[test]
    fn points_out_of_reach_are_known_and_the_time_that_would_do() {
        let (few, enough_ns) = out_of_reach(&[DEAR, CHEAP], 100.0);
        assert_eq!((few, enough_ns), (vec![0], 4040.0));
        assert_eq!(out_of_reach(&[DEAR, CHEAP], 5000.0).0, [0_usize; 0]);
    }

    proptest! {
        #[test]
        fn the_visits_never_take_more_than_the_time(
            candidates in prop::collection::vec(
                (1.0..1e9_f64, 0_usize..6, any::<bool>()).prop_map(|(visit_ns, missing, is_wide)| {
                    Candidate { visit_ns, missing, is_wide }
                }),
                0..20,
            ),
            left_ns in 0.0..1e10_f64,
            passes in 1_usize..20,
        ) {
            let visits = expected_visits(&candidates, left_ns, passes);
            let spent = visits.iter().zip(&candidates).map(|(visits, of)| visits * of.visit_ns);
            prop_assert!(spent.sum::<f64>() <= left_ns * 1.000_001);
            for (visits, candidate) in visits.iter().zip(&candidates) {
                prop_assert!(*visits <= (passes * 4).max(candidate.missing) as f64 + 1e-6);
            }
        }
    }
}
