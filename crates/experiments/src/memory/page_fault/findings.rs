//! What a page costs that is not there yet.

use super::{COPY_ON_WRITE, COST, FILE_CACHED, FILE_COLD, FIRST_TOUCH, FIRST_TOUCH_HUGE, TOUCH};
use crate::estimates::{self, WithEstimate, estimated, grade, ratio, scaled};
use instrument::finding::Finding;
use instrument::quantity::Unit;
use instrument::results::{Estimate, Results};

pub(super) fn all(results: &Results) -> Vec<Finding> {
    let told = |key: &str, touch: &str, template: &str| {
        let cost = cost(results, touch)?;
        let finding = Finding::new(key, template)
            .with("cost", &estimated(cost), Unit::Nanoseconds)
            .graded(estimates::told(cost))
            .weighing(0.5);
        Some(finding)
    };
    let findings = [
        told(
            "first_touch",
            FIRST_TOUCH,
            "The first touch of a page of fresh memory costs {cost}.",
        ),
        huge_pages(results),
        told(
            "file_cached",
            FILE_CACHED,
            "A page of a cached file that is mapped costs {cost} at its first touch.",
        ),
        told(
            "file_cold",
            FILE_COLD,
            "A page of a mapped file that must be read from the device costs {cost}.",
        ),
        copying(results),
    ];
    findings.into_iter().flatten().collect()
}

/// The cost of a page, where it is known.
fn cost<'r>(results: &'r Results, touch: &str) -> Option<&'r Estimate> {
    let estimate = results.at(&[(TOUCH, touch.into())])?.estimate(COST)?;
    estimate.is_sound().then_some(estimate)
}

/// What a huge page saves, byte for byte.
fn huge_pages(results: &Results) -> Option<Finding> {
    let huge = cost(results, FIRST_TOUCH_HUGE)?;
    let base = cost(results, FIRST_TOUCH)?;
    let pages_in_one = results.machine.huge_page_bytes? as f64 / results.machine.page_bytes? as f64;
    let saving = scaled(&ratio(base, huge)?, pages_in_one);
    let template = "The first touch of a huge page costs {cost}: byte for byte, fresh memory comes \
                    {saving} as fast as in small pages.";
    let finding = Finding::new("huge_pages", template)
        .with("cost", &estimated(huge), Unit::Nanoseconds)
        .with("saving", &saving, Unit::Ratio);
    Some(finding.graded(grade(&saving, 1.0)).weighing(0.55))
}

/// What a page costs that a fork shares, over one that is merely new.
fn copying(results: &Results) -> Option<Finding> {
    let copied = cost(results, COPY_ON_WRITE)?;
    let fresh = cost(results, FIRST_TOUCH)?;
    let ratio = ratio(copied, fresh)?;
    let template = "After a fork, the first write to each page costs {cost}, since the page is \
                    copied: {ratio} the cost of a fresh page.";
    let finding = Finding::new("copy_on_write", template)
        .with("cost", &estimated(copied), Unit::Nanoseconds)
        .with("ratio", &ratio, Unit::Ratio);
    Some(finding.graded(grade(&ratio, 1.0)).weighing(0.5))
}

#[cfg(test)]
mod tests {
    use super::super::{
        COPY_ON_WRITE, COST, FILE_CACHED, FIRST_TOUCH, FIRST_TOUCH_HUGE, PageFault, TOUCH,
    };
    use crate::made_up::{machine, result, results};
    use instrument::experiment::Experiment;
    use instrument::point::Point;

    #[test]
    fn costs_are_told_and_set_against_each_other() {
        let costs = [
            (FIRST_TOUCH, 500.0),
            (FIRST_TOUCH_HUGE, 64_000.0),
            (FILE_CACHED, 100.0),
            (COPY_ON_WRITE, 1000.0),
        ];
        let points =
            costs.map(|(touch, cost)| result(Point::new().with(TOUCH, touch), &[(COST, cost)]));
        let (definition, machine) = (PageFault.definition(), machine());
        let found = PageFault.findings(&results(&definition, &machine, points.to_vec()));
        let keys: Vec<&str> = found.iter().map(|finding| finding.key.as_str()).collect();
        assert_eq!(
            keys,
            ["first_touch", "huge_pages", "file_cached", "copy_on_write"]
        );
        assert!((found[1].numbers[1].value - 4.0).abs() < 0.01, "{found:?}");
        assert!((found[3].numbers[1].value - 2.0).abs() < 0.01);
    }
}
