//! A line of strace's output: which call it is, and what the program gave it.
//!
//! Belongs here: strace's notation (strace(1)), calls with an effect. Does not belong here: starting strace, markers.
//!
//! A call is printed when it is entered, so that the last line may have no end yet. Results are of no interest: as with
//! `syscalls`, what was attempted counts.

/// A call with an effect outside its process, or a look at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Call {
    /// Its name.
    pub(super) name: String,
    /// What its first argument stands for if that is a descriptor: a path, an address.
    pub(super) descriptor: Vec<u8>,
    /// Every string in its arguments, joined by NUL bytes.
    pub(super) data: Vec<u8>,
}

/// What a line says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Call(Call),
    /// What is done by this is no call: stores to a mapped file, a ring of requests.
    Blind(String),
    /// A result, a signal, a call within the process.
    Nothing,
}

/// Calls whose effect is on what their first argument, a descriptor, stands for.
const ON_A_DESCRIPTOR: [&str; 8] =
    ["write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg", "sendmmsg"];
/// What descriptors stand for that lead nowhere outside: pipes, and what is anonymous or null.
const INSIDE: [&[u8]; 5] = [b"pipe:", b"anon_inode:", b"/memfd:", b"/dev/null", b"FIFO:"];

impl Line {
    /// Reads `PID NAME(ARGUMENTS…`.
    pub(super) fn read(line: &[u8]) -> Self {
        let Some((name, arguments)) = head(line) else { return Self::Nothing };
        match name {
            "mmap" => return mapping(arguments),
            "io_uring_setup" => return Self::Blind("a ring of requests (io_uring)".to_owned()),
            _ => {}
        }
        let descriptor = annotation(arguments).unwrap_or_default();
        if ON_A_DESCRIPTOR.contains(&name) && is_inside(&descriptor) {
            return Self::Nothing;
        }
        let descriptor = if ON_A_DESCRIPTOR.contains(&name) { descriptor } else { Vec::new() };
        Self::Call(Call { name: name.to_owned(), descriptor, data: strings(arguments) })
    }
}

/// The call's name and what stands behind its parenthesis. Behind `PID` and blanks a result begins with `<...`, a signal
/// with `---`, an end with `+++`: none of them is a name.
fn head(line: &[u8]) -> Option<(&str, &[u8])> {
    let digits = line.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let behind = line.get(digits..)?.trim_ascii_start();
    let open = behind.iter().position(|byte| *byte == b'(')?;
    let name = std::str::from_utf8(behind.get(..open)?).ok()?;
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let is_call = digits > 0 && !name.is_empty() && name.bytes().all(is_name);
    is_call.then_some((name, behind.get(open.saturating_add(1)..)?))
}

/// `mmap(ADDRESS, LENGTH, PROTECTION, FLAGS, DESCRIPTOR<PATH>, OFFSET)`.
fn mapping(arguments: &[u8]) -> Line {
    let mut parts = arguments.splitn(5, |byte| *byte == b',');
    let (protection, flags) = (parts.nth(2).unwrap_or_default(), parts.next().unwrap_or_default());
    let has = |text: &[u8], flag: &[u8]| text.windows(flag.len()).any(|window| window == flag);
    let path = parts.next().map(<[u8]>::trim_ascii_start).and_then(annotation).unwrap_or_default();
    let is_shared = has(flags, b"MAP_SHARED") && !has(flags, b"MAP_ANONYMOUS");
    if is_shared && has(protection, b"PROT_WRITE") && !is_inside(&path) {
        return Line::Blind(format!("a mapping of {} in memory", path.escape_ascii()));
    }
    Line::Nothing
}

/// What a descriptor stands for: `5</a/path>`, `6<TCP:[127.0.0.1:1->127.0.0.1:2]>`.
fn annotation(argument: &[u8]) -> Option<Vec<u8>> {
    let digits = argument.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = argument.get(digits..)?.strip_prefix(b"<")?;
    // A `>` that stands in a path is written as an escape, and one in an address is part of `->`.
    let mut before = b' ';
    let end = text.iter().position(|byte| {
        let is_end = *byte == b'>' && before != b'-';
        before = *byte;
        is_end
    });
    (digits > 0).then(|| unescaped(text.get(..end.unwrap_or(text.len())).unwrap_or_default()))
}

/// Whether writing there leaves the process tree: not to a pipe, and not to a socket of a nameless pair.
fn is_inside(descriptor: &[u8]) -> bool {
    let is_pair =
        descriptor.starts_with(b"UNIX") && !descriptor.iter().any(|byte| matches!(byte, b'"' | b'@'));
    is_pair || INSIDE.iter().any(|start| descriptor.starts_with(start))
}

/// Every string of the arguments. What is cut off ends with the line.
fn strings(arguments: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    let mut rest = arguments;
    while let Some(start) = quote(rest) {
        rest = rest.get(start.saturating_add(1)..).unwrap_or_default();
        let end = quote(rest).unwrap_or(rest.len());
        if !all.is_empty() {
            all.push(0);
        }
        all.extend(unescaped(rest.get(..end).unwrap_or_default()));
        rest = rest.get(end.saturating_add(1)..).unwrap_or_default();
    }
    all
}

