//! The system calls that are watched, and how each is looked at.
//!
//! Belongs here: one row for each such call.
//! Does not belong here: the harmless calls (`harmless`), or the looking itself (`look`).

use std::ffi::c_long;

use super::effect::Kind;

/// A watched system call.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    /// Its number on this architecture.
    pub(super) number: c_long,
    /// Its name.
    pub(super) name: &'static str,
    /// How its arguments are looked at.
    pub(super) look: Look,
}

/// How the arguments are looked at. Numbers are the arguments' indices.
#[derive(Debug, Clone, Copy)]
pub(super) enum Look {
    /// Paths, and the effect on them.
    Paths(Kind, &'static [At]),
    /// An open, whose flags tell what it is.
    Open(At, OpenFlags),
    /// A descriptor, and the effect on what is behind it.
    Descriptor(Kind, usize),
    /// `write(2)` and its like: descriptor, buffer, length.
    Write,
    /// `writev(2)` and its like: descriptor, vector, count.
    WriteVector,
    /// `sendto(2)`.
    SendTo,
    /// `sendmsg(2)`.
    SendMessage,
    /// `sendmmsg(2)`.
    SendMessages,
    /// `connect(2)`, `bind(2)`: descriptor, address, length.
    Address(Kind),
    /// `execve(2)` and its like: the program and its argument vector.
    Execute(At, usize),
    /// A signal, by its receiver and its number.
    Signal(Receiver, usize),
    /// A shared mapping.
    Map,
    /// Something that is not permitted, because it could not be seen.
    Ring,
    /// A listener of the program's own.
    OwnListener,
    /// Anything else.
    Other,
}

/// A path argument.
#[derive(Debug, Clone, Copy)]
pub(super) struct At {
    /// What a relative path begins at.
    pub(super) base: Base,
    /// The path.
    pub(super) path: usize,
}

/// What a relative path begins at.
#[derive(Debug, Clone, Copy)]
pub(super) enum Base {
    /// The current directory.
    Current,
    /// A directory's descriptor; a null or empty path is the descriptor's own file.
    Directory(usize),
    /// Not a path to resolve: the text of a symbolic link, a name.
    Text,
}

/// Where an open's flags are.
#[derive(Debug, Clone, Copy)]
pub(super) enum OpenFlags {
    /// In an argument.
    Argument(usize),
    /// In the first word of the structure that an argument points to.
    Structure(usize),
}

/// Who gets a signal.
#[derive(Debug, Clone, Copy)]
pub(super) enum Receiver {
    /// A process, or several, as `kill(2)` has it.
    Process(usize),
    /// A thread.
    Thread(usize),
    /// The process behind a descriptor.
    Descriptor(usize),
}

const fn cwd(path: usize) -> At {
    At { base: Base::Current, path }
}

const fn at(directory: usize, path: usize) -> At {
    At { base: Base::Directory(directory), path }
}

const fn text(path: usize) -> At {
    At { base: Base::Text, path }
}

/// The row of the watched call `number`.
pub(super) fn find(number: c_long) -> Option<&'static Call> {
    watched().find(|call| call.number == number)
}

/// Every row.
pub(super) fn watched() -> impl Iterator<Item = &'static Call> {
    COMMON.iter().chain(ONLY_HERE)
}

macro_rules! rows {
    ($($name:ident = $number:expr, $look:expr;)*) => {
        &[$(Call { number: $number, name: stringify!($name), look: $look }),*]
    };
}

use Kind::{Bind, Connect, CreateOrRemove, Other, Read, Write};
use Look::{Descriptor, Paths};

