//! The seccomp filter: which calls the kernel announces and which it lets through.
//!
//! Belongs here: the BPF program, and the rules on arguments.
//! Does not belong here: the lists of calls (`table`, `harmless`), or installing it (`install`).

use std::ffi::c_long;

use libc::sock_filter;

use super::harmless;

/// `AUDIT_ARCH_X86_64`.
#[cfg(target_arch = "x86_64")]
pub(super) const ARCHITECTURE: u32 = 0xc000_003e;
/// `AUDIT_ARCH_AARCH64`.
#[cfg(target_arch = "aarch64")]
pub(super) const ARCHITECTURE: u32 = 0xc000_00b7;

/// What the child puts in the two registers that `sendmsg(2)` does not use, when it hands over the listener:
/// see `install`. No other call has them so, except by a chance of 2^-128.
pub(super) const HANDOVER: [u64; 2] = [0x9e6d_5fa1_c83b_7204, 0x51c7_0be9_64d2_af3b];

/// `FICLONE` and `FICLONERANGE`, which write to a file, and `TIOCSTI`, which types to a terminal.
const WRITING_IOCTLS: [u32; 3] = [0x4004_9409, 0x4020_940d, 0x5412];
/// `MAP_SHARED`, and part of `MAP_SHARED_VALIDATE`, but not of `MAP_PRIVATE`.
const MAP_SHARED: u32 = 0x01;
const MAP_ANONYMOUS: u32 = 0x20;
const AT_EMPTY_PATH: u32 = 0x1000;
const NEW_LISTENER: u32 = 0x08;

const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;
const NOTIFY: u32 = libc::SECCOMP_RET_USER_NOTIF;

/// The program. Straight comparisons, each of two instructions: the kernel works them out once for each call
/// that is always allowed (Linux 5.11) and does not run them again.
pub(super) fn program() -> Vec<sock_filter> {
    // Another ABI's numbers mean other calls; x32's are not in any list.
    let mut program = vec![load(ARCH), equal(ARCHITECTURE, 1, 0), give(NOTIFY), load(NUMBER)];
    let mut rule = |number: c_long, body: &[sock_filter]| {
        program.push(equal(word(number), 0, u8::try_from(body.len()).unwrap_or(u8::MAX)));
        program.extend_from_slice(body);
    };
    rule(libc::SYS_seccomp, &when_bits(1, NEW_LISTENER, NOTIFY, ALLOW));
    // A descriptor and no path, which is how C libraries spell fstat.
    rule(libc::SYS_newfstatat, &when_bits(3, AT_EMPTY_PATH, ALLOW, NOTIFY));
    rule(libc::SYS_statx, &when_bits(2, AT_EMPTY_PATH, ALLOW, NOTIFY));
    let shared = [load(low(3)), bits(MAP_ANONYMOUS, 1, 0), bits(MAP_SHARED, 1, 0)];
    rule(libc::SYS_mmap, &[&shared[..], &[give(ALLOW), give(NOTIFY)]].concat());
    let [clone, range, typed] = WRITING_IOCTLS;
    let ioctl = [load(low(1)), equal(clone, 3, 0), equal(range, 2, 0), equal(typed, 1, 0)];
    rule(libc::SYS_ioctl, &[&ioctl[..], &[give(ALLOW), give(NOTIFY)]].concat());
    rule(libc::SYS_sendmsg, &handover());
    for number in harmless::COMMON.iter().chain(harmless::ONLY_HERE) {
        rule(*number, &[give(ALLOW)]);
    }
    program.push(give(NOTIFY));
    program
}

/// Lets through the one message with [`HANDOVER`] in its spare registers.
fn handover() -> Vec<sock_filter> {
    let [first, second] = HANDOVER;
    let ((first_high, first_low), (second_high, second_low)) = (halves(first), halves(second));
    vec![
        load(low(3)),
        equal(first_low, 0, 7),
        load(high(3)),
        equal(first_high, 0, 5),
        load(low(4)),
        equal(second_low, 0, 3),
        load(high(4)),
        equal(second_high, 0, 1),
        give(ALLOW),
        give(NOTIFY),
    ]
}

/// One answer if the argument has any of the bits, else the other. All are `int` or `unsigned` to the kernel,
/// or have no bits above: the lower half is what counts.
fn when_bits(argument: u32, mask: u32, then: u32, otherwise: u32) -> [sock_filter; 4] {
    [load(low(argument)), bits(mask, 0, 1), give(then), give(otherwise)]
}

fn low(argument: u32) -> u32 {
    argument.saturating_mul(8).saturating_add(16)
}

fn high(argument: u32) -> u32 {
    low(argument).saturating_add(4)
}

/// The upper and the lower half.
fn halves(value: u64) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h] = value.to_le_bytes();
    (u32::from_le_bytes([e, f, g, h]), u32::from_le_bytes([a, b, c, d]))
}

/// No call has a number that does not fit; it would match none.
fn word(number: c_long) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// `BPF_LD | BPF_W | BPF_ABS`.
fn load(offset: u32) -> sock_filter {
    sock_filter { code: 0x20, jt: 0, jf: 0, k: offset }
}

