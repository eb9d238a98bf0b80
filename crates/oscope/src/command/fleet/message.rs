//! Messages between the processes of a job.

use anyhow::{Result, anyhow};
use serde::{Deserialize, Serialize};

/// The version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The answer of a process to the first one.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// An exported run.
    Run(String),
    /// The reason why there is none.
    Failed(String),
    /// Another process measures this node.
    Beside,
}

/// The word of the first process to the others, when it has their answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Next {
    /// The processes that measure again; the others may leave.
    pub ranks: Vec<u32>,
    /// The experiments that they measure.
    pub experiments: Vec<String>,
}

/// A message with the version of the program that sent it.
#[derive(Serialize, Deserialize)]
struct Envelope<T> {
    version: String,
    message: T,
}

/// The part of a message that all versions can read.
#[derive(Deserialize)]
struct Sender {
    version: String,
}

/// A message as bytes.
pub fn written<T: Serialize>(message: T) -> Result<Vec<u8>> {
    Ok(serde_json::to_vec(&Envelope {
        version: VERSION.to_owned(),
        message,
    })?)
}

/// A message from bytes. A message that cannot be read names the version of its sender, if it is another.
pub fn read<T: for<'de> Deserialize<'de>>(bytes: &[u8]) -> Result<T> {
    let envelope: serde_json::Result<Envelope<T>> = serde_json::from_slice(bytes);
    envelope.map(|it| it.message).map_err(|error| {
        let error = anyhow!(error);
        match serde_json::from_slice::<Sender>(bytes) {
            Ok(Sender { version }) if version != VERSION => error.context(format!(
                "its answer cannot be read: it runs oscope {version}, and this is oscope {VERSION}"
            )),
            _ => error.context("its answer cannot be read"),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::{Answer, Next, read, written};
    use crate::exit::words;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        for answer in [
            Answer::Run("{}".into()),
            Answer::Failed("no room".into()),
            Answer::Beside,
        ] {
            let bytes = written(&answer).unwrap();
            assert_eq!(read::<Answer>(&bytes).unwrap(), answer);
        }
        let next = Next {
            ranks: vec![2, 0],
            experiments: vec!["process.calls".into()],
        };
        assert_eq!(read::<Next>(&written(&next).unwrap()).unwrap(), next);
    }

    #[test]
    fn a_message_of_another_version_is_told_with_both_versions() {
        let bytes = br#"{"version":"99.1.0","message":{"riddle":1}}"#;
        let told = words(&read::<Answer>(bytes).unwrap_err());
        assert!(told.contains("it runs oscope 99.1.0"), "{told}");
        assert!(told.contains(env!("CARGO_PKG_VERSION")), "{told}");
        let told = words(&read::<Answer>(b"{\"ver").unwrap_err());
        assert!(told.starts_with("its answer cannot be read: EOF"), "{told}");
    }
}
