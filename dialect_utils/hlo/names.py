"""Gives names that collide with none in the module."""

from __future__ import annotations

import re
from collections.abc import Iterable

_NUMBER = re.compile(r"\.\d+$", re.ASCII)
_LEGAL = re.compile(r"[A-Za-z_][\w.\-]*", re.ASCII)
_ILLEGAL = re.compile(r"[^\w.\-]", re.ASCII)


class NameTable:
    """Every name ever used in a module; names of erased instructions are not given again."""

    def __init__(self, names: Iterable[str]) -> None:
        self._used = set(names)
        self._counters: dict[str, int] = {}

    def add(self, name: str) -> None:
        """Notes a name as used."""
        self._used.add(name)

    def fresh(self, base: str) -> str:
        """Returns `base` or, where it is used, `base.1`, `base.2`, ... and notes it as used.

        What XLA's names may not hold becomes `_`; a number that `base` ends in is counted up.
        """
        name = base if _LEGAL.fullmatch(base) else self._legal(base)
        if name in self._used:
            stem = _NUMBER.sub("", name)
            count = self._counters.get(stem, 0) + 1
            while f"{stem}.{count}" in self._used:
                count += 1
            self._counters[stem] = count
            name = f"{stem}.{count}"
        self._used.add(name)
        return name

    @staticmethod
    def _legal(base: str) -> str:
        name = _ILLEGAL.sub("_", base)
        return name if name[:1].isalpha() or name[:1] == "_" else f"_{name}"
