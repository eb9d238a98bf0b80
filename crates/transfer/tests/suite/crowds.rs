//! Many peers with small demands, and some with large ones: nobody else is kept out, and no
//! resource runs out.

use crate::common::{
    PLAN, Served, TWO, TestDirectories, greeting, item, receive_options, say, sealed, send_options,
    send_to, set_mode, token,
};
use oscope_transfer::method::{ReceiveMethod, SendMethod};
use oscope_transfer::protocol::{Part, VERSION};
use oscope_transfer::receiver;
use oscope_transfer::sender::Contents;
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;
use testing::Command;

#[test]
fn silent_clients_do_not_block_senders() {
    const SILENT: usize = 200;
    let dirs = TestDirectories::new();
    let served = Served::with(&dirs, |it| {
        (it.max_connections, it.limits.patience) = (2, Duration::from_mins(1));
    });
    let silent: Vec<_> = (0..SILENT)
        .map(|_| TcpStream::connect(served.address).expect("it listens"))
        .collect();
    let jobs = [dirs.file("file", b"in spite of them")];
    served.send(&jobs, TWO).assert(1, 0);
    // Some are allowed to wait, and still do; the others are disconnected.
    assert!(served.ends() < SILENT, "{}", served.log());
    served.wait_for_ends(SILENT - 64);
    drop(silent);
    served.wait_for_ends(SILENT + 2);
}

#[test]
fn a_flood_of_strangers_does_not_block_a_sender_on_a_slow_line() {
    const STRANGERS: usize = 300;
    // The first words of a sender with a token, and the answer to them.
    const OPENING: usize = 64 + 48;
    const ANSWER: usize = 64 + 112;
    let dirs = TestDirectories::new();
    let secret = "a token of some length";
    let served = Served::with(&dirs, |it| it.token = Some(token(secret)));
    let line = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = line.local_addr().unwrap();
    let jobs = [dirs.file("file", b"in spite of them")];
    std::thread::scope(|scope| {
        let options = sealed(secret, SendMethod::File);
        let sending = scope.spawn(move || send_to(address, &jobs, PLAN, &options));
        let (mut near, _) = line.accept().unwrap();
        let mut far = TcpStream::connect(served.address).unwrap();
        let pass = |from: &mut TcpStream, to: &mut TcpStream, len| {
            let mut words = vec![0; len];
            from.read_exact(&mut words).unwrap();
            to.write_all(&words).unwrap();
        };
        pass(&mut near, &mut far, OPENING);
        pass(&mut far, &mut near, ANSWER);
        // Strangers come while the next words of the sender are still on the line.
        let strangers: Vec<_> = (0..STRANGERS)
            .map(|_| TcpStream::connect(served.address).unwrap())
            .collect();
        served.wait_for_ends(STRANGERS - 64);
        let mut back = (far.try_clone().unwrap(), near.try_clone().unwrap());
        scope.spawn(move || std::io::copy(&mut back.0, &mut back.1));
        scope.spawn(move || {
            let _ = std::io::copy(&mut near, &mut far);
            let _ = far.shutdown(Shutdown::Write);
        });
        sending.join().unwrap().assert(1, 0);
        drop(strangers);
    });
    assert_eq!(dirs.received("file"), b"in spite of them");
}

#[test]
fn a_greeting_that_trickles_in_is_not_waited_for() {
    let dirs = TestDirectories::new();
    let patience = Duration::from_secs(30);
    let served = Served::with(&dirs, |it| it.limits.patience = patience);
    let mut slow = TcpStream::connect(served.address).unwrap();
    slow.set_read_timeout(Some(Duration::from_millis(250)))
        .unwrap();
    let mut taken = 0;
    for byte in greeting(VERSION) {
        let is_over = slow.write_all(&[byte]).is_err()
            || match slow.read(&mut [0]) {
                Ok(count) => {
                    assert_eq!(count, 0, "it answers half a greeting");
                    true
                }
                Err(error) => error.kind() != ErrorKind::WouldBlock,
            };
        if is_over {
            break;
        }
        taken += 1;
    }
    served.wait_for("did not prove in time");
    assert!(taken < greeting(VERSION).len(), "all of it was waited for");
}

#[test]
fn files_of_which_only_parts_come_do_not_use_up_descriptors() {
    const FILES: u64 = 2000;
    let dirs = TestDirectories::new();
    let patience = Duration::from_secs(1);
    let served = Served::with(&dirs, |it| it.limits.patience = patience);
    let mut session = served.session(&send_options(SendMethod::File));
    for id in 0..FILES {
        let name = format!("file{id}");
        let item = Part {
            parts: 64,
            ..item(id, &name, Some(1))
        };
        session.send(&item, Contents::Zeros).unwrap();
    }
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..FILES {
        match session.outcome().unwrap().unwrap().1.failure {
            None => taken += 1,
            Some(failure) => {
                assert!(failure.contains("incomplete files"), "{failure}");
                refused += 1;
            }
        }
    }
    assert!(taken > 0 && refused > 0, "{taken} {refused}");
    let open = open_files(&dirs.to());
    assert!(open < 100, "{open} descriptors for {taken} files");
    session.finish().unwrap();
    served.wait_for("ended");
    // The directory itself stays open.
    assert!(open_files(&dirs.to()) <= 1);
    assert_eq!(dirs.names(), [""; 0]);
}

