//! `/proc/net/tcp` and `/proc/net/tcp6`: the TCP sockets of this network namespace.

use std::net::{IpAddr, SocketAddr};

/// The owner's user id of the established socket that is bound to `local` and connected to
/// `remote`, and that a process has open
/// ([proc_pid_net(5)](https://man7.org/linux/man-pages/man5/proc_pid_net.5.html)). Sockets that are
/// closed, or not accepted yet, seem to belong to user 0 and have no inode.
pub(crate) fn socket_owner(table: &str, local: SocketAddr, remote: SocketAddr) -> Option<u32> {
    const ESTABLISHED: &str = "01";
    let (local, remote) = (written(local), written(remote));
    table.lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let is_it =
            fields.next()? == local && fields.next()? == remote && fields.next()? == ESTABLISHED;
        // Queues, timer, retransmissions, then the user id; timeout, then the inode.
        let user = fields.nth(3).filter(|_| is_it)?.parse().ok()?;
        (fields.nth(1)? != "0").then_some(user)
    })
}

/// An address in the kernel's format: each 32 bits in the processor's byte order.
fn written(address: SocketAddr) -> String {
    let bytes = match address.ip() {
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) => ip.octets().to_vec(),
    };
    let word = |bytes: &[u8]| {
        let bytes = bytes.try_into().expect("addresses are made of words");
        format!("{:08X}", u32::from_ne_bytes(bytes))
    };
    let words: String = bytes.chunks(4).map(word).collect();
    format!("{words}:{:04X}", address.port())
}

#[cfg(test)]
mod tests {
    use super::socket_owner;
    use proptest::prelude::*;
    use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1667 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100
   1: 0100007F:D6A2 0100007F:1667 01 00000000:00000000 00:00000000 00000000  1001        0 2 1 0 20
   2: 0100007F:D6A3 0100007F:1667 06 00000000:00000000 03:00000123 00000000     0        0 0 3 0
   3: 0100007F:D6A4 0100007F:1667 01 00000000:00000000 00:00000000 00000000     0        0 0 1 0 20
   4: 0100007F:D6A5 0100007F:1667 05 00000000:00000000 00:00000000 00000000  1001        0 4 1 0 20
";
    const TABLE_6: &str = "\
  0: 00000000000000000000000001000000:8AE2 00000000000000000000000001000000:1667 01 \
00000000:00000000 00:00000000 00000000    42        0 3 1 0 20";

    #[test]
    #[cfg(target_endian = "little")]
    fn the_owner_is_found_by_both_addresses() {
        let at = |port| SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        assert_eq!(socket_owner(TABLE, at(0xd6a2), at(0x1667)), Some(1001));
        assert_eq!(socket_owner(TABLE, at(0x1667), at(0xd6a2)), None);
        // Closed, not accepted, and half closed.
        for port in [0xd6a3, 0xd6a4, 0xd6a5] {
            assert_eq!(socket_owner(TABLE, at(port), at(0x1667)), None, "{port:x}");
        }
        let at = |port| SocketAddr::from((Ipv6Addr::LOCALHOST, port));
        assert_eq!(socket_owner(TABLE_6, at(0x8ae2), at(0x1667)), Some(42));
    }

    proptest! {
        #[test]
        fn any_text_is_borne(text: String, lines in "([0-9A-F: ]{0,80}\n){0,4}") {
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 1));
            let _ = socket_owner(&text, address, address);
            let _ = socket_owner(&lines, address, address);
        }
    }
}
