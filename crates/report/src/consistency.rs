//! Numbers of one subject that disagree: each is explained by what it depends on, or withheld.

use crate::show;
use instrument::finding::{Aspect, Finding, Grade, Sentence};

/// A finding, the reason of a claim or of advice, with the experiment that it comes from.
pub(crate) struct Statement<'s> {
    pub(crate) from: &'s str,
    pub(crate) finding: &'s mut Finding,
}

/// A statement's number with the statement that it comes from.
struct Said {
    index: usize,
    from: String,
    aspect: Aspect,
}

/// Two numbers of one subject that disagree, and their ratio.
struct Dispute<'a> {
    ratio: f64,
    ours: &'a Said,
    theirs: &'a Said,
}

impl Dispute<'_> {
    fn has_same_conditions(&self) -> bool {
        self.ours.aspect.conditions == self.theirs.aspect.conditions
    }
}

/// Finds the statements whose numbers measure one subject and disagree beyond their intervals.
/// If the conditions differ, each sentence names its own and the farthest value of another
/// experiment. Where they are the same, neither value is a result, and no other sentence refers to it: the
/// sentence is withheld, and only says so. True for each statement that is.
pub(crate) fn reconcile(statements: &mut [Statement<'_>]) -> Vec<bool> {
    let all = said(statements);
    let withheld: Vec<Dispute<'_>> = all
        .iter()
        .filter_map(|ours| farthest(ours, &all, Dispute::has_same_conditions))
        .collect();
    let is_withheld = |index: usize| withheld.iter().any(|it| it.ours.index == index);
    // The sentences of one experiment are side by side and name what differs between them.
    let counts = |dispute: &Dispute<'_>| {
        !is_withheld(dispute.theirs.index) && dispute.ours.from != dispute.theirs.from
    };
    let explained: Vec<Dispute<'_>> = all
        .iter()
        .filter(|ours| !is_withheld(ours.index))
        .filter_map(|ours| farthest(ours, &all, counts))
        .collect();
    for dispute in &explained {
        explain(statements[dispute.ours.index].finding, dispute);
    }
    for dispute in &withheld {
        withhold(statements[dispute.ours.index].finding, dispute);
    }
    (0..statements.len()).map(is_withheld).collect()
}

/// The numbers of all statements that are certain or likely.
fn said(statements: &[Statement<'_>]) -> Vec<Said> {
    let each = statements.iter().enumerate();
    let decided = each.filter(|(_, it)| !it.finding.is_undecided());
    decided
        .flat_map(|(index, it)| {
            it.finding.aspects.iter().map(move |aspect| Said {
                index,
                from: it.from.to_owned(),
                aspect: aspect.clone(),
            })
        })
        .collect()
}

/// The largest dispute of `ours` that `counts`.
fn farthest<'a>(
    ours: &'a Said,
    all: &'a [Said],
    counts: impl Fn(&Dispute<'a>) -> bool,
) -> Option<Dispute<'a>> {
    let others = all.iter().filter(|theirs| theirs.index != ours.index);
    let disputes = others.filter_map(|theirs| {
        let ratio = ours.aspect.disagreement(&theirs.aspect)?;
        Some(Dispute {
            ratio,
            ours,
            theirs,
        })
    });
    disputes
        .filter(|dispute| counts(dispute))
        .max_by(|one, other| one.ratio.total_cmp(&other.ratio))
}

fn explain(finding: &mut Finding, Dispute { ours, theirs, .. }: &Dispute<'_>) {
    let Aspect {
        subject,
        conditions,
        ..
    } = &ours.aspect;
    let (other, from) = (show::quantity(&theirs.aspect.quantity), &theirs.from);
    let their_conditions = &theirs.aspect.conditions;
    finding.sentence.push_text(&format!(
        " This is for {conditions}. For {their_conditions}, {subject} is {other} ({from})."
    ));
}

