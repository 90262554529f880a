"""Computes a value and an operation that reads it in one fusion, which yields both."""

from __future__ import annotations

from collections.abc import Iterator

from dialect_utils.hlo import HloModule, Instruction
from passes.framework.base import Report, module_pass
from passes.framework.options import OptionError
from passes.fusions.joining import fuse, fusible_readers, instruction_at, readers, texts


@module_pass
def fuse_with_user(module: HloModule, report: Report, *, value: str = "") -> None:
    """Computes a value and the first operation that reads it in one fusion, which yields both.

    1. The fusion yields the value for other users. The first user does not read it from memory.
    2. The rules of `fuse-into-users` hold: of a fusion of a product or convolution the value is no second result.

    Before:
        HloModule m
        ENTRY e {
          p = f32[4] parameter(0)
          n = f32[4] negate(p)
          a = f32[4] abs(n)
          ROOT s = f32[4] subtract(a, n)
        }

    After fuse-with-user{value=n}:
        HloModule m

        %a.body {
          %p.0 = f32[4] parameter(0)
          %n.1 = f32[4] negate(%p.0)
          %a.1 = f32[4] abs(%n.1)
          ROOT %result.tuple = (f32[4], f32[4]) tuple(%n.1, %a.1)
        }
        ENTRY e {
          p = f32[4] parameter(0)
          a.fused = (f32[4], f32[4]) fusion(p), kind=kLoop, calls=%a.body
          n = f32[4] get-tuple-element(a.fused), index=0
          a = f32[4] get-tuple-element(a.fused), index=1
          ROOT s = f32[4] subtract(a, n)
        }
    """
    producer = instruction_at(module, value)
    chains = fusible_readers(producer)
    if not chains:
        raise OptionError("value", f"no fusion can compute {value} and an operation that reads it")
    try:
        fuse(producer, chains[0], keeps=True)
    except ValueError as error:
        raise OptionError("value", str(error)) from None


def _is_shared(item: Instruction) -> bool:
    return bool(fusible_readers(item)) and len([*readers(item)]) > 1


def candidates(module: HloModule, target: str) -> Iterator[str]:
    """Yields passes in a pipeline's syntax, those at the largest values first."""
    return texts(module, fuse_with_user, _is_shared, target)
