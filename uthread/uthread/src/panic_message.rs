//! Panics name the user thread. The standard library knows the kernel thread only.

use std::panic::{set_hook, take_hook};
use std::sync::Once;
use std::thread::panicking;

use crate::preempt::no_preempt;
use crate::thread::{current, is_user_thread};

/// From now on, a line with the name of the user thread comes before what the hook of now writes.
pub(crate) fn name_user_threads() {
    static BEGUN: Once = Once::new();
    // The standard library refuses a hook from a thread that panics.
    if BEGUN.is_completed() || panicking() {
        return;
    }
    // Another user thread of this worker would wait for the first for ever.
    let _guard = no_preempt();
    BEGUN.call_once(|| {
        let next = take_hook();
        set_hook(Box::new(move |panic| {
            if is_user_thread()
                && let Some(name) = current().name()
            {
                crate::eprintln!("in the user thread '{name}':");
            }
            next(panic);
        }));
    });
}
