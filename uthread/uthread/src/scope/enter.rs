//! Entering and leaving a scope.

use core::fmt;
use core::marker::PhantomData;
use core::time::Duration;
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;

use super::children::Children;
use super::handle::{Packet, ScopedJoinHandle};
use crate::scheduler::Priority;
use crate::thread::{
    Builder, Cancelled, JoinHandle, SpawnError, catch_unwind, current, unwind_cancelled,
};

/// The time of a scope was up before all of its threads had ended.
///
/// ```
/// use std::time::Duration;
///
/// let late = uthread::run(|| {
///     uthread::scope_timeout(Duration::from_millis(1), |scope| drop(scope.spawn(uthread::suspend)))
/// });
/// assert_eq!(late, Err(uthread::TimedOut));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the time of the scope was up")]
pub struct TimedOut;

/// A place for threads that end before [`scope`] returns, so they may borrow what lives longer.
///
/// ```
/// uthread::run(|| {
///     let mut halves = [1, 2];
///     let (left, right) = halves.split_at_mut(1);
///     uthread::scope(|scope: &uthread::Scope<'_, '_>| {
///         scope.spawn(|| left[0] += 10);
///         scope.spawn(|| right[0] += 10);
///     });
///     assert_eq!(halves, [11, 12]);
/// });
/// ```
pub struct Scope<'scope, 'env: 'scope> {
    children: Arc<Children>,
    /// Invariant, as in the standard library: otherwise the threads could borrow what dies earlier.
    lifetime: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

/// Calls `body`, which may start threads in the scope, and waits until all of them have ended.
///
/// The threads are cancelled, as by [`Thread::cancel`](crate::Thread::cancel), if `body` panics or ends
/// in another way than by returning, if one of the threads panics, if [`Scope::cancel`] asks for it, and
/// if the caller is cancelled while it waits for them. So a request reaches the scopes of the threads in
/// turn, and all threads below. A thread that catches it, or that neither waits nor yields, runs on, and
/// the scope waits for it; but the scopes in that thread end in any case.
///
/// # Panics
/// Outside a runtime, and while preemption is disabled. With the panic of `body`, or else of a thread
/// that nobody has joined, after all threads have ended.
///
/// The process aborts if `body` returns while preemption is disabled and threads run: they use what the
/// caller lends, so it must wait, and it must not.
///
/// ```
/// let sums = uthread::run(|| {
///     let numbers: Vec<u32> = (1..=100).collect();
///     uthread::scope(|scope| {
///         let add = |part| scope.spawn(move || <[u32]>::iter(part).sum::<u32>());
///         let threads: Vec<_> = numbers.chunks(50).map(add).collect();
///         threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
///     })
/// });
/// assert_eq!(sums, [1275, 3775]);
/// ```
pub fn scope<'env, F, T>(body: F) -> T
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    enter("scope", None, body).unwrap_or_else(|TimedOut| unreachable!("it has no deadline"))
}

/// Like [`scope`], with a deadline for `body` and all threads below it. After `limit` it cancels the
/// threads, and `body` if that still runs, and waits until all have ended.
///
/// # Errors
/// If the time was up before. The value of `body` is dropped then.
///
/// # Panics
/// Same as [`scope`], and if the system has no memory for another stack.
///
/// ```
/// use std::time::Duration;
/// use uthread::io::sleep;
///
/// uthread::run(|| {
///     let second = Duration::from_secs(1);
///     let quick = uthread::scope_timeout(second, |scope| scope.spawn(|| 7).join().unwrap());
///     assert_eq!(quick, Ok(7));
///     let slow = uthread::scope_timeout(Duration::from_millis(1), |scope| {
///         scope.spawn(move || uthread::scope(|scope| drop(scope.spawn(|| sleep(Duration::MAX)))));
///     });
///     assert!(slow.is_err());
/// });
/// ```
pub fn scope_timeout<'env, F, T>(limit: Duration, body: F) -> Result<T, TimedOut>
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    enter("scope_timeout", Some(limit), body)
}

