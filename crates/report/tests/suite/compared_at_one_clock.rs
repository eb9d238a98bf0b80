//! Comparisons of sessions of one machine whose clock changed between them.

use crate::{comparison_of_systems, fixture};
use instrument::cycles::clock_hz;
use instrument::point::Point;
use instrument::sample::{Around, Batch, FullSpeed, Legs, Reading, Sample};
use oscope_report::comparison::{Side, Verdict};
use platform::usage::Usage;
use record::Run;

const HIGH_HZ: f64 = 4.08e9;
const LOW_HZ: f64 = 3.58e9;

/// Work at a point, as a function of the clock in Hz: its time in ns.
type Work = fn(f64) -> f64;

fn core(hz: f64) -> f64 {
    4e9 / hz * 1e6
}

fn memory(_: f64) -> f64 {
    1e6
}

fn slower_core(hz: f64) -> f64 {
    1.4 * core(hz)
}

/// A session in which five processes did this work while the clock had these levels in turn.
fn session(id: usize, clocks_hz: &[f64], works: &[Work]) -> Run {
    let mut run = fixture::run();
    run.header.id = format!("session {id}");
    run.machine.cpu.vendor = Some("GenuineIntel".into());
    run.machine.cpu.family = Some(6);
    run.machine.cpu.model_number = Some(0x55);
    run.machine.hypervisor = None;
    let hz_of_a_second = clock_hz(&run.machine, 1e9).expect("it is in the table");
    let chain_ns = |hz: f64| hz_of_a_second / hz * 1e9;
    let highest_hz = clocks_hz.iter().copied().fold(0.0, f64::max);
    let batch = |process: u32, work: Work| {
        let noise = f64::from((process * 7 + id as u32 * 3) % 5) * 1e-4;
        let each = |ns: &dyn Fn(f64) -> f64| clocks_hz.iter().map(|hz| ns(*hz) as u64).collect();
        let around = clocks_hz.iter().map(|hz| Around {
            chain_ns: (chain_ns(*hz) as u64, chain_ns(*hz) as u64),
            cpu: Some(0),
            ..Around::default()
        });
        let legs = Legs {
            iterations: 1,
            work: 1.0,
            wall_ns: each(&|hz| work(hz) * (1.0 + noise)),
            reference_ns: each(&|hz| 0.75 * chain_ns(hz)),
            around: around.collect(),
            ..Legs::default()
        };
        let usage = Usage {
            user_ns: legs.wall_ns.iter().sum(),
            ..Usage::default()
        };
        Batch {
            samples: vec![Sample {
                usage,
                ..Sample::new("rate", Reading::Legs(legs))
            }],
            full_speed: Some(FullSpeed {
                chain_ns: chain_ns(highest_hz),
                best_chain_ns: chain_ns(HIGH_HZ),
                alone_ratio: 0.75,
                ..FullSpeed::default()
            }),
            pass: Some(process / 2),
            ..fixture::timed("rate", process, 1.0, 1.0)
        }
    };
    let points = works.iter().enumerate().map(|(index, work)| {
        let point = Point::new().with("call", index as u64);
        (
            point,
            (0..10).map(|process| batch(process, *work)).collect(),
        )
    });
    run.experiments = vec![fixture::record("process.calls", points)];
    run
}

fn side(label: &str, clocks_hz: &[f64], works: &[Work]) -> Side {
    let runs = (0..3).map(|id| session(id, clocks_hz, works));
    comparison_of_systems::side(label, runs.collect())
}

const WORKS: [Work; 4] = [core, memory, core, memory];
/// The same, but for one.
const CHANGED: [Work; 4] = [slower_core, memory, core, memory];

/// The verdicts in the order of the work, and the remarks.
fn compared(a: &Side, b: &Side) -> (Vec<Verdict>, String) {
    let found = comparison_of_systems::compared(a, b);
    let verdicts = found.rows.iter().map(|row| row.verdict);
    (verdicts.collect(), found.remarks.join("\n"))
}

#[test]
fn a_clock_that_the_sessions_show_the_effect_of_is_taken_off() {
    let lower = LOW_HZ * LOW_HZ / HIGH_HZ;
    let side = |label, clocks_hz: [f64; 2], works| side(label, &clocks_hz.repeat(3), works);
    let a = side("A", [HIGH_HZ, LOW_HZ], &WORKS);
    let (verdicts, remarks) = compared(&a, &side("B", [LOW_HZ, lower], &WORKS));
    assert_eq!(verdicts, [Verdict::Equivalent; 4], "{remarks}");
    let expected = "A's processor ran 14 % faster than B's (4.08 GHz and 3.58 GHz): that explains 2 of 2 \
                    differences. Values are compared at 4.08 GHz.";
    assert!(remarks.contains(expected), "{remarks}");

    let (verdicts, remarks) = compared(&a, &side("B", [LOW_HZ, lower], &CHANGED));
    assert_eq!(verdicts[0], Verdict::Slower, "{remarks}");
    assert_eq!(verdicts[1..], [Verdict::Equivalent; 3], "{remarks}");
}

#[test]
fn what_the_clock_may_explain_is_not_comparable() {
    let a = side("A", &[HIGH_HZ; 6], &WORKS);
    let b = side("B", &[LOW_HZ; 6], &CHANGED);
    for (a, b, expected) in [(&a, &b, Verdict::Slower), (&b, &a, Verdict::Faster)] {
        let (verdicts, remarks) = compared(a, b);
        assert_eq!(verdicts[0], expected, "{remarks}");
        assert_eq!(verdicts[1..], [Verdict::NotComparable; 3], "{remarks}");
        assert!(remarks.contains("and may explain 1 more"), "{remarks}");
    }
}

#[test]
fn one_clock_changes_nothing() {
    let [a, b] = ["A", "B"].map(|label| side(label, &[HIGH_HZ; 6], &WORKS));
    let (verdicts, remarks) = compared(&a, &b);
    assert_eq!(verdicts, [Verdict::Equivalent; 4]);
    assert!(!remarks.contains("GHz"), "{remarks}");
}
