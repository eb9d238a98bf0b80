//! An answering machine, as others have to know it.

use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// The size of a token, in bytes.
pub(crate) const TOKEN_BYTES: usize = 16;

/// The addresses at which a machine answers, and the token that it asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invitation {
    /// The addresses for TCP, the preferred one first. UDP is answered at the same addresses with
    /// [`Invitation::udp_ports`].
    pub addresses: Vec<SocketAddr>,
    /// The port for UDP at each address.
    pub udp_ports: Vec<u16>,
    pub(crate) token: [u8; TOKEN_BYTES],
}
