"""Directories for temporary files, which a later process removes where a killed one has left them."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import gettempdir, mkdtemp

# A directory gets its second name once it is locked.
_NEW, _LOCKED = "relayout-new-", "relayout-temporary-"


@contextmanager
def temporary_directory() -> Iterator[str]:
    """Returns a directory that is removed in the end, and removes those of processes that were killed."""
    for each in os.scandir(gettempdir()):
        with suppress(OSError):
            is_own = each.name.startswith(_LOCKED) and each.stat(follow_symlinks=False).st_uid == os.getuid()
            if is_own and each.is_dir(follow_symlinks=False):
                os.close(_locked(each.path, remove=True))
    made = mkdtemp(prefix=_NEW)
    named = os.path.join(os.path.dirname(made), os.path.basename(made).replace(_NEW, _LOCKED))
    descriptor = _locked(made)
    try:
        os.rename(made, named)
        yield named
    finally:
        shutil.rmtree(named, ignore_errors=True)
        os.close(descriptor)


def _locked(directory: str, *, remove: bool = False) -> int:
    """Returns a descriptor with the lock of a directory, which the system frees with its process; raises OSError."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if remove:
            shutil.rmtree(directory, ignore_errors=True)
    except OSError:
        if remove:
            os.close(descriptor)
            raise
    return descriptor
