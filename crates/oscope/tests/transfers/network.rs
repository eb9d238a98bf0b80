//! A network that fails for a while.

use crate::common::{Place, program};
use crate::{Stream, TOKEN, text};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
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
        let id = std::process::id();
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
        let all = steps.iter().all(|step| Self::ip(step));
        if !all {
            eprintln!("skipped: it takes root and ip(8) to make network namespaces");
        }
        all.then_some(hosts)
    }

    fn ip(arguments: &str) -> bool {
        let ip = Command::new("ip")
            .args(arguments.split(' '))
            .stderr(Stdio::null())
            .status();
        ip.is_ok_and(|status| status.success())
    }

    fn on(&self, host: usize) -> Command {
        let mut command = Command::new("ip");
        command
            .args(["netns", "exec", &self.names[host]])
            .arg(program());
        command
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
    let (to, token) = (place.path("to"), place.path("token"));
    fs::create_dir(&to).expect("a directory");
    fs::write(&token, TOKEN).expect("a file");
    let mut receiver = hosts
        .on(1)
        .args(["receive", "--once", "--listen", ADDRESS, "--token-file"])
        .arg(&token)
        .arg(&to)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut said = BufReader::new(receiver.stderr.take().expect("a pipe"));
    said.read_line(&mut String::new())
        .expect("it says where it listens");
    let options = ["--token-file", text(&token)];
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
    assert!(receiver.wait().expect("it ends").success());
    let arrived = fs::read(to.join("file")).expect("it arrived");
    let written = [vec![1; 2 << 20], vec![2; 1 << 20], vec![3; 1 << 20]].concat();
    assert!(arrived == written, "{} bytes", arrived.len());
}
