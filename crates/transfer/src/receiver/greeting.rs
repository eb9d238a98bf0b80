//! Who may send: the first words with whoever connects.

use super::Options;
use crate::Checksum;
use crate::connection::{Inlet, Outlet};
use crate::error::{Error, Result};
use crate::protocol::{Challenge, Hello, Malformed, VERSION, Verdict};
use crate::random;
use crate::token::{Greetings, Side};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// A greeting has to be complete within this time.
const GREETING_TIME: Duration = Duration::from_secs(10);

/// Hears who it is, says who this is, and makes sure that both know the token.
pub(super) fn greet(socket: &TcpStream, options: &Options) -> Result<(Hello, Inlet, Outlet)> {
    let clone = || socket.try_clone().map_err(Error::network);
    let mut inlet = Inlet::new(clone()?, options.limits);
    let mut outlet = Outlet::new(clone()?, options.limits);
    let deadline = Instant::now() + GREETING_TIME.min(options.limits.patience);
    let hello = inlet
        .greeting(deadline)
        .map_err(|error| stranger(error, &inlet))?;
    let said = Hello::parse(&hello)?;
    let mut answer = Challenge {
        version: VERSION,
        verdict: verdict(&said, options),
        max_size: options.max_size,
        nonce: [0; 32],
    };
    random::fill(&mut answer.nonce)?;
    let challenge = answer.encode();
    outlet.bytes(&challenge)?;
    outlet.flush()?;
    if answer.verdict != Verdict::Welcome {
        return Err(Error::TurnedAway(answer.verdict));
    }
    if let Some(token) = &options.token {
        let greetings = Greetings { hello, challenge };
        let proof = inlet.proof(deadline)?;
        token.check(Side::Sender, &greetings, &proof)?;
        outlet.bytes(&token.proof(Side::Receiver, &greetings))?;
        outlet.flush()?;
        inlet.seal(Some(token.seal(Side::Sender, &greetings)));
        outlet.seal(Some(token.seal(Side::Receiver, &greetings)));
    }
    Ok((said, inlet, outlet))
}

fn verdict(hello: &Hello, options: &Options) -> Verdict {
    match (&options.token, hello.has_token) {
        _ if hello.version != VERSION => Verdict::Version,
        (Some(_), false) => Verdict::TokenNeeded,
        (None, true) => Verdict::NoToken,
        (Some(_), true) if hello.checksum != Checksum::Blake3 => Verdict::Checksum,
        _ => Verdict::Welcome,
    }
}

/// Names what somebody said who is no sender.
fn stranger(error: Error, inlet: &Inlet) -> Error {
    match error {
        Error::Malformed(Malformed::Magic) => Error::Stranger(inlet.glimpse()),
        Error::PeerGone => Error::Stranger(String::new()),
        other => other,
    }
}
