//! The connection between two machines: round trips and throughput, by TCP and UDP.
//!
//! One machine answers ([`Answerer`]) and lets others know where ([`Invitation`]); another one asks ([`Peer`]). Of many
//! machines, [`rounds`] plans who asks whom, so that no machine takes part in two measurements at a time.
//!
//! A connection begins with a token from the invitation, so that strangers are refused. The token is no secret from
//! those who see the traffic: measure on networks whose machines you trust.
//!
//! It must never know a fleet, an experiment or a command, or print.

mod answerer;
mod ask;
mod measured;
mod protocol;

pub use answerer::Answerer;
pub use ask::Peer;
pub use measured::{Latency, Measured, Throughput};
pub use protocol::{Invitation, Protocol};

use if_addrs::{IfAddr, Interface, get_if_addrs};
use std::io;
use std::net::IpAddr;
#[cfg(test)]
use testing as _;

/// The reason why a connection could not be measured, in words.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(String);

/// A result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The reason why the system refused `action`.
    pub(crate) fn system(action: &'static str) -> impl Fn(io::Error) -> Self {
        move |reason| Self(format!("cannot {action}: {reason}"))
    }
}

/// The addresses of the interface that is called `name` or has this address; without a name those of all interfaces that
/// are up, but for loopback. Addresses that are valid on one link only are left out.
///
/// # Errors
/// If there is none, or if the system refuses.
pub fn addresses(name: Option<&str>) -> Result<Vec<IpAddr>> {
    let interfaces = get_if_addrs().map_err(Error::system("list the network interfaces"))?;
    let found = usable(&interfaces, name);
    if found.is_empty() {
        let named = name.map(|name| format!(" and is or has {name}"));
        let named = named.unwrap_or_default();
        let reason = format!("no network interface has an address other than loopback{named}");
        return Err(Error(reason));
    }
    Ok(found)
}

/// IPv4 first: a machine with both is usually reached by it.
fn usable(interfaces: &[Interface], name: Option<&str>) -> Vec<IpAddr> {
    let is_meant = |it: &&Interface| match name {
        Some(name) => it.name == name || it.ip().to_string() == name,
        None => !it.is_loopback(),
    };
    let is_of_one_link = |it: &Interface| match &it.addr {
        IfAddr::V4(v4) => v4.ip.is_link_local(),
        IfAddr::V6(v6) => v6.ip.is_unicast_link_local(),
    };
    let meant = interfaces.iter().filter(is_meant);
    let usable = meant.filter(|it| !is_of_one_link(it));
    let mut addresses: Vec<IpAddr> = usable.map(Interface::ip).collect();
    addresses.sort_by_key(IpAddr::is_ipv6);
    addresses
}

/// A pair of machines: the one that asks and the one that answers.
pub type Pair = (usize, usize);

/// All pairs of `count` machines in rounds, each with disjoint pairs: the circle method for tournaments (one machine
/// stays in its place, the others move on by one place each round). There are `count − 1` rounds, or `count` if that is
/// odd. In pass `pass`, the roles of a pair are those of the pass before, exchanged.
pub fn rounds(count: usize, pass: usize) -> Vec<Vec<Pair>> {
    let places = count.next_multiple_of(2);
    let rounds = if count < 2 { 0 } else { places - 1 };
    let round = |round: usize| {
        let machine = |place: usize| match place {
            0 => 0,
            place => 1 + (place - 1 + round) % (places - 1),
        };
        let pairs = (0..places / 2).map(|place| (machine(place), machine(places - 1 - place)));
        // With an odd number of machines, one rests.
        let pairs = pairs.filter(|(one, other)| *one < count && *other < count);
        let is_turned = |index: usize| (round + index + pass) % 2 == 1;
        let pairs = pairs.enumerate().map(|(index, (one, other))| {
            if is_turned(index) {
                (other, one)
            } else {
                (one, other)
            }
        });
        pairs.collect()
    };
    (0..rounds).map(round).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn loopback_is_used_only_where_it_is_named() {
        let interfaces = get_if_addrs().expect("the system lists them");
        let found = usable(&interfaces, None);
        assert!(found.iter().all(|address| !address.is_loopback()));
        let named = addresses(Some("127.0.0.1")).expect("loopback is there");
        assert!(named.iter().all(std::net::IpAddr::is_loopback));
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let error = addresses(Some("no such interface"))
            .unwrap_err()
            .to_string();
        assert!(error.contains("no such interface"), "{error}");
    }

    proptest! {
        #[test]
        fn each_pair_meets_once_and_nobody_is_in_two_places(count in 0_usize..70, pass in 0_usize..3) {
            let rounds = rounds(count, pass);
            let mut met = BTreeSet::new();
            for round in &rounds {
                let mut busy = BTreeSet::new();
                for &(asks, answers) in round {
                    prop_assert!(asks < count && answers < count && asks != answers);
                    prop_assert!(busy.insert(asks) && busy.insert(answers));
                    prop_assert!(met.insert((asks.min(answers), asks.max(answers))));
                }
            }
            prop_assert_eq!(met.len(), count * count.saturating_sub(1) / 2);
        }

        #[test]
        fn roles_are_exchanged_from_pass_to_pass(count in 2_usize..20, pass in 0_usize..5) {
            let (one, next) = (rounds(count, pass), rounds(count, pass + 1));
            for (pair, turned) in one.iter().flatten().zip(next.iter().flatten()) {
                prop_assert_eq!((pair.1, pair.0), *turned);
            }
        }
    }
}
