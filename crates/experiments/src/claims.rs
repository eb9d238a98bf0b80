//! Statements of the published reports and of common belief, each with the test that decides it here.
//!
//! A claim is data: the statement, its source, the experiments that decide it, and the test. To add
//! a claim, add it to its group's list.

use crate::{compute, file, memory, process, system, systems, threads, transfer};
use instrument::claim::Claim;

/// Every claim, group by group.
pub fn all() -> impl Iterator<Item = &'static Claim> {
    [
        memory::claims::ALL,
        memory::subloop::CLAIMS,
        memory::allocate::findings::CLAIMS,
        file::claims::ALL,
        file::cold_claims::ALL,
        file::reader_claims::ALL,
        file::phase_claims::ALL,
        transfer::claims::ALL,
        process::claims::ALL,
        process::call_styles::claims::ALL,
        compute::claims::ALL,
        threads::claims::ALL,
        system::noise::CLAIMS,
        systems::CLAIMS,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::all;
    use crate::find;
    use crate::made_up::{machine, results};
    use instrument::claim::{Evidence, Ruling};
    use instrument::experiment::Experiment;
    use std::collections::BTreeSet;

    #[test]
    fn every_claim_has_a_unique_key_and_experiments_that_exist() {
        let mut keys = BTreeSet::new();
        for claim in all() {
            assert!(keys.insert(claim.key), "{} is there twice", claim.key);
            assert!(claim.says.ends_with('.'), "{} is no sentence", claim.key);
            assert!(
                !claim.basis.experiments().is_empty(),
                "{} rests on nothing",
                claim.key
            );
            for id in claim.basis.experiments() {
                assert!(find(id).is_some(), "{} rests on {id}", claim.key);
            }
        }
    }

    #[test]
    fn a_claim_whose_experiment_failed_does_not_ask_to_run_it_again() {
        let machine = machine();
        for claim in all() {
            let experiments = claim.basis.experiments().iter().filter_map(|id| find(id));
            let definitions: Vec<_> = experiments.map(Experiment::definition).collect();
            let tried: Vec<_> = definitions
                .iter()
                .map(|definition| results(definition, &machine, Vec::new()))
                .collect();
            let because = claim.judge(&Evidence::new(&tried)).because;
            let said = because.sentence.to_string();
            assert!(
                said.ends_with("was tried and could not be measured."),
                "{said}"
            );
        }
    }

    #[test]
    fn without_measurements_no_claim_is_decided_and_each_says_what_to_run() {
        for claim in all() {
            let judgement = claim.judge(&Evidence::new(&[]));
            assert_eq!(judgement.ruling, Ruling::Undecided, "{}", claim.key);
            assert!(
                judgement
                    .because
                    .sentence
                    .to_string()
                    .contains("oscope run"),
                "{}",
                claim.key
            );
        }
    }
}
