//! Disturbances of one side of a comparison and not the other.

use super::Side;
use super::circumstances::Circumstance;
use crate::Surroundings;
use instrument::quantity::{Unit, significant};
use instrument::statistics::summary::median;

/// A kind of disturbance.
struct Kind {
    name: &'static str,
    of: fn(&Surroundings) -> Option<f64>,
    show: fn(f64) -> String,
    /// Smaller differences between the sides explain nothing.
    notable: f64,
}

const KINDS: [Kind; 3] = [
    Kind {
        name: "during the run: processors kept busy by other programs",
        of: |around| around.others,
        show: |share| significant(share, 2),
        notable: 0.1,
    },
    Kind {
        name: "during the run: share of the timings on a slowed processor",
        of: |around| around.slowed_share,
        show: |share| Unit::Share.show(share, 2),
        notable: 0.1,
    },
    Kind {
        name: "during the run: time given to others by the hypervisor",
        of: |around| around.stolen,
        show: |share| Unit::Share.show(share, 2),
        notable: 0.01,
    },
];

/// The disturbances by which the sides differ notably, each by the median of the sessions.
pub(super) fn causes(a: &Side, b: &Side) -> Vec<Circumstance> {
    if a.is_reported || b.is_reported {
        return Vec::new();
    }
    differences(&around(a), &around(b))
}

fn around(side: &Side) -> Vec<Surroundings> {
    side.runs.iter().map(Surroundings::of).collect()
}

/// The disturbances by which two groups of sessions differ notably, each by the median of the sessions.
pub(crate) fn differences(a: &[Surroundings], b: &[Surroundings]) -> Vec<Circumstance> {
    let of_side = |kind: &Kind, sessions: &[Surroundings]| {
        let known: Vec<f64> = sessions.iter().filter_map(kind.of).collect();
        median(&known)
    };
    let difference = |kind: &Kind| {
        let (a, b) = (of_side(kind, a)?, of_side(kind, b)?);
        ((a - b).abs() > kind.notable).then(|| Circumstance {
            name: kind.name.into(),
            a: (kind.show)(a),
            b: (kind.show)(b),
        })
    };
    KINDS.iter().filter_map(difference).collect()
}

/// A caveat that names `causes`; `None` without any.
pub(super) fn remark(causes: &[Circumstance]) -> Option<String> {
    let named: Vec<String> = causes
        .iter()
        .map(|cause| {
            let name = cause.name.trim_start_matches("during the run: ");
            format!("{name} ({} in A, {} in B)", cause.a, cause.b)
        })
        .collect();
    (!named.is_empty()).then(|| {
        format!(
            "The sides were not disturbed alike, which may be why they differ: {}.",
            named.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::{differences, remark};
    use crate::Surroundings;

    fn with_load(others: f64) -> Surroundings {
        Surroundings {
            slowed_share: Some(0.02),
            others: Some(others),
            ..Surroundings::default()
        }
    }

    #[test]
    fn load_on_one_side_alone_is_named() {
        let causes = differences(&[with_load(0.02)], &[with_load(1.2)]);
        assert_eq!(causes.len(), 1);
        assert_eq!(
            remark(&causes).unwrap(),
            "The sides were not disturbed alike, which may be why they differ: processors kept busy \
             by other programs (0.020 in A, 1.2 in B)."
        );
    }

    #[test]
    fn load_on_both_sides_is_no_cause() {
        assert_eq!(differences(&[with_load(1.15)], &[with_load(1.2)]), []);
        assert_eq!(
            differences(&[Surroundings::default()], &[with_load(1.2)]),
            []
        );
        assert_eq!(remark(&[]), None);
    }
}
