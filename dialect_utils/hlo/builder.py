"""Makes HLO instructions before or after an instruction of a computation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from dialect_utils.hlo.computation import Computation, origin_of
from dialect_utils.hlo.graph import CONTROL
from dialect_utils.hlo.instruction import Instruction, as_instruction
from dialect_utils.hlo.text.attributes import format_step
from dialect_utils.hlo.text.literals import format_scalar
from dialect_utils.ir import Builder, NewScalar, Operation, Padding, Value
from dialect_utils.layout import ArrayShape, ElementType, Layout, Shape, Step, TupleShape

if TYPE_CHECKING:
    from dialect_utils.layout.moves.plan import Plan


class HloBuilder(Builder):
    """A maker of instructions before or after one; each new instruction comes after the previous one.

    New instructions get the metadata and the location of `like`, but not its frontend attributes, which describe only
    the op that has them. In a module that writes layouts a new shape has the descending layout.
    """

    def __init__(
        self, computation: Computation, *, after: Instruction | None = None, before: Instruction | None = None
    ) -> None:
        self._computation = computation
        self._after = after
        self._before = before

    def emit(
        self,
        name: str,
        shape: Shape,
        opcode: str,
        operands: Sequence[Instruction],
        *,
        inner: str = "",
        attributes: Mapping[str, str] | None = None,
        like: Instruction | None = None,
    ) -> Instruction:
        """Makes an instruction of any opcode, with exactly these attributes; all other methods call it.

        `inner` is the text between the parentheses of a constant or parameter, `like` gives the location.
        Raises ValueError where the instruction to insert before was erased.
        """
        made = self._computation.insert(
            self._anchor(), name, shape, opcode, operands, inner=inner, attributes=attributes, like=like
        )
        if self._before is None:
            self._after = made
        return made

    def copy_of(self, item: Instruction, operands: tuple[Instruction, ...], attributes: dict[str, str]) -> Instruction:
        """Returns a copy of an instruction, which may be in another computation, that `insert_run` has to insert."""
        computation, tail = self._computation, "".join([f", {name}={text}" for name, text in attributes.items()])
        name, inner = computation.module.fresh_name(item.name), item.literal or ""
        return Instruction(
            computation, name, item.shape, item.opcode, operands, inner, tail, -1, origin_of(item), attributes
        )

    def insert_run(self, made: Sequence[Instruction], outer: Sequence[Instruction]) -> None:
        """Inserts new instructions in one step; their operands are `outer` and earlier ones of them."""
        if made:
            self._computation.insert_run(self._anchor(), made, outer)
            if self._before is None:
                self._after = made[-1]

    def _anchor(self) -> Instruction | None:
        """Returns the instruction after which the next one is inserted, None for the first place."""
        if self._before is None:
            return self._after
        if self._before not in self._computation.order:
            raise ValueError(f"%{self._before.name} is no longer in %{self._computation.name}")
        return self._computation.order.before(self._before)

    def _make(
        self,
        name: str,
        shape: Shape,
        opcode: str,
        operands: Sequence[Instruction],
        like: Value | None,
        inner: str = "",
        attributes: Mapping[str, str] | None = None,
    ) -> Instruction:
        attributes = dict(attributes or {})
        origin = None if like is None else as_instruction(like)
        metadata = None if origin is None else origin.metadata
        if metadata is not None:
            attributes["metadata"] = metadata
        return self.emit(name, shape, opcode, operands, inner=inner, attributes=attributes, like=origin)

    def _array(self, element_type: ElementType, dimensions: tuple[int, ...], value: Shape) -> ArrayShape:
        """Returns a new shape, with a layout if `value` has one."""
        return ArrayShape(
            element_type, dimensions, Layout.descending(len(dimensions)) if self._writes_layout(value) else None
        )

    def _writes_layout(self, value: Shape) -> bool:
        return _writes_layout(value, self._computation.module.writes_layouts)

    def apply_plan(
        self, plan: Plan, value: Value, names: Sequence[str], *, like: Value, paddings: Sequence[Padding]
    ) -> Sequence[Instruction]:
        """Makes the ops of a plan in one step; raises ValueError where the plan does not fit the value."""
        operand, origin, computation = as_instruction(value), as_instruction(like), self._computation
        if not isinstance(operand.shape, ArrayShape):
            raise ValueError(f"{plan} needs an array, not {operand.shape}")
        fresh, place = computation.module.names.fresh, origin_of(origin)
        metadata = origin.metadata
        shared = "" if metadata is None else f", metadata={metadata}"
        outer, run, made = [operand], list[Instruction](), list[Instruction]()
        rows = _rows(plan, operand.shape, computation.module.writes_layouts)
        for (step, shape, tail, kind), name, padding in zip(rows, names, paddings, strict=True):
            operands: tuple[Instruction, ...] = (operand,)
            if isinstance(padding, NewScalar):
                inner = format_scalar(kind, padding.bits)
                scalar = Instruction(
                    computation, fresh(padding.name), _scalar(kind), "constant", (), inner, shared, origin=place
                )
                run.append(scalar)
                operands = (operand, scalar)
            elif padding is not None:
                outer.append(as_instruction(padding))
                operands = (operand, outer[-1])
            elif step.adds_elements:
                raise ValueError("pad needs a padding value")
            operand = Instruction(
                computation, fresh(name), shape, step.opcode, operands, "", tail + shared, origin=place, step=step
            )
            run.append(operand)
            made.append(operand)
        self.insert_run(run, outer)
        return made

    def constant(self, element_type: ElementType, bits: int, *, name: str, like: Value) -> Instruction:
        shape = _scalar(element_type)
        return self._make(name, shape, "constant", [], like, inner=format_scalar(element_type, bits))

    def broadcast(self, value: Value, dimensions: Sequence[int], *, name: str, like: Value) -> Instruction:
        """Makes an array of `dimensions` from one scalar; raises ValueError for any other value."""
        operand = as_instruction(value)
        if not isinstance(operand.shape, ArrayShape) or operand.shape.rank:
            raise ValueError(f"broadcast needs a scalar, not {operand.shape}")
        shape = self._array(operand.shape.element_type, tuple(dimensions), operand.shape)
        return self._make(name, shape, "broadcast", [operand], like, attributes={"dimensions": "{}"})

    def concatenate(
        self, values: Sequence[Value], dimension: int, shape: Shape, *, name: str, like: Value
    ) -> Instruction:
        parts = list(map(as_instruction, values))
        return self._make(name, shape, "concatenate", parts, like, attributes={"dimensions": f"{{{dimension}}}"})

    def convert(self, value: Value, element_type: ElementType, *, name: str, like: Value) -> Instruction:
        """Makes an element type conversion; raises ValueError for any other value."""
        operand = as_instruction(value)
        if not isinstance(operand.shape, ArrayShape):
            raise ValueError(f"convert needs an array, not {operand.shape}")
        shape = self._array(element_type, operand.shape.dimensions, operand.shape)
        return self._make(name, shape, "convert", [operand], like)

    def copy(self, value: Value, shape: Shape, *, name: str, like: Value) -> Instruction:
        return self._make(name, shape, "copy", [as_instruction(value)], like)

    def bitcast(self, value: Value, shape: Shape, *, name: str, like: Value) -> Instruction:
        return self._make(name, shape, "bitcast", [as_instruction(value)], like)

    def element(self, value: Value, index: int, *, name: str) -> Instruction:
        instruction = as_instruction(value)
        shape = instruction.shape.parts[index]
        attributes = {"index": str(index)}
        return self._make(name, shape, "get-tuple-element", [instruction], instruction, attributes=attributes)

    def make_tuple(self, leaves: Sequence[Value], shape: Shape, *, name: str, like: Value) -> Instruction:
        """Joins leaves into a value of `shape`'s nesting; raises ValueError for another number of leaves."""
        rest = [as_instruction(leaf) for leaf in leaves]
        made = self._tuple(rest, shape, name, like)
        if rest:
            raise ValueError(f"{len(rest)} leaves are left over after {shape}")
        return made

    def _tuple(self, rest: list[Instruction], shape: Shape, name: str, like: Value) -> Instruction:
        """Makes a value of `shape` from the first leaves of `rest`, and removes these."""
        if not isinstance(shape, TupleShape):
            if not rest:
                raise ValueError(f"no leaf is left for {shape}")
            return rest.pop(0)
        parts = [self._tuple(rest, element, f"{name}.{index}", like) for index, element in enumerate(shape.elements)]
        return self._make(name, TupleShape(tuple(part.shape for part in parts)), "tuple", parts, like)

    def clone(
        self, operation: Operation, operands: Sequence[Value], shapes: Sequence[Shape], *, name: str
    ) -> Sequence[Instruction]:
        """Makes a copy of an instruction on other operands with another shape.

        The copy keeps the control predecessors that come before it.
        """
        original = as_instruction(operation)
        if len(shapes) != 1:
            raise ValueError(f"an HLO instruction has one value, not {len(shapes)}")
        attributes = dict(original.attributes)
        attributes.pop(CONTROL, None)
        parts, inner = list(map(as_instruction, operands)), original.contents
        made = self.emit(name, shapes[0], original.opcode, parts, inner=inner, attributes=attributes, like=original)
        self._computation.inherit_control(made, original)
        return (made,)


