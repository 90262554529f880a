"""Computes a value again in each operation that reads it."""

from __future__ import annotations

from collections.abc import Iterator

from dialect_utils.hlo import HloModule
from passes.framework.base import Report, module_pass
from passes.framework.options import OptionError
from passes.fusions.joining import fuse, fusible_readers, instruction_at, texts


@module_pass
def fuse_into_users(module: HloModule, report: Report, *, value: str = "") -> None:
    """Computes a value again in each operation that reads it, so that it is not stored.

    1. Each user that a fusion may compute becomes a fusion, which computes the value, too. Bitcasts between both are
       part of it. Other users read the value as before.
    2. A fusion of a product or convolution gets the value as a fusion of its own, joined with the one that reads it.
    3. Operations with control dependencies stay, and so do users of a reduction: XLA fuses that as a result only.

    Before:
        HloModule m
        ENTRY e {
          p = f32[4] parameter(0)
          n = f32[4] negate(p)
          ROOT a = f32[4] abs(n)
        }

    After fuse-into-users{value=n}:
        HloModule m

        %a.body {
          %p.0 = f32[4] parameter(0)
          %n.1 = f32[4] negate(%p.0)
          ROOT %a.1 = f32[4] abs(%n.1)
        }
        ENTRY e {
          p = f32[4] parameter(0)
          ROOT a = f32[4] fusion(p), kind=kLoop, calls=%a.body
        }
    """
    producer = instruction_at(module, value)
    if not fusible_readers(producer):
        raise OptionError("value", f"no fusion can compute {value} and an operation that reads it")
    while chains := fusible_readers(producer):
        fuse(producer, chains[0], keeps=False)


def candidates(module: HloModule, target: str) -> Iterator[str]:
    """Yields passes in a pipeline's syntax, those at the largest values first."""
    return texts(module, fuse_into_users, lambda item: bool(fusible_readers(item)), target)
