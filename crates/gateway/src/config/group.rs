//! Is a group one user's own?
//!
//! Belongs here: the reading of `passwd(5)` and `group(5)` for that one question.
//! Does not belong here: files that are judged by the answer.
//!
//! Many systems give each user a group and a umask of 002, so that a group-writable file is private
//! all the same. Users and groups that are not in the two files are not known, and an unknown group
//! is not private.

use std::fs::File;
use std::io::Read;

/// Whether `group` has no other member than the user `owner`.
pub(super) fn is_private(group: u32, owner: u32) -> bool {
    let table = |path| {
        let mut text = String::new();
        let file = File::open(path).ok()?;
        file.take(1024 * 1024).read_to_string(&mut text).ok()?;
        Some(text)
    };
    match (table("/etc/passwd"), table("/etc/group")) {
        (Some(users), Some(groups)) => is_private_in(group, owner, &users, &groups),
        _ => false,
    }
}

fn is_private_in(group: u32, owner: u32, users: &str, groups: &str) -> bool {
    let users: Vec<User<'_>> = users.lines().filter_map(User::read).collect();
    let is_owner = |name: &str| users.iter().any(|user| user.name == name && user.id == owner);
    let mut listed = groups.lines().filter_map(|line| members(line, group)).peekable();
    listed.peek().is_some()
        && listed.all(|members| members.split(',').all(|name| name.is_empty() || is_owner(name)))
        && users.iter().all(|user| user.group != group || user.id == owner)
}

/// A line of `passwd(5)`: name, password, user, group, …
struct User<'a> {
    name: &'a str,
    id: u32,
    group: u32,
}

impl<'a> User<'a> {
    fn read(line: &'a str) -> Option<Self> {
        let mut fields = line.split(':');
        let name = fields.next()?;
        let _password = fields.next()?;
        let id = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        Some(Self { name, id, group })
    }
}

/// The members of `group` if a line of `group(5)` is about it: name, password, group, members.
fn members(line: &str, group: u32) -> Option<&str> {
    let mut fields = line.split(':').skip(2);
    let id: u32 = fields.next()?.parse().ok()?;
    let members = fields.next()?;
    (id == group).then_some(members)
}

#[cfg(test)]
mod tests {
    use super::*;

    const USERS: &str = "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n\
        bob:x:1001:1001::/home/bob:/bin/sh\ncy:x:1002:100::/home/cy:/bin/sh\n# a comment\n";
    const GROUPS: &str = "root:x:0:\nann:x:1000:\nbob:x:1001:ann\nusers:x:100:\nself:x:50:ann\n";

    #[test]
    fn a_group_of_one_is_private() {
        assert!(is_private_in(1000, 1000, USERS, GROUPS));
        assert!(is_private_in(50, 1000, USERS, GROUPS));
        assert!(is_private_in(0, 0, USERS, GROUPS));
    }

    #[test]
    fn any_other_member_makes_it_shared() {
        assert!(!is_private_in(1001, 1001, USERS, GROUPS), "ann is a member");
        assert!(!is_private_in(100, 1000, USERS, GROUPS), "it is the primary group of cy");
        assert!(!is_private_in(1000, 1001, USERS, GROUPS), "it is the group of ann");
        assert!(!is_private_in(7, 1000, USERS, GROUPS), "it is not listed");
        assert!(!is_private_in(1000, 1000, USERS, "ann:x:1000:\nann2:x:1000:bob\n"), "it is listed twice");
    }
}
