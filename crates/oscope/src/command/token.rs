//! `oscope token`: creates a shared secret for two machines.

use crate::arguments::transfer::Token as Arguments;
use crate::exit::Exit;
use crate::output;
use anyhow::{Context, Result};
use files::names_standard_output;
use platform::file::create_secret;
use std::io::Write;
use transfer::Token;

pub fn execute(arguments: &Arguments) -> Result<Exit> {
    let token = Token::random_text()? + "\n";
    match &arguments.output {
        Some(path) if !names_standard_output(path) => {
            let written = create_secret(path).and_then(|mut file| {
                file.write_all(token.as_bytes())?;
                file.sync_all()
            });
            written.with_context(|| format!("cannot write a token to {}", path.display()))?;
        }
        _ => output::show(&token)?,
    }
    Ok(Exit::Done)
}
