"""Rules that XLA's verifier has by option only: each holds after single passes.

Source: xla/service/hlo_verifier.cc (InstructionVerifier, VerifyInstructionNameUnchanged).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from dialect_utils.hlo.instruction import Instruction
from dialect_utils.hlo.module import HloModule
from dialect_utils.layout import ArrayShape
from dialect_utils.layout.targets.xla_compat import reshape_is_bitcast
from dialect_utils.text import Diagnostic

_HOST = 5
_SCHEDULED_AS = re.compile(r"scheduling_name=\"([^\"]*)\"")


def _is_unordered_broadcast(each: Instruction) -> bool:
    dimensions = each.ints("dimensions") or ()
    return each.opcode == "broadcast" and list(dimensions) != sorted(dimensions)


def _is_on_host(each: Instruction) -> bool:
    return any(array.effective_layout.memory_space == _HOST for array in each.shape.arrays())


def _is_moving_reshape(each: Instruction) -> bool:
    shapes = [value.shape for value in (*each.operands, each)] if each.opcode == "reshape" else []
    arrays = [shape for shape in shapes if isinstance(shape, ArrayShape)]
    return len(arrays) > 1 and not reshape_is_bitcast(arrays[0], arrays[1])


def _is_renamed(each: Instruction) -> bool:
    found = _SCHEDULED_AS.search(each.metadata or "")
    return (
        found is not None and bool(found[1]) and found[1] != each.name and not re.search("[.](remat|clone)", each.name)
    )


# Each rule with its message and the condition under which an instruction breaks it.
RULES: Mapping[str, tuple[str, Callable[[Instruction], bool]]] = {
    "ordered-broadcasts": ("broadcast dimensions should be ordered", _is_unordered_broadcast),
    "no-host-memory": ("an instruction should not have the layout of host memory space", _is_on_host),
    "bitcast-reshapes": ("a reshape should be a physical bitcast", _is_moving_reshape),
    "kept-names": ("expected the instruction name to remain that of the schedule", _is_renamed),
}


def find_optional_problems(module: HloModule, names: Collection[str]) -> Iterator[Diagnostic]:
    """Yields the instructions that break the rules with these names; raises KeyError for an unknown name."""
    rules = [RULES[name] for name in names]
    for computation in module.computations:
        for each in computation.instructions:
            for message, is_broken in rules:
                if is_broken(each):
                    yield Diagnostic(f"{each.name}: {message}, found {each.text().strip()}", each.location)