fn enter<'env, F, T>(operation: &str, limit: Option<Duration>, body: F) -> Result<T, TimedOut>
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    let scope = Scope {
        children: Arc::new(Children::new(operation)),
        lifetime: PhantomData,
        env: PhantomData,
    };
    let watcher = limit.map(|limit| watch(&scope.children, limit));
    let around = Children::replace_innermost(Some(Arc::clone(&scope.children)));
    let outcome = catch_unwind(AssertUnwindSafe(|| body(&scope)));
    // From here to the end of `join_all` nothing may unwind: the threads use what the caller lends.
    scope.children.leave_body(around.clone());
    let is_condemned = || {
        around
            .as_ref()
            .is_some_and(|around| around.condemns_caller())
    };
    if outcome.is_err() || is_condemned() {
        scope.children.cancel();
    }
    let cancelled = scope.children.join_all();
    if let Some(watcher) = watcher.filter(|watcher| !watcher.thread().is_gone()) {
        watcher.cancel();
    }
    let (panic, timed_out) = scope.children.conclude();
    if timed_out && is_condemned() {
        // The deadline's request may have been that of the scope around as well.
        current().cancel();
    }
    match (outcome, panic) {
        (Err(payload), _) if !(timed_out && payload.is::<Cancelled>()) => resume_unwind(payload),
        (_, Some(payload)) => resume_unwind(payload),
        _ if timed_out => Err(TimedOut),
        _ if cancelled => unwind_cancelled(),
        (Ok(value), None) => Ok(value),
        (Err(payload), None) => resume_unwind(payload),
    }
}

/// Starts the thread that waits for the deadline of a scope.
fn watch(children: &Arc<Children>, limit: Duration) -> JoinHandle<()> {
    let children = Arc::clone(children);
    let work = move || {
        crate::io::sleep(limit);
        children.time_is_up();
    };
    // The deadline comes first, also while threads compute.
    let builder = Builder::new().name("deadline").priority(Priority::Red);
    match builder.spawn(work) {
        Ok(watcher) => watcher,
        Err(error) => panic!("{error}"),
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Starts a thread with the default stack and priority.
    ///
    /// # Panics
    /// Outside the runtime of the scope, or if the system has no memory for another stack;
    /// [`Scope::spawn_with`] reports the latter.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let name = String::from("uthread");
    ///     let bytes = uthread::scope(|scope| scope.spawn(|| name.len()).join().unwrap());
    ///     assert_eq!(bytes, 7);
    /// });
    /// ```
    pub fn spawn<F, T>(&'scope self, function: F) -> ScopedJoinHandle<'scope, T>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        match self.spawn_with(Builder::new(), function) {
            Ok(handle) => handle,
            Err(error) => panic!("{error}"),
        }
    }

    /// Starts a thread with the properties of a builder.
    ///
    /// # Errors
    /// If the system has no memory for another stack.
    ///
    /// # Panics
    /// Outside the runtime of the scope.
    ///
    /// ```
    /// use uthread::Builder;
    ///
    /// uthread::run(|| {
    ///     uthread::scope(|scope| {
    ///         let thread = scope.spawn_with(Builder::new().name("adder"), || 1 + 2).unwrap();
    ///         assert_eq!(thread.join().unwrap(), 3);
    ///     });
    /// });
    /// ```
    pub fn spawn_with<F, T>(
        &'scope self,
        builder: Builder,
        function: F,
    ) -> Result<ScopedJoinHandle<'scope, T>, SpawnError>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        let (packet, children) = (Arc::new(Packet::new()), Arc::clone(&self.children));
        let place = Arc::clone(&packet);
        let work = move || {
            let id = children.begin();
            let done = catch_unwind(AssertUnwindSafe(move || {
                // SAFETY: this is the thread itself.
                unsafe { place.put(function()) };
                // Without a handle, this drops the value, which may borrow from the scope.
                drop(place);
            }));
            children.end(id, done.err());
        };
        self.children.announce();
        // SAFETY: all that `work` borrows is used and dropped before its last call, and `enter` returns
        // only after that, however `body` ends. A runtime that ends before with threads that can never
        // run again neither continues nor unwinds them.
        match unsafe { builder.spawn_unchecked(work, |handle| handle) } {
            Ok(handle) => Ok(ScopedJoinHandle {
                handle,
                packet,
                children: Arc::clone(&self.children),
                scope: PhantomData,
            }),
            Err(error) => {
                self.children.withdraw();
                Err(error)
            }
        }
    }

    /// Cancels the threads of the scope, also those that it starts later, but not the function of the
    /// scope.
    ///
    /// ```
    /// uthread::run(|| {
    ///     uthread::scope(|scope| {
    ///         scope.spawn(uthread::suspend);
    ///         scope.cancel(); // otherwise nobody would resume it
    ///     });
    /// });
    /// ```
    pub fn cancel(&self) {
        self.children.cancel();
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}
