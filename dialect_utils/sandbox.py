"""Limits of a process that reads files or runs modules, which it sets on itself: resources, and system calls (seccomp).

It gets no network, no programs and no writing. It may still read files, because libraries load parts of themselves
late. docs/security.md gives the reasons.

libseccomp is called directly: the package `pyseccomp` starts two programs on import to find the library.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import math
import os
import resource
import signal
import struct
import sys
import time
from collections.abc import Iterable, Mapping

# A user or a system sends these to end a program.
ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# System calls that are allowed with any arguments: to compute, to read files, to use threads and open pipes. All that
# no list names, those of later kernels among them, are missing, as on an earlier kernel; so are clone3 and openat2, as
# no filter sees their flags.
_ALLOWED = (
    "read readv pread64 preadv preadv2 write writev pwrite64 pwritev pwritev2 close close_range dup dup2 dup3 lseek "
    "access faccessat faccessat2 stat lstat fstat newfstatat fstatat64 statx statfs fstatfs readlink readlinkat "
    "getcwd getdents getdents64 chdir fchdir getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr fadvise64 "
    "readahead umask select pselect6 poll ppoll epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait "
    "epoll_pwait2 eventfd eventfd2 timerfd_create timerfd_settime timerfd_gettime pipe pipe2 sendfile splice "
    "sendmsg recvmsg sendto recvfrom shutdown getsockname getpeername getsockopt setsockopt mmap munmap mprotect "
    "mremap brk madvise mincore mlock mlock2 munlock mlockall munlockall mbind get_mempolicy set_mempolicy "
    "membarrier memfd_create pkey_alloc pkey_free pkey_mprotect msync futex futex_waitv futex_wait futex_wake "
    "futex_requeue set_robust_list get_robust_list set_tid_address rseq arch_prctl exit exit_group wait4 waitid "
    "restart_syscall gettid getpid getppid getpgid getpgrp getsid getuid geteuid getgid getegid getresuid getresgid "
    "getgroups capget sched_yield sched_getaffinity sched_getscheduler sched_getparam sched_getattr "
    "sched_get_priority_max sched_get_priority_min sched_rr_get_interval getpriority getrlimit getrusage times "
    "getcpu uname sysinfo time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep alarm getitimer "
    "setitimer timer_create timer_settime timer_gettime timer_getoverrun timer_delete getrandom rt_sigaction "
    "rt_sigprocmask rt_sigpending rt_sigreturn rt_sigsuspend rt_sigtimedwait sigaltstack pause seccomp"
)
# System calls that are denied, by topic.
DENIED = {
    "programs": "execve execveat fork vfork ptrace process_vm_readv process_vm_writev",
    "network": "socket socketpair connect bind listen accept accept4 sendmmsg recvmmsg",
    "files": (
        "creat truncate ftruncate fallocate unlink unlinkat rename renameat renameat2 link linkat symlink "
        "symlinkat mkdir mkdirat rmdir fsync fdatasync flock"
    ),
    "attributes": (
        "mknod mknodat chmod fchmod fchmodat chown fchown lchown fchownat utime utimes utimensat futimesat "
        "setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr name_to_handle_at open_by_handle_at"
    ),
    "system": (
        "mount umount2 pivot_root chroot unshare setns bpf perf_event_open userfaultfd keyctl add_key request_key "
        "init_module finit_module delete_module kexec_load reboot swapon swapoff acct settimeofday clock_settime "
        "adjtimex sethostname setdomainname quotactl syslog rt_sigqueueinfo tkill fanotify_init"
    ),
    "limits": "setrlimit setpriority sched_setaffinity sched_setscheduler sched_setparam sched_setattr",
    "memory of others": "shmget shmat shmctl msgget msgsnd msgrcv msgctl semget semop semctl mq_open mq_unlink",
}
# System calls with these values of an argument, by its position: what concerns this process and its descriptors alone.
_VALUES = {
    # F_DUPFD to F_SETFL, F_GETOWN, F_DUPFD_CLOEXEC, the size and the seals of a pipe or of memory
    "fcntl": (1, (0, 1, 2, 3, 4, 9, 1030, 1031, 1032, 1033, 1034)),
    # TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
    "ioctl": (1, (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)),
    # The signal of the parent's end is read, the name set and read; a filter can only be made stricter.
    "prctl": (0, (2, 3, 15, 16, 21, 22, 23, 29, 30, 38, 39, 0x53564D41)),
}
_LOCKS = (5, 6, 7, 36, 37, 38)
_F_SETOWN = 8
# Calls that send signals, allowed for this process alone: abort() sends a signal to itself.
_SIGNALS = ("kill", "tgkill", "rt_tgsigqueueinfo")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
_CLONE_THREAD = 0x10000
# Pipes to the parent, and the files that libraries hold open; a client of XLA has about a dozen.
_OPEN_FILES = 128
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
# Added to a limit of time for work before and after the timed part.
_CPU_MARGIN_SECONDS = 10
_PAGES_OF_DATA = 5
_DIRECTORY_NAME_BYTES = 8
# The numbers of Landlock's three calls, the same on all processors, and its first version with a right to truncate.
_LANDLOCK, _FIRST_WITH_TRUNCATE = 444, 3
# No process makes such files.
_MAKE_BLOCK_DEVICE = 1 << 11
# Of capabilities(7): CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH.
_CAPABILITY_VERSION, _READ_FILES = 0x20080522, 1 << 1 | 1 << 2

# seccomp.h of libseccomp 2.
_LIBRARY = "libseccomp.so.2"
_ALLOW = 0x7FFF0000
_DENY = 0x00050000 | errno.EPERM
_MISSING = 0x00050000 | errno.ENOSYS
_ATTRIBUTE_ALL_THREADS = 4
_NOT_EQUAL, _EQUAL, _MASKED_EQUAL = 1, 4, 7
_ATTRIBUTE_OPTIMIZE, _BINARY_TREE = 8, 2


class _Comparison(ctypes.Structure):
    """A condition on one argument of a system call (`struct scmp_arg_cmp`)."""

    _fields_ = (
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("first", ctypes.c_uint64),
        ("second", ctypes.c_uint64),
    )


class _State:
    """Whether this process has entered a sandbox."""

    is_sandboxed = False


def is_sandboxed() -> bool:
    """Is true in a process that may crash on the file it reads: its parent reports that, and goes on."""
    return _State.is_sandboxed


def mark_sandboxed() -> None:
    """Makes `is_sandboxed` true, also in a process whose system calls are not filtered."""
    _State.is_sandboxed = True


def enter_sandbox(*, is_online: bool = False, may_write: bool = False) -> str | None:
    """Applies the filter to every thread of this process; returns the reason where that is impossible, else None.

    `is_online` permits the network, `may_write` files.
    """
    try:
        library = _library()
    except OSError as error:
        return f"libseccomp cannot be loaded ({error})"
    filter_ = library.seccomp_init(_MISSING)
    # The filter has to apply to XLA's threads, too, which run already.
    library.seccomp_attr_set(filter_, _ATTRIBUTE_ALL_THREADS, 1)
    library.seccomp_attr_set(filter_, _ATTRIBUTE_OPTIMIZE, _BINARY_TREE)
    _add_rules(library, filter_, is_online, may_write)
    code = -library.seccomp_load(filter_)
    library.seccomp_release(filter_)
    return f"the system refuses a filter ({os.strerror(code)})" if code else None


def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(_LIBRARY)
    library.seccomp_init.restype = ctypes.c_void_p
    library.seccomp_init.argtypes = [ctypes.c_uint32]
    library.seccomp_attr_set.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_uint32]
    library.seccomp_load.argtypes = [ctypes.c_void_p]
    library.seccomp_release.argtypes = [ctypes.c_void_p]
    library.seccomp_syscall_resolve_name.argtypes = [ctypes.c_char_p]
    rule = library.seccomp_rule_add_array
    rule.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.POINTER(_Comparison)]
    return library


def _add_rules(library: ctypes.CDLL, filter_: int, is_online: bool, may_write: bool) -> None:
    def add(action: int, names: Iterable[str], *comparisons: _Comparison) -> None:
        conditions = (_Comparison * len(comparisons))(*comparisons)
        for name in names:
            number = library.seccomp_syscall_resolve_name(name.encode())
            # This libseccomp or this machine may not have the call.
            library.seccomp_rule_add_array(filter_, action, number, len(comparisons), conditions)

    opened = {"network": is_online, "files": may_write}
    add(_ALLOW, _ALLOWED.split())
    for topic, names in DENIED.items():
        add(_ALLOW if opened.get(topic) else _DENY, names.split())
    for name, (position, values) in _VALUES.items():
        for value in (*values, *(_LOCKS if name == "fcntl" and (is_online or may_write) else ())):
            add(_ALLOW, [name], _Comparison(position, _EQUAL, value, 0))
    own = os.getpid()
    add(_ALLOW, ["fcntl"], _Comparison(1, _EQUAL, _F_SETOWN, 0), _Comparison(2, _EQUAL, own, 0))
    add(_ALLOW, _SIGNALS, _Comparison(0, _EQUAL, own, 0))
    add(_DENY, _SIGNALS, _Comparison(0, _NOT_EQUAL, own, 0))
    # Threads are allowed, processes are not.
    add(_ALLOW, ["clone"], _Comparison(0, _MASKED_EQUAL, _CLONE_THREAD, _CLONE_THREAD))
    add(_DENY, ["clone"], _Comparison(0, _MASKED_EQUAL, _CLONE_THREAD, 0))
    # Its own limits are read.
    add(_ALLOW, ["prlimit64"], _Comparison(0, _EQUAL, 0, 0), _Comparison(2, _EQUAL, 0, 0))
    for position in (0, 2):
        add(_DENY, ["prlimit64"], _Comparison(position, _NOT_EQUAL, 0, 0))
    for name, position in (("open", 1), ("openat", 2)):
        add(_ALLOW, [name], *(() if may_write else [_Comparison(position, _MASKED_EQUAL, _WRITING, 0)]))
        for flag in () if may_write else (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC):
            add(_DENY, [name], _Comparison(position, _MASKED_EQUAL, flag, flag))


def empty_directory() -> int:
    """Returns a descriptor of an empty directory that is already deleted, so that nothing can be created in it.

    It is the root directory where no directory can be created.
    """
    parent = os.environ.get("TMPDIR") or "/tmp"
    directory = os.path.join(parent, f"relayout-{os.urandom(_DIRECTORY_NAME_BYTES).hex()}")
    # The exception of a signal would leave the directory.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING_SIGNALS)
    try:
        os.mkdir(directory, 0o700)
        try:
            return os.open(directory, os.O_RDONLY)
        finally:
            with contextlib.suppress(OSError):
                os.rmdir(directory)
    except OSError:
        return os.open("/", os.O_RDONLY)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def confine(memory_bytes: int, largest_file: int = 0) -> str | None:
    """Gives this process, which has loaded all that it needs, the limits of a worker; it writes no file by default.

    Memory and the size of a written file are in bytes. Returns the reason where the filter cannot be applied.
    """
    mark_sandboxed()
    os.fchdir(empty_directory())
    limit_resources(memory_bytes, largest_file)
    return enter_sandbox(may_write=largest_file > 0)


def write_only_in(folder: str) -> None:
    """Keeps this thread, and all that it starts, from changing files outside of a directory (Landlock), but /dev/null.

    Does nothing where the kernel lacks it.
    """
    of_files = 1 << 1 | (1 << 14 if _landlock(None, 0, 1) >= _FIRST_WITH_TRUNCATE else 0)
    of_folders = sum(1 << bit for bit in range(4, 13))
    _restrict(of_files | of_folders, {folder: of_files | of_folders, os.devnull: of_files})


def hide_other_processes() -> None:
    """Keeps this thread, and all that it starts, from the memory and environment of others in /proc (Landlock).

    Every process with a rule of Landlock is kept from those without it, also for root (landlock(7)). Of root's
    capabilities it keeps those to read files: another one shows the environment of all processes.
    """
    _restrict(_MAKE_BLOCK_DEVICE, {})
    with contextlib.suppress(AttributeError):
        library, header = ctypes.CDLL(None), struct.pack("=Ii", _CAPABILITY_VERSION, 0)
        held = (ctypes.c_uint32 * 6)()
        library.capget(header, held)
        library.capset(header, (ctypes.c_uint32 * 6)(held[0] & _READ_FILES, held[1] & _READ_FILES))


def _restrict(handled: int, rights: Mapping[str, int]) -> None:
    """Takes rights over files from this thread, but for those under some paths; the rights are bits of Landlock."""
    if sys.platform != "linux" or _landlock(None, 0, 1) < 1:
        return
    rules = _landlock(ctypes.byref(ctypes.c_uint64(handled)), 8, 0)
    for path, kept in rights.items():
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        _landlock(rules, 1, struct.pack("=Qi", kept, descriptor), 0, step=1)
        os.close(descriptor)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    _landlock(rules, 0, step=2)
    os.close(rules)


def _landlock(*arguments: object, step: int = 0) -> int:
    """Calls Landlock: makes rules or asks for its version, adds a rule (step 1), or applies the rules (step 2)."""
    return int(ctypes.CDLL(None, use_errno=True).syscall(_LANDLOCK + step, *arguments))


def limit_resources(memory_bytes: int, largest_file: int = 0) -> None:
    """Limits memory beyond the current use, open files, written files, core dumps and privileges, in bytes."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, largest_file)
    _lower(resource.RLIMIT_NOFILE, _OPEN_FILES)
    limit_memory(memory_bytes)
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)