# A plan is built many times, and a cached shape keeps its printed text.
@lru_cache(maxsize=1 << 12)
def _stepped(step: Step, element_type: ElementType, dimensions: tuple[int, ...], writes_layout: bool) -> ArrayShape:
    """Returns the shape after a step, in descending order."""
    result, sizes = step.result(element_type, dimensions)
    return ArrayShape(result, sizes, Layout.descending(len(sizes)) if writes_layout else None)


# One shape for all scalars of a type: the verifier compares shapes by identity first.
@cache
def _scalar(element_type: ElementType) -> ArrayShape:
    return ArrayShape(element_type, ())


class _Row(NamedTuple):
    """One op of a plan: its step, shape and attributes, and the element type of its operand."""

    step: Step
    shape: ArrayShape
    tail: str
    kind: ElementType


@lru_cache(maxsize=1 << 12)
def _rows(plan: Plan, shape: ArrayShape, module_writes_layouts: bool) -> tuple[_Row, ...]:
    """Returns the ops of a plan from an array; raises ValueError for a pad of a scalar and for a step that misfits."""
    rows = []
    for step in plan.steps:
        if step.adds_elements and not shape.rank:
            raise ValueError("the padding of a scalar has no text in HLO")
        kind, writes_layout = shape.element_type, _writes_layout(shape, module_writes_layouts)
        shape = _stepped(step, *shape.type_and_dimensions, writes_layout)
        tail = "".join([f", {name}={text}" for name, text in format_step(step).items()])
        rows.append(_Row(step, shape, tail, kind))
    return tuple(rows)


def _writes_layout(value: Shape, module_writes_layouts: bool) -> bool:
    """Is true where a new shape after this one has a layout: scalars show none, so there the module decides."""
    if isinstance(value, ArrayShape) and value.dimensions:
        return value.layout is not None
    return module_writes_layouts
