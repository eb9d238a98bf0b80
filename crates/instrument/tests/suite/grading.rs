//! Grades rest on each pass by itself and on the warnings that touch a finding's numbers.

#![expect(clippy::unwrap_used, reason = "the results are known to be complete")]

use instrument::advice::{Action, Advice, Audience, Rule};
use instrument::estimate::Estimate;
use instrument::experiment::{Definition, Design, Experiment, MeasureError, Metric};
use instrument::finding::{Finding, Grade, sentence};
use instrument::grading;
use instrument::noise::Warning;
use instrument::plan::Setting;
use instrument::point::{Level, Point};
use instrument::quantity::{Quantity, Unit};
use instrument::results::{PointResult, Results};
use instrument::sample::{Batch, Legs, Reading, Sample};
use instrument::sampler::Sampler;
use platform::machine::Machine;
use std::borrow::Cow;

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
        let best = if one.centre < other.centre {
            "one"
        } else {
            "other"
        };
        let alone = of("alone");
        vec![
            Finding::new("times", sentence!("The other takes {times} as long.")),
            Finding::new("best", sentence!("The fastest is {best}.")),
            Finding::new("alone", sentence!("A third takes {alone}.")),
        ]
    }
}

/// A point with one process in each pass.
fn point(way: &str, costs: &[u64], warnings: Vec<Warning>) -> PointResult {
    let batches = costs.iter().zip(0..).map(|(cost, pass)| Batch {
        samples: vec![Sample::new(
            "cost",
            Reading::Legs(Legs {
                iterations: 1,
                work: 1.0,
                wall_ns: vec![*cost; 4],
                ..Legs::default()
            }),
        )],
        pass: Some(pass),
        ..Batch::default()
    });
    let batches: Vec<Batch> = batches.collect();
    let mut estimates = Estimate::all(&Race.definition(), &batches);
    for estimate in &mut estimates {
        estimate.disturbed = Some(0.0);
    }
    PointResult {
        point: Point::new().with("way", way),
        estimates,
        warnings,
        remarks: Vec::new(),
    }
}

/// The findings where the ways took these costs in each pass, and `warnings` touch the other way.
fn found(one: &[u64], other: &[u64], warnings: Vec<Warning>) -> Vec<Finding> {
    graded(vec![
        point("one", one, Vec::new()),
        point("other", other, warnings),
        point("alone", &[700, 701, 702, 703, 704, 705], Vec::new()),
    ])
}

fn graded(points: Vec<PointResult>) -> Vec<Finding> {
    let definition: Definition = Race.definition();
    let results = Results {
        definition: &definition,
        machine: &Machine::default(),
        points,
    };
    grading::findings(&Race, &results)
}

/// Grade, passes that hold, passes that count, and warnings of the finding called `key`.
fn judged(findings: &[Finding], key: &str) -> (Grade, usize, usize, Vec<Cow<'static, str>>) {
    let finding = findings.iter().find(|finding| finding.key == key).unwrap();
    let trust = finding.trust.clone().unwrap();
    (finding.grade, trust.held, trust.of, trust.doubts)
}

/// A rule that advises the cheaper way.
const RULE: Rule = Rule {
    setting: "way",
    title: "way",
    audience: Audience::Programs,
    unit: None,
    experiments: &["mock.race"],
    find: |evidence| {
        let of = |way: &str| evidence.estimate("mock.race", COST, &[("way", way.into())]);
        let (one, other) = (of("one")?, of("other")?);
        let value = if one.centre < other.centre {
            "one"
        } else {
            "other"
        };
        Some(Advice {
            value: value.into(),
            usual: "other".into(),
            gain: None,
            because: Finding::new("because", sentence!("It is cheaper.")),
            trial: None,
        })
    },
    act: |_, _| Action::Command(String::new()),
};

fn advised(one: &[u64], other: &[u64]) -> Option<Level> {
    let definition: Definition = Race.definition();
    let results = [Results {
        definition: &definition,
        machine: &Machine::default(),
        points: vec![
            point("one", one, Vec::new()),
            point("other", other, Vec::new()),
        ],
    }];
    grading::advice(&RULE, &results).map(|advice| advice.value)
}

