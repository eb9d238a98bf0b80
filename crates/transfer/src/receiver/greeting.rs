//! Authentication: the first messages of a connection.

use super::Options;
use crate::connection::{Inlet, Outlet, both, check_owner};
use crate::cover::{Cover, OPENING_BYTES, Responder};
use crate::error::{Error, Result};
use crate::protocol::{Frame, Hello, Malformed, Verdict};
use platform::socket::Owner;
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Time in which a peer must prove its right to send.
const GREETING_TIME: Duration = Duration::from_secs(10);

/// The first message of a sender that has a token.
pub(super) type Opening = [u8; OPENING_BYTES];

/// A sender that knows the token, if there is one.
pub(super) struct Greeted {
    pub(super) hello: Hello,
    pub(super) inlet: Inlet,
    pub(super) outlet: Outlet,
}

/// Exchanges greetings and waits for the first frame. With a token, only a peer that knows it can
/// make that frame; until then the receiver does no work for the peer.
///
/// Calls `proves` as soon as the peer has shown that it may send, with what it said for that: a
/// message that takes the token to make, but may be a recorded one.
pub(super) fn greet(
    socket: &TcpStream,
    options: &Options,
    proves: impl FnOnce(Option<&Opening>),
) -> Result<Greeted> {
    let (mut inlet, mut outlet) = both(socket, options.limits)?;
    let deadline = Some(Instant::now() + GREETING_TIME.min(options.limits.patience));
    inlet.patience.deadline = deadline;
    outlet.line.patience.deadline = deadline;
    let greeting = inlet
        .first_words()
        .map_err(|error| stranger(error, &inlet))?;
    let hello = Hello::parse(&greeting)?;
    let judged = judge(hello, options, socket);
    let verdict = judged
        .as_ref()
        .map_or_else(|refusal| refusal.0, |_| Verdict::Welcome);
    let plain = verdict.encode();
    outlet.words(&plain);
    if judged.is_err() {
        outlet.flush()?;
    }
    let hello = judged.map_err(|refusal| refusal.1)?;
    let (mut there, mut back) = (None, None);
    if let Some(token) = &options.token {
        let opening = inlet.words()?;
        let responder = Responder::new(token, &greeting, &opening);
        if responder.is_err() {
            // The peer gets the plain answer and nothing else.
            outlet.flush()?;
        }
        let responder = responder?;
        // The rest takes longer.
        proves(Some(&opening));
        let (message, keys) = responder.finish(&hello, &plain)?;
        outlet.words(&message);
        (there, back) = (Some(keys.0), Some(keys.1));
    } else {
        proves(None);
    }
    outlet.flush()?;
    inlet.guard(there, &greeting, hello.cover);
    outlet.guard(back, &greeting, hello.cover);
    match inlet.frame()? {
        Frame::Open => {}
        _ => return Err(Malformed::Order.into()),
    }
    inlet.patience.deadline = None;
    outlet.line.patience.deadline = None;
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

/// The sender's greeting, if it may send; else the verdict for it, and the error here.
fn judge(
    hello: Option<Hello>,
    options: &Options,
    socket: &TcpStream,
) -> std::result::Result<Hello, (Verdict, Error)> {
    let refused = |verdict| Err((verdict, Error::TurnedAway(verdict)));
    let Some(hello) = hello else {
        return refused(Verdict::Version);
    };
    let is_sealed = hello.cover == Cover::Sealed;
    let can = options.method.is_none_or(|method| method.can(hello.cover));
    match (&options.token, hello.suite) {
        (Some(_), None) => refused(Verdict::TokenNeeded),
        (None, Some(_)) => refused(Verdict::NoToken),
        (Some(_), Some(_)) if !is_sealed && !options.unsealed => refused(Verdict::Unsealed),
        (Some(_), Some(_)) if !can => refused(Verdict::Sealed),
        (None, None) if !options.insecure => match check_owner(socket, &[Owner::ThisUser]) {
            Ok(()) => Ok(hello),
            Err(distrust) => Err((Verdict::Stranger, Error::Untrusted(distrust))),
        },
        _ => Ok(hello),
    }
}

/// Adds the first bytes of a peer that is no oscope sender to the error.
fn stranger(error: Error, inlet: &Inlet) -> Error {
    match error {
        Error::Malformed(Malformed::Magic) => Error::Stranger(inlet.glimpse()),
        Error::PeerGone => Error::Stranger(String::new()),
        other => other,
    }
}
