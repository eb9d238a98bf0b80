//! `process.calls`: the cost of calls into the system and its library.

pub(super) mod call;
pub(super) mod costs;
pub(super) mod definition;
mod findings;
mod operations;
pub(super) mod systems;

use crate::figures::{axis_of, bars, scale_of};
use crate::optimisation::{self, Compiler, OPTIMISATION, Optimisation};
use crate::prelude::*;
use call::Call;
use definition::{AS_REPORTED, CALL, DESIGN, FILE_BYTES, LATENCY, RATE, REPORTED, point};

/// The cost of calls into the system and its library.
pub(crate) struct Calls;

impl Experiment for Calls {
    fn design(&self) -> &'static Design {
        &DESIGN
    }

    fn needs(&self, _setting: &Setting) -> Vec<Need> {
        vec![Need::Space(Bytes(2 * FILE_BYTES))]
    }

    fn points(&self, setting: &Setting) -> Vec<Point> {
        points_on(System::here(), setting.profile)
    }

    fn shares_process(&self, point: &Point) -> bool {
        point.level(CALL).is_ok_and(Call::leaves_nothing)
    }

    fn component(&self, point: &Point, _metric: &str) -> Option<Component> {
        Some(point.level(CALL).ok()?.component())
    }

    fn counterpart(&self, point: &Point, _metric: &str, other: System) -> Option<Counterpart> {
        let (call, optimisation) = (point.level(CALL).ok()?, point.level(OPTIMISATION).ok()?);
        let (call, difference) = call.counterpart(other)?;
        Some(Counterpart::Like {
            point: definition::point(call, optimisation),
            difference,
        })
    }

    fn measure(&self, point: &Point, sampler: &mut Sampler<'_>) -> Result<(), MeasureError> {
        let (call, optimisation) = (point.level(CALL)?, point.level(OPTIMISATION)?);
        if !call.is_of(System::here()) {
            let lacking = format!("{} has no {call}", System::here());
            return Err(MeasureError::Unsupported(lacking));
        }
        optimisation::loops(Compiler::Rust, optimisation, sampler);
        operations::measure(call, optimisation.0, sampler)
    }

    fn findings(&self, results: &Results) -> Vec<Finding> {
        findings::all(results)
    }

    fn figures(&self, results: &Results) -> Vec<Figure> {
        let figure = |metric, title: &str| {
            let series = [Optimisation::FULL, Optimisation::NONE].map(|level| {
                let label = format!("optimisation {}", level.digit());
                results.series(&label, metric, CALL, &[OPTIMISATION.at(level)])
            });
            let series = series.into_iter().filter(|line| !line.points.is_empty());
            let axes = (axis_of(CALL), scale_of(metric));
            bars(metric, title, axes, series.collect())
        };
        vec![
            figure(RATE, "Calls per second"),
            figure(LATENCY, "Time of a single call"),
        ]
    }
}

/// The points of the calls that `system` has.
fn points_on(system: System, profile: Profile) -> Vec<Point> {
    // The report's own flags are for comparison with it; the shorter profiles have little time for them.
    let is_wanted = |call: Call, shortest: Profile| {
        let profiles = Profile::ALL.into_iter();
        let mut enough = profiles.skip_while(|profile| *profile != shortest);
        !AS_REPORTED.contains(&call.on_linux()) || enough.any(|it| it == profile)
    };
    let optimised = Call::of(system).filter(|call| is_wanted(*call, Profile::Standard));
    let optimised = optimised.map(|call| point(call, Optimisation::FULL));
    let unoptimised = REPORTED.iter().copied();
    let unoptimised = unoptimised.filter(|call| call.is_of(system));
    let unoptimised = unoptimised.filter(|call| is_wanted(*call, Profile::Thorough));
    let unoptimised = unoptimised.map(|call| point(call, Optimisation::NONE));
    optimised.chain(unoptimised).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        CALL, Call, Calls, LATENCY, OPTIMISATION, Optimisation, RATE, REPORTED, point as of,
        points_on,
    };
    use crate::made_up::{count, measure, setting};
    use crate::prelude::*;

    #[test]
    fn a_point_is_a_call() {
        let points = points_on(System::Linux, Profile::Thorough);
        assert_eq!(points.len(), 22 + REPORTED.len());
        assert_eq!(points[0].level(CALL), Ok(Call::Getpid));
        assert_eq!(points[21].level(CALL), Ok(Call::ForkExec));
        let quick = points_on(System::Linux, Profile::Quick);
        assert!(quick.len() <= 30 && quick.iter().all(|point| points.contains(point)));
    }

    #[test]
    fn windows_has_points_of_its_own() {
        let calls = |profile| -> Vec<Call> {
            let points = points_on(System::Windows, profile).into_iter();
            points.filter_map(|it| it.level(CALL).ok()).collect()
        };
        let thorough = calls(Profile::Thorough);
        assert_eq!(thorough.len(), 17 + 3);
        assert!(thorough.contains(&Call::CreateFileThrough) && !thorough.contains(&Call::Open));
        let quick = calls(Profile::Quick);
        assert!(quick.contains(&Call::CreateProcess) && !quick.contains(&Call::CreateFileThrough));
    }

    #[test]
    fn a_point_has_a_counterpart_at_the_same_optimisation() {
        let read = of(Call::Read, Optimisation::FULL);
        let counterpart = Calls.counterpart(&read, RATE.name, System::Windows);
        let Some(Counterpart::Like { point, difference }) = counterpart else {
            panic!("{counterpart:?}");
        };
        assert_eq!(point, of(Call::ReadFile, Optimisation::FULL));
        assert!(difference.contains("ReadFile"), "{difference}");
        let fork = of(Call::Fork, Optimisation::FULL);
        assert_eq!(Calls.counterpart(&fork, RATE.name, System::Windows), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_call_of_another_system_is_not_measured_under_its_name() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        let point = of(Call::ReadFile, Optimisation::FULL);
        let error = measure(&Calls, &point, scratch.path()).expect_err("of Windows");
        assert!(
            error.to_string().contains("Linux has no ReadFile"),
            "{error}"
        );
    }

    #[test]
    fn every_call_is_measured_here() {
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        for point in Calls.points(&setting(Profile::Thorough)) {
            let (samples, _) = measure(&Calls, &point, scratch.path()).expect("calls work here");
            assert!(count(&samples, RATE) >= 1, "{point}");
            let is_optimised = point.level(OPTIMISATION) == Ok(Optimisation::FULL);
            let latencies = count(&samples, LATENCY);
            assert_eq!(latencies, usize::from(is_optimised), "{point}");
            let costs: Vec<_> = samples
                .iter()
                .flat_map(|sample| sample.reading.costs())
                .collect();
            assert!(
                costs.iter().all(|cost| cost.raw_ns >= 0.0),
                "{point}: {costs:?}"
            );
        }
    }

    #[test]
    fn a_call_of_another_version_is_refused() {
        #[derive(Choice, Clone, Copy, PartialEq)]
        enum Other {
            Sleep,
        }
        let scratch = tempfile::tempdir().expect("a directory for temporary files");
        let point =
            of(Call::Getpid, Optimisation::FULL).at(AxisOf::new(CALL.name(), "call"), Other::Sleep);
        let error = measure(&Calls, &point, scratch.path()).expect_err("no such call");
        assert!(error.to_string().contains("call=sleep"), "{error}");
    }
}