/// The calls that every architecture has.
static COMMON: &[Call] = rows! {
    openat = libc::SYS_openat, Look::Open(at(0, 1), OpenFlags::Argument(2));
    openat2 = libc::SYS_openat2, Look::Open(at(0, 1), OpenFlags::Structure(2));
    newfstatat = libc::SYS_newfstatat, Paths(Read, &[at(0, 1)]);
    statx = libc::SYS_statx, Paths(Read, &[at(0, 1)]);
    readlinkat = libc::SYS_readlinkat, Paths(Read, &[at(0, 1)]);
    faccessat = libc::SYS_faccessat, Paths(Read, &[at(0, 1)]);
    faccessat2 = libc::SYS_faccessat2, Paths(Read, &[at(0, 1)]);
    chdir = libc::SYS_chdir, Paths(Read, &[cwd(0)]);
    statfs = libc::SYS_statfs, Paths(Read, &[cwd(0)]);
    getxattr = libc::SYS_getxattr, Paths(Read, &[cwd(0)]);
    lgetxattr = libc::SYS_lgetxattr, Paths(Read, &[cwd(0)]);
    listxattr = libc::SYS_listxattr, Paths(Read, &[cwd(0)]);
    llistxattr = libc::SYS_llistxattr, Paths(Read, &[cwd(0)]);
    inotify_add_watch = libc::SYS_inotify_add_watch, Paths(Read, &[cwd(1)]);
    name_to_handle_at = libc::SYS_name_to_handle_at, Paths(Read, &[at(0, 1)]);
    getxattrat = 464, Paths(Read, &[at(0, 1)]);
    listxattrat = 465, Paths(Read, &[at(0, 1)]);
    file_getattr = 468, Paths(Read, &[at(0, 1)]);

    write = libc::SYS_write, Look::Write;
    pwrite64 = libc::SYS_pwrite64, Look::Write;
    writev = libc::SYS_writev, Look::WriteVector;
    pwritev = libc::SYS_pwritev, Look::WriteVector;
    pwritev2 = libc::SYS_pwritev2, Look::WriteVector;
    sendfile = libc::SYS_sendfile, Descriptor(Write, 0);
    splice = libc::SYS_splice, Descriptor(Write, 2);
    copy_file_range = libc::SYS_copy_file_range, Descriptor(Write, 2);
    ioctl = libc::SYS_ioctl, Descriptor(Write, 0);
    io_submit = libc::SYS_io_submit, Look::Other;

    mkdirat = libc::SYS_mkdirat, Paths(CreateOrRemove, &[at(0, 1)]);
    mknodat = libc::SYS_mknodat, Paths(CreateOrRemove, &[at(0, 1)]);
    unlinkat = libc::SYS_unlinkat, Paths(CreateOrRemove, &[at(0, 1)]);
    renameat2 = libc::SYS_renameat2, Paths(CreateOrRemove, &[at(0, 1), at(2, 3)]);
    linkat = libc::SYS_linkat, Paths(CreateOrRemove, &[at(0, 1), at(2, 3)]);
    symlinkat = libc::SYS_symlinkat, Paths(CreateOrRemove, &[text(0), at(1, 2)]);
    truncate = libc::SYS_truncate, Paths(CreateOrRemove, &[cwd(0)]);
    ftruncate = libc::SYS_ftruncate, Descriptor(CreateOrRemove, 0);
    fallocate = libc::SYS_fallocate, Descriptor(CreateOrRemove, 0);
    fchmod = libc::SYS_fchmod, Descriptor(CreateOrRemove, 0);
    fchmodat = libc::SYS_fchmodat, Paths(CreateOrRemove, &[at(0, 1)]);
    fchmodat2 = 452, Paths(CreateOrRemove, &[at(0, 1)]);
    fchown = libc::SYS_fchown, Descriptor(CreateOrRemove, 0);
    fchownat = libc::SYS_fchownat, Paths(CreateOrRemove, &[at(0, 1)]);
    utimensat = libc::SYS_utimensat, Paths(CreateOrRemove, &[at(0, 1)]);
    setxattr = libc::SYS_setxattr, Paths(CreateOrRemove, &[cwd(0), text(1)]);
    lsetxattr = libc::SYS_lsetxattr, Paths(CreateOrRemove, &[cwd(0), text(1)]);
    fsetxattr = libc::SYS_fsetxattr, Descriptor(CreateOrRemove, 0);
    setxattrat = 463, Paths(CreateOrRemove, &[at(0, 1), text(3)]);
    removexattr = libc::SYS_removexattr, Paths(CreateOrRemove, &[cwd(0), text(1)]);
    lremovexattr = libc::SYS_lremovexattr, Paths(CreateOrRemove, &[cwd(0), text(1)]);
    fremovexattr = libc::SYS_fremovexattr, Descriptor(CreateOrRemove, 0);
    removexattrat = 466, Paths(CreateOrRemove, &[at(0, 1), text(3)]);
    file_setattr = 469, Paths(CreateOrRemove, &[at(0, 1)]);

    connect = libc::SYS_connect, Look::Address(Connect);
    bind = libc::SYS_bind, Look::Address(Bind);
    listen = libc::SYS_listen, Descriptor(Bind, 0);
    sendto = libc::SYS_sendto, Look::SendTo;
    sendmsg = libc::SYS_sendmsg, Look::SendMessage;
    sendmmsg = libc::SYS_sendmmsg, Look::SendMessages;

    execve = libc::SYS_execve, Look::Execute(cwd(0), 1);
    execveat = libc::SYS_execveat, Look::Execute(at(0, 1), 2);
    kill = libc::SYS_kill, Look::Signal(Receiver::Process(0), 1);
    tgkill = libc::SYS_tgkill, Look::Signal(Receiver::Process(0), 2);
    tkill = libc::SYS_tkill, Look::Signal(Receiver::Thread(0), 1);
    rt_sigqueueinfo = libc::SYS_rt_sigqueueinfo, Look::Signal(Receiver::Process(0), 1);
    rt_tgsigqueueinfo = libc::SYS_rt_tgsigqueueinfo, Look::Signal(Receiver::Process(0), 2);
    pidfd_send_signal = libc::SYS_pidfd_send_signal, Look::Signal(Receiver::Descriptor(0), 1);

    mmap = libc::SYS_mmap, Look::Map;
    seccomp = libc::SYS_seccomp, Look::OwnListener;
    io_uring_setup = libc::SYS_io_uring_setup, Look::Ring;
    io_uring_enter = libc::SYS_io_uring_enter, Look::Ring;
    io_uring_register = libc::SYS_io_uring_register, Look::Ring;

    mq_open = libc::SYS_mq_open, Paths(Other, &[text(0)]);
    mq_unlink = libc::SYS_mq_unlink, Paths(Other, &[text(0)]);
    mq_timedsend = libc::SYS_mq_timedsend, Look::Other;
    shmget = libc::SYS_shmget, Look::Other;
    shmat = libc::SYS_shmat, Look::Other;
    shmctl = libc::SYS_shmctl, Look::Other;
    semget = libc::SYS_semget, Look::Other;
    semctl = libc::SYS_semctl, Look::Other;
    msgget = libc::SYS_msgget, Look::Other;
    msgsnd = libc::SYS_msgsnd, Look::Other;
    msgctl = libc::SYS_msgctl, Look::Other;
    ptrace = libc::SYS_ptrace, Look::Other;
    process_vm_readv = libc::SYS_process_vm_readv, Look::Other;
    process_vm_writev = libc::SYS_process_vm_writev, Look::Other;
    process_madvise = libc::SYS_process_madvise, Look::Other;
    process_mrelease = libc::SYS_process_mrelease, Look::Other;
    pidfd_getfd = libc::SYS_pidfd_getfd, Look::Other;
    userfaultfd = libc::SYS_userfaultfd, Look::Other;
    bpf = libc::SYS_bpf, Look::Other;
    perf_event_open = libc::SYS_perf_event_open, Look::Other;
    fanotify_init = libc::SYS_fanotify_init, Look::Other;
    open_by_handle_at = libc::SYS_open_by_handle_at, Look::Other;
    setns = libc::SYS_setns, Look::Other;
    unshare = libc::SYS_unshare, Look::Other;
    chroot = libc::SYS_chroot, Paths(Other, &[cwd(0)]);
    pivot_root = libc::SYS_pivot_root, Paths(Other, &[cwd(0), cwd(1)]);
    mount = libc::SYS_mount, Paths(Other, &[text(0), cwd(1)]);
    umount2 = libc::SYS_umount2, Paths(Other, &[cwd(0)]);
    open_tree = libc::SYS_open_tree, Paths(Other, &[at(0, 1)]);
    move_mount = libc::SYS_move_mount, Paths(Other, &[at(0, 1), at(2, 3)]);
    mount_setattr = libc::SYS_mount_setattr, Paths(Other, &[at(0, 1)]);
    fsopen = libc::SYS_fsopen, Paths(Other, &[text(0)]);
    fspick = libc::SYS_fspick, Paths(Other, &[at(0, 1)]);
    fsconfig = libc::SYS_fsconfig, Look::Other;
    fsmount = libc::SYS_fsmount, Look::Other;
    swapon = libc::SYS_swapon, Paths(Other, &[cwd(0)]);
    swapoff = libc::SYS_swapoff, Paths(Other, &[cwd(0)]);
    quotactl = libc::SYS_quotactl, Look::Other;
    quotactl_fd = libc::SYS_quotactl_fd, Look::Other;
    acct = libc::SYS_acct, Paths(Other, &[cwd(0)]);
    reboot = libc::SYS_reboot, Look::Other;
    sethostname = libc::SYS_sethostname, Paths(Other, &[text(0)]);
    setdomainname = libc::SYS_setdomainname, Paths(Other, &[text(0)]);
    settimeofday = libc::SYS_settimeofday, Look::Other;
    clock_settime = libc::SYS_clock_settime, Look::Other;
    adjtimex = libc::SYS_adjtimex, Look::Other;
    clock_adjtime = libc::SYS_clock_adjtime, Look::Other;
    syslog = libc::SYS_syslog, Look::Other;
    vhangup = libc::SYS_vhangup, Look::Other;
    init_module = libc::SYS_init_module, Look::Other;
    finit_module = libc::SYS_finit_module, Look::Other;
    delete_module = libc::SYS_delete_module, Paths(Other, &[text(0)]);
    kexec_load = libc::SYS_kexec_load, Look::Other;
    add_key = libc::SYS_add_key, Paths(Other, &[text(0), text(1)]);
    request_key = libc::SYS_request_key, Paths(Other, &[text(0), text(1)]);
    keyctl = libc::SYS_keyctl, Look::Other;
};

