//! Queries the kernel about one TCP socket
//! ([sock_diag(7)](https://man7.org/linux/man-pages/man7/sock_diag.7.html)). `/proc/net/tcp` has
//! the same facts, but a read of it takes some milliseconds: the kernel walks the whole hash table
//! of connections.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

/// `struct nlmsghdr`: length, type, flags, sequence number and port.
const HEADER: usize = 16;
/// `struct inet_diag_req_v2`: the query, and the addresses.
const REQUEST: usize = HEADER + 8 + ADDRESSES;
/// `struct inet_diag_sockid`: ports, addresses, interface and cookie.
const ADDRESSES: usize = 48;
/// Length of the two ports, and of an address: IPv4 uses the first 4 bytes.
const PORTS: usize = 4;
const ADDRESS: usize = 16;
/// Offsets in an answer (`struct inet_diag_msg`): its ports and addresses, user id and inode.
const ANSWERED_ADDRESSES: usize = HEADER + 4;
const USER: usize = ANSWERED_ADDRESSES + ADDRESSES + 12;
const INODE: usize = USER + 4;
/// `SOCK_DIAG_BY_FAMILY`, the type of queries and of answers.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST`.
const IS_REQUEST: u16 = 1;
/// `INET_DIAG_NOCOOKIE`: any socket with these addresses.
const NO_COOKIE: [u8; 8] = [0xff; 8];
/// `TCP_ESTABLISHED`: the only state in which a socket certainly belongs to the user who opened it.
const ESTABLISHED: u8 = 1;

/// The owner's user id of the established socket that is bound to `local` and connected to
/// `remote`, and that a process has open; `None` if there is none. IPv4 addresses that are mapped to
/// IPv6 count as IPv4.
pub(super) fn socket_owner(local: SocketAddr, remote: SocketAddr) -> io::Result<Option<u32>> {
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        Some(netlink::SOCK_DIAG),
    )?;
    let (local, remote) = (canonical(local), canonical(remote));
    rustix::net::send(&socket, &request(local, remote), SendFlags::empty())?;
    // The kernel has already answered at this point.
    let mut answer = [0; 512];
    let (count, _) = rustix::net::recv(&socket, &mut answer, RecvFlags::empty())?;
    Ok(owner((local, remote), &answer[..count]))
}

fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn request(local: SocketAddr, remote: SocketAddr) -> [u8; REQUEST] {
    let mut bytes = Vec::with_capacity(REQUEST);
    bytes.extend((REQUEST as u32).to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(IS_REQUEST.to_ne_bytes());
    bytes.extend([0; 8]);
    let family = match local {
        SocketAddr::V4(_) => AddressFamily::INET,
        SocketAddr::V6(_) => AddressFamily::INET6,
    };
    bytes.push(family.as_raw() as u8);
    bytes.push(libc::IPPROTO_TCP as u8);
    bytes.extend([0; 2]);
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(local.port().to_be_bytes());
    bytes.extend(remote.port().to_be_bytes());
    for address in [local.ip(), remote.ip()] {
        let mut words = [0; ADDRESS];
        match address {
            IpAddr::V4(ip) => words[..4].copy_from_slice(&ip.octets()),
            IpAddr::V6(ip) => words = ip.octets(),
        }
        bytes.extend(words);
    }
    bytes.extend([0; 4]);
    bytes.extend(NO_COOKIE);
    bytes.try_into().expect("the parts add up")
}

/// The user id in an answer, if the answer is about the requested socket: without such a socket,
/// the kernel may report a listening one. A socket without an inode belongs to no process, and the
/// kernel reports user 0 for it: it is closed, or not accepted yet.
fn owner((local, remote): (SocketAddr, SocketAddr), answer: &[u8]) -> Option<u32> {
    let of_type = answer.get(4..6)?;
    let (family, state) = (*answer.get(HEADER)?, *answer.get(HEADER + 1)?);
    let (ports, rest) = answer
        .get(ANSWERED_ADDRESSES..)?
        .split_first_chunk::<PORTS>()?;
    let (own, rest) = rest.split_first_chunk()?;
    let (other, _) = rest.split_first_chunk()?;
    let number = |at| Some(u32::from_ne_bytes(*answer.get(at..)?.first_chunk()?));
    let [own_0, own_1, other_0, other_1] = *ports;
    let answered = (
        SocketAddr::new(address(family, own)?, u16::from_be_bytes([own_0, own_1])),
        SocketAddr::new(
            address(family, other)?,
            u16::from_be_bytes([other_0, other_1]),
        ),
    );
    let is_it = of_type == BY_FAMILY.to_ne_bytes()
        && state == ESTABLISHED
        && answered == (local, remote)
        && number(INODE)? != 0;
    number(USER).filter(|_| is_it)
}

/// An address of this family in an answer.
fn address(family: u8, bytes: &[u8; ADDRESS]) -> Option<IpAddr> {
    let family = AddressFamily::from_raw(family.into());
    match family {
        AddressFamily::INET => bytes
            .first_chunk::<4>()
            .map(|ip| Ipv4Addr::from(*ip).into()),
        AddressFamily::INET6 => Some(IpAddr::from(Ipv6Addr::from(*bytes)).to_canonical()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{ADDRESS, ANSWERED_ADDRESSES, BY_FAMILY, ESTABLISHED, HEADER, INODE, PORTS, USER};
    use super::{owner, request, socket_owner};
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

    #[test]
    fn both_ends_are_known_and_no_others() {
        for (bound, reached) in [
            ("127.0.0.1:0", "127.0.0.1"),
            ("[::1]:0", "::1"),
            // A connection that IPv6 and IPv4 share.
            ("[::]:0", "127.0.0.1"),
        ] {
            let Ok(listener) = TcpListener::bind(bound) else {
                println!("skipped: there is no {bound} here");
                continue;
            };
            let port = listener.local_addr().unwrap().port();
            let listens = SocketAddr::new(reached.parse().unwrap(), port);
            let near = TcpStream::connect(listens).unwrap();
            let (local, remote) = (near.local_addr().unwrap(), near.peer_addr().unwrap());
            let found = match socket_owner(local, remote) {
                Ok(found) => found,
                Err(error) => {
                    println!("skipped: the kernel does not let itself be asked here: {error}");
                    return;
                }
            };
            let own = Some(rustix::process::geteuid().as_raw());
            assert_eq!(found, own);
            // No process has the other end yet.
            assert_eq!(socket_owner(remote, local).unwrap(), None);
            let (far, _) = listener.accept().unwrap();
            assert_eq!(socket_owner(remote, local).unwrap(), own);
            let (far_local, far_remote) = (far.local_addr().unwrap(), far.peer_addr().unwrap());
            assert_eq!(socket_owner(far_remote, far_local).unwrap(), own);
            // Only a listening socket has these addresses.
            let nobody = SocketAddr::new(local.ip(), 1);
            assert_eq!(socket_owner(listens, nobody).unwrap(), None);
            assert_eq!(socket_owner(nobody, nobody).unwrap(), None);
            // A socket that is closed has no owner, although the other end has not noticed.
            drop(near);
            // A process that another test is forking has it open as well for a while.
            let is_closed = || socket_owner(local, remote).unwrap().is_none();
            testing::wait_until("the socket is closed", is_closed);
        }
    }

    fn at(port: u16) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, port))
    }

    fn answer(local: SocketAddr, remote: SocketAddr, state: u8, user: u32) -> Vec<u8> {
        let request = request(local, remote);
        let mut answer = vec![0; INODE + 8];
        answer[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
        answer[HEADER] = request[HEADER];
        answer[HEADER + 1] = state;
        let len = PORTS + 2 * ADDRESS;
        answer[ANSWERED_ADDRESSES..][..len].copy_from_slice(&request[HEADER + 8..][..len]);
        answer[USER..][..4].copy_from_slice(&user.to_ne_bytes());
        answer[INODE..][..4].copy_from_slice(&77_u32.to_ne_bytes());
        answer
    }

    #[test]
    fn only_an_answer_about_that_socket_counts() {
        let found = answer(at(1), at(2), ESTABLISHED, 1001);
        assert_eq!(owner((at(1), at(2)), &found), Some(1001));
        assert_eq!(owner((at(1), at(3)), &found), None);
        assert_eq!(owner((at(3), at(2)), &found), None);
        let mapped: SocketAddr = "[::ffff:127.0.0.1]:1".parse().unwrap();
        let mapped = answer(mapped, mapped, ESTABLISHED, 1001);
        assert_eq!(owner((at(1), at(1)), &mapped), Some(1001));
        // 4 to 8 are closed on one side at least, 10 listens, and 2 is the message type of errors.
        for state in (0..=12).filter(|state| *state != ESTABLISHED) {
            let closed = answer(at(1), at(2), state, 1001);
            assert_eq!(owner((at(1), at(2)), &closed), None, "{state}");
        }
        let mut failed = found.clone();
        failed[4] = 2;
        assert_eq!(owner((at(1), at(2)), &failed), None);
        // Nobody has the socket open.
        let mut orphan = found.clone();
        orphan[INODE..][..4].fill(0);
        assert_eq!(owner((at(1), at(2)), &orphan), None);
        for len in 0..INODE + 4 {
            assert_eq!(owner((at(1), at(2)), &found[..len]), None);
        }
    }

    proptest! {
        #[test]
        fn any_answer_is_taken_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(owner((at(1), at(1)), &bytes), None);
        }
    }
}
