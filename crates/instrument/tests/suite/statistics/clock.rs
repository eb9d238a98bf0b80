//! Correction by a point's own slope against the clock, on recorded sessions with two references
//! (`data/README.md`).

#![expect(clippy::unwrap_used, reason = "the data are known to be complete")]

use std::collections::BTreeMap;
use std::io::Read;

use flate2::read::GzDecoder;
use oscope_instrument::statistics::prediction::{Centre, Clocks, Core, Prediction, Visit, predict};
use oscope_instrument::statistics::summary::{mean, standard_deviation};

use super::strata::leg;

fn text() -> String {
    let packed = include_bytes!("../../data/clock.txt.gz");
    let mut text = String::new();
    let mut unpacked = GzDecoder::new(packed.as_slice());
    unpacked.read_to_string(&mut text).unwrap();
    text
}

/// The sessions of each operation of a batch, in the order of time.
fn recorded(batch: &str) -> BTreeMap<String, Vec<Vec<Visit>>> {
    let mut operations: BTreeMap<String, BTreeMap<usize, Vec<Visit>>> = BTreeMap::new();
    for line in text().lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if words[0] != batch {
            continue;
        }
        let visit = Visit {
            pass: words[2].parse().unwrap(),
            legs: words[4..].iter().map(|word| leg(word, 10_000.0)).collect(),
        };
        let sessions = operations.entry(words[3].into()).or_default();
        let session = sessions.entry(words[1].parse().unwrap());
        session.or_default().push(visit);
    }
    (operations.into_iter())
        .map(|(operation, sessions)| (operation, sessions.into_values().collect()))
        .collect()
}

fn predicted(visits: &[Visit], with_clock: bool) -> Prediction {
    let clocks = Clocks {
        longest: 4.08 / 3.58,
        earlier: vec![1.0],
    };
    let clocks = Some(&clocks).filter(|_| with_clock);
    predict(visits, Centre::LowerQuartile, clocks).unwrap()
}

/// As a run without references sees these visits.
fn without_state(visits: &[Visit]) -> Vec<Visit> {
    let mut visits = visits.to_vec();
    let legs = visits.iter_mut().flat_map(|visit| &mut visit.legs);
    legs.for_each(|leg| leg.core = Core::default());
    visits
}

/// The spread between the sessions of one operation in per cent, with both references and with none,
/// the mean slope where one was found, and of neighbouring sessions the share that the intervals hold.
struct Spread {
    corrected: f64,
    not_corrected: f64,
    slope: Option<f64>,
    held: f64,
}

fn spread(sessions: &[Vec<Visit>]) -> Spread {
    let percent = |found: &[Prediction]| {
        let centres = found.iter().map(|found| found.estimated.centre.ln());
        100.0 * standard_deviation(&centres.collect::<Vec<_>>()).unwrap()
    };
    let corrected: Vec<Prediction> = (sessions.iter())
        .map(|visits| predicted(visits, true))
        .collect();
    let not_corrected: Vec<Prediction> = (sessions.iter())
        .map(|visits| predicted(&without_state(visits), false))
        .collect();
    let slopes: Vec<f64> = corrected.iter().filter_map(|found| found.slope).collect();
    let pairs = corrected.windows(2);
    let held = pairs.filter(|pair| {
        let interval = pair[0].estimated.interval.unwrap();
        interval.contains(pair[1].estimated.centre)
    });
    Spread {
        corrected: percent(&corrected),
        not_corrected: percent(&not_corrected),
        slope: mean(&slopes),
        held: held.count() as f64 / (sessions.len() - 1) as f64,
    }
}

fn spreads(batch: &str) -> BTreeMap<String, Spread> {
    let operations = recorded(batch).into_iter();
    let spreads: BTreeMap<String, Spread> = operations
        .map(|(operation, sessions)| (operation, spread(&sessions)))
        .collect();
    for (operation, found) in &spreads {
        println!(
            "{batch} {operation}: {:.2} % corrected, {:.2} % not; slope {:.2?}; {:.2} held",
            found.corrected, found.not_corrected, found.slope, found.held
        );
    }
    spreads
}

/// The clock stepped between 3.58 and 4.08 GHz during every session. A system call also has two modes,
/// which no correction takes away.
#[test]
fn a_stepping_clock_leaves_core_bound_values_alike() {
    let spreads = spreads("move");
    for (operation, most) in [("divide", 0.1), ("getppid", 1.6), ("read_l2", 1.2)] {
        let found = &spreads[operation];
        assert!(found.corrected <= most, "{operation}: {}", found.corrected);
        assert!(found.not_corrected > 2.4 * found.corrected, "{operation}");
    }
}

/// The clock stayed at 3.58 GHz: there is nothing to correct, and nothing is lost.
#[test]
fn a_clock_that_stays_costs_nothing() {
    for (operation, found) in spreads("steady") {
        assert_eq!(found.slope, None, "{operation}");
        let most = 1.1 * found.not_corrected + 0.1;
        assert!(found.corrected <= most, "{operation}: {}", found.corrected);
    }
}
