"""Limits of the worker process, set by itself after its imports: resources, and system calls (seccomp).

It gets no network, no programs and no writing. It may still read files, because libraries load parts of themselves
late. docs/security.md gives the reasons. Only the worker imports this module.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import math
import os
import resource
import tempfile
import time
from typing import Any

# System calls that are denied with any arguments, by topic.
_PROGRAMS = "execve execveat fork vfork ptrace process_vm_readv process_vm_writev"
_NETWORK = "socket socketpair connect bind listen accept accept4"
_FILES = (
    "creat truncate ftruncate unlink unlinkat rename renameat renameat2 link linkat symlink symlinkat mkdir mkdirat "
    "rmdir mknod mknodat chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat utime utimes utimensat futimesat "
    "setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr name_to_handle_at open_by_handle_at"
)
_SYSTEM = (
    "mount umount2 pivot_root chroot move_mount open_tree fsopen fsconfig fsmount unshare setns bpf perf_event_open "
    "userfaultfd io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key init_module finit_module "
    "delete_module kexec_load kexec_file_load reboot swapon swapoff acct settimeofday clock_settime adjtimex "
    "sethostname setdomainname iopl ioperm quotactl syslog pidfd_open pidfd_getfd pidfd_send_signal rt_sigqueueinfo "
    "shmget shmat msgget semget mq_open tkill"
)
_DENIED = f"{_PROGRAMS} {_NETWORK} {_FILES} {_SYSTEM}".split()
# System calls with flags in memory, which no filter sees; libraries fall back to the older calls.
_UNSEEN = ("clone3", "openat2")
# Signals to this process only; abort() sends one.
_SIGNALS = ("kill", "tgkill", "rt_tgsigqueueinfo")
_CLONE_THREAD = 0x10000
# The worker's three pipes, and the files that its libraries hold open; a client has about a dozen.
_OPEN_FILES = 128
_PR_SET_NO_NEW_PRIVS = 38
# Added to a request's own limit for work before and after the timed part.
_CPU_MARGIN_SECONDS = 10
_PAGES_OF_DATA = 5


def enter_sandbox() -> str | None:
    """Applies the filter to every thread of this process; returns the reason where that is impossible, else None."""
    try:
        import pyseccomp
    except (ImportError, RuntimeError, OSError) as error:
        return f"libseccomp cannot be loaded ({error})"
    try:
        _filter(pyseccomp).load()
    except OSError as error:
        return f"the system refuses a filter ({os.strerror(error.errno or 0)})"
    return None


def _filter(seccomp: Any) -> Any:
    filter_ = seccomp.SyscallFilter(seccomp.ALLOW)
    # Applies to XLA's threads, too, which run already.
    filter_.set_attr(seccomp.Attr.CTL_TSYNC, 1)
    deny, missing = seccomp.ERRNO(errno.EPERM), seccomp.ERRNO(errno.ENOSYS)
    for name in _DENIED:
        _add(filter_, deny, name)
    for name in _UNSEEN:
        _add(filter_, missing, name)
    for name in _SIGNALS:
        _add(filter_, deny, name, seccomp.Arg(0, seccomp.NE, os.getpid()))
    # Threads are allowed, processes are not.
    _add(filter_, deny, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, _CLONE_THREAD, 0))
    # The limits of other processes.
    _add(filter_, deny, "prlimit64", seccomp.Arg(0, seccomp.NE, 0))
    for name, position in (("open", 1), ("openat", 2)):
        for flag in (os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_TRUNC):
            _add(filter_, deny, name, seccomp.Arg(position, seccomp.MASKED_EQ, flag, flag))
    return filter_


def _add(filter_: Any, action: int, name: str, *arguments: Any) -> None:
    try:
        filter_.add_rule(action, name, *arguments)
    except (OSError, ValueError):
        # This libseccomp or this machine does not have the call.
        return


def enter_empty_directory() -> None:
    """Changes to an empty directory that is already deleted, so that nothing can be created in it."""
    directory = tempfile.mkdtemp(prefix="relayout-")
    os.chdir(directory)
    os.rmdir(directory)


def limit_resources(memory_bytes: int) -> None:
    """Limits memory beyond the current use, open files, written files, core dumps and privileges."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_FSIZE, 0)
    _lower(resource.RLIMIT_NOFILE, _OPEN_FILES)
    # Not the address space: with many cores, stacks and arenas reserve far more of it than they use.
    with contextlib.suppress(OSError):
        _lower(resource.RLIMIT_DATA, _data_bytes() + memory_bytes)
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def limit_cpu_seconds(seconds: float) -> None:
    """Makes the system end this process after so many more seconds of computing on all cores."""
    cores = os.cpu_count() or 1
    end = math.ceil(time.process_time() + seconds * cores) + _CPU_MARGIN_SECONDS
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (end if hard == resource.RLIM_INFINITY else min(end, hard), hard))


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