/// Replaces the sentence, its numbers and the evidence for it.
fn withhold(finding: &mut Finding, Dispute { ours, theirs, .. }: &Dispute<'_>) {
    let Aspect {
        subject,
        conditions,
        ..
    } = &ours.aspect;
    let [one, other] = [ours, theirs].map(|said| show::quantity(&said.aspect.quantity));
    let mut said = Sentence::default();
    said.push_text(&format!(
        "For {conditions}, {subject} was measured twice and differs: {one} ({}) and {other} ({}).",
        ours.from, theirs.from
    ));
    *finding = Finding::new(&finding.key, said)
        .graded(Grade::Undecided)
        .weighing(finding.weight);
}

#[cfg(test)]
mod tests {
    use super::{Statement, reconcile};
    use instrument::finding::{Finding, Grade, sentence};
    use instrument::quantity::{Quantity, Unit};
    use instrument::statistics::Interval;

    fn gain(value: f64, conditions: &str) -> Finding {
        let gain = Quantity::new(
            value,
            Interval::new(0.95 * value, 1.05 * value),
            Unit::Ratio,
        );
        Finding::new("gain", sentence!("Huge pages gain {gain}.")).about(
            "the gain from huge pages",
            gain,
            conditions,
        )
    }

    fn reconciled(findings: &mut [Finding]) -> Vec<bool> {
        let ids = ["memory.bandwidth", "memory.latency", "memory.tlb"];
        let each = ids.iter().zip(findings);
        let mut statements: Vec<_> = each
            .map(|(from, finding)| Statement { from, finding })
            .collect();
        reconcile(&mut statements)
    }

    #[test]
    fn values_that_disagree_are_explained_by_their_conditions() {
        let mut said = [gain(1.97, "reads in order"), gain(5.43, "random loads")];
        assert_eq!(reconciled(&mut said), [false; 2]);
        let text = said[0].sentence.to_string();
        assert_eq!(
            text,
            "Huge pages gain 1.97 ×. This is for reads in order. For random loads, the gain from huge \
             pages is 5.43 × (5.16 to 5.70 ×) (memory.latency)."
        );
        assert!(said[1].sentence.to_string().contains("1.97 × (1.87 to"));
        assert!(said.iter().all(|finding| finding.grade == Grade::Certain));
    }

    #[test]
    fn of_several_the_farthest_explains_and_none_that_is_withheld_or_undecided() {
        let undecided = gain(2.0, "a").graded(Grade::Undecided);
        let [a, b, c] = [gain(1.0, "a"), gain(2.0, "b"), gain(4.0, "c")];
        let mut several = [a.clone(), b.clone(), c];
        assert_eq!(reconciled(&mut several), [false; 3]);
        for (said, from) in [
            (&several[0], "(memory.tlb)"),
            (&several[2], "(memory.bandwidth)"),
        ] {
            assert!(said.sentence.to_string().contains(from), "{said:?}");
        }
        assert_ne!(several[1], b);
        let mut contradicted = [a.clone(), b, gain(4.0, "b")];
        assert_eq!(reconciled(&mut contradicted), [false, true, true]);
        assert_eq!(contradicted[0], a);
        let mut next_to_undecided = [a.clone(), undecided];
        assert_eq!(reconciled(&mut next_to_undecided), [false; 2]);
        assert_eq!(next_to_undecided[0], a);
    }

    #[test]
    fn a_contradiction_under_the_same_conditions_is_withheld() {
        let mut said = [gain(1.97, "random loads"), gain(5.43, "random loads")];
        assert_eq!(reconciled(&mut said), [true; 2]);
        for finding in &said {
            assert_eq!(finding.grade, Grade::Undecided);
            let text = finding.sentence.to_string();
            assert!(text.contains("measured twice and differs"), "{text}");
            assert!(finding.numbers().next().is_none());
        }
    }

    #[test]
    fn values_that_agree_are_kept() {
        let mut said = [gain(2.0, "reads in order"), gain(2.05, "random loads")];
        let before = said.clone();
        assert_eq!(reconciled(&mut said), [false; 2]);
        assert_eq!(said, before);
    }
}