/// Number of this process's descriptors for `directory` or anything in it.
fn open_files(directory: &Path) -> usize {
    let descriptors = fs::read_dir("/proc/self/fd").expect("there is /proc");
    descriptors
        .flatten()
        .filter_map(|entry| fs::read_link(entry.path()).ok())
        .filter(|target| target.starts_with(directory))
        .count()
}

/// Runs a command as an unrelated user; `None`, with the reason printed, if that is not allowed.
pub(crate) fn as_another_user(command: &mut Command) -> Option<Vec<u8>> {
    let output = command.current_dir("/").output();
    match output {
        Ok(output) if !output.status.success() => {
            let said = String::from_utf8_lossy(&output.stderr);
            if said.contains("setpriv:") {
                println!("skipped: {said}");
                return None;
            }
            panic!(
                "{command:?}: {said}{}",
                String::from_utf8_lossy(&output.stdout)
            );
        }
        Ok(output) => Some(output.stdout),
        Err(error) => {
            println!("skipped: setpriv: {error}");
            None
        }
    }
}

/// A copy of this program, and a file with `contents`, that every user can reach.
pub(crate) fn for_everyone(dirs: &TestDirectories, contents: &[u8]) -> (PathBuf, PathBuf) {
    let [program, file] = ["program", "for all"].map(|name| dirs.root.path().join(name));
    fs::copy(std::env::current_exe().expect("it runs"), &program).expect("there is room");
    fs::write(&file, contents).expect("there is room");
    for path in [dirs.root.path(), &program, &file] {
        set_mode(path, 0o755);
    }
    (program, file)
}

pub(crate) fn setpriv(user: u32) -> Command {
    let mut command = Command::new("setpriv");
    command.args([
        &format!("--reuid={user}"),
        &format!("--regid={user}"),
        "--clear-groups",
    ]);
    command
}

#[test]
fn another_user_of_this_machine_needs_a_token() {
    const CLIENT: &str = r#"
        exec 3<>"/dev/tcp/127.0.0.1/$1"
        printf 'oscope\r\n\x05\x00\x01\x00\x01\x00\x00\x00' >&3
        head -c 48 /dev/zero >&3
        cat <&3
    "#;
    let dirs = TestDirectories::new();
    let served = Served::of(&dirs);
    let port = served.address.port().to_string();
    let mut own = Command::new("timeout");
    let client = ["bash", "-c", CLIENT, "client", &port];
    // The same greeting from the same user is welcome; the peer then stays silent until it is given
    // up.
    let welcome = own
        .args(["1"])
        .args(client)
        .output()
        .expect("there is a shell");
    assert_eq!((welcome.stdout.len(), welcome.stdout[10]), (64, 0));
    let Some(refused) = as_another_user(setpriv(65534).args(client)) else {
        return;
    };
    assert_eq!((refused.len(), refused[10]), (64, 7));
    served.wait_for("it belongs to another user");
    assert_eq!(dirs.names(), [""; 0]);
}

/// Set in the process with a limited number of threads.
const FEW_THREADS: &str = "OSCOPE_TEST_FEW_THREADS";

#[test]
fn a_receiver_that_gets_no_more_threads_lives_on() {
    let dirs = TestDirectories::new();
    let (program, _) = for_everyone(&dirs, b"");
    let mut command = setpriv(54_321);
    command
        .args(["prlimit", "--nproc=5:5", "--"])
        .arg(&program)
        .args([
            "--exact",
            "crowds::few_threads",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(FEW_THREADS, "1");
    if let Some(said) = as_another_user(&mut command) {
        let said = String::from_utf8_lossy(&said);
        assert!(said.contains("1 passed"), "{said}");
    }
}

/// The body of the test before, in a separate process.
#[test]
fn few_threads() {
    if std::env::var_os(FEW_THREADS).is_none() {
        return;
    }
    let options = receive_options(Path::new("/"), ReceiveMethod::File);
    let served = Served::start(receiver::Options {
        directory: None,
        ..options
    });
    let silent: Vec<_> = (0..10)
        .map(|_| TcpStream::connect(served.address).unwrap())
        .collect();
    served.wait_for("cannot start a thread");
    let is_refused = |socket: &&TcpStream| {
        let mut socket: &TcpStream = socket;
        let mut answer = [0; 64];
        socket
            .set_read_timeout(Some(Duration::from_millis(200)))
            .unwrap();
        socket.read_exact(&mut answer).is_ok() && answer[10] == 4
    };
    let refused = silent.iter().filter(is_refused).count();
    assert!((1..10).contains(&refused), "{refused}");
    drop(silent);
    served.wait_for_ends(10);
    // A thread may end a little later than it says.
    for _ in 0..50 {
        let mut socket = say(served.address, &greeting(VERSION));
        let mut answer = [0; 64];
        socket.read_exact(&mut answer).unwrap();
        if answer[10] == 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("nobody is let in any more: {}", served.log());
}
