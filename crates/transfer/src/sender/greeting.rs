//! Who may talk to a receiver: connecting to it, and the first words.

use super::Options;
use crate::connection::{Inlet, Outlet, prepare};
use crate::error::{Error, Result};
use crate::protocol::{Challenge, Hello, VERSION, Verdict};
use crate::random;
use crate::token::{Greetings, Side};
use std::io;
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// Connects to a receiver at `address`, as `stream` of `streams` connections of one transfer.
pub(super) fn connect(
    address: &str,
    options: &Options,
    session: [u8; 16],
    (stream, streams): (u16, u16),
) -> Result<(Inlet, Outlet)> {
    let limits = options.limits;
    let socket = reach(address, limits.patience)?;
    prepare(&socket)?;
    let clone = || socket.try_clone().map_err(Error::network);
    let mut inlet = Inlet::new(clone()?, limits);
    let mut outlet = Outlet::new(clone()?, limits);
    let mut nonce = [0; 32];
    random::fill(&mut nonce)?;
    let hello = Hello {
        version: VERSION,
        checksum: options.checksum,
        has_token: options.token.is_some(),
        streams,
        stream,
        session,
        nonce,
    };
    greet(&hello, options, &mut inlet, &mut outlet)?;
    Ok((inlet, outlet))
}

fn reach(address: &str, patience: Duration) -> Result<TcpStream> {
    let failed = |reason| Error::Connect {
        address: address.to_owned(),
        reason,
    };
    let mut last = io::Error::new(io::ErrorKind::NotFound, "there is no such host");
    for address in address.to_socket_addrs().map_err(failed)? {
        match TcpStream::connect_timeout(&address, patience) {
            Ok(socket) => return Ok(socket),
            Err(error) => last = error,
        }
    }
    Err(failed(last))
}

/// Says who this is, hears who that is, and makes sure that both know the token.
fn greet(hello: &Hello, options: &Options, inlet: &mut Inlet, outlet: &mut Outlet) -> Result<()> {
    let deadline = Instant::now() + options.limits.patience;
    let hello = hello.encode();
    outlet.bytes(&hello)?;
    outlet.flush()?;
    let challenge = inlet.greeting(deadline)?;
    let answer = Challenge::parse(&challenge)?;
    if answer.verdict != Verdict::Welcome {
        return Err(Error::Refused(answer.verdict));
    }
    if answer.version != VERSION {
        return Err(Error::Refused(Verdict::Version));
    }
    if let Some(token) = &options.token {
        let greetings = Greetings { hello, challenge };
        outlet.bytes(&token.proof(Side::Sender, &greetings))?;
        outlet.flush()?;
        let proof = inlet.proof(deadline).map_err(|error| match error {
            // A receiver does not answer a sender that cannot prove what it should know.
            Error::PeerGone => Error::WrongToken,
            other => other,
        })?;
        token.check(Side::Receiver, &greetings, &proof)?;
        outlet.seal(Some(token.seal(Side::Sender, &greetings)));
        inlet.seal(Some(token.seal(Side::Receiver, &greetings)));
    }
    Ok(())
}
