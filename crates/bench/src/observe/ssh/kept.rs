//! What is kept of one SSH connection, and how it is shown.
//!
//! Belongs here: bounds, searching, that a secret is not shown. Does not belong here: the protocol.

use crate::observe::{excerpt, holds};

/// The most that is kept of one channel, in bytes.
const MAX_KEPT: usize = 64 * 1024;
/// How many sessions and forwardings one connection may ask for. A session beyond it is refused, and so does not go unseen.
const MAX_ASKED: usize = 10_000;
/// How much of a line is shown, in bytes.
const SHOWN: usize = 200;

/// What a peer sent, in the order in which it came.
#[derive(Debug, Default)]
pub(super) struct Kept {
    entries: Vec<Entry>,
    asked: usize,
}

#[derive(Debug)]
struct Entry {
    kind: Kind,
    /// The channel it came on; what a connection is asked for has none.
    channel: Option<u32>,
    bytes: Vec<u8>,
}

/// What an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    User,
    /// Searched, and never shown.
    Password,
    /// A request, by its name in RFC 4254 or in OpenSSH's PROTOCOL.
    Request(&'static str),
    /// What is written to a shell or a command.
    Input,
}

impl Kept {
    /// Whether the connection may ask for one more session or forwarding.
    pub(super) fn admits(&mut self) -> bool {
        self.asked = self.asked.saturating_add(1);
        self.asked <= MAX_ASKED
    }

    /// Keeps what the connection as a whole is asked for. A packet bounds its size.
    pub(super) fn of_connection(&mut self, kind: Kind, bytes: &[u8]) {
        self.entries.push(Entry { kind, channel: None, bytes: bytes.to_vec() });
    }

    /// Keeps what came on a channel, as much as there is room for.
    pub(super) fn of_channel(&mut self, channel: u32, kind: Kind, bytes: &[u8]) {
        let of_channel = || self.entries.iter().filter(|entry| entry.channel == Some(channel));
        let kept = of_channel().map(|entry| entry.bytes.len()).sum();
        let room = MAX_KEPT.saturating_sub(kept).min(bytes.len());
        let bytes = bytes.get(..room).unwrap_or_default();
        let input = self
            .entries
            .iter_mut()
            .find(|entry| kind == Kind::Input && entry.kind == kind && entry.channel == Some(channel));
        match input {
            // A marker may come in two pieces.
            Some(entry) => entry.bytes.extend_from_slice(bytes),
            None => self.entries.push(Entry { kind, channel: Some(channel), bytes: bytes.to_vec() }),
        }
    }

    /// Every entry that holds the marker, in words.
    pub(super) fn holding(&self, marker: &str) -> Vec<String> {
        let marked = self.entries.iter().filter(|entry| holds(&entry.bytes, marker.as_bytes()));
        marked.map(|entry| entry.shown(marker)).collect()
    }
}

impl Entry {
    fn shown(&self, marker: &str) -> String {
        let mut lines = self.bytes.split(|byte| *byte == b'\n');
        let line = lines.find(|line| holds(line, marker.as_bytes())).unwrap_or(&self.bytes);
        let line = excerpt(line, SHOWN);
        match self.kind {
            Kind::User => format!("user {line}"),
            Kind::Password => "a password, which is not shown".to_owned(),
            Kind::Request(name) => format!("{name} {line}"),
            Kind::Input => format!("input {line}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_where_pieces_meet_and_shown_with_its_line() {
        let mut kept = Kept::default();
        kept.of_channel(1, Kind::Input, b"first\nrm fg");
        kept.of_channel(2, Kind::Input, b"m-2\n");
        kept.of_channel(1, Kind::Input, b"m-1 \x1b\nlast\n");
        assert_eq!(kept.holding("fgm-1"), ["input rm fgm-1 \\x1b"]);
        assert_eq!(kept.holding("fgm-2"), [""; 0]);
    }

    #[test]
    fn a_password_is_searched_and_not_shown() {
        let mut kept = Kept::default();
        kept.of_connection(Kind::Password, b"secret fgm-1");
        assert_eq!(kept.holding("fgm-1"), ["a password, which is not shown"]);
    }

    #[test]
    fn every_channel_has_room_of_its_own() {
        let mut kept = Kept::default();
        kept.of_channel(1, Kind::Input, &vec![b'x'; 2 * MAX_KEPT]);
        kept.of_channel(1, Kind::Request("exec"), b"fgm-1");
        kept.of_channel(2, Kind::Request("exec"), b"fgm-2");
        assert_eq!(kept.holding("fgm-1"), [""; 0]);
        assert_eq!(kept.holding("fgm-2"), ["exec fgm-2"]);
        assert_eq!(kept.entries.iter().map(|entry| entry.bytes.len()).sum::<usize>(), MAX_KEPT + 5);
    }

    #[test]
    fn a_connection_asks_for_so_much_and_no_more() {
        let mut kept = Kept::default();
        assert!((0..MAX_ASKED).all(|_| kept.admits()));
        assert!(!kept.admits());
    }
}
