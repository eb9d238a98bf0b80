//! A live line while a file is worked through.

use crate::arguments::Common;
use files::Watch;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Work that is over sooner needs no progress.
const PATIENCE: Duration = Duration::from_secs(1);
const STEP: Duration = Duration::from_millis(200);

/// Does `work`; once that has taken a second, a terminal on standard error shows how far it is, of
/// `total_bytes` where that is known.
pub fn while_doing<T>(
    watch: &Watch<'_>,
    total_bytes: Option<u64>,
    common: &Common,
    work: impl FnOnce() -> T,
) -> T {
    if common.quiet || !std::io::stderr().is_terminal() {
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
        // If no thread can be started, the work goes on without the live line.
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
