//! Wake-ups that come from kernel threads, signal handlers and the wakers of futures.

mod block_on;
mod external;
mod poster;

pub use block_on::block_on;
pub use external::{External, external};
pub use poster::{Poster, RuntimeEnded};