def limit_memory(memory_bytes: int) -> None:
    """Limits memory beyond the current use."""
    # A limit of the address space would be too strict: with many cores, stacks and arenas reserve more than they use.
    with contextlib.suppress(OSError):
        _lower(resource.RLIMIT_DATA, _data_bytes() + memory_bytes)


def limit_cpu_seconds(seconds: float, pid: int) -> None:
    """Makes Linux end a process after so many more seconds of computing on all cores.

    Its parent sets the limit: a sandboxed process changes none, and does nothing here.
    """
    with contextlib.suppress(OSError, AttributeError, ValueError):
        # The clock of a process (clock_getcpuclockid(3)).
        used = time.clock_gettime(~pid << 3 | 2)
        end = math.ceil(used + seconds * (os.cpu_count() or 1)) + _CPU_MARGIN_SECONDS
        _, hard = resource.prlimit(pid, resource.RLIMIT_CPU)
        resource.prlimit(pid, resource.RLIMIT_CPU, (end if hard == resource.RLIM_INFINITY else min(end, hard), hard))


def die_with_parent(parent: int) -> None:
    """Makes Linux kill this process when the thread that started it ends; `parent` is the process id of the parent.

    Other systems have no such request: there a process ends when it next waits for its parent.
    """
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        # The parent ended before the request.
        os._exit(1)


def adopt_orphans() -> None:
    """Makes Linux give this process the children of its descendants that end, so that `end_children` finds them."""
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def end_children() -> None:
    """Kills all children of this process, and those that it adopts meanwhile."""
    with contextlib.suppress(ChildProcessError, FileNotFoundError):
        while True:
            with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
                for child in map(int, file.read().split()):
                    os.kill(child, signal.SIGKILL)
            os.waitpid(-1, 0)


def prefer_as_victim() -> None:
    """Makes Linux end this process first where memory runs out."""
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w", encoding="ascii") as score:
        score.write("1000")


def _prctl(option: int, value: int) -> None:
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _lower(kind: int, value: int) -> None:
    _, hard = resource.getrlimit(kind)
    value = value if hard == resource.RLIM_INFINITY else min(value, hard)
    resource.setrlimit(kind, (value, value))


def _data_bytes() -> int:
    """Returns the bytes that RLIMIT_DATA counts now (proc(5): statm), 0 where they are unknown."""
    try:
        with open("/proc/self/statm", encoding="utf-8") as file:
            return int(file.read().split()[_PAGES_OF_DATA]) * resource.getpagesize()
    except OSError:
        return 0
