"""Whether what an op applies to elements takes and gives the types of these.

Sources: xla/service/shape_inference.cc, VerifyReducerShape; stablehlo/dialect/TypeInference.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from dialect_utils.hlo import Computation, Instruction
from dialect_utils.layout import ELEMENT_TYPES, ArrayShape, ElementType, Shape
from dialect_utils.ops import by_opcode

_PRED = ELEMENT_TYPES["pred"]
_Kinds = Sequence[ElementType | None]


@dataclass(frozen=True, slots=True)
class _Applied:
    """A computation that is applied to elements, and the types that it should take and give."""

    computation: Computation
    takes: _Kinds
    gives: _Kinds

    def problem(self, opcode: str) -> str | None:
        """Returns how the computation differs, or None."""
        called = self.computation
        if None in (*self.takes, *self.gives):
            return f"{opcode} applies %{called.name} to what is no array, or begins with what is no scalar"
        parameters = [parameter.shape for parameter in called.parameters]
        results = [*called.root.shape.leaves()]
        if _all_agree(parameters, self.takes) and _all_agree(results, self.gives):
            return None
        wanted = f"({_told(self.takes)}) -> {_told(self.gives)}"
        return (
            f"{opcode} applies a computation {wanted}, but %{called.name} is ({_told(parameters)}) -> {_told(results)}"
        )


def _told(each: Sequence[object]) -> str:
    return ", ".join(map(str, each))


def find_region_problems(instruction: Instruction) -> Iterator[str]:
    """Yields where an embedded computation takes or gives other types than those of its op's arrays."""
    rule = _RULES.get(instruction.opcode)
    if rule is None or not instruction.called:
        return
    for applied in rule(instruction):
        problem = applied.problem(instruction.opcode)
        if problem is not None:
            yield problem


def _scalar(shape: Shape) -> ElementType | None:
    return shape.element_type if isinstance(shape, ArrayShape) and shape.rank == 0 else None


def _all_agree(found: Sequence[Shape], wanted: _Kinds) -> bool:
    return len(found) == len(wanted) and all(map(_agree, map(_scalar, found), wanted))


def _agree(found: ElementType | None, wanted: ElementType | None) -> bool:
    """Is true for one type, and for two floats: XLA lets computations compute in another precision."""
    if found is None or wanted is None:
        return False
    return found == wanted or (found.is_floating and wanted.is_floating)


def _kinds(shapes: Sequence[Shape]) -> _Kinds:
    return [shape.element_type if isinstance(shape, ArrayShape) else None for shape in shapes]


def _reduced(instruction: Instruction) -> Iterator[_Applied]:
    shapes = [operand.shape for operand in instruction.operands]
    half = len(shapes) // 2
    begun = [_scalar(shape) for shape in shapes[half:]]
    yield _Applied(instruction.called[0], [*begun, *_kinds(shapes[:half])], begun)


def _scattered(instruction: Instruction) -> Iterator[_Applied]:
    kinds = _kinds([operand.shape for operand in instruction.operands])
    count = len(kinds) // 2
    yield _Applied(instruction.called[0], [*kinds[:count], *kinds[count + 1 :]], kinds[:count])


def _selected(instruction: Instruction) -> Iterator[_Applied]:
    array, source, _ = _kinds([operand.shape for operand in instruction.operands])
    begun = _scalar(instruction.operands[2].shape)
    yield _Applied(instruction.called_as("select"), [array, array], [_PRED])
    yield _Applied(instruction.called_as("scatter"), [begun, source], [begun])


def _exchanged(instruction: Instruction) -> Iterator[_Applied]:
    # XLA compares it with no array: any computation of two values of one type is one.
    called = instruction.called[0]
    kind = _scalar(called.parameters[0].shape) if called.parameters else None
    yield _Applied(called, [kind, kind], [kind])


def _sorted(instruction: Instruction) -> Iterator[_Applied]:
    kinds = _kinds([operand.shape for operand in instruction.operands])
    yield _Applied(instruction.called[0], [kind for kind in kinds for _ in range(2)], [_PRED])


def _mapped(instruction: Instruction) -> Iterator[_Applied]:
    yield _Applied(
        instruction.called[0],
        _kinds([operand.shape for operand in instruction.operands]),
        _kinds([instruction.shape]),
    )


# Of each op that applies a computation to elements: which types this has to have.
_RULES: Mapping[str, Callable[[Instruction], Iterator[_Applied]]] = by_opcode(
    {
        "all-reduce": _exchanged,
        "map": _mapped,
        "reduce": _reduced,
        "reduce-scatter": _exchanged,
        "reduce-window": _reduced,
        "scatter": _scattered,
        "select-and-scatter": _selected,
        "sort": _sorted,
    }
)
