//! Connects to a receiver and authenticates both sides.

use super::Options;
use crate::connection::{
    Inlet, Outlet, both, check_owner, check_that_owners_are_known, congestion, is_within_machine,
    prepare,
};
use crate::cover::{Initiator, Suite};
use crate::error::{Error, Result};
use crate::protocol::{Frame, Hello, Malformed, Verdict};
use choice::Choice;
use platform::socket::{self, Owner, resolve};
use std::io;
use std::net::TcpStream;
use std::time::Instant;

/// Connects to a receiver at `address`, as `stream` of `streams` connections of one transfer.
pub(super) fn connect(
    address: &str,
    options: &Options,
    session: [u8; 16],
    (stream, streams): (u16, u16),
) -> Result<(Inlet, Outlet)> {
    let limits = options.limits;
    let socket = reach(address, options)?;
    prepare(&socket)?;
    let (mut inlet, mut outlet) = both(&socket, limits)?;
    let hello = Hello {
        cover: options.cover,
        suite: options.token.is_some().then(Suite::usual),
        streams,
        stream,
        session,
    };
    let deadline = Some(Instant::now() + limits.patience);
    inlet.patience.deadline = deadline;
    outlet.line.patience.deadline = deadline;
    greet(&hello, options, &mut inlet, &mut outlet)?;
    inlet.patience.deadline = None;
    outlet.line.patience.deadline = None;
    outlet.keep_alive();
    Ok((inlet, outlet))
}

fn reach(address: &str, options: &Options) -> Result<TcpStream> {
    let failed = |reason| Error::Connect {
        address: address.to_owned(),
        reason,
    };
    let mut last = io::Error::new(io::ErrorKind::NotFound, "there is no such host");
    let mut addresses = resolve(address).map_err(failed)?;
    if must_know_owner(options) {
        let first = addresses.first().copied();
        addresses.retain(|address| is_within_machine(address.ip()));
        if let (Some(away), []) = (first, &addresses[..]) {
            return Err(Error::Away(away));
        }
        check_that_owners_are_known()?;
    }
    for address in addresses {
        match socket::connect(&address, options.limits.patience, congestion(&address)) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

/// True if the receiver is trusted only for its owner.
fn must_know_owner(options: &Options) -> bool {
    options.token.is_none() && !options.insecure
}

/// Exchanges greetings and makes sure that both sides know the token, or that the receiver has the
/// right owner.
fn greet(hello: &Hello, options: &Options, inlet: &mut Inlet, outlet: &mut Outlet) -> Result<()> {
    let greeting = hello.encode();
    outlet.words(&greeting);
    let token = options.token.as_ref();
    let initiator = token.map(|token| Initiator::new(token, &greeting));
    let initiator = initiator.transpose()?;
    if let Some(initiator) = &initiator {
        outlet.words(&initiator.opening);
    }
    outlet.flush()?;
    let plain = inlet.first_words()?;
    let verdict = Verdict::parse(&plain)?;
    if verdict != Verdict::Welcome {
        return Err(Error::Refused(verdict));
    }
    if must_know_owner(options) {
        // Only now does a process have the other end for sure: it has answered.
        let trusted = [Owner::ThisUser, Owner::Root];
        check_owner(&outlet.line.socket, &trusted).map_err(Error::Distrusted)?;
    }
    let (mut there, mut back) = (None, None);
    if let Some(initiator) = initiator {
        let message = inlet.words().map_err(|error| match error {
            // A receiver sends no answer to a sender with a wrong token.
            Error::PeerGone => Error::WrongToken,
            other => other,
        })?;
        let keys = initiator.finish(hello, &plain, &message)?;
        (there, back) = (Some(keys.0), Some(keys.1));
    }
    outlet.guard(there, &greeting, hello.cover);
    inlet.guard(back, &greeting, hello.cover);
    outlet.frame(&Frame::Open)?;
    outlet.flush()?;
    match inlet.frame()? {
        Frame::Opened {
            verdict: Verdict::Welcome,
            ..
        } => Ok(()),
        Frame::Opened { verdict, .. } => Err(Error::Refused(verdict)),
        _ => Err(Malformed::Order.into()),
    }
}

/// Checks that the method works with the requested protection of contents.
pub(super) fn check(options: &Options) -> Result<()> {
    options.method.check()?;
    if options.method.can(options.cover) {
        Ok(())
    } else {
        Err(Error::Unsealable(options.method.name()))
    }
}
