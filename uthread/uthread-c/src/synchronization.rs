//! Semaphores, barriers, channels, and what runs once.

use core::ffi::{c_int, c_uint, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};
use std::panic::resume_unwind;
use std::sync::{Arc, PoisonError};

use uthread::{
    Barrier, Errno as ErrorNumber, Exceptions, Lock, Protocol, Receiver, RecvTimeoutError,
    Semaphore, SendTimeoutError, Sender, TryRecvError, TrySendError, bounded,
};

use crate::call::{busy_if, caught, created, destroy_unless, finished, quickly};
use crate::error::{Errno, errno_of, limit, object};
use crate::record::Pointer;
use crate::thread::Exit;
use crate::unwind::{Function, Terminated, enclose, unwind};

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_sem_create(permits: usize) -> *const Semaphore {
    let _back_at_the_end = ErrorNumber::keep();
    // Posters share it.
    finished(Arc::into_raw(Arc::new(Semaphore::new(permits))))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_sem_destroy(semaphore: *const Semaphore) -> c_int {
    // SAFETY: the header asks for a semaphore that nobody uses afterwards.
    unsafe {
        let refused = busy_if(semaphore, Semaphore::is_awaited);
        if refused == 0 && !semaphore.is_null() {
            let _back_at_the_end = ErrorNumber::keep();
            drop(Arc::from_raw(semaphore));
        }
        refused
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_sem_wait(semaphore: *const Semaphore) -> c_int {
    caught(|| {
        // SAFETY: the header asks for a living semaphore.
        unsafe { object(semaphore) }?.acquire();
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_sem_trywait(semaphore: *const Semaphore) -> c_int {
    caught(|| {
        // SAFETY: as above.
        let taken = unsafe { object(semaphore) }?.try_acquire();
        if taken { Ok(0) } else { Err(libc::EAGAIN) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_sem_wait_timed(
    semaphore: *const Semaphore,
    microseconds: c_uint,
) -> c_int {
    caught(|| {
        // SAFETY: as above.
        let taken = unsafe { object(semaphore) }?.acquire_timeout(limit(microseconds));
        if taken { Ok(0) } else { Err(libc::ETIMEDOUT) }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_sem_post(semaphore: *const Semaphore) -> c_int {
    caught(|| {
        // SAFETY: as above.
        unsafe { object(semaphore) }?.release(1);
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_barrier_create(threads: usize) -> *mut Barrier {
    created(|| Barrier::new(threads))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_barrier_destroy(barrier: *mut Barrier) -> c_int {
    // SAFETY: the header asks for a barrier that nobody uses afterwards.
    unsafe { destroy_unless(barrier, Barrier::is_awaited) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_barrier_wait(barrier: *const Barrier) -> c_int {
    // SAFETY: the header asks for a living barrier.
    caught(|| Ok(unsafe { object(barrier) }?.wait().is_leader().into()))
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_barrier_wait_timed(
    barrier: *const Barrier,
    microseconds: c_uint,
) -> c_int {
    caught(|| {
        // SAFETY: as above.
        let waited = unsafe { object(barrier) }?.wait_timeout(limit(microseconds));
        Ok(waited.ok_or(libc::ETIMEDOUT)?.is_leader().into())
    })
}

/// `uthread_channel_t`.
pub struct Channel {
    pub(crate) sender: Sender<Pointer>,
    pub(crate) receiver: Receiver<Pointer>,
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_channel_create(capacity: usize) -> *mut Channel {
    created(|| {
        let (sender, receiver) = bounded(capacity);
        Channel { sender, receiver }
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_channel_destroy(channel: *mut Channel) -> c_int {
    // SAFETY: the header asks for a channel that nobody uses afterwards.
    unsafe { destroy_unless(channel, |channel| channel.receiver.is_awaited()) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_channel_send(
    channel: *const Channel,
    value: *mut c_void,
) -> c_int {
    let wait = || {
        caught(|| {
            // SAFETY: the header asks for a living channel.
            let sent = unsafe { object(channel) }?.sender.send(Pointer(value));
            sent.map(|()| 0).map_err(|_| libc::EPIPE)
        })
    };
    let send = |channel: &Channel| channel.sender.send_quickly(Pointer(value)).is_ok();
    quickly(channel, send, wait)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_channel_send_timed(
    channel: *const Channel,
    value: *mut c_void,
    microseconds: c_uint,
) -> c_int {
    caught(|| {
        // SAFETY: the header asks for a living channel.
        let sender = &unsafe { object(channel) }?.sender;
        let sent = sender.send_timeout(Pointer(value), limit(microseconds));
        sent.map(|()| 0).map_err(|error| match error {
            SendTimeoutError::Timeout(_) => libc::ETIMEDOUT,
            SendTimeoutError::Disconnected(_) => libc::EPIPE,
            SendTimeoutError::Cancelled(_) => libc::ECANCELED,
        })
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_channel_trysend(
    channel: *const Channel,
    value: *mut c_void,
) -> c_int {
    caught(|| {
        // SAFETY: the header asks for a living channel.
        let sender = &unsafe { object(channel) }?.sender;
        let sent = sender.try_send(Pointer(value));
        sent.map(|()| 0).map_err(|error| match error {
            TrySendError::Full(_) => libc::EAGAIN,
            TrySendError::Disconnected(_) => libc::EPIPE,
        })
    })
}

/// Puts what `receive` gives into `value`.
///
/// # Safety
/// The pointers must be null, or to a channel and a place that live until this returns.
unsafe fn received(
    channel: *const Channel,
    value: *mut *mut c_void,
    receive: impl FnOnce(&Receiver<Pointer>) -> Result<Pointer, Errno>,
) -> c_int {
    caught(|| {
        // SAFETY: the caller's contract.
        let (channel, value) = unsafe { (object(channel)?, value.as_mut().ok_or(libc::EINVAL)?) };
        *value = receive(&channel.receiver)?.0;
        Ok(0)
    })
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_channel_receive(
    channel: *const Channel,
    value: *mut *mut c_void,
) -> c_int {
    let wait = || {
        let receive = |receiver: &Receiver<Pointer>| receiver.recv().map_err(|_| libc::EPIPE);
        // SAFETY: the header asks for a living channel and a place for the value.
        unsafe { received(channel, value, receive) }
    };
    let receive = |channel: &Channel| {
        // SAFETY: as above.
        let place = unsafe { value.as_mut() };
        place.is_some_and(|place| {
            let came = channel.receiver.recv_quickly();
            came.map(|Pointer(value)| *place = value).is_some()
        })
    };
    quickly(channel, receive, wait)
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_channel_receive_timed(
    channel: *const Channel,
    value: *mut *mut c_void,
    microseconds: c_uint,
) -> c_int {
    let receive = |receiver: &Receiver<Pointer>| {
        let received = receiver.recv_timeout(limit(microseconds));
        received.map_err(|error| match error {
            RecvTimeoutError::Timeout => libc::ETIMEDOUT,
            RecvTimeoutError::Disconnected => libc::EPIPE,
            RecvTimeoutError::Cancelled => libc::ECANCELED,
        })
    };
    // SAFETY: as above.
    unsafe { received(channel, value, receive) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_channel_tryreceive(
    channel: *const Channel,
    value: *mut *mut c_void,
) -> c_int {
    let receive = |receiver: &Receiver<Pointer>| {
        receiver.try_recv().map_err(|error| match error {
            TryRecvError::Empty => libc::EAGAIN,
            TryRecvError::Disconnected => libc::EPIPE,
        })
    };
    // SAFETY: as above.
    unsafe { received(channel, value, receive) }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_channel_close(channel: *const Channel) -> c_int {
    caught(|| {
        // SAFETY: the header asks for a living channel.
        let closed = unsafe { object(channel) }?.sender.close();
        if closed { Ok(0) } else { Err(libc::EPERM) }
    })
}

/// `uthread_once_t`.
#[repr(C)]
pub struct Once {
    /// Made at the first use, and never freed: static memory keeps it reachable.
    pub(crate) done: AtomicPtr<Lock<bool>>,
}

impl Once {
    fn lock(&self) -> &Lock<bool> {
        let mut lock = self.done.load(Ordering::Acquire);
        if lock.is_null() {
            let new = Box::into_raw(Box::new(Lock::with_protocol(false, Protocol::Inheritance)));
            let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
            let set = self
                .done
                .compare_exchange(ptr::null_mut(), new, success, failure);
            lock = set.map_or_else(
                |other| {
                    // SAFETY: another thread was first, so nobody knows of this one.
                    drop(unsafe { Box::from_raw(new) });
                    other
                },
                |_| new,
            );
        }
        // SAFETY: never freed.
        unsafe { &*lock }
    }
}

#[unsafe(no_mangle)]
unsafe extern "C-unwind" fn uthread_once(
    once: *const Once,
    function: Option<OnceFunction>,
) -> c_int {
    let work = || {
        let function = function.ok_or(libc::EINVAL)?;
        // SAFETY: the header asks for a living `uthread_once_t`.
        let once: &Once = unsafe { object(once) }?;
        let own = (Exceptions::put_aside(), ErrorNumber::keep());
        let locked = once.lock().lock();
        drop(own);
        let mut done = locked.unwrap_or_else(PoisonError::into_inner);
        if !*done {
            // SAFETY: the header asks for such a function, which ignores the argument.
            unsafe {
                enclose(
                    core::mem::transmute::<OnceFunction, Function>(function),
                    ptr::null_mut(),
                )
            };
            *done = true;
        }
        Ok(0)
    };
    // If the thread ends inside the function, another one will call it again.
    match uthread::catch_unwind(std::panic::AssertUnwindSafe(work)) {
        Err(payload) if payload.is::<Exit>() => resume_unwind(payload),
        Err(payload) if payload.is::<Terminated>() => {
            drop(payload);
            unwind()
        }
        // No wait follows: this only tells the error, and obeys a request to terminate.
        result => caught(|| result.unwrap_or_else(|payload| Err(errno_of(&*payload)))),
    }
}

type OnceFunction = unsafe extern "C-unwind" fn();