#[test]
fn what_most_passes_do_not_say_is_not_advised() {
    assert_eq!(advised(&FAST, &SLOW), Some("one".into()));
    assert_eq!(advised(&SLOW, &FAST), Some("other".into()));
    // Cheaper as a whole, and in two passes of six.
    let by_two = [100, 100, 1200, 1201, 1202, 1203];
    let other = [1000, 1001, 1190, 1191, 1192, 1193];
    assert_eq!(advised(&by_two, &other), None);
}

const SLOW: [u64; 6] = [2000, 2010, 1990, 2005, 1995, 2002];
const FAST: [u64; 6] = [1000, 1005, 995, 1002, 998, 1001];

#[test]
fn what_each_pass_says_is_certain() {
    let findings = found(&FAST, &SLOW, Vec::new());
    for key in ["times", "best", "alone"] {
        assert_eq!(
            judged(&findings, key),
            (Grade::Certain, 6, 6, vec![]),
            "{key}"
        );
    }
}

#[test]
fn what_one_pass_denies_is_likely() {
    let mut slow = SLOW;
    slow[3] = 900;
    let findings = found(&FAST, &slow, Vec::new());
    assert_eq!(judged(&findings, "best"), (Grade::Likely, 5, 6, vec![]));
    assert_eq!(judged(&findings, "alone"), (Grade::Certain, 6, 6, vec![]));
}

#[test]
fn a_warning_takes_the_certainty_from_what_rests_on_its_value_only() {
    let modes = |centres| Warning::SeveralModes {
        metric: "cost".into(),
        centres,
    };
    let findings = found(&FAST, &SLOW, vec![modes(vec![1900.0, 2100.0])]);
    let doubts = vec!["several modes".into()];
    assert_eq!(judged(&findings, "times"), (Grade::Likely, 6, 6, doubts));
    assert_eq!(judged(&findings, "best"), (Grade::Certain, 6, 6, vec![]));
    assert_eq!(judged(&findings, "alone"), (Grade::Certain, 6, 6, vec![]));
}

/// 76 × (49 to 120 ×) is certain that the other is far slower.
#[test]
fn a_wide_interval_alone_takes_no_certainty() {
    let wide = Warning::TargetMissed {
        metric: "cost".into(),
        reached: Some(0.4),
        target: 0.05,
    };
    let findings = found(&FAST, &SLOW, vec![wide]);
    assert_eq!(
        judged(&findings, "times"),
        (Grade::Certain, 6, 6, Vec::new())
    );
}

/// The interval of the doubted value reaches beyond the other.
#[test]
fn a_doubt_that_could_turn_the_words_touches_them() {
    let wide = [1010, 1600, 1020, 3000, 1015, 2000];
    let findings = found(&FAST, &wide, vec![Warning::NotWarm]);
    let (grade, _, _, doubts) = judged(&findings, "best");
    assert_eq!((grade, doubts), (Grade::Likely, vec!["not warm".into()]));
}

#[test]
fn what_rests_on_a_value_with_more_than_a_fifth_of_disturbed_legs_is_not_certain() {
    let with_disturbed = |share| {
        let mut other = point("other", &SLOW, Vec::new());
        other.estimates[0].disturbed = share;
        graded(vec![
            point("one", &FAST, Vec::new()),
            other,
            point("alone", &[700, 701, 702, 703, 704, 705], Vec::new()),
        ])
    };
    let likely = |label: &'static str| (Grade::Likely, 6, 6, vec![label.into()]);
    let certain = (Grade::Certain, 6, 6, vec![]);
    let few = with_disturbed(Some(0.2));
    let many = with_disturbed(Some(0.201));
    let unknown = with_disturbed(None);
    assert_eq!(judged(&few, "times"), certain);
    assert_eq!(judged(&many, "times"), likely("disturbed"));
    assert_eq!(judged(&unknown, "times"), likely("clock unknown"));
    for findings in [few, many, unknown] {
        assert_eq!(judged(&findings, "alone"), certain);
    }
}

#[test]
fn values_without_passes_keep_the_grade_of_their_finding() {
    let definition = Race.definition();
    let mut points = vec![
        point("one", &FAST, Vec::new()),
        point("other", &SLOW, vec![Warning::NotWarm]),
        point("alone", &SLOW, Vec::new()),
    ];
    for estimate in points.iter_mut().flat_map(|point| &mut point.estimates) {
        estimate.passes = 0;
        estimate.pass_of.clear();
    }
    let results = Results {
        definition: &definition,
        machine: &Machine::default(),
        points,
    };
    let findings = grading::findings(&Race, &results);
    assert_eq!(findings, Race.findings(&results));
}
