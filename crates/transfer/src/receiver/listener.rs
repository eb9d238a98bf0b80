//! The receiver's door: who comes in, and how many at a time.

use super::connection::Connection;
use super::target::Shelf;
use super::{Event, Observer, Options};
use crate::connection::prepare;
use crate::error::{Error, Result};
use crate::protocol::{Challenge, VERSION, Verdict};
use platform::directory::Directory;
use platform::socket::{Bell, accept_within};
use std::io::Write;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Listens for senders.
pub struct Receiver {
    listener: TcpListener,
    options: Options,
    shelf: Shelf,
    /// Rung when a connection is over.
    bell: Bell,
}

/// How long the door is watched before it is asked whether to go on.
const TICK: Duration = Duration::from_millis(50);

impl Receiver {
    /// Listens at `address`.
    ///
    /// # Errors
    /// If others could reach the address and there is no token, the port is taken, there is no such
    /// directory, or the system does not allow the method.
    pub fn bind(address: &str, options: Options) -> Result<Self> {
        options.method.check()?;
        let failed = |reason| Error::Listen {
            address: address.to_owned(),
            reason,
        };
        let addresses: Vec<_> = address.to_socket_addrs().map_err(failed)?.collect();
        let open = addresses.iter().find(|address| !address.ip().is_loopback());
        if let (Some(open), None) = (open, &options.token) {
            return Err(Error::Open(*open));
        }
        let directory = options
            .directory
            .as_deref()
            .map(Directory::open)
            .transpose()?;
        let listener = TcpListener::bind(&addresses[..]).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            listener,
            options,
            shelf: Shelf::new(directory),
            bell: Bell::new().map_err(Error::system("make an event descriptor"))?,
        })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn address(&self) -> Result<SocketAddr> {
        self.listener.local_addr().map_err(Error::network)
    }

    /// Serves senders, as many at a time as may be, until the stop flag is raised or, if `once`, the
    /// first transfer has come to its end.
    ///
    /// # Errors
    /// If the door itself fails. A sender that fails is told to `observer`.
    pub fn serve(&self, once: bool, observer: &Observer<'_>) -> Result<()> {
        let (active, served) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            loop {
                if self.options.limits.stop.load(Ordering::Acquire) {
                    return Ok(());
                }
                // In this order: one that ends in between has served.
                let is_idle = active.load(Ordering::Acquire) == 0;
                if once && is_idle && served.load(Ordering::Acquire) > 0 {
                    return Ok(());
                }
                let Some(socket) = self.next()? else { continue };
                let Ok(peer) = socket.peer_addr() else {
                    continue;
                };
                if active.load(Ordering::Acquire) >= self.options.max_connections {
                    let reason = Error::TurnedAway(Verdict::Busy).to_string();
                    observer(&Event::GivenUp { peer, reason });
                    turn_away(&socket);
                    continue;
                }
                active.fetch_add(1, Ordering::AcqRel);
                let (active, served) = (&active, &served);
                scope.spawn(move || {
                    if self.one(&socket, peer, observer) {
                        served.fetch_add(1, Ordering::AcqRel);
                    }
                    // Whatever else holds on to it, the sender shall see the end.
                    let _ = socket.shutdown(Shutdown::Both);
                    active.fetch_sub(1, Ordering::AcqRel);
                    self.bell.ring();
                });
            }
        })
    }

    fn next(&self) -> Result<Option<TcpStream>> {
        match accept_within(&self.listener, &self.bell, TICK) {
            Ok(socket) => Ok(socket),
            // No more descriptors or memory for now: those at work will give some back.
            Err(error) if error.raw_os_error().is_some() => {
                thread::sleep(TICK);
                Ok(None)
            }
            Err(error) => Err(Error::network(error)),
        }
    }

    /// Serves one connection; whether it was a sender's.
    fn one(&self, socket: &TcpStream, peer: SocketAddr, observer: &Observer<'_>) -> bool {
        let connection = prepare(socket)
            .and_then(|()| Connection::greet(socket, peer, &self.options, &self.shelf, observer));
        let connection = match connection {
            Ok(connection) => connection,
            Err(reason) => {
                observer(&Event::GivenUp {
                    peer,
                    reason: reason.to_string(),
                });
                return false;
            }
        };
        observer(&Event::Began { peer });
        match connection.run() {
            Ok(cpu) => observer(&Event::Ended { peer, cpu }),
            Err(error) => observer(&Event::GivenUp {
                peer,
                reason: error.to_string(),
            }),
        }
        true
    }
}

/// Tells a sender that there is no room for it, if it can be told at once.
fn turn_away(mut socket: &TcpStream) {
    let answer = Challenge {
        version: VERSION,
        verdict: Verdict::Busy,
        max_size: 0,
        nonce: [0; 32],
    };
    let _ = socket.set_nonblocking(true);
    let _ = socket.write(&answer.encode());
}
