//! A network namespace of one's own with loopback up, and nothing else.
//!
//! Belongs here: namespaces(7), one rtnetlink(7) message. Does not belong here: what is run in it.

use std::fs;
use std::io;

use rustix::io::Errno;
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, sendto, socket_with};
use rustix::process::{getegid, geteuid};
use rustix::thread::{UnshareFlags, unshare_unsafe};

/// Sets the flags of a link, and asks for an answer (linux/rtnetlink.h, linux/netlink.h).
const RTM_NEWLINK: u16 = 16;
const NLM_F_REQUEST_ACK: u16 = 0x01 | 0x04;
/// The type of an answer that holds an error number, 0 if all went well.
const NLMSG_ERROR: u16 = 2;
/// A network namespace's loopback is its first link.
const LOOPBACK: i32 = 1;
const IFF_UP: u32 = 1;

/// Leaves the network that this process has. Whoever may not do that alone does it in a user namespace of its own.
pub(super) fn cut_off() -> io::Result<()> {
    match unshare(UnshareFlags::NEWNET) {
        Err(Errno::PERM) => {
            let (user, group) = (geteuid().as_raw(), getegid().as_raw());
            unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWNET)?;
            // One stays who one is: files keep their owner (user_namespaces(7)).
            fs::write("/proc/self/setgroups", "deny")?;
            fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
            fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
        }
        tried => tried?,
    }
    bring_loopback_up()
}

fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    // SAFETY: the call is unsafe for `CLONE_FILES`, which gives threads different tables of descriptors; it is never
    // among these flags.
    #[expect(unsafe_code, reason = "unshare(2) has no safe wrapper; see the block")]
    unsafe {
        unshare_unsafe(flags)
    }
}

fn bring_loopback_up() -> io::Result<()> {
    // The protocol with the number 0 is rtnetlink.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    // nlmsghdr: length, type, flags, sequence, port. ifinfomsg: family and padding, type, index, flags, mask.
    let mut message = Vec::new();
    message.extend_from_slice(&32_u32.to_ne_bytes());
    message.extend_from_slice(&RTM_NEWLINK.to_ne_bytes());
    message.extend_from_slice(&NLM_F_REQUEST_ACK.to_ne_bytes());
    message.extend_from_slice(&[0; 8]);
    message.extend_from_slice(&[0; 4]);
    message.extend_from_slice(&LOOPBACK.to_ne_bytes());
    message.extend_from_slice(&IFF_UP.to_ne_bytes());
    message.extend_from_slice(&IFF_UP.to_ne_bytes());
    sendto(&socket, &message, SendFlags::empty(), &SocketAddrNetlink::new(0, 0))?;
    let mut answer = [0; 1_024];
    let (length, _) = recv(&socket, &mut answer, RecvFlags::empty())?;
    refused(answer.get(..length).unwrap_or_default())
}

/// What the kernel's answer says: behind its header of 16 bytes stands an error number, negative.
fn refused(answer: &[u8]) -> io::Result<()> {
    let number = |from: usize, to: usize| answer.get(from..to).and_then(|bytes| bytes.try_into().ok());
    let kind = answer.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    match (kind, number(16, 20).map(i32::from_ne_bytes)) {
        (Some(NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(NLMSG_ERROR), Some(error)) => Err(io::Error::from_raw_os_error(error.saturating_neg())),
        _ => Err(io::Error::from(io::ErrorKind::InvalidData)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_an_error_number() {
        let answer = |kind: u16, error: i32| {
            let mut bytes = vec![0; 20];
            bytes[4..6].copy_from_slice(&kind.to_ne_bytes());
            bytes[16..20].copy_from_slice(&error.to_ne_bytes());
            bytes
        };
        assert!(refused(&answer(NLMSG_ERROR, 0)).is_ok());
        assert_eq!(refused(&answer(NLMSG_ERROR, -1)).unwrap_err().raw_os_error(), Some(1));
        for odd in [answer(3, 0), answer(NLMSG_ERROR, 0)[..18].to_vec(), Vec::new()] {
            assert_eq!(refused(&odd).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
    }
}
