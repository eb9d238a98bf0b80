//! The time of the runs, as the warm-up shows it, against the time that there is.

use super::programs::Program;
use crate::exit::WrongUse;
use instrument::ab::{Budget, Rules};
use instrument::quantity::{Nanoseconds, counted};

/// The shortest time of a run of each program so far, with the commands around it, in ns.
#[derive(Default)]
pub struct Pace(Vec<f64>);

impl Pace {
    /// Adds a run of a program, in the order of the programs.
    pub fn add(&mut self, program: usize, took_ns: f64) {
        match self.0.get_mut(program) {
            Some(shortest) => *shortest = shortest.min(took_ns),
            None => self.0.push(took_ns),
        }
    }

    /// Time of one run of each program; `None` without a warm-up.
    pub fn round_ns(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum())
    }

    /// Refuses a time in which one run of each program cannot end, as soon as that is known.
    pub fn check(&self, programs: &[Program], rules: &Rules) -> Result<(), WrongUse> {
        let Some(known_ns) = self
            .round_ns()
            .filter(|known_ns| rules.room(*known_ns) == 0)
        else {
            return Ok(());
        };
        let Budget::Fixed(budget) = rules.budget else {
            return Ok(());
        };
        let (which, advice) = match self.0.len() {
            all if all == programs.len() => ("one run of each command".into(), enough(known_ns)),
            1 => (format!("one run of '{}'", programs[0].name), String::new()),
            count => (
                format!("one run of each of {count} commands"),
                String::new(),
            ),
        };
        Err(WrongUse(format!(
            "the time is too short: {which} took {:.3} in the warm-up, and `--budget` is {budget:.3} for all \
             runs.{advice} If only the first run is slow, `--warmup 2` shows the usual time",
            Nanoseconds(known_ns),
        )))
    }
}

/// The time in which a verdict is possible.
fn enough(round_ns: f64) -> String {
    let seconds = (round_ns * Rules::USUAL_RUNS as f64 / 1e9).ceil();
    format!(
        " `--budget {seconds}s` has time for {} runs of each, the fewest for a verdict.",
        Rules::USUAL_RUNS
    )
}

/// The time of the comparison, and the runs for which it is enough.
pub fn announcement(rules: &Rules, round_ns: Option<f64>) -> String {
    let time = match rules.budget {
        Budget::Usual => "about 30 s".to_owned(),
        Budget::Fixed(budget) => format!("{budget:.2}"),
    };
    let Some(round_ns) = round_ns else {
        return format!("at most {time}");
    };
    let room = rules.room(round_ns);
    let wanted = rules.least_runs.max(Rules::USUAL_RUNS);
    let runs = counted(room, "run");
    let all = Nanoseconds(room as f64 * round_ns);
    if rules.most_runs == Some(room) {
        format!("{runs} of each in about {all:.2}")
    } else if room > wanted {
        format!("at most {time}")
    } else if rules.least_runs > room {
        format!(
            "{runs} of each in about {all:.2}, since there is no time for {}",
            rules.least_runs
        )
    } else if rules.budget == Budget::Usual {
        format!("at most {runs} of each in about {all:.2}")
    } else {
        let few = if room < Rules::USUAL_RUNS {
            enough(round_ns)
        } else {
            String::new()
        };
        format!("at most {time}, enough for {runs} of each.{few}")
    }
}

#[cfg(test)]
mod tests {
    use super::announcement;
    use instrument::ab::{Budget, Rules};
    use instrument::quantity::Nanoseconds;

    #[test]
    fn what_fits_is_announced() {
        let said = |budget: Option<f64>, runs: Option<usize>, round_s: f64| {
            let rules = Rules {
                error: Rules::ERROR,
                margin: 0.01,
                budget: budget.map_or(Budget::Usual, |it| Budget::Fixed(Nanoseconds(it * 1e9))),
                least_runs: runs.unwrap_or(0),
                most_runs: runs,
            };
            announcement(&rules, Some(round_s * 1e9))
        };
        assert_eq!(said(None, None, 0.01), "at most about 30 s");
        assert_eq!(
            said(None, None, 10.0),
            "at most 12 runs of each in about 2.0 min"
        );
        assert_eq!(said(None, Some(3), 1.0), "3 runs of each in about 3.0 s");
        assert_eq!(
            said(None, Some(20), 10.0),
            "12 runs of each in about 2.0 min, since there is no time for 20"
        );
        assert_eq!(
            said(Some(10.0), None, 4.0),
            "at most 10 s, enough for 2 runs of each. `--budget 48s` has time for 12 runs of each, the \
             fewest for a verdict."
        );
        assert_eq!(said(Some(10.0), None, 0.1), "at most 10 s");
        assert_eq!(
            said(Some(5.0), Some(1), 4.0),
            "1 run of each in about 4.0 s"
        );
    }
}
