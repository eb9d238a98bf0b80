//! Grades rest on each pass by itself and on the warnings that touch a finding's numbers.

#![expect(clippy::unwrap_used, reason = "the results are known to be complete")]

use instrument::advice::{Action, Advice, Audience, Rule};
use instrument::claim::Basis;
use instrument::estimate::Estimate;
use instrument::experiment::{Design, Experiment, MeasureError, Metric};
use instrument::finding::{Finding, sentence};
use instrument::grading;
use instrument::noise::Warning;
use instrument::plan::Setting;
use instrument::point::{Level, Point};
use instrument::quantity::{Quantity, Unit};
use instrument::results::{PointResult, Results};
use instrument::sample::{Batch, Legs, Reading, Sample};
use instrument::sampler::Sampler;
use platform::machine::Machine;

const COST: Metric<&str> = Metric::time("cost", "cost");

const DESIGN: Design = Design {
    id: "mock.race",
    title: "race",
    question: "Which way is faster?",
    method: "Both are timed.",
    source: "this test",
    axes: &[],
    metrics: &[COST],
};

fn cheaper(one: &Estimate, other: &Estimate) -> &'static str {
    let is_one = one.centre < other.centre;
    if is_one { "one" } else { "other" }
}

/// Two ways to do a thing, and two findings: the ratio of their costs, and which is faster.
struct Race;

impl Experiment for Race {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn points(&self, _: &Setting) -> Vec<Point> {
        Vec::new()
    }

    fn measure(&self, _: &Point, _: &mut Sampler<'_>) -> Result<(), MeasureError> {
        Ok(())
    }

    fn findings(&self, results: &Results<'_>) -> Vec<Finding> {
        let of = |way: &str| results.sound(COST, &[("way", way.into())]).unwrap();
        let (one, other) = (of("one"), of("other"));
        let times = Quantity::estimated(&other.ratio_to(one).unwrap(), Unit::Ratio);
        let (best, alone) = (cheaper(one, other), of("alone"));
        vec![
            Finding::new("times", sentence!("The other takes {times} as long.")),
            Finding::new("best", sentence!("The fastest is {best}.")),
            Finding::new("alone", sentence!("A third takes {alone}.")),
        ]
    }
}

/// A rule that advises the cheaper way.
const RULE: Rule = Rule {
    setting: "way",
    title: "way",
    audience: Audience::Programs,
    unit: None,
    basis: Basis::One("mock.race", |results| {
        let of = |way: &str| results.sound(COST, &[("way", way.into())]);
        Some(Advice {
            value: cheaper(of("one")?, of("other")?).into(),
            usual: "other".into(),
            gain: None,
            because: Finding::new("because", sentence!("It is cheaper.")),
            trial: None,
        })
    }),
    act: |_, _| Action::Command(String::new()),
};

/// The point of a way that took these costs, each in a pass of its own.
fn point(way: &str, costs: &[u64]) -> PointResult {
    let batch = |(cost, pass): (&u64, u32)| {
        let legs = Legs {
            iterations: 1,
            work: 1.0,
            wall_ns: vec![*cost; 4],
            ..Legs::default()
        };
        Batch {
            samples: vec![Sample::new("cost", Reading::Legs(legs))],
            pass: Some(pass),
            ..Batch::default()
        }
    };
    let batches: Vec<Batch> = costs.iter().zip(0..).map(batch).collect();
    let point = Point::new().with("way", way);
    let mut result = PointResult::new(&Race.definition(), &point, &batches, Some(&[]));
    result.estimates[0].disturbed = Some(0.0);
    result
}

