//! Progress on standard error: a live line on a terminal, else one line per pass.

use crate::arguments::Common;
use crate::{output, style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use instrument::experiment::Definition;
use instrument::quantity::{Nanoseconds, counted};
use instrument::results::Estimate;
use instrument::runner::{Ending, Event, Observer, ObserverError};
use std::time::Instant;

/// Reports the progress of a run. It draws only between batches, while nothing is being timed.
pub struct Progress {
    voice: Voice,
    started: Instant,
    /// Title of the pass that is under way, and the number of its visits so far.
    pass: Option<(String, usize)>,
}

enum Voice {
    /// Standard error is a terminal.
    Live(ProgressBar),
    /// Standard error is a log or a pipe.
    Plain,
    /// Errors and warnings only.
    Quiet,
    /// No output.
    Silent,
}

impl Progress {
    /// Progress on standard error of this process.
    pub fn new(common: &Common) -> Self {
        let voice = if common.is_led {
            Voice::Silent
        } else if common.quiet {
            Voice::Quiet
        } else if style::is_stderr_live() {
            Voice::Live(live_bar())
        } else {
            Voice::Plain
        };
        Self {
            voice,
            started: Instant::now(),
            pass: None,
        }
    }

    /// Prints a line, unless the user wants quiet.
    pub fn say(&self, line: &str) {
        if !matches!(self.voice, Voice::Quiet) {
            self.warn(line);
        }
    }

    /// Prints an error or a warning.
    pub fn warn(&self, line: &str) {
        match &self.voice {
            Voice::Live(bar) => bar.suspend(|| output::say(line)),
            Voice::Plain | Voice::Quiet => output::say(line),
            Voice::Silent => {}
        }
    }

    /// Starts a pass over all experiments.
    fn begin(&mut self, pass: usize, passes: usize, visits: usize) {
        self.started = Instant::now();
        let title = format!("pass {} of {passes}", pass + 1);
        if let Voice::Live(bar) = &self.voice {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.reset();
            bar.set_length(visits as u64);
            bar.set_prefix(title.clone());
        }
        self.pass = Some((title, 0));
    }

    /// Ends the pass that is under way, if any.
    fn end(&mut self) {
        let Some((title, visits)) = self.pass.take() else {
            return;
        };
        let took = format!("{:.2}", Nanoseconds::from(self.started.elapsed()));
        if let Voice::Live(bar) = &self.voice {
            bar.finish_and_clear();
        }
        if visits > 0 {
            let visits = counted(visits, "visit");
            self.say(&format!("{title}: {visits} in {took}"));
        }
    }
}

impl Observer for Progress {
    fn observe(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        match event {
            Event::Started { .. }
            | Event::Refined { .. }
            | Event::Visiting { .. }
            | Event::Using { .. } => {}
            Event::Skipped { definition, reason } => {
                self.warn(&format!(
                    "{}: cannot be measured here: {reason}",
                    definition.id
                ));
            }
            Event::Taken {
                definition,
                point,
                estimates,
                progress,
                ..
            } => {
                if let Some((_, visits)) = &mut self.pass {
                    *visits += 1;
                }
                if let Voice::Live(bar) = &self.voice {
                    let left = Nanoseconds((progress.remaining.0 / 1e9).ceil() * 1e9);
                    let value = live_value(definition, estimates);
                    let point = output::harmless(&definition.show(point));
                    let id = &definition.id;
                    bar.set_message(format!("{left} left · {id}, {point}: {value}"));
                    bar.set_position(progress.done as u64);
                }
            }
            Event::Closed {
                definition,
                point,
                ending,
                ..
            } => {
                if let Ending::Failed(reason) = ending {
                    let point = definition.show(point);
                    self.warn(&format!(
                        "{}, {point}: not measured: {reason}",
                        definition.id
                    ));
                }
            }
            Event::Scarce {
                experiments,
                enough,
            } => {
                self.say(&scarce(experiments, *enough));
            }
            Event::Pass {
                pass,
                passes,
                visits,
            } => {
                self.begin(*pass, *passes, *visits);
            }
            Event::PassEnded => self.end(),
        }
        Ok(())
    }
}

/// Names the experiments for which the time is too short, and the time that would do.
fn scarce(experiments: &[(&str, usize)], enough: Nanoseconds) -> String {
    let points: usize = experiments.iter().map(|(_, points)| points).sum();
    let named: Vec<String> = experiments
        .iter()
        .map(|(id, points)| format!("{id} ({points})"))
        .collect();
    let seconds = (enough.0 / 1e9).ceil();
    format!(
        "the time will not suffice for an estimate of {}: {}; `--budget {seconds}s` would do for all",
        counted(points, "point"),
        named.join(", ")
    )
}

fn live_bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{prefix} [{bar:24}] {pos}/{len} {wide_msg}")
        .expect("the template is well formed")
        .progress_chars("━╸ ");
    ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_style(style)
}

/// The value of the point's last metric, which is the experiment's main one.
fn live_value(definition: &Definition, estimates: &[Estimate]) -> String {
    let last = estimates.last();
    let shown = last.and_then(|estimate| {
        let unit = definition.metric(&estimate.metric)?.unit;
        Some(unit.show(estimate.centre, 3))
    });
    shown.unwrap_or_default()
}
