//! Authentication: the first messages of a connection.

use super::Options;
use crate::connection::{Inlet, Outlet, both};
use crate::cover::{Cover, answer};
use crate::error::{Error, Result};
use crate::protocol::{Answer, Frame, Hello, Malformed, Verdict};
use platform::socket::is_of_same_user;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Time in which a peer must prove its right to send.
const GREETING_TIME: Duration = Duration::from_secs(10);

/// A sender that knows the token, if there is one.
pub(super) struct Greeted {
    pub(super) hello: Hello,
    pub(super) inlet: Inlet,
    pub(super) outlet: Outlet,
}

/// Exchanges greetings and waits for the first frame. With a token, only a peer that knows it can
/// make that frame; until then the receiver does no work for the peer.
pub(super) fn greet(socket: &TcpStream, options: &Options) -> Result<Greeted> {
    let (mut inlet, mut outlet) = both(socket, options.limits)?;
    let deadline = Some(Instant::now() + GREETING_TIME.min(options.limits.patience));
    inlet.set_deadline(deadline);
    outlet.set_deadline(deadline);
    let greeting = inlet
        .first_words()
        .map_err(|error| stranger(error, &inlet))?;
    let hello = Hello::parse(&greeting)?;
    let verdict = hello.map_or(Verdict::Version, |hello| verdict(&hello, options, socket));
    let plain = Answer::new(verdict).encode();
    outlet.words(&plain);
    let Some(hello) = hello.filter(|_| verdict == Verdict::Welcome) else {
        outlet.flush()?;
        return Err(Error::TurnedAway(verdict));
    };
    let (mut there, mut back) = (None, None);
    if let Some(token) = &options.token {
        let opening = inlet.words()?;
        let answered = answer(token, (&greeting, &hello), &plain, &opening);
        if answered.is_err() {
            // The peer gets the plain answer and nothing else.
            outlet.flush()?;
        }
        let (message, keys) = answered?;
        outlet.words(&message);
        (there, back) = (Some(keys.0), Some(keys.1));
    }
    outlet.flush()?;
    inlet.guard(there, &greeting, hello.cover);
    outlet.guard(back, &greeting, hello.cover);
    match inlet.frame()? {
        Frame::Open => {}
        other => return Err(Malformed::Order(other.kind()).into()),
    }
    inlet.set_deadline(None);
    outlet.set_deadline(None);
    Ok(Greeted {
        hello,
        inlet,
        outlet,
    })
}

impl Greeted {
    /// Sends the sender the reason for refusing it.
    pub(super) fn turn_away(&mut self, verdict: Verdict) -> Result<()> {
        let max_size = 0;
        self.outlet.frame(&Frame::Opened { verdict, max_size })?;
        self.outlet.flush()
    }
}

fn verdict(hello: &Hello, options: &Options, socket: &TcpStream) -> Verdict {
    let is_sealed = hello.cover == Cover::Sealed;
    let can = options.method.is_none_or(|method| method.can(hello.cover));
    match (&options.token, hello.suite) {
        (Some(_), None) => Verdict::TokenNeeded,
        (None, Some(_)) => Verdict::NoToken,
        (Some(_), Some(_)) if !is_sealed && !options.unsealed => Verdict::Unsealed,
        (Some(_), Some(_)) if !can => Verdict::Sealed,
        (None, None) if is_of_another_user(socket) => Verdict::Stranger,
        _ => Verdict::Welcome,
    }
}

/// True if the peer is known to act for another user than this process.
fn is_of_another_user(socket: &TcpStream) -> bool {
    matches!(is_of_same_user(socket), Ok(Some(false)))
}

/// Adds the first bytes of a peer that is no oscope sender to the error.
fn stranger(error: Error, inlet: &Inlet) -> Error {
    match error {
        Error::Malformed(Malformed::Magic) => Error::Stranger(inlet.glimpse()),
        Error::PeerGone => Error::Stranger(String::new()),
        other => other,
    }
}
