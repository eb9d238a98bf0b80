//! Values that begin anew in the child of a fork.

/// Overwrites a value without dropping it. It may be locked, or half changed: by kernel threads that the child of a
/// fork does not have.
///
/// # Safety
/// The process must have one kernel thread, which uses nothing of the value. All of the value must be in cells or
/// atomics.
pub(crate) unsafe fn renew<T>(value: &T, new: T) {
    // SAFETY: the caller's contract.
    unsafe { core::ptr::from_ref(value).cast_mut().write(new) };
}
