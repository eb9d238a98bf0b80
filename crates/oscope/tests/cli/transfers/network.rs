//! Networks: one that fails for a while, one that leads to the loopback addresses of another machine,
//! and one whose addresses have a scope.

use super::{Stream, TOKEN, file};
use crate::common::receiver::Receiver;
use crate::common::{Place, ends, program};
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;
use testing::Command;

/// The address of the second host's receiver.
const ADDRESS: &str = "10.77.0.2:5735";

/// Two hosts: network namespaces joined by a virtual cable that can be pulled.
struct Hosts {
    names: [String; 2],
}

impl Hosts {
    fn join() -> Option<Self> {
        // Tests run at the same time, and each removes its hosts by name.
        static JOINED: AtomicU32 = AtomicU32::new(0);
        let id = format!("{}-{}", std::process::id(), JOINED.fetch_add(1, Relaxed));
        let hosts = Self {
            names: [format!("oscope-a{id}"), format!("oscope-b{id}")],
        };
        let [a, b] = &hosts.names;
        let steps = [
            format!("netns add {a}"),
            format!("netns add {b}"),
            format!("-n {a} link add cable type veth peer name cable netns {b}"),
            format!("-n {a} addr add 10.77.0.1/24 dev cable"),
            format!("-n {b} addr add 10.77.0.2/24 dev cable"),
            format!("-n {a} link set cable up"),
            format!("-n {b} link set cable up"),
        ];
        Self::all(&steps).then_some(hosts)
    }

    /// True if all `steps` are done; else a reason is printed.
    fn all(steps: &[String]) -> bool {
        let are_done = steps.iter().all(|step| Self::ip(step));
        if !are_done {
            eprintln!("skipped: it takes root, ip(8) and some settings to make such a network");
        }
        are_done
    }

    fn ip(arguments: &str) -> bool {
        let ip = Command::new("ip").args(arguments.split(' ')).output();
        ip.is_ok_and(|output| output.status.success())
    }

    fn on(&self, host: usize) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.names[host]])
            .arg(program());
        command
    }

    /// A receiver on a host.
    fn receiver(&self, host: usize, listen: &str, arguments: &[&str]) -> Receiver {
        Receiver::at(listen, self.on(host), &[&["--once"], arguments].concat())
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        for name in &self.names {
            Self::ip(&format!("netns del {name}"));
        }
    }
}

#[test]
fn a_cable_that_is_pulled_for_a_while_only_delays() {
    let Some(hosts) = Hosts::join() else { return };
    let place = Place::new();
    let (to, token) = (place.directory("to"), place.file("token", TOKEN));
    let options = ["--token-file", &token];
    let receiver = hosts.receiver(1, ADDRESS, &[&options[..], &[&to]].concat());
    let mut stream = Stream::start(hosts.on(0), ADDRESS, "file", &options);
    stream.write(1, 2);
    let [_, b] = &hosts.names;
    assert!(Hosts::ip(&format!("-n {b} link set cable down")));
    stream.write(2, 1);
    std::thread::sleep(Duration::from_secs(1));
    assert!(Hosts::ip(&format!("-n {b} link set cable up")));
    stream.write(3, 1);
    let output = stream.end();
    assert!(output.status.success(), "{output:?}");
    assert!(receiver.end().status.success());
    let arrived = fs::read(place.path("to/file")).expect("it arrived");
    let written = [vec![1; 2 << 20], vec![2; 1 << 20], vec![3; 1 << 20]].concat();
    assert!(arrived == written, "{} bytes", arrived.len());
}

#[test]
fn another_machine_that_reaches_the_loopback_address_delivers_nothing() {
    let Some(hosts) = Hosts::join() else { return };
    let [a, b] = &hosts.names;
    let local = |host: &str| {
        let set = "echo 1 > /proc/sys/net/ipv4/conf/all/route_localnet";
        let mut command = Command::new("ip");
        command.args(["netns", "exec", host, "sh", "-c", set]);
        let output = command.output();
        output.is_ok_and(|output| output.status.success())
    };
    let steps = [
        format!("-n {b} link set lo up"),
        format!("-n {a} route add 127.0.0.1/32 via 10.77.0.2 dev cable"),
    ];
    if !Hosts::all(&steps) || !local(a) || !local(b) {
        return;
    }
    let place = Place::new();
    let (to, one) = (place.path("to"), file(&place, "one", 1000));
    let send = |receiver: Receiver, expected: &str| {
        let mut sender = hosts.on(0);
        sender.args(["send", "--insecure", &one, "--to", &receiver.address]);
        ends(&mut sender, expected);
    };
    let receiver = Receiver::by(hosts.on(1), &to, &[]);
    send(receiver, "1 | 2> its own user only");
    assert!(!to.join("one").exists());
    // The way is there.
    let receiver = Receiver::by(hosts.on(1), &to, &["--insecure"]);
    send(receiver, "0");
    assert!(to.join("one").exists());
}

#[test]
fn the_name_of_an_interface_is_part_of_an_address() {
    const SCOPED: &str = "[fe80::1%lo]:5735";
    let Some(hosts) = Hosts::join() else { return };
    let [a, _] = &hosts.names;
    let steps = [
        format!("-n {a} link set lo up"),
        format!("-n {a} addr add fe80::1/64 dev lo nodad"),
    ];
    if !Hosts::all(&steps) {
        return;
    }
    let place = Place::new();
    let (to, token) = (place.directory("to"), place.file("token", TOKEN));
    let one = file(&place, "one", 1000);
    let receiver = hosts.receiver(0, SCOPED, &["--token-file", &token, &to]);
    let mut sender = hosts.on(0);
    sender.args(["send", &one, "--to", SCOPED, "--token-file", &token]);
    ends(&mut sender, "0");
    assert!(receiver.end().status.success());
    assert_eq!(place.names("to"), ["one"]);
}
