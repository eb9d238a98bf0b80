//! Futures.

use core::pin::pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Weak};
use std::task::Wake;

use super::external::{External, external};
use crate::sync::Semaphore;

/// Blocks the running thread until a future is ready, and returns its output. Other threads run while it is not. Its
/// wakers work on every kernel thread, also after the end of the thread or the runtime; while one exists, threads that
/// all wait are no deadlock, as with [`External`].
///
/// # Panics
/// Outside a runtime, and while preemption is disabled.
///
/// ```
/// use std::future::poll_fn;
/// use std::task::Poll;
///
/// uthread::run(|| {
///     let mut asked = false;
///     let answer = uthread::block_on(poll_fn(|context| {
///         if asked {
///             return Poll::Ready(42);
///         }
///         asked = true;
///         let waker = context.waker().clone();
///         std::thread::spawn(move || waker.wake());
///         Poll::Pending
///     }));
///     assert_eq!(answer, 42);
/// });
/// ```
pub fn block_on<F: IntoFuture>(future: F) -> F::Output {
    let mut future = pin!(future.into_future());
    let mut call = Arc::new(Call::new());
    let mut last = Weak::<Caller>::new();
    loop {
        // This thread keeps none while it waits: if the future has none either, nobody can wake it.
        let left = last
            .upgrade()
            .filter(|caller| !caller.external.stayed_in_parent());
        let caller = left.unwrap_or_else(|| {
            Arc::new(Caller {
                call: Arc::clone(&call),
                external: external(),
            })
        });
        last = Arc::downgrade(&caller);
        let waker = Waker::from(Arc::clone(&caller));
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        if caller.external.stayed_in_parent() {
            // The future has forked, and this is the child: nobody has a waker that works here.
            call = Arc::new(Call::new());
            continue;
        }
        drop((waker, caller));
        call.permit.acquire();
        call.came.swap(false, Ordering::AcqRel);
    }
}

/// Many calls before the next poll count as one.
struct Call {
    came: AtomicBool,
    permit: Semaphore,
}

impl Call {
    fn new() -> Self {
        Self {
            came: AtomicBool::new(false),
            permit: Semaphore::new(0),
        }
    }
}

/// The state of all wakers of one future.
struct Caller {
    call: Arc<Call>,
    external: External,
}

impl Wake for Caller {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.call.came.swap(true, Ordering::AcqRel) {
            self.call.permit.add(1);
        }
    }
}
