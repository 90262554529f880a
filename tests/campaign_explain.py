"""Plants mistakes in TPU dumps and counts which of them `relayout run --explain` names: `make campaign-explain`.

`python -m tests.campaign_explain [COUNT [SEED]]` (100 and 0) edits one instruction of a dump in tests/corpus/tpu, and
asks where the dump parts from its StableHLO. Returns 1 where fewer than seven of ten visible mistakes are named: the
instruction, the first value computed from it that the source does not compute, or its fusion.
"""

from __future__ import annotations

import random
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from dialect_utils.execution import ExecutionError, Worker, check_executable, entry_arrays
from dialect_utils.hlo import Computation, HloModule, Instruction, parse_module
from dialect_utils.hlo.ops import Ops, rebuild
from dialect_utils.layout import ArrayShape
from dialect_utils.ops import named
from dialect_utils.text import DiagnosticError
from passes.dumps.make_portable import make_portable
from passes.dumps.observed import Suspect
from relayout.running.first_difference import FirstDifference, SourceProgram, first_difference, read_source
from tests.passes.dump_files import OWN, Dump, arrays_of, dumps

NAMED_SHARE = 0.7
NAMED = ("named", "first use named", "named as moved", "fusion named")
OTHER_OPCODES = {
    "add": "subtract",
    "subtract": "add",
    "multiply": "add",
    "divide": "multiply",
    "maximum": "minimum",
    "minimum": "maximum",
    "exponential": "negate",
    "tanh": "negate",
    "log": "negate",
    "negate": "abs",
    "sqrt": "rsqrt",
    "rsqrt": "sqrt",
    "cosine": "sine",
    "sine": "cosine",
    "and": "or",
    "or": "and",
}
OTHER_DIRECTIONS = {"LT": "GE", "GT": "LE", "GE": "LT", "LE": "GT", "EQ": "NE", "NE": "EQ"}
_OF_FLOATS = named("exponential tanh log negate sqrt rsqrt cosine sine divide")
_RANGE = re.compile(r"\[(\d+):(\d+)([^\]]*)\]")


def wrong_opcode(item: Instruction) -> bool:
    """Replaces an elementwise operation by another."""
    kind = item.shape.element_type if isinstance(item.shape, ArrayShape) else None
    if kind is None or item.opcode not in OTHER_OPCODES or (item.opcode in _OF_FLOATS and not kind.is_floating):
        return False
    rebuild(item, opcode=OTHER_OPCODES[item.opcode])
    return True


def wrong_direction(item: Instruction) -> bool:
    """Negates a comparison."""
    if item.opcode != "compare":
        return False
    item.set_attribute("direction", OTHER_DIRECTIONS[item.attribute("direction") or ""])
    return True


def wrong_branch(item: Instruction) -> bool:
    """Swaps the values of a select."""
    if item.opcode != "select":
        return False
    _, first, second = item.operands
    item.set_operand(1, second)
    item.set_operand(2, first)
    return True


def wrong_constant(item: Instruction) -> bool:
    """Changes a constant float."""
    shape = item.shape
    is_number = item.opcode == "constant" and re.fullmatch(r"-?[\d.]+(?:e[+-]?\d+)?", item.literal or "")
    if not (is_number and isinstance(shape, ArrayShape) and shape.element_type.is_floating):
        return False
    ops = Ops(item)
    ops.finish(ops.emit("constant", shape, inner=repr(float(item.literal or 0) * 1.5 + 0.25)))
    return True


def wrong_dimension(item: Instruction) -> bool:
    """Broadcasts along another dimension, or reduces another one, of the same size."""
    dimensions = item.ints("dimensions")
    if item.opcode not in ("broadcast", "reduce") or dimensions is None or len(dimensions) != 1:
        return False
    whole = item.shape if item.opcode == "broadcast" else item.operands[0].shape
    if not isinstance(whole, ArrayShape):
        return False
    (old,) = dimensions
    other = [i for i, size in enumerate(whole.dimensions) if i != old and size == whole.dimensions[old] > 1]
    if other:
        item.set_ints("dimensions", other[:1])
    return bool(other)


def wrong_slice(item: Instruction) -> bool:
    """Moves a slice by one element."""
    operand = item.operands[0].shape if item.opcode == "slice" else None
    if not isinstance(operand, ArrayShape):
        return False
    ranges = [(int(a), int(b), step) for a, b, step in _RANGE.findall(item.attribute("slice") or "")]
    for i, ((start, end, step), size) in enumerate(zip(ranges, operand.dimensions, strict=True)):
        by = 1 if end < size else -1 if start else 0
        if by:
            ranges[i] = start + by, end + by, step
            item.set_attribute("slice", "{" + ", ".join(f"[{a}:{b}{step}]" for a, b, step in ranges) + "}")
            return True
    return False


MISTAKES = (wrong_opcode, wrong_direction, wrong_branch, wrong_constant, wrong_dimension, wrong_slice)


