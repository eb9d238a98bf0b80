//! Accepts connections, limits their number, and gives each its thread.

use super::connection::Connection;
use super::door::Door;
use super::greeting::greet;
use super::target::Shelf;
use super::{Event, Observer, Options};
use crate::connection::{check_that_owners_are_known, congestion, is_within_machine, prepare};
use crate::cover::Cover;
use crate::error::{Error, Result};
use crate::protocol::Verdict;
use choice::Choice;
use platform::directory::Directory;
use platform::socket::{Bell, accept_within, listen, resolve};
use std::io::{self, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// A listening receiver.
pub struct Receiver {
    listener: TcpListener,
    options: Options,
    shelf: Shelf,
    /// Rung when a connection ends.
    bell: Bell,
}

/// Time to wait for connections before checking if the receiver should stop.
const TICK: Duration = Duration::from_millis(50);

impl Receiver {
    /// Listens at `address`.
    ///
    /// # Errors
    /// If other machines could reach the address and there is no token, the port is taken, the
    /// directory does not exist, or the system does not support the method.
    pub fn bind(address: &str, options: Options) -> Result<Self> {
        if let Some(method) = options.method {
            method.check()?;
            let is_sealed = options.token.is_some() && !options.unsealed;
            if is_sealed && !method.can(Cover::Sealed) {
                return Err(Error::Unsealable(method.name()));
            }
        }
        let failed = |reason| Error::Listen {
            address: address.to_owned(),
            reason,
        };
        let addresses = resolve(address).map_err(failed)?;
        if options.token.is_none() && !options.insecure {
            let is_open = |address: &&SocketAddr| !is_within_machine(address.ip());
            if let Some(open) = addresses.iter().find(is_open) {
                return Err(Error::Open(*open));
            }
            check_that_owners_are_known()?;
        }
        let directory = options
            .directory
            .as_deref()
            .map(Directory::open)
            .transpose()?;
        let listener = first_free(&addresses).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        Ok(Self {
            listener,
            options,
            shelf: Shelf::new(directory),
            bell: Bell::new().map_err(Error::system("make an event descriptor"))?,
        })
    }

    /// The address that the receiver listens at.
    pub fn address(&self) -> Result<SocketAddr> {
        self.listener.local_addr().map_err(Error::network)
    }

    /// Accepts senders, up to the allowed number at a time, until the stop flag is set or, with
    /// `once`, the first transfer has ended.
    ///
    /// # Errors
    /// If listening itself fails. Failures of single senders go to `observer`.
    pub fn serve(&self, once: bool, observer: &Observer<'_>) -> Result<()> {
        let (door, served) = (Door::default(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for number in 0.. {
                let socket = loop {
                    if self.options.limits.stop.load(Ordering::Acquire) {
                        return Ok(());
                    }
                    // The order matters: a connection that ends between the two calls has already
                    // counted as served.
                    let is_idle = door.is_idle();
                    if once && is_idle && served.load(Ordering::Acquire) > 0 {
                        return Ok(());
                    }
                    if let Some(socket) = self.next()? {
                        break socket;
                    }
                };
                let Ok(peer) = socket.peer_addr() else {
                    continue;
                };
                let socket = Arc::new(socket);
                door.come(number, Arc::clone(&socket), peer.ip());
                let mine = Arc::clone(&socket);
                let (door, served) = (&door, &served);
                let thread = thread::Builder::new().name("connection".into());
                let started = thread.spawn_scoped(scope, move || {
                    if self.one(number, &mine, peer, door, observer) {
                        served.fetch_add(1, Ordering::AcqRel);
                    }
                    // Other holders may keep the socket open; the sender must still see its end.
                    let _ = mine.shutdown(Shutdown::Both);
                    door.end();
                    self.bell.ring();
                });
                if let Err(reason) = started {
                    door.leave(number);
                    door.end();
                    let reason = Error::Thread(reason).to_string();
                    observer(&Event::GivenUp { peer, reason });
                    turn_away(&socket);
                }
            }
            Ok(())
        })
    }

    fn next(&self) -> Result<Option<TcpStream>> {
        match accept_within(&self.listener, &self.bell, TICK) {
            Ok(socket) => Ok(socket),
            // Descriptors or memory are exhausted for now. Running connections will free some.
            Err(error) if error.raw_os_error().is_some() => {
                thread::sleep(TICK);
                Ok(None)
            }
            Err(error) => Err(Error::network(error)),
        }
    }

    /// Handles one connection; returns true if it came from a sender.
    fn one(
        &self,
        number: u64,
        socket: &TcpStream,
        peer: SocketAddr,
        door: &Door,
        observer: &Observer<'_>,
    ) -> bool {
        let given_up = |error: &Error| {
            let reason = error.to_string();
            observer(&Event::GivenUp { peer, reason });
        };
        let proves = |opening: Option<&_>| door.vouch(number, opening);
        let greeted = prepare(socket).and_then(|()| greet(socket, &self.options, proves));
        door.leave(number);
        if greeted.is_ok() && self.options.token.is_some() {
            door.remember(peer.ip());
        }
        let mut greeted = match greeted {
            Ok(greeted) => greeted,
            Err(error) => {
                given_up(&error);
                return false;
            }
        };
        let place = door.enter(self.options.max_connections);
        let cover = greeted.hello.cover;
        let connection = match place {
            Some(_) => Connection::new(greeted, peer, &self.options, &self.shelf, observer),
            None => greeted
                .turn_away(Verdict::Busy)
                .and(Err(Error::TurnedAway(Verdict::Busy))),
        };
        let served = connection.and_then(|connection| {
            observer(&Event::Began { peer, cover });
            connection.run()
        });
        match served {
            Ok(cpu) => observer(&Event::Ended { peer, cpu }),
            Err(error) => given_up(&error),
        }
        place.is_some()
    }
}

/// Listens on the first available address; else the error of the last one.
fn first_free(addresses: &[SocketAddr]) -> io::Result<TcpListener> {
    let mut last = io::Error::new(io::ErrorKind::InvalidInput, "there is no such address");
    for address in addresses {
        match listen(address, congestion(address)) {
            Ok(listener) => return Ok(listener),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Answers a sender that the receiver is busy, if that is possible without waiting.
fn turn_away(mut socket: &TcpStream) {
    let _ = socket.set_nonblocking(true);
    let _ = socket.write(&Verdict::Busy.encode());
    let _ = socket.shutdown(Shutdown::Both);
}
