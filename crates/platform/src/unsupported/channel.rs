use std::fs::File;

use super::refuse;
use crate::Result;

pub(crate) fn unix_socket_pair() -> Result<(File, File)> {
    refuse("a pair of sockets")
}

pub(crate) fn event_counter() -> Result<File> {
    refuse("a counter to wait for")
}
