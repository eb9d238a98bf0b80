//! The end of a control block.

use core::ptr::NonNull;
use core::sync::atomic::Ordering;

use super::control::{Control, State};
use crate::stack::POOL;
use crate::worker::{current_worker, enter, leave};

impl Control {
    /// Releases a reference; the last one frees the slot.
    ///
    /// # Safety
    /// The caller must own a reference and not use the block again. Only the thread itself may run
    /// on its slot until it switches away, with preemption disabled.
    #[inline]
    pub(crate) unsafe fn release(this: NonNull<Self>) {
        // SAFETY: the caller's reference keeps it alive.
        let references = unsafe { &this.as_ref().references };
        // The only holder needs no locked instruction: no other can change the count.
        if references.load(Ordering::Acquire) != 1 {
            if references.fetch_sub(1, Ordering::Release) != 1 {
                return;
            }
            // Not a fence, which the thread sanitizer does not know.
            references.load(Ordering::Acquire);
        }
        // SAFETY: this was the last reference.
        unsafe {
            let class = this.as_ref().class as usize;
            let slot = this.as_ref().slot();
            enter();
            this.as_ref().set_state(State::Free);
            drop((*this.as_ptr()).name.take());
            match current_worker() {
                Some(worker) => worker.stacks.put(class, slot),
                None => POOL.put(class, slot),
            }
            leave();
        }
    }
}
