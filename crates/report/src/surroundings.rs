//! Other activity on the machine during a run.

use instrument::quantity::{Unit, counted, significant};
use instrument::run_clock::RunClock;
use instrument::sample::{Batch, Disturbance};
use instrument::statistics::summary::median;
use record::Run;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The reference loop of an undisturbed processor varies by less than this share.
const SLOWED: f64 = 1.05;
/// Smaller shares are not worth a sentence.
const NOTABLE: f64 = 0.01;
/// Up to this much of a processor, other programs are the system's own.
const USUAL_LOAD: f64 = 0.1;

/// Other activity on the machine during a run. It stands inside the intervals of the values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Surroundings {
    /// The clock; `None` in runs without a reference loop, unknown in runs with one.
    #[serde(default)]
    pub clock: Option<RunClock>,
    /// The share of the timings beside which the reference loop was slowed by more than 5 %; `None`
    /// in runs without a reference loop.
    pub slowed_share: Option<f64>,
    /// The speed of the processor in those timings over its full speed, by their median; `None` if
    /// there are none.
    pub speed: Option<f64>,
    /// CPU time of other programs over wall time: 1 is one processor in full use.
    pub others: Option<f64>,
    /// CPU time that the hypervisor gave to other virtual machines over wall time.
    pub stolen: Option<f64>,
    /// True if another program traced oscope.
    #[serde(default)]
    pub is_traced: Option<bool>,
    /// True if the machine ran on its battery.
    #[serde(default)]
    pub is_on_battery: Option<bool>,
}

impl Surroundings {
    /// Summary of the batches of `run`.
    pub fn of(run: &Run) -> Self {
        let points = run.experiments.iter().flat_map(|record| &record.points);
        let batches: Vec<&Batch> = points.flat_map(|point| &point.batches).collect();
        let slowdowns: Vec<f64> = batches.iter().flat_map(|batch| slowdowns(batch)).collect();
        let slowed: Vec<f64> = slowdowns
            .iter()
            .copied()
            .filter(|slowdown| *slowdown > SLOWED)
            .collect();
        let slowed_share =
            (!slowdowns.is_empty()).then(|| slowed.len() as f64 / slowdowns.len() as f64);
        Self {
            clock: slowed_share.map(|_| RunClock::of(&batches, &run.machine)),
            slowed_share,
            speed: median(&slowed).map(f64::recip),
            others: share(&batches, |around| Some(around.others_ns? as f64))
                .filter(|others| is_plausible(*others)),
            stolen: share(&batches, |around| Some(around.stolen_ns? as f64)),
            is_traced: run.environment.is_traced,
            is_on_battery: run.environment.is_on_battery,
        }
    }

    /// A line on the clock for readers; `None` in runs without a reference loop.
    pub fn clock_text(&self) -> Option<String> {
        self.clock.as_ref().map(RunClock::text)
    }

    /// A sentence on it for readers; `None` if there was nothing notable. The clock has its own line.
    pub fn text(&self) -> Option<String> {
        let notable = |share: Option<f64>, least| share.filter(|share| *share > least);
        let knows_clock = self
            .clock
            .as_ref()
            .is_some_and(|clock| !clock.cores.is_empty());
        let slowed = notable(self.slowed_share, NOTABLE).filter(|_| !knows_clock);
        let slowed = slowed.zip(self.speed);
        let slowed = slowed.map(|(share, speed)| {
            format!(
                "Something slowed this processor down during {} of the timings: arithmetic ran at \
                 {} of its speed there. Values are those at full speed.",
                Unit::Share.show(share, 2),
                Unit::Share.show(speed, 2)
            )
        });
        let others = notable(self.others, USUAL_LOAD).map(|others| {
            format!(
                "Other programs kept {} busy.",
                counted(significant(others, 2), "processor")
            )
        });
        let stolen = notable(self.stolen, NOTABLE).map(|stolen| {
            let share = Unit::Share.show(stolen, 2);
            format!("The hypervisor gave {share} of the time to others.")
        });
        let state = |is_so: Option<bool>, text: &str| is_so?.then(|| text.to_owned());
        let traced = state(
            self.is_traced,
            "Another program traced oscope: a system call costs what the tracer takes.",
        );
        let battery = state(
            self.is_on_battery,
            "The machine ran on its battery, on which the clock may be low.",
        );
        let sentences = [traced, slowed, others, stolen, battery];
        let sentences: Vec<String> = sentences.into_iter().flatten().collect();
        (!sentences.is_empty()).then(|| sentences.join(" "))
    }
}

