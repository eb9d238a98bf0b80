//! A kernel thread that waits in the queue of an object.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::control::Control;

/// A kernel thread, in a form that queues of user threads accept.
pub(crate) struct Parked {
    /// On no worker.
    control: Control,
    wakeup: Arc<Wakeup>,
}

#[derive(Default)]
struct Wakeup {
    woken: Mutex<bool>,
    came: Condvar,
}

impl Parked {
    pub(crate) fn new() -> Self {
        let wakeup = Arc::<Wakeup>::default();
        let mut control = Control::of_worker(0);
        control.packet = Arc::as_ptr(&wakeup).cast_mut().cast();
        Self { control, wakeup }
    }

    pub(crate) fn control(&self) -> &Control {
        &self.control
    }

    /// Blocks the kernel thread until another thread has taken it out of its queue and called [`Control::unpark`].
    pub(crate) fn wait(&self) {
        let Wakeup { woken, came } = &*self.wakeup;
        let woken = woken.lock().unwrap_or_else(PoisonError::into_inner);
        drop(came.wait_while(woken, |woken| !*woken));
    }
}

impl Control {
    /// Continues a [`Parked`] kernel thread. Nobody else may do so.
    #[cold]
    pub(crate) fn unpark(&self) {
        let wakeup = self.packet.cast_const().cast::<Wakeup>();
        // SAFETY: `Parked` keeps one reference until it is woken. This one is for the time after that.
        let wakeup = unsafe {
            Arc::increment_strong_count(wakeup);
            Arc::from_raw(wakeup)
        };
        *wakeup.woken.lock().unwrap_or_else(PoisonError::into_inner) = true;
        wakeup.came.notify_one();
    }
}
