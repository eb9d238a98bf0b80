use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use windows_sys::Win32::System::Console::{CTRL_BREAK_EVENT, CTRL_C_EVENT, SetConsoleCtrlHandler};
use windows_sys::core::BOOL;

use super::outcome::check;
use crate::Result;
use crate::clock::now_ns;
use crate::error::absent;
use crate::signal::{Signal, asks_again};

/// The system ends the process this long after the console was closed, or when the handler returns.
const LONGEST_FAREWELL: Duration = Duration::from_secs(5);

static FLAG: AtomicBool = AtomicBool::new(false);
static EVENT: AtomicU32 = AtomicU32::new(0);
/// When the first event came.
static FIRST_NS: AtomicU64 = AtomicU64::new(0);
/// In ms; 0 means without end.
static PATIENCE_MS: AtomicU64 = AtomicU64::new(0);

/// Runs in a separate thread
/// ([HandlerRoutine](https://learn.microsoft.com/en-us/windows/console/handlerroutine)).
unsafe extern "system" fn on_event(event: u32) -> BOOL {
    const HANDLED: BOOL = 1;
    const END_THE_PROCESS: BOOL = 0;
    let now_ns = now_ns();
    if FLAG.load(Ordering::Acquire) {
        let is_same_request = !asks_again(FIRST_NS.load(Ordering::Acquire), now_ns);
        return if is_same_request {
            HANDLED
        } else {
            END_THE_PROCESS
        };
    }
    FIRST_NS.store(now_ns, Ordering::Release);
    EVENT.store(event, Ordering::Release);
    FLAG.store(true, Ordering::Release);
    if !matches!(event, CTRL_C_EVENT | CTRL_BREAK_EVENT) {
        thread::sleep(LONGEST_FAREWELL);
        return END_THE_PROCESS;
    }
    match PATIENCE_MS.load(Ordering::Acquire) {
        0 => HANDLED,
        patience => {
            thread::sleep(Duration::from_millis(patience));
            END_THE_PROCESS
        }
    }
}

pub(crate) fn install() -> Result<()> {
    // SAFETY: the handler uses only atomics and sleeps, which any thread may do.
    check(
        unsafe { SetConsoleCtrlHandler(Some(on_event), 1) },
        "catch Ctrl-C",
    )
}

#[expect(clippy::unnecessary_wraps, reason = "other systems need a timer")]
pub(crate) fn lose_patience_after(patience: Duration) -> Result<()> {
    let patience_ms = (patience.as_millis() as u64).max(1);
    PATIENCE_MS.store(patience_ms, Ordering::Release);
    Ok(())
}

pub(crate) fn received() -> Option<Signal> {
    if !FLAG.load(Ordering::Acquire) {
        return None;
    }
    Some(match EVENT.load(Ordering::Acquire) {
        CTRL_C_EVENT => Signal::Interrupt,
        CTRL_BREAK_EVENT => Signal::Terminate,
        _ => Signal::HangUp,
    })
}

pub(crate) fn flag() -> &'static AtomicBool {
    &FLAG
}

absent! {
    fn pauses() -> u64 = 0;
    fn restore_default_sigpipe() -> () = ();
    fn ignore_sigxfsz() -> () = ();
    fn ignore_sigpipe() -> () = ();
}
