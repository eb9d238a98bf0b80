//! The cost of a page that is not there yet.

use super::{COST, TOUCH, Touch};
use crate::estimates::{grade, ratio, told};
use crate::prelude::*;

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let findings = [
        first_touch(results),
        huge_pages(results),
        file_cached(results),
        file_cold(results),
        copying(results),
    ];
    findings.into_iter().flatten().collect()
}

/// The cost of a page, if it is known.
fn cost<'r>(results: &'r Results, touch: Touch) -> Option<&'r Estimate> {
    results.sound(COST, &[TOUCH.at(touch)])
}

fn first_touch(results: &Results) -> Option<Finding> {
    let cost = cost(results, Touch::First)?;
    let said = sentence!("The first touch of a page of fresh memory costs {cost}.");
    Some(Finding::new("first_touch", said).graded(told(cost)))
}

fn file_cached(results: &Results) -> Option<Finding> {
    let cost = cost(results, Touch::FileInPageCache)?;
    let said = sentence!("The first touch of a page in a mapped file that is cached costs {cost}.");
    Some(Finding::new("file_cached", said).graded(told(cost)))
}

fn file_cold(results: &Results) -> Option<Finding> {
    let cost = cost(results, Touch::FileOnDevice)?;
    let said = sentence!("A page of a mapped file that must be read from the device costs {cost}.");
    Some(Finding::new("file_cold", said).graded(told(cost)))
}

/// The saving by a huge page, byte for byte.
fn huge_pages(results: &Results) -> Option<Finding> {
    let huge = cost(results, Touch::FirstOfHugePage)?;
    let base = cost(results, Touch::First)?;
    let pages_in_one = results.machine.huge_page_bytes? as f64 / results.machine.page_bytes? as f64;
    let saving = ratio(base, huge)?.times(pages_in_one);
    let said = if saving.is_vague() {
        sentence!(
            "The first touch of a huge page of {size} costs {cost}.",
            size = Bytes(results.machine.huge_page_bytes?),
            cost = huge,
        )
    } else {
        sentence!(
            "The first touch of a huge page costs {cost}: byte for byte, fresh memory comes {saving} \
             as fast as in base pages.",
            cost = huge,
        )
    };
    let finding = Finding::new("huge_pages", said).beside("saving", saving);
    Some(finding.graded(grade(&saving, 1.0)).weighing(0.55))
}

/// The cost of a page that a fork shares, over that of a fresh page.
fn copying(results: &Results) -> Option<Finding> {
    let copied = cost(results, Touch::CopyOnWrite)?;
    let fresh = cost(results, Touch::First)?;
    let ratio = ratio(copied, fresh)?;
    let said = sentence!(
        "After a fork, the first write to each page costs {cost}, because the kernel copies it: \
         {ratio} the cost of a fresh page.",
        cost = copied,
    );
    Some(Finding::new("copy_on_write", said).graded(grade(&ratio, 1.0)))
}

#[cfg(test)]
mod tests {
    use super::super::PageFault;
    use super::{COST, TOUCH, Touch};
    use crate::made_up::{findings, measured, value};
    use crate::prelude::*;

    #[test]
    fn costs_are_told_and_set_against_each_other() {
        let costs = [
            (Touch::First, 500.0),
            (Touch::FirstOfHugePage, 64_000.0),
            (Touch::FileInPageCache, 100.0),
            (Touch::CopyOnWrite, 1000.0),
        ];
        let points =
            costs.map(|(touch, cost)| measured(Point::new().at(TOUCH, touch), &[(COST, cost)]));
        let found = findings(&PageFault, points.to_vec());
        let keys: Vec<&str> = found.iter().map(|finding| finding.key.as_str()).collect();
        assert_eq!(
            keys,
            ["first_touch", "huge_pages", "file_cached", "copy_on_write"]
        );
        assert!((value(&found, "huge_pages", "saving") - 4.0).abs() < 0.01);
        assert!((value(&found, "copy_on_write", "ratio") - 2.0).abs() < 0.01);
    }
}