/// Where the next quotation mark stands. An escaped one is part of a string, or of a descriptor's path.
fn quote(text: &[u8]) -> Option<usize> {
    let mut is_escaped = false;
    text.iter().position(|byte| {
        let is_quote = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_quote
    })
}

/// The bytes of a string as strace writes it: C's escapes.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        // An escape that is cut off stands for nothing.
        let Some(kind) = rest.next() else { break };
        let mut number = |first: u32, radix: u32, digits: usize| {
            let mut value = first;
            for _ in 0..digits {
                let Some(digit) = rest.peek().and_then(|byte| char::from(*byte).to_digit(radix)) else {
                    break;
                };
                value = value.saturating_mul(radix).saturating_add(digit);
                rest.next();
            }
            u8::try_from(value).unwrap_or(b'?')
        };
        bytes.push(match kind {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'f' => 0x0c,
            b'x' => number(0, 16, 2),
            b'0'..=b'7' => number(u32::from(kind).saturating_sub(u32::from(b'0')), 8, 2),
            other => other,
        });
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(line: &str) -> Call {
        match Line::read(line.as_bytes()) {
            Line::Call(call) => call,
            other => panic!("{line}: {other:?}"),
        }
    }

    /// Recorded with strace 6.1 and `-f -qq -yy`, but for the paths.
    #[test]
    fn calls_are_read_with_their_strings() {
        for (line, name, descriptor, data) in [
            (
                r#"26592 execve("/bin/sh", ["sh", "-c", "echo fgm-child >/dev/null"], 0x7ffd22335198 /* 38 vars */) = 0"#,
                "execve",
                "",
                "/bin/sh\0sh\0-c\0echo fgm-child >/dev/null",
            ),
            (
                r#"7  openat(AT_FDCWD</srv/a>, "x/fgm-1", O_WRONLY|O_CREAT|O_TRUNC|O_CLOEXEC, 0666) = 3</srv/a/x/fgm-1>"#,
                "openat",
                "",
                "x/fgm-1",
            ),
            (
                r#"7 write(3</srv/a\"\76\n>, "fgm\n\33[0m\x41\0001", 4) = 4"#,
                "write",
                "/srv/a\">\n",
                "fgm\n\x1b[0mA\u{0}1",
            ),
            (
                r#"7 sendto(6<UDP:[127.0.0.1:34372->127.0.0.1:9]>, "fgm-udp", 7, 0, NULL, 0) = 7"#,
                "sendto",
                "UDP:[127.0.0.1:34372->127.0.0.1:9]",
                "fgm-udp",
            ),
            (
                r#"7 sendto(3<UNIX-STREAM:[5->6,"/run/fgm"]>, "a", 1, 0, NULL, 0) = 1"#,
                "sendto",
                "UNIX-STREAM:[5->6,\"/run/fgm\"]",
                "/run/fgm\0a",
            ),
            (
                r#"7 connect(5<UNIX:[7906684]>, {sa_family=AF_UNIX, sun_path="/tmp/fgm-x"}, 13) = -1 ENOENT (No such file or directory)"#,
                "connect",
                "",
                "/tmp/fgm-x",
            ),
            // The end of a line that is still written, and a call whose result comes later.
            (r#"7 rename("a", "fgm-2"#, "rename", "", "a\0fgm-2"),
            (r#"7 unlink("fgm-3" <unfinished ...>"#, "unlink", "", "fgm-3"),
            (r#"7 unlink("fgm\"#, "unlink", "", "fgm"),
        ] {
            let read = call(line);
            assert_eq!(
                (&*read.name, &*read.descriptor, &*read.data),
                (name, descriptor.as_bytes(), data.as_bytes()),
                "{line}"
            );
        }
    }

    #[test]
    fn what_stays_inside_and_what_is_no_call_is_nothing() {
        for line in [
            r#"7 write(1<pipe:[9]>, "fgm-1", 5) = 5"#,
            r#"7 write(4</dev/null<char 1:3>>, "fgm-1", 5) = 5"#,
            r#"7 sendto(3<UNIX-STREAM:[7906681->7906682]>, "fgm-pair", 8, 0, NULL, 0) = 8"#,
            r#"7 <... write resumed>) = 5"#,
            "7 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=8} ---",
            "7 +++ exited with 0 +++",
            "7 mmap(NULL, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7fefbb70c000",
            "7 mmap(NULL, 33699, PROT_READ, MAP_SHARED, 3</etc/ld.so.cache>, 0) = 0x7fefbb703000",
            "7 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED|MAP_ANONYMOUS, -1, 0) = 0x7f",
            "strace: a complaint (of its own)",
            "",
            "7 ",
        ] {
            assert_eq!(Line::read(line.as_bytes()), Line::Nothing, "{line}");
        }
    }

    #[test]
    fn what_is_done_without_calls_is_told() {
        for line in [
            r"7 mmap(NULL, 4096, PROT_READ|PROT_WRITE, MAP_SHARED, 3</srv/a/store>, 0) = 0x7fefbb70c000",
            "7 io_uring_setup(8, {flags=0, sq_thread_cpu=0}) = 3<anon_inode:[io_uring]>",
        ] {
            assert!(matches!(Line::read(line.as_bytes()), Line::Blind(_)), "{line}");
        }
    }
}
