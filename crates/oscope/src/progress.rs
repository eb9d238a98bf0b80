//! Progress on standard error: a live line on a terminal, a line an experiment elsewhere.

use crate::output::harmless;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use instrument::experiment::Definition;
use instrument::quantity::Nanoseconds;
use instrument::results::Estimate;
use instrument::runner::{Event, Observer, ObserverError};
use std::io::IsTerminal;
use std::time::Instant;

/// Tells how a run goes on. It draws only between batches, when nothing is being timed.
pub struct Progress {
    voice: Voice,
    started: Instant,
}

enum Voice {
    /// A terminal reads along.
    Live(ProgressBar),
    /// A log or a pipe does.
    Plain,
    /// Nobody wants to hear.
    Silent,
}

impl Progress {
    /// Progress for the standard error of this process, or none if `quiet`.
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
        }
    }

    /// Tells something that is worth a line of its own.
    pub fn say(&self, line: &str) {
        let line = harmless(line);
        match &self.voice {
            Voice::Live(bar) => bar.suspend(|| eprintln!("{line}")),
            Voice::Plain => eprintln!("{line}"),
            Voice::Silent => {}
        }
    }

    fn begin(&mut self, definition: &Definition, points: usize) {
        self.started = Instant::now();
        match &self.voice {
            Voice::Live(bar) => {
                bar.set_draw_target(ProgressDrawTarget::stderr());
                bar.reset();
                bar.set_length(points as u64);
                bar.set_prefix(definition.id.clone());
            }
            Voice::Plain => eprintln!("{}: {points} points …", definition.id),
            Voice::Silent => {}
        }
    }

    fn end(&mut self, definition: &Definition) {
        let took = format!("{:.2}", Nanoseconds::from(self.started.elapsed()));
        if let Voice::Live(bar) = &self.voice {
            bar.finish_and_clear();
        }
        self.say(&format!("{}: done in {took}", definition.id));
    }
}

impl Observer for Progress {
    fn observe(&mut self, event: &Event<'_>) -> Result<(), ObserverError> {
        match event {
            Event::Started { definition, points } => self.begin(definition, points.len()),
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
                    bar.set_message(format!("{}: {value} · {left} left", definition.show(point)));
                    bar.set_position(progress.closed as u64);
                }
            }
            Event::Closed {
                definition,
                point,
                ending,
                ..
            } => {
                if let instrument::runner::Ending::Failed(reason) = ending {
                    let point = definition.show(point);
                    self.say(&format!(
                        "{}, {point}: not measured: {reason}",
                        definition.id
                    ));
                }
            }
            Event::Finished { definition } => self.end(definition),
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

/// The point's last metric, which is the one its experiment ends with.
fn live_value(definition: &Definition, estimates: &[Estimate]) -> String {
    let last = estimates.last();
    let shown = last.and_then(|estimate| {
        let unit = definition.metric(&estimate.metric)?.unit;
        Some(unit.show(estimate.centre, 3))
    });
    shown.unwrap_or_default()
}
