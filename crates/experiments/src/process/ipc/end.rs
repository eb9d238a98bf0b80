//! One end of a connection, the same for every means.

use crate::prelude::*;
use platform::shared::{Receiver, Sender, Words, wait_while, wake_one};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// One end of a connection in both directions.
pub(super) enum End {
    /// Files, pipes, sockets and other descriptors with read and write.
    Files {
        input: Box<dyn Read>,
        output: Box<dyn Write>,
    },
    /// Rings of shared memory.
    Rings { input: Receiver, output: Sender },
    /// Two words of shared memory. Each counts the messages in one direction.
    Words {
        words: Arc<Words>,
        input: usize,
        output: usize,
        received: u32,
        sent: u32,
    },
}

impl End {
    pub(super) fn of_files(input: impl Read + 'static, output: impl Write + 'static) -> Self {
        Self::Files {
            input: Box::new(input),
            output: Box::new(output),
        }
    }

    /// An end that is read from and written to by the same file.
    pub(super) fn of_file(file: File) -> io::Result<Self> {
        Ok(Self::of_files(file.try_clone()?, file))
    }

    pub(super) fn of_tcp(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self::of_files(stream.try_clone()?, stream))
    }

    /// The end that receives the messages that the word `input` counts.
    pub(super) fn of_words(words: Arc<Words>, input: usize, output: usize) -> Self {
        Self::Words {
            words,
            input,
            output,
            received: 0,
            sent: 0,
        }
    }

    /// Sends a message. Words carry no content, only the fact that there is a message.
    pub(super) fn send(&mut self, message: &[u8]) -> Result<(), MeasureError> {
        match self {
            Self::Files { output, .. } => output
                .write_all(message)
                .map_err(MeasureError::system("send a message")),
            Self::Rings { output, .. } => {
                output.send(message);
                Ok(())
            }
            Self::Words {
                words,
                output,
                sent,
                ..
            } => {
                let word = words.word(*output);
                *sent = sent.wrapping_add(1);
                word.store(*sent, Ordering::Release);
                Ok(wake_one(word)?)
            }
        }
    }

    /// Waits for a whole message.
    pub(super) fn receive(&mut self, message: &mut [u8]) -> Result<(), MeasureError> {
        match self {
            Self::Files { input, .. } => input
                .read_exact(message)
                .map_err(MeasureError::system("receive a message")),
            Self::Rings { input, .. } => {
                input.receive(message);
                Ok(())
            }
            Self::Words {
                words,
                input,
                received,
                ..
            } => {
                let word = words.word(*input);
                while word.load(Ordering::Acquire) == *received {
                    wait_while(word, *received)?;
                }
                *received = received.wrapping_add(1);
                Ok(())
            }
        }
    }
}