/// What `judge` makes of the results where the ways took these costs, after `change` was made to them.
fn judged<T>(
    [one, other]: [&[u64]; 2],
    change: impl Fn(&mut [PointResult]),
    judge: impl Fn(Results<'_>) -> T,
) -> T {
    let alone = [700, 701, 702, 703, 704, 705];
    let mut points = vec![
        point("one", one),
        point("other", other),
        point("alone", &alone),
    ];
    change(&mut points);
    judge(Results {
        definition: &Race.definition(),
        machine: &Machine::default(),
        points,
    })
}

const SLOW: [u64; 6] = [2000, 2010, 1990, 2005, 1995, 2002];
const FAST: [u64; 6] = [1000, 1005, 995, 1002, 998, 1001];

#[test]
fn what_most_passes_do_not_say_is_not_advised() {
    // Cheaper as a whole, and in two passes of six.
    let by_two: [&[u64]; 2] = [
        &[100, 100, 1200, 1201, 1202, 1203],
        &[1000, 1001, 1190, 1191, 1192, 1193],
    ];
    for (costs, expected) in [
        ([&FAST[..], &SLOW], Some("one".into())),
        ([&SLOW, &FAST], Some("other".into())),
        (by_two, None),
    ] {
        let advice = judged(costs, |_| {}, |results| grading::advice(&RULE, &[results]));
        let advised: Option<Level> = advice.map(|advice| advice.value);
        assert_eq!(advised, expected, "{costs:?}");
    }
}

/// A finding's grade, the passes that have it of those that count, and its doubts.
fn shown(finding: &Finding) -> String {
    let trust = finding.trust.as_ref().unwrap();
    let (grade, doubts) = (finding.grade, trust.doubts.join(", "));
    format!("{grade:?} {}/{} {doubts}", trust.held, trust.of)
}

#[test]
fn what_each_pass_says_is_certain_unless_a_doubt_touches_its_numbers_or_words() {
    const CERTAIN: &str = "Certain 6/6 ";
    const NONE: Option<Warning> = None;
    let metric = || "cost".into();
    let modes = Warning::SeveralModes {
        metric: metric(),
        centres: vec![1900.0, 2100.0],
    };
    let missed = Warning::TargetMissed {
        metric: metric(),
        reached: Some(0.4),
        target: 0.05,
    };
    // One pass of the first denies that the other is slower; the interval of the second reaches beyond the other.
    let denied = [2000, 2010, 1990, 900, 1995, 2002];
    let wide = [1010, 1600, 1020, 3000, 1015, 2000];
    // The costs of the other way, its warning and its share of disturbed legs; the ratio and the fastest way.
    for (other, warning, disturbed, [times, best]) in [
        (SLOW, NONE, Some(0.0), [CERTAIN; 2]),
        (denied, NONE, Some(0.0), [CERTAIN, "Likely 5/6 "]),
        (
            SLOW,
            Some(modes),
            Some(0.0),
            ["Likely 6/6 several modes", CERTAIN],
        ),
        // 76 × (49 to 120 ×) is certain that the other is far slower.
        (SLOW, Some(missed), Some(0.0), [CERTAIN; 2]),
        (
            wide,
            Some(Warning::NotWarm),
            Some(0.0),
            ["Likely 6/6 not warm"; 2],
        ),
        (SLOW, NONE, Some(0.2), [CERTAIN; 2]),
        (SLOW, NONE, Some(0.201), ["Likely 6/6 disturbed", CERTAIN]),
        (SLOW, NONE, None, ["Likely 6/6 clock unknown", CERTAIN]),
    ] {
        let case = format!("{other:?}, {warning:?}, {disturbed:?}");
        let change = |points: &mut [PointResult]| {
            points[1].warnings.extend(warning.clone());
            points[1].estimates[0].disturbed = disturbed;
        };
        let findings = judged([&FAST, &other], change, |results| {
            grading::findings(&Race, &results)
        });
        let found: Vec<String> = findings.iter().map(shown).collect();
        assert_eq!(found, [times, best, CERTAIN], "{case}");
    }
}

#[test]
fn values_without_passes_keep_the_grade_of_their_finding() {
    let change = |points: &mut [PointResult]| {
        points[1].warnings.push(Warning::NotWarm);
        for estimate in points.iter_mut().flat_map(|point| &mut point.estimates) {
            estimate.passes = 0;
            estimate.pass_of.clear();
        }
    };
    let both = |results: Results<'_>| {
        let graded = grading::findings(&Race, &results);
        (graded, Race.findings(&results))
    };
    let (graded, plain) = judged([&FAST, &SLOW], change, both);
    assert_eq!(graded, plain);
}
