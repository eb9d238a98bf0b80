//! The file with a token, a secret that two machines share.

use crate::output;
use std::path::Path;
use transfer::{Result, Token};

/// Reads a token. Warns if other users have rights to its file.
///
/// # Errors
/// If the file cannot be read, or holds no token.
pub fn read(path: &Path) -> Result<Token> {
    let token = Token::read(path)?;
    if token.is_exposed() {
        let path = path.display();
        output::say(&format!(
            "other users of this machine have rights to the token in {path}: `chmod 600 {path}`"
        ));
    }
    Ok(token)
}