@dataclass(frozen=True)
class Planted:
    """A dump with one wrong instruction."""

    dump: Dump
    computation: str
    name: str
    kind: str
    text: str

    @cached_property
    def module(self) -> HloModule:
        return parse_module(self.text, self.dump.name)

    def outcome(self, found: FirstDifference) -> str:
        """Returns how the first suspect is related to the mistake."""
        if not found.suspects:
            return "not visible"
        computation = self.module.find(self.computation)
        assert computation is not None
        item = computation.find(self.name)
        assert item is not None
        first, *others = found.suspects
        if _line(first.value) == _line(item):
            return "named"
        made = [each for each in found.observed.module.entry.instructions if _line(each) == _line(item)]
        shows = set(map(_line, _first_wrong(made, found)))
        if _line(first.value) in shows:
            return "first use named"
        listed = {_line(item), *shows}
        if listed & set(map(_line, first.moved)):
            return "named as moved"
        if _line(first.value) in set(map(_line, computation.instructions)):
            return "fusion named"
        if _line(first.value) in set(map(_line, _callers(computation))):
            return "loop or call named"
        if listed & {line for each in others for line in _lines(each)}:
            return "listed"
        # The message says that the mistake may be between the first suspect and an output.
        return "in the range" if listed & set(map(_line, _users_of(first.value))) else "MISSED"


def _first_wrong(made: Sequence[Instruction], found: FirstDifference) -> Iterator[Instruction]:
    """Yields the first values computed from wrong ones that the source does not compute.

    A wrong constant or mask has no counterpart, and a wrong slice may be another value of the source.
    """
    waiting, seen = list(made), set(made)
    while waiting:
        item = waiting.pop()
        if found.distances.get(item, 0.0):
            yield item
        else:
            new = [user for user in item.users if user not in seen]
            seen.update(new)
            waiting += new


def _users_of(value: Instruction) -> Iterator[Instruction]:
    """Yields the values that are computed from a value."""
    waiting, seen = [value], {value}
    while waiting:
        new = [user for user in waiting.pop().users if user not in seen]
        seen.update(new)
        waiting += new
        yield from new


def _callers(computation: Computation) -> Iterator[Instruction]:
    """Yields the instructions that call a computation, and the users of their tuples."""
    for caller in computation.callers:
        yield from (caller, *caller.users)
        yield from _callers(caller.computation)


def _line(item: Instruction) -> int:
    location = item.location
    return -1 if location is None else location.source.line_and_column(location.span.start)[0]


def _lines(suspect: Suspect) -> list[int]:
    return [_line(each) for each in (suspect.value, *suspect.moved)]


def _is_applied(computation: Computation) -> bool:
    """Is true for comparators and reducers: a mistake in one is one of the operation that applies it."""
    return computation.is_embedded or any(caller.opcode == "custom-call" for caller in computation.callers)


def planted(dump: Dump, rng: random.Random) -> Planted | None:
    """Returns the dump with a random mistake of a random kind, or None where it has no place for that."""
    module = dump.module()
    mistake = rng.choice(MISTAKES)
    functions = [each for each in module.functions if not _is_applied(each)]
    items = [item for each in functions for item in each.instructions]
    for item in rng.sample(items, len(items)):
        name, computation = item.name, item.computation.name
        if mistake(item):
            return Planted(dump, computation, name, mistake.__name__, module.text())
    return None


def explained(case: Planted, source: SourceProgram, worker: Worker) -> FirstDifference:
    """Returns where the dump parts from its source on the inputs of the corpus."""
    executable = case.module.clone()
    make_portable(executable)
    parameters, _ = entry_arrays(executable)
    inputs = arrays_of(case.dump, "in", parameters, "inputs", 1)
    return first_difference(case.module, executable, source, inputs, worker, "xla")


def sources(folder: list[Dump]) -> list[tuple[Dump, SourceProgram]]:
    """Returns the dumps for one device whose source runs on this machine, and has the same inputs and outputs."""
    found = []
    for dump in folder:
        module = dump.module()
        try:
            make_portable(module)
            source = read_source(str(dump.folder / "stablehlo.mlir"), *entry_arrays(module))
            check_executable(source.module, source.name)
        except DiagnosticError:
            continue
        found.append((dump, source))
    return found


def main() -> int:
    """Runs the campaign and prints a line for each mistake; returns 1 where too few are named."""
    count, seed = (*map(int, sys.argv[1:]), *(100, 0)[len(sys.argv) - 1 :])
    rng, counts = random.Random(seed), Counter[str]()
    known = sources(dumps(OWN))
    with Worker() as worker:
        while counts.total() < count:
            dump, source = rng.choice(known)
            case = planted(dump, rng)
            if case is None:
                continue
            try:
                found = explained(case, source, worker)
            except (DiagnosticError, ExecutionError) as error:
                counts["error"] += 1
                print(f"{dump.name}: {case.kind} in {case.computation} {case.name}: {str(error)[:200]}", flush=True)
                continue
            told = case.outcome(found)
            counts[told] += 1
            values = ", ".join(each.value.name for each in found.suspects[:3])
            print(f"{dump.name}: {case.kind} in {case.computation} {case.name}: {told}: {values}", flush=True)
    print(", ".join(f"{number} {told}" for told, number in counts.most_common()))
    visible = counts.total() - counts["not visible"] - counts["error"]
    near = sum(counts[told] for told in NAMED)
    print(f"{near} of {visible} visible mistakes named")
    return int(near < NAMED_SHARE * visible)


if __name__ == "__main__":
    sys.exit(main())
