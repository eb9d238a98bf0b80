//! The settings that programs should use, each with the rule that finds it.
//!
//! A rule is data: the setting, the experiments that it reads, and the way to decide. To add a rule,
//! add it to the list of its group, in `advice.rs` of the group's folder.

use crate::{file, memory, process, threads};
use instrument::advice::Rule;

/// Every rule, group by group.
pub fn all() -> impl Iterator<Item = &'static Rule> {
    [
        memory::advice::ALL,
        file::advice::ALL,
        process::advice::ALL,
        threads::advice::ALL,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::all;
    use crate::find;
    use instrument::claim::Evidence;
    use std::collections::BTreeSet;

    #[test]
    fn every_setting_is_unique_and_its_experiments_exist() {
        let mut settings = BTreeSet::new();
        for rule in all() {
            assert!(settings.insert(rule.setting), "{} twice", rule.setting);
            assert!(!rule.basis.experiments().is_empty(), "{}", rule.setting);
            for id in rule.basis.experiments() {
                assert!(find(id).is_some(), "{} rests on {id}", rule.setting);
            }
        }
    }

    #[test]
    fn without_measurements_nothing_is_advised() {
        let nothing = Evidence::new(&[]);
        assert!(all().all(|rule| rule.basis.follows_from(&nothing).is_none()));
    }
}
