"""Copies an array once, for all operations that read it."""

from __future__ import annotations

from collections.abc import Iterator

from dialect_utils.hlo import HloModule, Instruction
from dialect_utils.hlo.ops import add_computation
from dialect_utils.layout import ArrayShape
from passes.framework.base import Report, module_pass
from passes.framework.options import OptionError
from passes.fusions.joining import instruction_at, readers, texts


@module_pass
def copy_once(module: HloModule, report: Report, *, value: str = "") -> None:
    """Copies an array once, for all operations that read it.

    1. All users of the array read a copy of the same layout. The copy is a fusion, which XLA does not remove.

    The TPU compiler keeps the copy of an argument in VMEM, and each user reads it there. Without the copy it may read
    the argument from HBM, copy it to VMEM meanwhile, and read that copy later.

    Before:
        HloModule m
        ENTRY e {
          p = f32[4] parameter(0)
          n = f32[4] negate(p)
          ROOT s = f32[4] subtract(p, n)
        }

    After copy-once{value=p}:
        HloModule m

        %p.copy {
          %x = f32[4] parameter(0)
          ROOT %c = f32[4] copy(%x)
        }
        ENTRY e {
          p = f32[4] parameter(0)
          p.copied = f32[4] fusion(p), kind=kLoop, calls=%p.copy
          n = f32[4] negate(p.copied)
          ROOT s = f32[4] subtract(p.copied, n)
        }
    """
    item = instruction_at(module, value)
    if not _is_read_often(item):
        raise OptionError("value", f"{value} is no array that several operations read")
    name = add_computation(
        module, f"{item.name}.copy", f"%x = {item.shape} parameter(0)", f"ROOT %c = {item.shape} copy(%x)"
    )
    computation = item.computation
    anchor = computation.last_parameter_in_row(item) if item.opcode == "parameter" else item
    attributes = {"kind": "kLoop", "calls": f"%{name}"}
    made = computation.insert(
        anchor, f"{item.name}.copied", item.shape, "fusion", (item,), attributes=attributes, like=item
    )
    item.replace_uses(made, keep=[made])


def _is_read_often(item: Instruction) -> bool:
    is_array = isinstance(item.shape, ArrayShape) and item.shape.is_static and item.shape.rank > 0
    return is_array and not item.is_root and len([*readers(item)]) > 1


def candidates(module: HloModule, target: str) -> Iterator[str]:
    """Yields passes in a pipeline's syntax, those at the largest arrays first."""
    return texts(module, copy_once, lambda item: _is_read_often(item) and item.opcode != "fusion", target)
