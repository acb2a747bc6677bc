//! Socket addresses as they lie in a program's memory.
//!
//! Belongs here: `struct sockaddr`, made readable.
//! Does not belong here: fetching it, or asking a socket for its peer.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddrV4, SocketAddrV6};

use super::effect::escaped;

/// The size of `struct sockaddr_storage`: no address is longer.
pub(super) const LONGEST: usize = 128;

/// The address for people, and the path in it, if it has one.
pub(super) fn describe(address: &[u8]) -> (String, Vec<u8>) {
    let Some((family, rest)) = address.split_first_chunk::<2>() else {
        return ("no address".to_owned(), Vec::new());
    };
    let family = u16::from_le_bytes(*family);
    let port = rest.first_chunk().copied().map_or(0, u16::from_be_bytes);
    let from = |start: usize| rest.get(start..).unwrap_or_default();
    match i32::from(family) {
        libc::AF_UNSPEC => ("no address".to_owned(), Vec::new()),
        libc::AF_INET => match from(2).first_chunk::<4>() {
            Some(ip) => (SocketAddrV4::new(Ipv4Addr::from(*ip), port).to_string(), Vec::new()),
            None => ("IPv4, cut off".to_owned(), Vec::new()),
        },
        libc::AF_INET6 => match from(6).first_chunk::<16>() {
            Some(ip) => (SocketAddrV6::new(Ipv6Addr::from(*ip), port, 0, 0).to_string(), Vec::new()),
            None => ("IPv6, cut off".to_owned(), Vec::new()),
        },
        libc::AF_UNIX => {
            let path = match rest.split_first() {
                None => b"unnamed".to_vec(),
                Some((0, name)) => [b"@", name].concat(),
                Some(_) => rest.split(|byte| *byte == 0).next().unwrap_or_default().to_vec(),
            };
            (format!("unix {}", escaped(&path)), path)
        }
        libc::AF_NETLINK => ("netlink".to_owned(), Vec::new()),
        libc::AF_PACKET => ("packet".to_owned(), Vec::new()),
        libc::AF_VSOCK => ("vsock".to_owned(), Vec::new()),
        other => (format!("family {other}"), Vec::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_readable() {
        let text = |bytes: &[u8]| describe(bytes).0;
        assert_eq!(text(&[2, 0, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]), "127.0.0.1:80");
        let mut six = vec![10, 0, 1, 187, 0, 0, 0, 0];
        six.extend_from_slice(&[0; 15]);
        six.extend_from_slice(&[1, 0, 0, 0, 0]);
        assert_eq!(text(&six), "[::1]:443");
        assert_eq!(describe(b"\x01\0/run/x\0rest"), ("unix /run/x".to_owned(), b"/run/x".to_vec()));
        assert_eq!(describe(b"\x01\0\0na\0me"), ("unix @na\\x00me".to_owned(), b"@na\0me".to_vec()));
        assert_eq!(text(&[16, 0, 0, 0]), "netlink");
        assert_eq!(text(&[2, 0, 0]), "IPv4, cut off");
        assert_eq!(text(&[77, 0]), "family 77");
        assert_eq!(text(&[2]), "no address");
        assert_eq!(text(&[]), "no address");
    }
}