/// `BPF_JMP | BPF_JEQ | BPF_K`.
fn equal(value: u32, then: u8, otherwise: u8) -> sock_filter {
    sock_filter { code: 0x15, jt: then, jf: otherwise, k: value }
}

/// `BPF_JMP | BPF_JSET | BPF_K`.
fn bits(mask: u32, then: u8, otherwise: u8) -> sock_filter {
    sock_filter { code: 0x45, jt: then, jf: otherwise, k: mask }
}

/// `BPF_RET | BPF_K`.
fn give(action: u32) -> sock_filter {
    sock_filter { code: 0x06, jt: 0, jf: 0, k: action }
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::*;

    /// The filter's answer, by an interpreter of the four instructions that it uses.
    fn answer(architecture: u32, number: c_long, arguments: [u64; 6]) -> u32 {
        let mut data = Vec::new();
        data.extend_from_slice(&word(number).to_le_bytes());
        data.extend_from_slice(&architecture.to_le_bytes());
        data.extend_from_slice(&[0; 8]);
        data.extend(arguments.iter().flat_map(|argument| argument.to_le_bytes()));
        let program = program();
        let (mut next, mut accumulator) = (0_usize, 0);
        loop {
            let step = program[next];
            let offset = usize::try_from(step.k).unwrap();
            let taken = match step.code {
                0x20 => {
                    accumulator = u32::from_le_bytes(*data[offset..].first_chunk().unwrap());
                    0
                }
                0x15 => {
                    if accumulator == step.k {
                        step.jt
                    } else {
                        step.jf
                    }
                }
                0x45 => {
                    if accumulator & step.k != 0 {
                        step.jt
                    } else {
                        step.jf
                    }
                }
                0x06 => return step.k,
                other => panic!("instruction {other:#x}"),
            };
            next = next.checked_add(usize::from(taken)).unwrap().checked_add(1).unwrap();
        }
    }

    fn native(number: c_long, arguments: [u64; 6]) -> u32 {
        answer(ARCHITECTURE, number, arguments)
    }

    #[test]
    fn every_watched_call_can_be_announced() {
        // With arguments that no rule lets through: no flags, but MAP_SHARED and the bit of NEW_LISTENER.
        for call in table::watched() {
            let arguments = match call.name {
                "mmap" => [0, 0, 0, 1, 3, 0],
                "seccomp" => [1, 8, 0, 0, 0, 0],
                "ioctl" => [0, 0x5412, 0, 0, 0, 0],
                _ => [0; 6],
            };
            assert_eq!(native(call.number, arguments), NOTIFY, "{}", call.name);
        }
    }

    #[test]
    fn no_call_is_in_two_lists_and_every_name_is_its_number_once() {
        let mut numbers: Vec<c_long> = table::watched().map(|call| call.number).collect();
        numbers.extend(harmless::COMMON.iter().chain(harmless::ONLY_HERE));
        let all = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), all);
    }

    #[test]
    fn harmless_calls_pass_and_unknown_ones_are_announced() {
        for number in harmless::COMMON.iter().chain(harmless::ONLY_HERE) {
            assert_eq!(native(*number, [u64::MAX; 6]), ALLOW, "{number}");
        }
        assert_eq!(native(600, [0; 6]), NOTIFY);
        assert_eq!(native(libc::SYS_read | 0x4000_0000, [0; 6]), NOTIFY, "x32");
        assert_eq!(answer(0x4000_0003, libc::SYS_read, [0; 6]), NOTIFY, "i386");
    }

    #[test]
    fn arguments_decide() {
        assert_eq!(native(libc::SYS_mmap, [0, 0, 3, 0x02, 3, 0]), ALLOW, "private");
        assert_eq!(native(libc::SYS_mmap, [0, 0, 3, 0x21, 3, 0]), ALLOW, "shared, anonymous");
        assert_eq!(native(libc::SYS_mmap, [0, 0, 3, 0x03, 3, 0]), NOTIFY, "shared, validated");
        assert_eq!(native(libc::SYS_seccomp, [1, 1, 0, 0, 0, 0]), ALLOW);
        assert_eq!(native(libc::SYS_newfstatat, [3, 0, 0, 0x1000, 0, 0]), ALLOW);
        assert_eq!(native(libc::SYS_statx, [3, 0, 0x1900, 0, 0, 0]), ALLOW);
        assert_eq!(native(libc::SYS_ioctl, [0, 0x5401, 0, 0, 0, 0]), ALLOW);
        assert_eq!(native(libc::SYS_ioctl, [0, 0xffff_ffff_4004_9409, 0, 0, 0, 0]), NOTIFY);
    }

    #[test]
    fn only_the_whole_handover_passes() {
        let [first, second] = HANDOVER;
        assert_eq!(native(libc::SYS_sendmsg, [9, 1, 2, first, second, 7]), ALLOW);
        for bit in 0..64 {
            let (one, other) = (first ^ (1 << bit), second ^ (1 << bit));
            assert_eq!(native(libc::SYS_sendmsg, [9, 1, 2, one, second, 7]), NOTIFY, "{bit}");
            assert_eq!(native(libc::SYS_sendmsg, [9, 1, 2, first, other, 7]), NOTIFY, "{bit}");
        }
    }
}