/// The calls that only x86_64 has: the older forms.
#[cfg(target_arch = "x86_64")]
static ONLY_HERE: &[Call] = rows! {
    open = libc::SYS_open, Look::Open(cwd(0), OpenFlags::Argument(1));
    creat = libc::SYS_creat, Paths(Kind::OpenForWriting, &[cwd(0)]);
    stat = libc::SYS_stat, Paths(Read, &[cwd(0)]);
    lstat = libc::SYS_lstat, Paths(Read, &[cwd(0)]);
    access = libc::SYS_access, Paths(Read, &[cwd(0)]);
    readlink = libc::SYS_readlink, Paths(Read, &[cwd(0)]);
    mkdir = libc::SYS_mkdir, Paths(CreateOrRemove, &[cwd(0)]);
    rmdir = libc::SYS_rmdir, Paths(CreateOrRemove, &[cwd(0)]);
    mknod = libc::SYS_mknod, Paths(CreateOrRemove, &[cwd(0)]);
    unlink = libc::SYS_unlink, Paths(CreateOrRemove, &[cwd(0)]);
    rename = libc::SYS_rename, Paths(CreateOrRemove, &[cwd(0), cwd(1)]);
    renameat = libc::SYS_renameat, Paths(CreateOrRemove, &[at(0, 1), at(2, 3)]);
    link = libc::SYS_link, Paths(CreateOrRemove, &[cwd(0), cwd(1)]);
    symlink = libc::SYS_symlink, Paths(CreateOrRemove, &[text(0), cwd(1)]);
    chmod = libc::SYS_chmod, Paths(CreateOrRemove, &[cwd(0)]);
    chown = libc::SYS_chown, Paths(CreateOrRemove, &[cwd(0)]);
    lchown = libc::SYS_lchown, Paths(CreateOrRemove, &[cwd(0)]);
    utime = libc::SYS_utime, Paths(CreateOrRemove, &[cwd(0)]);
    utimes = libc::SYS_utimes, Paths(CreateOrRemove, &[cwd(0)]);
    futimesat = libc::SYS_futimesat, Paths(CreateOrRemove, &[at(0, 1)]);
    iopl = libc::SYS_iopl, Look::Other;
    ioperm = libc::SYS_ioperm, Look::Other;
    kexec_file_load = libc::SYS_kexec_file_load, Look::Other;
};

/// The calls that only aarch64 has.
#[cfg(target_arch = "aarch64")]
static ONLY_HERE: &[Call] = rows! {
    renameat = 38, Paths(CreateOrRemove, &[at(0, 1), at(2, 3)]);
    kexec_file_load = 294, Look::Other;
};
