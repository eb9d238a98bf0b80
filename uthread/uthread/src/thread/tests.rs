//! Control blocks in slots of their own, without a switch: what miri can check.

use core::ptr::NonNull;
use std::alloc::{Layout, alloc_zeroed};

use super::control::{Birth, Control, State};
use super::waiting::{Waiting, Woken};
use crate::scheduler::Priority;
use crate::stack::{Cache, class_bytes};

/// A size of slots that no other test uses, since all share one pool.
const CLASS: usize = 1;

/// A block in a slot that stays allocated: the pool keeps it.
fn placed() -> (NonNull<u8>, NonNull<Control>) {
    let layout = Layout::from_size_align(class_bytes(CLASS), 4096).expect("a slot's layout");
    // SAFETY: the layout has a size.
    let slot = NonNull::new(unsafe { alloc_zeroed(layout) }).expect("there is memory");
    slot.as_ptr().expose_provenance();
    let birth = Birth {
        id: 7,
        runtime: 0,
        class: CLASS,
        priority: Priority::Orange,
        name: Some("worker".into()),
    };
    // SAFETY: the slot was made for it.
    (slot, unsafe { Control::place(slot, birth) })
}

#[test]
fn a_block_finds_the_slot_that_it_lies_in() {
    let (slot, block) = placed();
    // SAFETY: placed above, and the end of the slot.
    let (control, end) = unsafe { (block.as_ref(), slot.add(class_bytes(CLASS))) };
    assert_eq!(control.slot(), slot);
    assert_eq!(Control::at_end(end), block);
    let [guard, stack] = control.guard_and_stack();
    assert_eq!((guard.start, guard.end), (slot.addr().get(), stack.start));
    assert_eq!(guard.len() + stack.len(), class_bytes(CLASS));
    assert_eq!(control.label().to_string(), "'worker'");
}

#[test]
fn the_last_reference_returns_the_slot() {
    let (slot, block) = placed();
    // SAFETY: placed above; of its two references, each is released once.
    unsafe {
        block.as_ref().retain();
        Control::release(block);
        assert_eq!(block.as_ref().state(), State::New);
        Control::release(block);
    }
    let cache = Cache::new();
    let free = cache.take(CLASS).expect("it is free");
    assert_eq!(free, slot);
    // SAFETY: taken above. It gets a link, which is in the slot and not in the block.
    unsafe { cache.put(CLASS, free) };
    assert_eq!(cache.take(CLASS).expect("it is free"), slot);
}

#[test]
fn a_wait_ends_once() {
    let (_, block) = placed();
    // SAFETY: placed above.
    let control = unsafe { block.as_ref() };
    let withdraw = || true;
    let waiting = Waiting::new(&withdraw);
    assert!(!control.begin_wait(&waiting));
    assert!(control.end_wait(Woken::TimedOut));
    control.request_cancel();
    assert!(!control.end_wait(Woken::Cancelled));
    control.finish_wait();
    assert_eq!(waiting.woken(), Woken::TimedOut);

    let waiting = Waiting::new(&withdraw);
    assert!(control.begin_wait(&waiting), "it is cancelled already");
    control.finish_wait();
    assert_eq!(waiting.woken(), Woken::Cancelled);
    assert!(!control.is_cancelled());
}
