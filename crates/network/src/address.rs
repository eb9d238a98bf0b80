//! The addresses at which this machine can be reached.

use crate::error::{Error, Result};
use if_addrs::{IfAddr, Interface, get_if_addrs};
use std::net::IpAddr;

/// The addresses of all interfaces that are up, but for loopback and addresses that are valid on one link only.
///
/// # Errors
/// [`Error::NoAddress`] if there is none, or the system's refusal.
pub fn addresses() -> Result<Vec<IpAddr>> {
    chosen(None)
}

/// The addresses of the interface that is called `name` or has this address.
pub fn addresses_of(name: &str) -> Result<Vec<IpAddr>> {
    chosen(Some(name))
}

fn chosen(name: Option<&str>) -> Result<Vec<IpAddr>> {
    let interfaces = get_if_addrs().map_err(Error::system("list the network interfaces"))?;
    let found = usable(&interfaces, name);
    if found.is_empty() {
        return Err(Error::NoAddress(name.map(str::to_owned)));
    }
    Ok(found)
}

/// IPv4 first: a machine with both is usually reached by it.
fn usable(interfaces: &[Interface], name: Option<&str>) -> Vec<IpAddr> {
    let is_meant = |it: &&Interface| match name {
        Some(name) => it.name == name || it.ip().to_string() == name,
        None => !it.is_loopback(),
    };
    let is_of_one_link = |it: &Interface| match &it.addr {
        IfAddr::V4(v4) => v4.ip.is_link_local(),
        IfAddr::V6(v6) => v6.ip.is_unicast_link_local(),
    };
    let meant = interfaces.iter().filter(is_meant);
    let usable = meant.filter(|it| !is_of_one_link(it));
    let mut addresses: Vec<IpAddr> = usable.map(Interface::ip).collect();
    addresses.sort_by_key(IpAddr::is_ipv6);
    addresses
}

#[cfg(test)]
mod tests {
    use super::{addresses_of, usable};
    use if_addrs::get_if_addrs;

    #[test]
    fn loopback_is_used_only_where_it_is_named() {
        let interfaces = get_if_addrs().expect("the system lists them");
        let found = usable(&interfaces, None);
        assert!(found.iter().all(|address| !address.is_loopback()));
        let named = addresses_of("127.0.0.1").expect("loopback is there");
        assert!(named.iter().all(std::net::IpAddr::is_loopback));
    }

    #[test]
    fn an_interface_that_is_not_there_is_named() {
        let error = addresses_of("no such interface").unwrap_err().to_string();
        assert!(error.contains("no such interface"), "{error}");
    }
}
