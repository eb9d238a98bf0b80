//! Both sides of a connection over loopback.

use oscope_network::{Answerer, Invitation, Peer, Protocol, addresses};
use std::io::{Read, Write};
use std::net::{TcpStream, UdpSocket};
use std::time::Duration;
use testing as _;

fn answerer() -> Answerer {
    let addresses = addresses(Some("127.0.0.1")).expect("loopback");
    Answerer::start(&addresses).expect("it listens on loopback")
}

#[test]
fn all_parts_of_a_connection_are_measured() {
    let answerer = answerer();
    let peer = Peer::find(answerer.invitation()).expect("it answers");
    let time = Duration::from_millis(1500);
    let measured = peer.measure(time);
    assert_eq!(measured.failures, [] as [&str; 0]);
    let sizes: Vec<_> = (measured.latencies.iter())
        .map(|it| (it.protocol, it.message_bytes, it.loaded))
        .collect();
    let (tcp, udp) = (Protocol::Tcp, Protocol::Udp);
    let expected = [
        (tcp, 1, false),
        (tcp, 1 << 10, false),
        (tcp, 64 << 10, false),
        (udp, 64, false),
        (udp, 1400, false),
        (tcp, 1, true),
    ];
    assert_eq!(sizes, expected);
    for latency in &measured.latencies {
        assert!(latency.count > 0, "{latency:?}");
        assert!(0.0 < latency.p50_ns, "{latency:?}");
    }
    let throughput = measured.throughput.expect("bytes go both ways");
    assert!(
        throughput.there > 0.0 && throughput.back > 0.0,
        "{throughput:?}"
    );
}

#[test]
fn strangers_get_no_answer() {
    let answerer = answerer();
    let invitation = answerer.invitation();
    let mut stream = TcpStream::connect(invitation.addresses[0]).expect("it listens");
    stream.write_all(&[0; 64]).expect("it receives");
    let mut answer = Vec::new();
    // The connection is closed, with or without a reset.
    let _ = stream.read_to_end(&mut answer);
    assert!(answer.is_empty());

    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let to = (invitation.addresses[0].ip(), invitation.udp_ports[0]);
    socket.send_to(&[0; 64], to).expect("it sends");
    let patience = Some(Duration::from_millis(100));
    socket.set_read_timeout(patience).expect("a timeout");
    assert!(socket.recv(&mut [0; 64]).is_err());
}

#[test]
fn a_machine_that_left_is_named_by_its_address() {
    let answerer = answerer();
    let invitation: Invitation = answerer.invitation().clone();
    let peer = Peer::find(&invitation).expect("it answers");
    drop(answerer);
    let error = Peer::find(&invitation).unwrap_err().to_string();
    assert!(
        error.contains(&invitation.addresses[0].to_string()),
        "{error}"
    );
    let measured = peer.measure(Duration::from_millis(50));
    assert!(measured.latencies.is_empty() && measured.throughput.is_none());
    assert!(!measured.failures.is_empty());
}
