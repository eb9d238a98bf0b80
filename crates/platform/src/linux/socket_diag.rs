//! Queries the kernel about one TCP socket
//! ([sock_diag(7)](https://man7.org/linux/man-pages/man7/sock_diag.7.html)). `/proc/net/tcp` has
//! the same facts, but a read of it takes some milliseconds: the kernel walks the whole hash table
//! of connections.

use std::io;
use std::net::{IpAddr, SocketAddr};

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

/// `struct nlmsghdr`: length, type, flags, sequence number and port.
const HEADER: usize = 16;
/// `struct inet_diag_req_v2`: the query, and the addresses.
const REQUEST: usize = HEADER + 8 + ADDRESSES;
/// `struct inet_diag_sockid`: ports, addresses, interface and cookie.
const ADDRESSES: usize = 48;
/// The part that a query and its answer have in common: ports and addresses.
const IN_COMMON: usize = 36;
/// Offset of the addresses in an answer (`struct inet_diag_msg`), and offset of its user id.
const ANSWERED_ADDRESSES: usize = HEADER + 4;
const USER: usize = ANSWERED_ADDRESSES + ADDRESSES + 12;
/// `SOCK_DIAG_BY_FAMILY`, the type of queries and of answers.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST`.
const IS_REQUEST: u16 = 1;
/// `INET_DIAG_NOCOOKIE`: any socket with these addresses.
const NO_COOKIE: [u8; 8] = [0xff; 8];
/// `TCP_ESTABLISHED`: the only state in which a socket certainly belongs to the user who opened it.
const ESTABLISHED: u8 = 1;

/// The owner's user id of the established socket that is bound to `local` and connected to
/// `remote`; `None` if there is none.
///
/// # Errors
/// If the kernel refuses the query.
pub(super) fn socket_owner(local: SocketAddr, remote: SocketAddr) -> io::Result<Option<u32>> {
    let socket = rustix::net::socket_with(
        AddressFamily::NETLINK,
        SocketType::DGRAM,
        SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
        Some(netlink::SOCK_DIAG),
    )?;
    let request = request(local, remote);
    rustix::net::send(&socket, &request, SendFlags::empty())?;
    // The kernel has already answered at this point.
    let mut answer = [0; 512];
    let (count, _) = rustix::net::recv(&socket, &mut answer, RecvFlags::empty())?;
    Ok(owner(&request, &answer[..count]))
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
        let mut words = [0; 16];
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
/// the kernel may report a listening one.
fn owner(request: &[u8; REQUEST], answer: &[u8]) -> Option<u32> {
    let of_type = answer.get(4..6)?;
    let state = *answer.get(HEADER + 1)?;
    let addresses = answer.get(ANSWERED_ADDRESSES..ANSWERED_ADDRESSES + IN_COMMON)?;
    let user = answer.get(USER..USER + 4)?.try_into().ok()?;
    let is_it = of_type == BY_FAMILY.to_ne_bytes()
        && state == ESTABLISHED
        && *addresses == request[HEADER + 8..][..IN_COMMON];
    is_it.then(|| u32::from_ne_bytes(user))
}

#[cfg(test)]
mod tests {
    use super::socket_owner;
    use super::{
        ANSWERED_ADDRESSES, BY_FAMILY, ESTABLISHED, HEADER, IN_COMMON, USER, owner, request,
    };
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};

    #[test]
    fn both_ends_are_known_and_no_others() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else {
                println!("skipped: there is no {address} here");
                continue;
            };
            let listens = listener.local_addr().unwrap();
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
            assert_eq!(socket_owner(remote, local).unwrap(), own);
            // Only a listening socket has these addresses.
            let nobody = SocketAddr::new(local.ip(), 1);
            assert_eq!(socket_owner(listens, nobody).unwrap(), None);
            assert_eq!(socket_owner(nobody, nobody).unwrap(), None);
        }
    }

    fn answer(request: &[u8], state: u8, user: u32) -> Vec<u8> {
        let mut answer = vec![0; USER + 8];
        answer[4..6].copy_from_slice(&BY_FAMILY.to_ne_bytes());
        answer[HEADER + 1] = state;
        answer[ANSWERED_ADDRESSES..][..IN_COMMON]
            .copy_from_slice(&request[HEADER + 8..][..IN_COMMON]);
        answer[USER..][..4].copy_from_slice(&user.to_ne_bytes());
        answer
    }

    #[test]
    fn only_an_answer_about_that_socket_counts() {
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let asked = request(at(1), at(2));
        let told = answer(&asked, ESTABLISHED, 1001);
        assert_eq!(owner(&asked, &told), Some(1001));
        assert_eq!(owner(&request(at(1), at(3)), &told), None);
        assert_eq!(owner(&request(at(3), at(2)), &told), None);
        // 6 waits for the last packets, 10 listens, and 2 is the message type of errors.
        assert_eq!(owner(&asked, &answer(&asked, 6, 1001)), None);
        assert_eq!(owner(&asked, &answer(&asked, 10, 1001)), None);
        let mut failed = told.clone();
        failed[4] = 2;
        assert_eq!(owner(&asked, &failed), None);
        for len in 0..USER + 4 {
            assert_eq!(owner(&asked, &told[..len]), None);
        }
    }

    proptest! {
        #[test]
        fn any_answer_is_taken_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let at = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
            prop_assert_eq!(owner(&request(at, at), &bytes), None);
        }
    }
}
