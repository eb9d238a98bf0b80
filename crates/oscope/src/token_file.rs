//! The file with a token, a secret that two machines share.

use crate::output;
use std::path::Path;
use transfer::{Result, Token};

/// Reads the token in the file that the user named, if any. Warns if other users have rights to it.
///
/// # Errors
/// If the file cannot be read, or holds no token.
pub fn read(path: Option<&Path>) -> Result<Option<Token>> {
    let Some(path) = path else { return Ok(None) };
    let token = Token::read(path)?;
    if token.is_exposed() {
        let path = path.display();
        output::say(&format!(
            "other users of this machine have rights to the token in {path}: `chmod 600 {path}`"
        ));
    }
    Ok(Some(token))
}
