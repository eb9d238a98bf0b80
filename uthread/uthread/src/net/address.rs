//! Addresses, and names that are resolved off the worker.

use core::time::Duration;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::{Arc, Mutex, PoisonError};

use super::wait::Deadline;
use crate::io::Interest;
use crate::preempt::no_preempt;
use crate::worker::Event;

/// An address, or a name and a port.
///
/// ```
/// use uthread::net::Address;
///
/// # fn main() -> std::io::Result<()> {
/// let found = uthread::run(|| ("127.0.0.1", 80).addresses(None))?;
/// assert_eq!(found, ["127.0.0.1:80".parse().unwrap()]);
/// # Ok(())
/// # }
/// ```
pub trait Address {
    /// The addresses behind it, which a name may have several of. Other threads run while it is resolved.
    ///
    /// # Errors
    /// [`io::ErrorKind::TimedOut`] at the end of the limit, and those of `getaddrinfo(3)`.
    fn addresses(&self, limit: Option<Duration>) -> io::Result<Vec<SocketAddr>>;
}

impl Address for SocketAddr {
    fn addresses(&self, _: Option<Duration>) -> io::Result<Vec<SocketAddr>> {
        Ok(vec![*self])
    }
}

impl Address for (IpAddr, u16) {
    fn addresses(&self, _: Option<Duration>) -> io::Result<Vec<SocketAddr>> {
        Ok(vec![SocketAddr::from(*self)])
    }
}

impl Address for (&str, u16) {
    fn addresses(&self, limit: Option<Duration>) -> io::Result<Vec<SocketAddr>> {
        let (name, port) = *self;
        if let Ok(address) = name.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::from((address, port))]);
        }
        resolve_within(name, port, "net::Address", limit)
    }
}

/// `"name:port"`.
impl Address for str {
    fn addresses(&self, limit: Option<Duration>) -> io::Result<Vec<SocketAddr>> {
        if let Ok(address) = self.parse() {
            return Ok(vec![address]);
        }
        let parts = self.rsplit_once(':');
        let parts = parts.and_then(|(name, port)| Some((name, port.parse().ok()?)));
        match parts {
            Some(parts) => parts.addresses(limit),
            None => Err(ErrorKind::InvalidInput.into()),
        }
    }
}

impl Address for String {
    fn addresses(&self, limit: Option<Duration>) -> io::Result<Vec<SocketAddr>> {
        self.as_str().addresses(limit)
    }
}

impl<A: Address + ?Sized> Address for &A {
    fn addresses(&self, limit: Option<Duration>) -> io::Result<Vec<SocketAddr>> {
        (**self).addresses(limit)
    }
}

/// Finds the addresses of a name, on a kernel thread of its own, while other threads run.
///
/// # Errors
/// Those of `getaddrinfo(3)`, and if the system has no kernel thread or descriptor left.
///
/// # Panics
/// Outside a runtime, and while preemption is disabled.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// let found = uthread::run(|| uthread::net::resolve("127.0.0.1", 80))?;
/// assert_eq!(found, ["127.0.0.1:80".parse().unwrap()]);
/// # Ok(())
/// # }
/// ```
pub fn resolve(name: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    resolve_within(name, port, "net::resolve", None)
}

/// Like [`resolve`], but waits not longer than `limit`.
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] at the end of the limit, and those of [`resolve`].
///
/// # Panics
/// Same as [`resolve`].
pub fn resolve_timeout(name: &str, port: u16, limit: Duration) -> io::Result<Vec<SocketAddr>> {
    resolve_within(name, port, "net::resolve_timeout", Some(limit))
}

/// The answer of a kernel thread, which may come when nobody waits for it any more.
struct Answer {
    addresses: Mutex<Option<io::Result<Vec<SocketAddr>>>>,
    came: Event,
}

impl Answer {
    fn with<R>(&self, work: impl FnOnce(&mut Option<io::Result<Vec<SocketAddr>>>) -> R) -> R {
        let _guard = no_preempt();
        work(
            &mut self
                .addresses
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}

fn resolve_within(
    name: &str,
    port: u16,
    operation: &str,
    limit: Option<Duration>,
) -> io::Result<Vec<SocketAddr>> {
    let deadline = Deadline::new(operation, limit);
    let answer = Arc::new(Answer {
        addresses: Mutex::new(None),
        came: Event::new()?,
    });
    let (place, name) = (Arc::clone(&answer), name.to_owned());
    let resolver = std::thread::Builder::new().name("uthread-names".into());
    resolver.spawn(move || {
        let found = (name.as_str(), port).to_socket_addrs();
        place.with(|answer| *answer = Some(found.map(Iterator::collect)));
        place.came.set();
    })?;
    deadline.wait(&answer.came, Interest::READABLE, operation)?;
    let found = answer.with(Option::take);
    found.unwrap_or_else(|| Err(ErrorKind::Other.into()))
}
