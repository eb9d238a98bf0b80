//! Progress on standard error: a live line on a terminal, else one line per experiment.

use crate::output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use instrument::experiment::Definition;
use instrument::quantity::Nanoseconds;
use instrument::results::Estimate;
use instrument::runner::{Event, Observer, ObserverError};
use std::io::IsTerminal;
use std::time::Instant;

/// Reports the progress of a run. It draws only between batches, while nothing is being timed.
pub struct Progress {
    voice: Voice,
    started: Instant,
    /// Number of open points in the remaining time, once that phase has begun.
    extended: Option<usize>,
}

/// Title of the phase that uses the remaining time.
const MORE: &str = "more of what is not known well enough";

enum Voice {
    /// Standard error is a terminal.
    Live(ProgressBar),
    /// Standard error is a log or a pipe.
    Plain,
    /// No output.
    Silent,
}

impl Progress {
    /// Progress on standard error of this process, or none if `quiet`.
    pub fn new(quiet: bool) -> Self {
        let voice = if quiet {
            Voice::Silent
        } else if std::io::stderr().is_terminal() {
            Voice::Live(live_bar())
        } else {
            Voice::Plain
        };
        Self {
            voice,
            started: Instant::now(),
            extended: None,
        }
    }

    /// Prints a line.
    pub fn say(&self, line: &str) {
        match &self.voice {
            Voice::Live(bar) => bar.suspend(|| output::say(line)),
            Voice::Plain => output::say(line),
            Voice::Silent => {}
        }
    }

    fn begin(&mut self, what: &str, points: usize) {
        self.started = Instant::now();
        match &self.voice {
            Voice::Live(bar) => {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.reset();
                bar.set_length(points as u64);
                bar.set_prefix(what.to_owned());
            }
            Voice::Plain => output::say(&format!("{what}: {points} points …")),
            Voice::Silent => {}
        }
    }

    /// Starts the phase in which the remaining time goes to points that are still open.
    fn extend(&mut self, points: usize, left: Nanoseconds) {
        self.extended = Some(points);
        self.begin(&format!("{MORE} (at most {left:.2})"), points);
    }

    /// Counts one open point as closed.
    fn count_down(&mut self) {
        if let Some(open) = &mut self.extended {
            *open = open.saturating_sub(1);
            if *open == 0 {
                self.extended = None;
                self.end(MORE);
            }
        }
    }

    fn end(&mut self, what: &str) {
        let took = format!("{:.2}", Nanoseconds::from(self.started.elapsed()));
        if let Voice::Live(bar) = &self.voice {
            bar.finish_and_clear();
        }
        self.say(&format!("{what}: done in {took}"));
    }
}

impl Observer for Progress {
    fn observe(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        match event {
            Event::Started { definition, points } => self.begin(&definition.id, points.len()),
            Event::Skipped { definition, reason } => {
                self.say(&format!(
                    "{}: cannot be measured here: {reason}",
                    definition.id
                ));
            }
            Event::Visiting { .. } => {}
            Event::Taken {
                definition,
                point,
                estimates,
                progress,
                ..
            } => {
                if let Voice::Live(bar) = &self.voice {
                    let left = Nanoseconds((progress.remaining.0 / 1e9).ceil() * 1e9);
                    let value = live_value(definition, estimates);
                    let point = output::harmless(&definition.show(point));
                    bar.set_message(format!("{point}: {value} · {left} left"));
                    let all = bar.length().unwrap_or_default();
                    let closed = self.extended.map(|open| all - open as u64);
                    bar.set_position(closed.unwrap_or(progress.closed as u64));
                }
            }
            Event::Closed {
                definition,
                point,
                ending,
                ..
            } => {
                self.count_down();
                if let instrument::runner::Ending::Failed(reason) = ending {
                    let point = definition.show(point);
                    self.say(&format!(
                        "{}, {point}: not measured: {reason}",
                        definition.id
                    ));
                }
            }
            Event::Finished { definition } => self.end(&definition.id),
            Event::Extended { points, left } => self.extend(*points, *left),
        }
        Ok(())
    }
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
