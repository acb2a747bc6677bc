//! What `/proc` and the kernel tell about a process of the tree.
//!
//! Belongs here: its identity, its descriptors, its directory.
//! Does not belong here: its memory (`memory`), or what a call means (`look`).

use std::fs;
use std::io;
use std::net::UdpSocket;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::net::{SocketAddr, UnixStream};

use rustix::net::AddressFamily;

use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

use super::effect::escaped;

/// Which process a thread belongs to, that one's parent, and its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) process: u32,
    pub(super) parent: u32,
    pub(super) program: String,
}

/// What a descriptor stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// Nothing outside the process: a pipe, an eventfd, a memfd, the null device; or no open descriptor.
    Inside,
    /// A socket.
    Socket,
    /// A file or device, by its path.
    File(Vec<u8>),
    /// The kernel does not tell us.
    Hidden,
}

/// Where a socket without an address of its own in the call leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Peer {
    /// To the other end of a nameless pair, which only relatives can have.
    Pair,
    /// To an address, for people, and its path if it is one.
    Address(String, Vec<u8>),
    /// Not known.
    Unknown,
}

/// The identity of `thread`; of one that is gone, its own number and no name.
pub(super) fn identity(thread: u32) -> Identity {
    let status = fs::read(format!("/proc/{thread}/status")).unwrap_or_default();
    let status = String::from_utf8_lossy(&status);
    let number = |name: &str| field(&status, name).and_then(|text| text.parse().ok());
    let (process, parent) = (number("Tgid:").unwrap_or(thread), number("PPid:").unwrap_or(0));
    let program = field(&status, "Name:").unwrap_or_default().escape_default().to_string();
    Identity { process, parent, program }
}

/// What the link of a descriptor says: `pipe:[1]`, `socket:[2]`, a path.
pub(super) fn link(thread: u32, descriptor: i32) -> io::Result<Vec<u8>> {
    Ok(fs::read_link(format!("/proc/{thread}/fd/{descriptor}"))?.into_os_string().into_vec())
}

/// The current directory.
pub(super) fn directory(thread: u32) -> io::Result<Vec<u8>> {
    Ok(fs::read_link(format!("/proc/{thread}/cwd"))?.into_os_string().into_vec())
}

/// What a descriptor stands for. `protocol` are the links that count as nothing outside.
pub(super) fn target(thread: u32, descriptor: i32, protocol: &[Vec<u8>]) -> Target {
    match link(thread, descriptor) {
        Ok(link) if protocol.contains(&link) => Target::Inside,
        Ok(link) if link.starts_with(b"socket:") => Target::Socket,
        Ok(link) if link == b"/dev/null" || link.starts_with(b"/memfd:") => Target::Inside,
        Ok(link) if link.starts_with(b"/") => Target::File(link),
        Err(fault) if fault.kind() == io::ErrorKind::PermissionDenied => Target::Hidden,
        _ => Target::Inside,
    }
}

/// Whether a descriptor was opened for reading and writing, as a writable shared mapping needs.
pub(super) fn is_read_write(thread: u32, descriptor: i32) -> bool {
    let flags = information(thread, descriptor, "flags:").and_then(|text| i32::from_str_radix(&text, 8).ok());
    flags.is_none_or(|flags| flags & libc::O_ACCMODE == libc::O_RDWR)
}

/// The process behind a pidfd.
pub(super) fn process_behind(thread: u32, descriptor: i32) -> Option<i32> {
    information(thread, descriptor, "Pid:")?.parse().ok()
}

/// Where a socket leads, asked of a copy of its descriptor.
pub(super) fn peer(thread: u32, descriptor: i32) -> Peer {
    let Some(socket) = copy(identity(thread).process, descriptor) else { return Peer::Unknown };
    match rustix::net::sockopt::socket_domain(&socket) {
        Ok(AddressFamily::UNIX) => {
            let socket = UnixStream::from(socket);
            match (socket.peer_addr(), socket.local_addr()) {
                (Ok(peer), Ok(local)) if peer.is_unnamed() && local.is_unnamed() => Peer::Pair,
                (Ok(peer), Ok(local)) => named(if peer.is_unnamed() { &local } else { &peer }),
                _ => Peer::Unknown,
            }
        }
        Ok(AddressFamily::INET | AddressFamily::INET6) => {
            let peer = UdpSocket::from(socket).peer_addr();
            peer.map_or(Peer::Unknown, |peer| Peer::Address(peer.to_string(), Vec::new()))
        }
        _ => Peer::Unknown,
    }
}

/// A path or an abstract name.
fn named(address: &SocketAddr) -> Peer {
    use std::os::linux::net::SocketAddrExt;
    let path = address.as_pathname().map(|path| path.as_os_str().as_bytes().to_vec());
    let path = path.or_else(|| address.as_abstract_name().map(|name| [b"@", name].concat()));
    path.map_or(Peer::Unknown, |path| Peer::Address(format!("unix {}", escaped(&path)), path))
}

fn copy(process: u32, descriptor: i32) -> Option<OwnedFd> {
    let process = Pid::from_raw(i32::try_from(process).ok()?)?;
    let process = pidfd_open(process, PidfdFlags::empty()).ok()?;
    pidfd_getfd(&process, descriptor, PidfdGetfdFlags::empty()).ok()
}

fn information(thread: u32, descriptor: i32, name: &str) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{thread}/fdinfo/{descriptor}")).ok()?;
    field(&text, name).map(str::to_owned)
}

/// The value in the line that begins with `name`.
fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}
