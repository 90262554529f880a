"""Searches for the passes without which a compiler is right: single ones, and else small sets of them.

The answer for a set of disabled passes is True where the compiler is right, False where it is wrong, and None where it
does not compile: some passes make what others need.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

Names = tuple[str, ...]
# Whether the compiler is right without these passes.
IsRight = Callable[[Names], bool | None]


def single_passes(names: Sequence[str], is_right: IsRight) -> list[str]:
    """Returns the passes of which each alone makes the compiler wrong."""
    return [name for name in names if is_right((name,))]


def smallest_set(names: Sequence[str], is_right: IsRight) -> Names:
    """Returns a minimal set of passes whose removal makes the compiler right, empty if no set does.

    If some passes are needed to compile, the largest set that can be disabled decides whether such a set exists.
    """
    found = _compilable(names, is_right)
    return _minimized(found, is_right) if is_right(found) else ()


def _compilable(names: Sequence[str], is_right: IsRight) -> Names:
    """Returns all passes, or those that can be disabled together with the ones before."""
    found = tuple(names)
    if is_right(found) is not None:
        return found
    kept: Names = ()
    for name in names:
        if is_right((*kept, name)) is not None:
            kept = (*kept, name)
    return kept


def _minimized(names: Names, is_right: IsRight) -> Names:
    """Returns a subset by delta debugging (Zeller): parts and complements, of ever smaller size."""
    count = 2
    while len(names) > 1:
        size = -(-len(names) // count)
        parts = [names[start : start + size] for start in range(0, len(names), size)]
        complements = [tuple(name for name in names if name not in part) for part in parts]
        smaller = next((each for each in (*parts, *complements) if len(each) < len(names) and is_right(each)), None)
        if smaller is not None:
            count = max(2, min(len(smaller), count - 1 if smaller in complements else 2))
            names = smaller
        elif count >= len(names):
            break
        else:
            count = min(len(names), 2 * count)
    return names
