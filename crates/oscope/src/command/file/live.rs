//! A live progress line for work on a file.

use crate::arguments::Common;
use crate::style;
use files::Watch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Shorter work needs no progress line.
const PATIENCE: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(200);

/// Runs `work`. After one second, a terminal on standard error shows the progress, out of
/// `total_bytes` if known.
pub fn while_doing<T>(
    watch: &Watch<'_>,
    total_bytes: Option<u64>,
    common: &Common,
    work: impl FnOnce() -> T,
) -> T {
    if common.quiet || !style::is_stderr_live() {
        return work();
    }
    thread::scope(|scope| {
        let (done, is_done) = channel::<()>();
        let show = move || {
            let goes_on = |time| is_done.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            if !goes_on(PATIENCE) {
                return;
            }
            let bar = bar(total_bytes);
            while goes_on(STEP) {
                bar.set_position(watch.done_bytes());
            }
            bar.finish_and_clear();
        };
        // If the thread cannot start, the work continues without the progress line.
        let _ = thread::Builder::new().spawn_scoped(scope, show);
        let outcome = work();
        drop(done);
        outcome
    })
}

fn bar(total_bytes: Option<u64>) -> ProgressBar {
    let (bar, template) = match total_bytes {
        Some(total) => (
            ProgressBar::new(total),
            "[{bar:24}] {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}",
        ),
        None => (
            ProgressBar::no_length(),
            "{binary_bytes} {binary_bytes_per_sec}",
        ),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(template).expect("the template is well formed");
    bar.with_style(style.progress_chars("━╸ "))
}
