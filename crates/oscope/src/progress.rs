//! Progress on standard error: a live line on a terminal, else one line per pass.

use crate::arguments::Common;
use crate::{output, style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use instrument::experiment::Definition;
use instrument::quantity::{Nanoseconds, counted};
use instrument::results::Estimate;
use instrument::runner::{Ending, Event, Observer, ObserverError};
use report::terminal::wrapped;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Lines on standard error, above a live line if that is a terminal.
pub struct Voice {
    bar: Option<ProgressBar>,
    is_quiet: bool,
    /// True if another process reports the errors of this one.
    is_silent: bool,
}

impl Voice {
    /// The voice of this process. `bar` makes the live line; it is not called where none is drawn.
    pub fn new(common: &Common, bar: impl FnOnce() -> ProgressBar) -> Self {
        let is_live =
            !common.quiet && !common.is_led && !common.is_still && style::is_stderr_live();
        Self {
            bar: is_live.then(bar),
            is_quiet: common.quiet,
            is_silent: common.is_led,
        }
    }

    /// The live line, if one is drawn.
    pub fn bar(&self) -> Option<&ProgressBar> {
        self.bar.as_ref()
    }

    /// Prints a line, unless the user wants quiet.
    pub fn say(&self, line: &str) {
        if !self.is_quiet {
            self.warn(line);
        }
    }

    /// Prints an error or a warning, on a terminal broken between words.
    pub fn warn(&self, line: &str) {
        let line = output::on_one_line(line);
        let lines = match style::size_of_stderr() {
            Some((_, columns)) => wrapped(&line, columns).join("\n"),
            None => line,
        };
        self.print(|| output::say_text(&lines));
    }

    /// Prints painted text, unless the user wants quiet.
    pub fn show(&self, text: &str) {
        if !self.is_quiet {
            self.print(|| output::say_painted(text));
        }
    }

    fn print(&self, print: impl FnOnce()) {
        match &self.bar {
            _ if self.is_silent => {}
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }
}

/// A live line of moved bytes, out of `total` if that is known.
pub fn bar_of_bytes(total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => (
            ProgressBar::new(total),
            "[{bar:24}] {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta} left",
        ),
        None => (
            ProgressBar::no_length(),
            "{binary_bytes} {binary_bytes_per_sec}",
        ),
    };
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    bar.with_style(style.progress_chars("━╸ "))
}

/// Does `work`, and draws `bar` at `position` until that is done. Short work needs no line.
pub fn while_drawn<T>(
    bar: Option<&ProgressBar>,
    position: impl Fn() -> u64 + Send,
    work: impl FnOnce() -> T,
) -> T {
    const SHORT: Duration = Duration::from_secs(1);
    const STEP: Duration = Duration::from_millis(200);
    let Some(bar) = bar else { return work() };
    thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        let draw = move || {
            let goes_on = |time| is_done.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if !goes_on(SHORT) {
                return;
            }
            while goes_on(STEP) {
                bar.set_position(position());
            }
            bar.finish_and_clear();
        };
        // Without a thread only the line is missing.
        let _ = thread::Builder::new().spawn_scoped(scope, draw);
        let outcome = work();
        drop(done);
        outcome
    })
}

/// The live line of a comparison.
pub struct LiveLine {
    /// Lines above it.
    pub voice: Voice,
    drawn: Instant,
}

impl LiveLine {
    /// An empty line.
    pub fn new(common: &Common) -> Self {
        let bar = || {
            let style =
                ProgressStyle::with_template("{wide_msg}").expect("the template is well formed");
            ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
        };
        Self {
            voice: Voice::new(common, bar),
            drawn: Instant::now(),
        }
    }

    /// Updates the line with `text` if it is time. Call it only while nothing is timed.
    pub fn update(&mut self, text: impl FnOnce() -> String) {
        /// Rare enough not to disturb the runs.
        const INTERVAL: Duration = Duration::from_millis(500);
        if let Some(bar) = self.voice.bar()
            && self.drawn.elapsed() >= INTERVAL
        {
            bar.set_message(output::harmless(&text()));
            bar.tick();
            self.drawn = Instant::now();
        }
    }

    /// Removes the line.
    pub fn end(&self) {
        if let Some(bar) = self.voice.bar() {
            bar.finish_and_clear();
        }
    }
}

/// Reports the progress of a run. It draws only between batches, while nothing is being timed.
pub struct Progress {
    /// Lines between the passes.
    pub voice: Voice,
    started: Instant,
    /// Title of the pass that is under way, and the number of its visits so far.
    pass: Option<(String, usize)>,
}

impl Progress {
    /// Progress on standard error of this process.
    pub fn new(common: &Common) -> Self {
        Self {
            voice: Voice::new(common, live_bar),
            started: Instant::now(),
            pass: None,
        }
    }

    /// Keeps painted text above the live line from the next pass on: true if there is such a line.
    pub fn keep_above(&self, text: &str) -> bool {
        let Some(bar) = self.voice.bar() else {
            return false;
        };
        bar.set_style(line_under(text));
        true
    }

    /// Starts a pass.
    fn begin(&mut self, pass: usize, passes: usize, visits: usize) {
        self.started = Instant::now();
        let title = format!("pass {} of {passes}", pass + 1);
        if let Some(bar) = self.voice.bar() {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(DRAWN_PER_SECOND));
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
        if let Some(bar) = self.voice.bar() {
            bar.finish_and_clear();
        }
        if visits > 0 {
            let visits = counted(visits, "visit");
            self.voice.say(&format!("{title}: {visits} in {took}"));
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
                self.voice.warn(&format!(
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
                if let Some(bar) = self.voice.bar() {
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
                closing,
            } => {
                if let Ending::Failed(reason) = &closing.ending {
                    let point = definition.show(point);
                    self.voice.warn(&format!(
                        "{}, {point}: not measured: {reason}",
                        definition.id
                    ));
                }
            }
            Event::Scarce {
                experiments,
                enough,
            } => {
                self.voice.say(&scarce(experiments, *enough));
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
        "the time will not suffice for an estimate of {}: {}; {seconds} s would do for all",
        counted(points, "point"),
        named.join(", ")
    )
}

/// Rare enough not to disturb the run: a terminal draws after it was written to.
const DRAWN_PER_SECOND: u8 = 4;

fn live_bar() -> ProgressBar {
    ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_style(line_under(""))
}

/// The live line, under lines of text.
fn line_under(text: &str) -> ProgressStyle {
    let text = output::painted(text).replace('{', "{{").replace('}', "}}");
    let line = "{prefix} [{bar:24}] {pos}/{len} {wide_msg}";
    ProgressStyle::with_template(&(text + line))
        .expect("the template is well formed")
        .progress_chars("━╸ ")
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
