//! The machine that answers.

use crate::measured::{DATAGRAM_HEAD, receive_stream, send_stream};
use crate::protocol::{HELLO_BYTES, Invitation, MOST_BYTES, Question, TOKEN_BYTES, read_hello};
use crate::{Error, Result};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A connection that is silent for this long is closed.
const PATIENCE: Duration = Duration::from_secs(5);
/// Waiting threads check the stop flag at this interval.
const STOP_CHECK: Duration = Duration::from_millis(100);
/// More connections are closed at once: strangers could open any number and send nothing.
const MOST_CONNECTIONS: usize = 64;

/// Answers on some addresses until it is dropped.
#[derive(Debug)]
pub struct Answerer {
    invitation: Invitation,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Answerer {
    /// Answers on ports that the system chooses at each of `addresses`, to those who know its token.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn start(addresses: &[IpAddr]) -> Result<Self> {
        let mut token = [0; TOKEN_BYTES];
        getrandom::fill(&mut token)
            .map_err(|error| Error::system("draw a token")(io::Error::other(error)))?;
        let mut answerer = Self {
            invitation: Invitation {
                addresses: Vec::new(),
                udp_ports: Vec::new(),
                token,
            },
            stop: Arc::default(),
            threads: Vec::new(),
        };
        for address in addresses {
            answerer
                .listen(*address)
                .map_err(Error::system("answer at an address"))?;
        }
        Ok(answerer)
    }

    /// The facts that others have to know to ask.
    pub fn invitation(&self) -> &Invitation {
        &self.invitation
    }

    fn listen(&mut self, address: IpAddr) -> io::Result<()> {
        let listener = TcpListener::bind((address, 0))?;
        let socket = UdpSocket::bind((address, 0))?;
        socket.set_read_timeout(Some(STOP_CHECK))?;
        self.invitation.addresses.push(listener.local_addr()?);
        self.invitation.udp_ports.push(socket.local_addr()?.port());
        let token = self.invitation.token;
        let stop = self.stop.clone();
        self.spawn(move || accept(&listener, token, &stop))?;
        let stop = self.stop.clone();
        self.spawn(move || answer_datagrams(&socket, token, &stop))
    }

    fn spawn(&mut self, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let thread = thread::Builder::new().name("answerer".into());
        self.threads.push(thread.spawn(work)?);
        Ok(())
    }
}

impl Drop for Answerer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for address in &self.invitation.addresses {
            // Wakes the thread that waits for a connection.
            let _ = TcpStream::connect_timeout(address, STOP_CHECK);
        }
        for thread in self.threads.drain(..) {
            // The threads return nothing.
            let _ = thread.join();
        }
    }
}

fn accept(listener: &TcpListener, token: [u8; TOKEN_BYTES], stop: &Arc<AtomicBool>) {
    let open = Arc::new(AtomicUsize::new(0));
    while !stop.load(Ordering::Relaxed) {
        let Ok((stream, _)) = listener.accept() else {
            // No descriptor is free, for example.
            thread::sleep(STOP_CHECK);
            continue;
        };
        if open.fetch_add(1, Ordering::Relaxed) >= MOST_CONNECTIONS {
            open.fetch_sub(1, Ordering::Relaxed);
            continue;
        }
        let (stop, of_thread) = (stop.clone(), open.clone());
        let thread = thread::Builder::new().name("answer".into());
        let started = thread.spawn(move || {
            // The machine that asks sees a closed connection, and reports why it cannot measure.
            let _ = answer(stream, token, &stop);
            of_thread.fetch_sub(1, Ordering::Relaxed);
        });
        if started.is_err() {
            open.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn answer(mut stream: TcpStream, token: [u8; TOKEN_BYTES], stop: &AtomicBool) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let mut first = [0; HELLO_BYTES];
    stream.read_exact(&mut first)?;
    match read_hello(&first, token) {
        None => Ok(()),
        Some(Question::Echo { message_bytes }) => echo(&mut stream, message_bytes, stop),
        Some(Question::Receive { warming, counted }) => {
            let found = receive_stream(&mut stream, warming, counted)?;
            stream.write_all(&found.unwrap_or(f64::NAN).to_le_bytes())?;
            // A connection that is closed with unread bytes is reset, and the answer is lost.
            io::copy(&mut stream, &mut io::sink()).map(drop)
        }
        Some(Question::Send { limit }) => send_stream(&mut stream, limit, stop),
    }
}

fn echo(stream: &mut TcpStream, message_bytes: usize, stop: &AtomicBool) -> io::Result<()> {
    let mut message = vec![0; message_bytes];
    while !stop.load(Ordering::Relaxed) {
        stream.read_exact(&mut message)?;
        stream.write_all(&message)?;
    }
    Ok(())
}

fn answer_datagrams(socket: &UdpSocket, token: [u8; TOKEN_BYTES], stop: &AtomicBool) {
    let mut message = vec![0; MOST_BYTES.min(usize::from(u16::MAX))];
    while !stop.load(Ordering::Relaxed) {
        let Ok((length, from)) = socket.recv_from(&mut message) else {
            continue;
        };
        if is_asked(&message[..length], token, from) {
            // A datagram that cannot be sent is lost, which the other machine counts.
            let _ = socket.send_to(&message[..length], from);
        }
    }
}

fn is_asked(message: &[u8], token: [u8; TOKEN_BYTES], from: SocketAddr) -> bool {
    message.len() >= DATAGRAM_HEAD && message.starts_with(&token) && from.port() != 0
}
