//! The settings of a pair: contents, method and address.

use crate::CHECK;
use std::net::{Ipv4Addr, SocketAddr};

/// The protection of the bytes.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Plain,
    Summed,
    Sealed,
    Bare,
}

pub struct Settings {
    pub sends: bool,
    pub address: SocketAddr,
    pub path: String,
    pub kind: Kind,
    pub frame: usize,
    pub message: usize,
    pub lowat: usize,
    pub congestion: Option<String>,
    pub zeros: Option<u64>,
}

impl Settings {
    pub fn parse(arguments: &[String]) -> Option<Self> {
        let [side, port, path, others @ ..] = arguments else {
            return None;
        };
        let mut settings = Settings {
            sends: side == "send",
            address: (Ipv4Addr::LOCALHOST, port.parse().ok()?).into(),
            path: path.clone(),
            kind: Kind::Plain,
            frame: 512 << 10,
            message: 64 << 10,
            lowat: 256 << 10,
            congestion: Some("reno".into()),
            zeros: None,
        };
        if !settings.sends && side != "receive" {
            return None;
        }
        for other in others {
            let (name, value) = other.split_once('=')?;
            let kib = || Some(value.parse::<usize>().ok()? << 10);
            match (name, value) {
                ("kind", "plain") => settings.kind = Kind::Plain,
                ("kind", "summed") => settings.kind = Kind::Summed,
                ("kind", "sealed") => settings.kind = Kind::Sealed,
                ("kind", "bare") => settings.kind = Kind::Bare,
                ("frame", _) => settings.frame = kib()?,
                ("message", _) => settings.message = kib()?,
                ("lowat", _) => settings.lowat = kib()?,
                ("congestion", "-") => settings.congestion = None,
                ("congestion", name) => settings.congestion = Some(name.into()),
                ("zeros", _) => settings.zeros = Some(value.parse::<u64>().ok()? << 20),
                _ => return None,
            }
        }
        (settings.frame > 0 && settings.message > 0).then_some(settings)
    }

    /// Bytes of checksums or tags for a body of `body` bytes.
    pub fn check_len(&self, body: usize) -> usize {
        match self.kind {
            Kind::Summed => CHECK,
            Kind::Sealed => body.div_ceil(self.message) * CHECK,
            Kind::Plain | Kind::Bare => 0,
        }
    }
}
