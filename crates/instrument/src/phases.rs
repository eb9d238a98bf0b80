//! Phases: parts of one piece of work that alternate and are timed separately.

use crate::clock::Clock;
use crate::error::MeasureError;
use platform::usage::Usage;

/// Times the phases of one sample. A phase may run many times; its times add up.
pub struct Phases<'c> {
    clock: &'c dyn Clock,
    clock_cost_ns: f64,
    pub(crate) spent: Vec<Spent>,
}

/// The time of one metric so far.
pub(crate) struct Spent {
    pub metric: String,
    /// Wall time less the clock's cost, in ns.
    time_ns: f64,
    pub usage: Usage,
}

impl<'c> Phases<'c> {
    pub(crate) fn new(clock: &'c dyn Clock, clock_cost_ns: f64) -> Self {
        Self {
            clock,
            clock_cost_ns,
            spent: Vec::new(),
        }
    }

    /// Times `body`, less the cost of reading the clock, and adds the time to each of these
    /// metrics: a phase, and a total that contains it.
    ///
    /// # Errors
    /// Those of `body`.
    pub fn time<T>(
        &mut self,
        metrics: &[impl AsRef<str>],
        body: impl FnOnce() -> Result<T, MeasureError>,
    ) -> Result<T, MeasureError> {
        let (result, gross_ns, usage) = self.clock.timed(body)?;
        for metric in metrics {
            let clock_cost_ns = self.clock_cost_ns;
            let spent = self.of(metric.as_ref());
            spent.time_ns += gross_ns as f64 - clock_cost_ns;
            spent.usage += usage;
        }
        Ok(result)
    }

    /// Adds the cost of two readings of the clock to `metric` for each of its `phases`: a total that is to
    /// contain its timers.
    pub fn add_timers(&mut self, metric: impl AsRef<str>, phases: u64) {
        let cost_ns = 2.0 * self.clock_cost_ns * phases as f64;
        self.of(metric.as_ref()).time_ns += cost_ns;
    }

    fn of(&mut self, metric: &str) -> &mut Spent {
        match self.spent.iter().position(|spent| spent.metric == metric) {
            Some(index) => &mut self.spent[index],
            None => self.spent.push_mut(Spent {
                metric: metric.to_owned(),
                time_ns: 0.0,
                usage: Usage::default(),
            }),
        }
    }
}

impl Spent {
    /// Whole ns. A time below 0 becomes 0, and the estimate is then below resolution.
    pub(crate) fn net_ns(&self) -> u64 {
        self.time_ns.round() as u64
    }
}
