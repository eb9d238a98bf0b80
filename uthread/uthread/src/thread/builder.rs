//! Starting threads.

use std::io::ErrorKind;

use super::control::Birth;
use super::entry::make;
use super::handle::JoinHandle;
use crate::scheduler::Priority;
use crate::stack::{MapError, class_for};
use crate::worker::{Worker, enter, leave, require_worker};

/// The system has no memory for another stack, or the stack is too large.
///
/// ```
/// uthread::run(|| {
///     match uthread::Builder::new().stack_size(256 << 10).spawn(|| 7) {
///         Ok(thread) => assert_eq!(thread.join().unwrap(), 7),
///         Err(error) => uthread::println!("{error}"),
///     }
/// });
/// ```
#[derive(Debug, thiserror::Error)]
#[error("cannot start a thread")]
pub struct SpawnError(#[from] MapError);

impl SpawnError {
    /// `InvalidInput` if the stack is larger than any can be, else `OutOfMemory`.
    ///
    /// ```
    /// use std::io::ErrorKind;
    ///
    /// uthread::run(|| {
    ///     let error = uthread::Builder::new().stack_size(usize::MAX).spawn(|| ()).unwrap_err();
    ///     assert_eq!(error.kind(), ErrorKind::InvalidInput);
    /// });
    /// ```
    pub fn kind(&self) -> ErrorKind {
        match self.0 {
            MapError::TooLarge { .. } => ErrorKind::InvalidInput,
            MapError::Map { .. } | MapError::Guard { .. } => ErrorKind::OutOfMemory,
        }
    }
}

/// Starts a thread with the default stack and priority.
///
/// # Panics
/// Outside a runtime, or if the system has no memory for another stack; [`Builder::spawn`] reports
/// the latter.
///
/// ```
/// let sum = uthread::run(|| uthread::spawn(|| 1 + 2).join().unwrap());
/// assert_eq!(sum, 3);
/// ```
#[inline]
pub fn spawn<F, T>(function: F) -> JoinHandle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    match Builder::new().spawn(function) {
        Ok(handle) => handle,
        Err(error) => panic!("{error}: {}", error.0),
    }
}

/// The properties of a new thread.
///
/// ```
/// use uthread::{Builder, Priority};
///
/// uthread::run(|| {
///     let builder = Builder::new().name("worker").stack_size(256 << 10).priority(Priority::Red);
///     let thread = builder.spawn(|| uthread::current().name().map(str::to_owned)).unwrap();
///     assert_eq!(thread.join().unwrap().as_deref(), Some("worker"));
/// });
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: Option<Box<str>>,
    stack_bytes: Option<usize>,
    priority: Priority,
}

impl Builder {
    /// A thread without a name, with the runtime's stack size and priority ORANGE.
    ///
    /// ```
    /// uthread::run(|| {
    ///     assert_eq!(uthread::Builder::new().spawn(|| 7).unwrap().join().unwrap(), 7);
    /// });
    /// ```
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        Self {
            name: None,
            stack_bytes: None,
            priority: Priority::Orange,
        }
    }

    /// The name, for messages, among them those of panics, and for traces.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let thread = uthread::Builder::new().name("reader").spawn(|| ()).unwrap();
    ///     assert_eq!(thread.thread().name(), Some("reader"));
    /// });
    /// ```
    #[must_use]
    pub fn name(mut self, name: &str) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The size of the stack in bytes, rounded up to 16 KiB times a power of two. This is address
    /// space: the kernel provides memory page by page at the first touch.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let builder = uthread::Builder::new().stack_size(1 << 20);
    ///     let thread = builder.spawn(|| [1u8; 500_000].len()).unwrap();
    ///     assert_eq!(thread.join().unwrap(), 500_000);
    /// });
    /// ```
    #[must_use]
    pub fn stack_size(mut self, bytes: usize) -> Self {
        self.stack_bytes = Some(bytes);
        self
    }

    /// The initial priority.
    ///
    /// ```
    /// use uthread::{Builder, Priority};
    ///
    /// uthread::run(|| {
    ///     let thread = Builder::new().priority(Priority::Red).spawn(|| ()).unwrap();
    ///     assert_eq!(thread.thread().priority(), Priority::Red);
    /// });
    /// ```
    #[must_use]
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Starts the thread.
    ///
    /// # Errors
    /// If the system has no memory for another stack.
    ///
    /// # Panics
    /// Outside a runtime.
    ///
    /// ```
    /// uthread::run(|| {
    ///     let thread = uthread::Builder::new().name("adder").spawn(|| 1 + 2).unwrap();
    ///     assert_eq!(thread.join().unwrap(), 3);
    /// });
    /// ```
    #[inline]
    pub fn spawn<F, T>(self, function: F) -> Result<JoinHandle<T>, SpawnError>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.spawn_unchecked(function, |handle| handle) }
    }

    /// Starts the thread after `prepare` has had its handle, with preemption disabled.
    ///
    /// # Errors
    /// Those of [`spawn`](Self::spawn). Then nothing was prepared.
    ///
    /// # Panics
    /// Outside a runtime.
    #[doc(hidden)]
    #[inline]
    pub fn spawn_with<F, T, R>(
        self,
        function: F,
        prepare: impl FnOnce(JoinHandle<T>) -> R,
    ) -> Result<R, SpawnError>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        // SAFETY: nothing is borrowed.
        unsafe { self.spawn_unchecked(function, prepare) }
    }

    /// Starts a thread that may borrow.
    ///
    /// # Safety
    /// All that `function` and its result borrow must live until both are dropped.
    #[inline]
    pub(crate) unsafe fn spawn_unchecked<F, T, R>(
        self,
        function: F,
        prepare: impl FnOnce(JoinHandle<T>) -> R,
    ) -> Result<R, SpawnError>
    where
        F: FnOnce() -> T + Send,
        T: Send,
    {
        let worker = require_worker("spawn");
        enter();
        let config = &worker.shared.config;
        let class = self.stack_bytes.map_or(Ok(config.stack_class), class_for);
        let made = class.and_then(|class| {
            let birth = Birth {
                id: worker.next_id(),
                runtime: worker.shared.id(),
                class,
                priority: self.priority,
                name: self.name,
            };
            make(worker, birth, function)
        });
        let prepared = made.map(|thread| {
            // SAFETY: `function` returns a `T`, and this is the only handle.
            let prepared = prepare(unsafe { JoinHandle::new(thread) });
            worker.start(thread);
            prepared
        });
        leave();
        Ok(prepared?)
    }
}

/// Starts the first thread of a runtime.
pub(crate) fn start_main<F, T>(worker: &Worker, function: F) -> Result<JoinHandle<T>, MapError>
where
    F: FnOnce() -> T,
{
    let birth = Birth {
        id: worker.next_id(),
        runtime: worker.shared.id(),
        class: worker.shared.config.main_stack_class,
        priority: crate::Priority::default(),
        name: Some("main".into()),
    };
    let thread = make(worker, birth, function)?;
    worker.start_here(thread);
    // SAFETY: `function` returns a `T`, and this is the only handle.
    Ok(unsafe { JoinHandle::new(thread) })
}
