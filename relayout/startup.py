"""What a process that is all ours is set to before it loads anything heavy."""

from __future__ import annotations

import gc
import os

# Python looks for garbage after every 700 new objects and again and again walks those that live; modules are read and
# programs loaded object by object, and nearly all of them live on.
_OBJECTS_BETWEEN_COLLECTIONS = 100_000


def prepare_process() -> None:
    """Sets how often garbage is looked for, and has the threads of numpy's linear algebra sleep between products."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    # They spin for 2 ** 26 cycles else, also where nothing is ever multiplied; 4 is the least.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
