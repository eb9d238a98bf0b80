//! Sockets whose waits block only the calling user thread, on Linux.
//!
//! Each wait can have a time limit, ends when the other side does something, and can be cancelled: then it returns an
//! error that contains [`Cancelled`](crate::Cancelled). Dropping a socket closes it. Names are resolved on kernel threads
//! of their own.
//!
//! ```
//! use std::io::{Read, Write};
//! use uthread::net::{TcpListener, TcpStream};
//!
//! # fn main() -> std::io::Result<()> {
//! uthread::run(|| {
//!     let listener = TcpListener::bind(("127.0.0.1", 0))?;
//!     let address = listener.local_addr()?;
//!     let echo = uthread::spawn(move || -> std::io::Result<()> {
//!         let (mut stream, _) = listener.accept()?;
//!         let mut text = [0; 5];
//!         stream.read_exact(&mut text)?;
//!         stream.write_all(&text)
//!     });
//!     let mut stream = TcpStream::connect(address)?;
//!     stream.write_all(b"hello")?;
//!     let mut text = String::new();
//!     stream.read_to_string(&mut text)?;
//!     assert_eq!(text, "hello");
//!     echo.join().unwrap()
//! })
//! # }
//! ```

mod address;
mod connect;
mod stream;
mod tcp;
mod udp;
mod unix;
mod wait;

pub use address::{Address, resolve, resolve_timeout};
pub use stream::Stream;
pub use tcp::{TcpListener, TcpStream};
pub use udp::UdpSocket;
pub use unix::{UnixListener, UnixStream};