/// The slowness of the processor beside each timing of `batch`.
fn slowdowns(batch: &Batch) -> Vec<f64> {
    let of_both = batch.full_speed.map(|it| it.chain_ns * it.alone_ratio);
    let full_speed_ns = of_both.or(batch.full_speed_ns);
    let Some(full_speed_ns) = full_speed_ns.filter(|ns| *ns > 0.0) else {
        return Vec::new();
    };
    let samples = batch.samples.iter();
    let references = samples.flat_map(|sample| sample.reading.references_ns());
    references
        .map(|reference_ns| *reference_ns as f64 / full_speed_ns)
        .collect()
}

/// False for clearly less than nothing: such a system counts CPU time wrongly, as Wine does.
fn is_plausible(others: f64) -> bool {
    others > -USUAL_LOAD
}

/// One disturbance over the wall time of the batches that recorded it.
fn share(batches: &[&Batch], part: impl Fn(&Disturbance) -> Option<f64>) -> Option<f64> {
    let known = batches
        .iter()
        .filter_map(|batch| Some((part(&batch.disturbance)?, batch.wall_ns as f64)));
    let (part_ns, wall_ns) = known.fold((0.0, 0.0), |(parts, walls), (part, wall)| {
        (parts + part, walls + wall)
    });
    (wall_ns > 0.0).then(|| part_ns / wall_ns)
}

#[cfg(test)]
mod tests {
    use super::{Surroundings, is_plausible};
    use instrument::run_clock::{CoreClock, RunClock};

    #[test]
    fn less_than_nothing_is_no_load() {
        assert!(is_plausible(1.8) && is_plausible(-0.01) && !is_plausible(-5.9));
    }

    #[test]
    fn only_what_is_notable_is_said() {
        let quiet = Surroundings {
            clock: None,
            slowed_share: Some(0.004),
            speed: Some(0.9),
            others: Some(0.02),
            stolen: Some(0.0),
            is_traced: Some(false),
            is_on_battery: Some(false),
        };
        assert_eq!(quiet.text(), None);
        assert_eq!(Surroundings::default().text(), None);
        let busy = Surroundings {
            clock: Some(RunClock::default()),
            slowed_share: Some(0.712),
            speed: Some(0.551),
            others: Some(1.23),
            stolen: Some(0.034),
            is_traced: Some(true),
            is_on_battery: None,
        };
        assert_eq!(
            busy.text().unwrap(),
            "Another program traced oscope: a system call costs what the tracer takes. Something slowed \
             this processor down during 71 % of the timings: arithmetic ran at \
             55 % of its speed there. Values are those at full speed. Other programs kept 1.2 \
             processors busy. The hypervisor gave 3.4 % of the time to others."
        );
    }

    #[test]
    fn the_line_of_the_clock_replaces_the_sentence_of_one_reference() {
        let one = Surroundings {
            clock: Some(RunClock::default()),
            slowed_share: Some(0.7),
            speed: Some(0.5),
            ..Surroundings::default()
        };
        assert!(one.text().is_some());
        let unknown = "Clock unknown: the run has no second reference loop.";
        assert_eq!(one.clock_text().as_deref(), Some(unknown));
        let core = CoreClock {
            core_type: None,
            levels: Vec::new(),
            shared: 0.0,
            unknown: 1.0,
        };
        let both = Surroundings {
            clock: Some(RunClock { cores: vec![core] }),
            ..one
        };
        assert_eq!(both.text(), None);
        assert_eq!(Surroundings::default().clock_text(), None);
    }
}
