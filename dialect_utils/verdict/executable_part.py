"""Finds a part of two modules that engines execute, where an operation such as an infeed prevents the whole.

The part has the outputs that do not depend on the operation. Outputs keep their numbers: every omitted output becomes a
copy of the first output of the part. Effects on which no output depends are removed. If ones replace the data that
other programs send, more outputs become executable. This is sound: equal modules have equal results for all received
data, and if all received data is ones, the order of receives does not matter.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from dialect_utils.engine_names import ENGINE_TITLES
from dialect_utils.hlo.text.literals import bits_of_one
from dialect_utils.ir import Builder, Function, Module, Operation, Value
from dialect_utils.ir.control_flow import remove_uncalled
from dialect_utils.layout import ArrayShape, Shape, TupleShape
from dialect_utils.ops import Trait, has
from dialect_utils.verdict.differences import Counterexample
from dialect_utils.verdict.evidence import Verdict
from dialect_utils.verdict.judge import compared_arrays, self_checks

# Each trial converts the whole module, which takes seconds for a dump. So many trials find one operation among 4,000
# outputs.
_MOST_TRIALS = 25
# The least number of elements of an output that need not be executed.
_LARGE = 1 << 20
_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class ExecutablePart:
    """The forms of a module with some of the outputs, and the numbers of these outputs."""

    stages: tuple[Module, ...]
    outputs: tuple[int, ...]

    def origin(self, output: int) -> int:
        """Returns the number of the output that an output of the part copies."""
        return output if output in self.outputs else self.outputs[0]

    @property
    def is_whole(self) -> bool:
        """Is true where the part has all outputs."""
        return len(self.outputs) == output_count(self.stages[0])

    def __str__(self) -> str:
        return f"output{'s' if len(self.outputs) > 1 else ''} {', '.join(map(str, self.outputs))} alone"

    def of_whole(self, found: Verdict, reason: str) -> Verdict:
        """Returns the verdict on the whole module, `different` or `unknown`; `reason` says which part was executed."""
        if found.found_no_difference:
            engines = " and ".join(ENGINE_TITLES[method] for method in found.methods)
            return Verdict("unknown", reason=f"{reason}, executed by {engines} {found.data}: no difference")
        if found.verdict != "different":
            return Verdict("unknown", reason=": ".join(filter(None, [reason, found.reason])))
        example, cause = found.counterexample, found.cause
        if isinstance(example, Counterexample):
            example = replace(example, output=self.origin(example.output))
        if cause is not None and cause.output is not None:
            cause = replace(cause, output=self.origin(cause.output))
        return replace(found, counterexample=example, cause=cause, reason=f"{found.reason}; {reason}")


def output_count(module: Module) -> int:
    """Returns the number of arrays that the entry yields."""
    return sum(len(list(shape.arrays())) for shape in module.entry_layout[1])


def executable_part(
    stages: Sequence[Module], is_executable: Callable[[Sequence[Module]], bool]
) -> ExecutablePart | None:
    """Returns outputs for which the forms of a module are executable; None where none was found.

    Outputs are tried by halves, because most modules have few operations that are not executable.
    """
    found: list[int] = []
    waiting = deque([range(output_count(stages[0]))])
    for _ in range(_MOST_TRIALS):
        if not waiting:
            break
        outputs = waiting.popleft()
        half = len(outputs) // 2
        part = _part(stages, outputs)
        if part is not None and is_executable(part.stages):
            found += outputs
        elif half:
            waiting += outputs[:half], outputs[half:]
    part = _part(stages, sorted(found))
    return part if part is not None and is_executable(part.stages) else None


def _part(stages: Sequence[Module], outputs: Sequence[int]) -> ExecutablePart | None:
    if not outputs:
        return None
    try:
        return ExecutablePart(tuple(with_outputs(stage, outputs) for stage in stages), tuple(outputs))
    except (IndexError, ValueError):
        return None


def computed_outputs(first: Module, last: Module) -> list[int] | None:
    """Returns the outputs to execute, without large ones that hold the same number everywhere in both modules.

    These are mostly workspaces of library calls, whose contents are undefined. None: all outputs.
    """
    pairs = list(zip(*([_splat(*each) for each in compared_arrays(module)] for module in (first, last)), strict=False))
    kept = [number for number, (x, y) in enumerate(pairs) if x is None or x != y]
    return kept if kept and len(kept) < len(pairs) and not self_checks(first) else None


def _splat(value: Value, shape: ArrayShape) -> int | None:
    """Returns the bits of all elements of a large array; None for other arrays, and where they are not known."""
    while value.operation is not None and value.operation.opcode == "broadcast":
        value = value.operation.operands[0]
    return None if value.operation is None or shape.element_count < _LARGE else value.operation.splat_bits


def with_outputs(module: Module, outputs: Sequence[int]) -> Module:
    """Returns a copy in which every output outside `outputs` is a copy of the first of them, without unused effects.

    Raises ValueError where a result of the entry is not an array, or a tuple of arrays.
    """
    copy = module.clone()
    parameters, results = copy.entry_layout
    shapes = [_chosen(shape, outputs) for shape in results] if len(results) == 1 else _each(list(results), outputs)
    copy.entry.set_results(_values(copy, outputs))
    remove_unused(copy.entry)
    remove_uncalled(copy)
    copy.set_entry_layout(parameters, shapes)
    return copy


def _values(module: Module, outputs: Sequence[int]) -> list[Value]:
    """Returns the values that the entry of a copy yields, as many as before."""
    entry = module.entry
    if len(entry.results) > 1 or isinstance(entry.results[0].shape, ArrayShape):
        return _each(list(entry.results), outputs)
    [root] = entry.results
    builder = module.at_end(entry)
    leaves = _each(builder.flatten(root, name="part"), outputs)
    return [builder.make_tuple(leaves, TupleShape(tuple(leaf.shape for leaf in leaves)), name="parts", like=root)]


def _chosen(shape: Shape, outputs: Sequence[int]) -> Shape:
    return TupleShape(tuple(_each(list(shape.leaves()), outputs))) if isinstance(shape, TupleShape) else shape


def _each(items: Sequence[_Item], outputs: Sequence[int]) -> list[_Item]:
    """Returns the items at `outputs`, and the first of them at all other positions."""
    return [items[number if number in outputs else outputs[0]] for number in range(len(items))]


def remove_unused(function: Function) -> None:
    """Erases all operations on which no result of a function depends, effects included."""
    results = set(function.results)
    for operation in reversed(function.operations):
        if not any(value.users or value in results for value in operation.results):
            operation.erase()


def with_ones_received(stages: Sequence[Module]) -> list[Module]:
    """Returns copies that receive ones; none where no module communicates, or where one receives other types."""
    if not any(map(_communications, stages)):
        return []
    try:
        return [_with_ones(stage) for stage in stages]
    except (KeyError, StopIteration, ValueError):
        return []


def _communications(module: Module) -> list[Operation]:
    return [operation for operation in module.operations() if has(operation.opcode, Trait.COMMUNICATES)]


def _with_ones(module: Module) -> Module:
    """Returns a copy in which ones replace all arrays that communication returns, and which sends nothing.

    Raises KeyError for complex numbers and ValueError for other values without a one.
    """
    copy = module.clone()
    for operation in _communications(copy):
        builder = copy.before(operation)
        for result in operation.results:
            leaves = [_one(builder, operation, shape) for shape in result.shape.leaves()]
            result.replace_uses(builder.make_tuple(leaves, result.shape, name="received", like=result))
        operation.erase()
    return copy


def _one(builder: Builder, operation: Operation, shape: Shape) -> Value:
    """Returns an array of ones, or for a token the token that the operation takes."""
    like = operation.results[0]
    if not isinstance(shape, ArrayShape):
        taken = [leaf for operand in operation.operands for leaf in builder.flatten(operand, name="taken")]
        return next(leaf for leaf in taken if str(leaf.shape) == str(shape))
    made = builder.constant(shape.element_type, bits_of_one(shape.element_type), name="one", like=like)
    if shape.rank:
        made = builder.broadcast(made, shape.dimensions, name="ones", like=like)
    made.set_shape(shape)
    return made
