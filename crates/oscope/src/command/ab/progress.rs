//! Progress of a comparison on standard error.

use crate::{output, style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::{Duration, Instant};

/// Interval between two updates of the live line: rare enough not to disturb the runs.
const INTERVAL: Duration = Duration::from_millis(500);

/// Lines on standard error, and a live line on a terminal.
pub struct Progress {
    is_quiet: bool,
    /// Drawn only between blocks, while nothing is being timed.
    live: Option<ProgressBar>,
    drawn: Instant,
}

impl Progress {
    pub fn new(is_quiet: bool) -> Self {
        let is_live = !is_quiet && style::is_stderr_live();
        Self {
            is_quiet,
            live: is_live.then(|| {
                let style = ProgressStyle::with_template("{wide_msg}")
                    .expect("the template is well formed");
                ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
            }),
            drawn: Instant::now(),
        }
    }

    /// Prints a line, unless the user wants quiet.
    pub fn say(&self, line: &str) {
        if !self.is_quiet {
            self.warn(line);
        }
    }

    /// Prints an error or a warning.
    pub fn warn(&self, line: &str) {
        match &self.live {
            Some(bar) => bar.suspend(|| output::say(line)),
            None => output::say(line),
        }
    }

    /// Updates the live line with `text` if it is time.
    pub fn update(&mut self, text: impl FnOnce() -> String) {
        if let Some(bar) = &self.live
            && self.drawn.elapsed() >= INTERVAL
        {
            bar.set_message(output::harmless(&text()));
            bar.tick();
            self.drawn = Instant::now();
        }
    }

    /// Removes the live line.
    pub fn end(&self) {
        if let Some(bar) = &self.live {
            bar.finish_and_clear();
        }
    }
}
